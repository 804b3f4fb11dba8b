"""Questions about single rows and groups of rows. They know less than the distribution does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from holdfast.analysis.answer import SIMULATED, Answer, percent
from holdfast.analysis.evidence import DENSE_UP_TO
from holdfast.analysis.known_zeros import drawn_rows, known_notes, known_share, row_kinds
from holdfast.analysis.posterior import (
    Posterior,
    check_level,
    posterior,
    prior,
    prior_notes,
    row_law,
    row_notes,
    shortest_run,
    top_notes,
)
from holdfast.analysis.rows import find_row, find_rows, row_labels
from holdfast.analysis.stage_one import SEED
from holdfast.errors import HoldfastError
from holdfast.wording import numbered, one_line

if TYPE_CHECKING:
    from holdfast.release import Release

Vector = NDArray[np.float64]
DRAWS, MAX_CONDITION = 2000, 1e8


@dataclass(frozen=True, kw_only=True)
class TopRow:
    """A row that may be among the highest."""

    row: int
    """Its number in the table, from 0."""
    label: Any
    """Its label; its number where the table has none."""
    released: int
    """Its released count."""
    expected: float
    """Its expected true count."""
    interval: tuple[int, int]
    """For its true count."""
    probability: float
    """That it is truly among the k highest; ties are broken at random. By simulation: ±2 %."""
    highest: float
    """That it is truly the highest of all, likewise."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""


@dataclass(frozen=True, kw_only=True)
class RowComparison:
    """Which of two rows truly has more."""

    first: Any
    """Label of the first row."""
    second: Any
    """Label of the second row."""
    first_more: float
    """Probability that the first has more."""
    equal: float
    """Probability that they have the same."""
    second_more: float
    """Probability that the second has more."""
    difference: float
    """Expected true difference, first minus second."""
    interval: tuple[int, int]
    """For the true difference."""
    level: float
    """Of the interval."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""

    def __str__(self) -> str:
        low, high = self.interval
        text = (
            f"{one_line(str(self.first))} has more than {one_line(str(self.second))} with "
            f"probability {self.first_more:.0%}, "
            f"the same with {self.equal:.0%}, less with {self.second_more:.0%}; difference "
            f"{self.difference:.1f} ({percent(self.level)} interval {low} to {high})"
        )
        return "\n".join([text, *(f"  {note}." for note in self.notes)])


def top(release: "Release", k: int, *, label: str | None, level: float) -> tuple[TopRow, ...]:
    """The k rows with the highest probability of being among the k highest true counts.

    Given z and T the true counts of the rows are independent, and rows with the same released
    count alike. So only tables of (released, true) counts are drawn, 2,000 of them: how many rows
    each true count has settles who is on top, at a cost that does not depend on the number of rows.
    """
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or not 1 <= k <= len(release.counts):
        raise HoldfastError(
            "`k` must be a whole number from 1 to the number of rows "
            f"({len(release.counts):,}), got {k!r:.40}."
        )
    level = check_level(level)
    (highest, chances), kinds = _chances_on_top(release, (1, k)), row_kinds(release)
    laws = _laws(release)
    means = np.array([law.mean if law else -1.0 for law in laws])
    order = np.lexsort((-release.counts, -means[kinds], -chances[kinds]))[:k]
    labels = row_labels(release, label)
    notes = [row_notes(release, count) for count in (0, 1)]  # rows that show 0 may be known
    first = {int(kind): _undecided(laws[kind]) for kind in np.unique(kinds[order])}
    return tuple(
        TopRow(
            row=int(row),
            label=labels[row],
            released=int(release.counts[row]),
            expected=float(means[kinds[row]]),
            interval=row_law(release, kinds[row]).interval(level),
            probability=float(chances[kinds[row]]),
            highest=float(highest[kinds[row]]),
            notes=first[int(kinds[row])] + notes[min(release.counts[row], 1)],
        )
        for row in order
    )


def compare(
    release: "Release", first: Any, second: Any, *, label: str | None, level: float
) -> RowComparison:
    """The law of the difference of two rows' true counts."""
    labels = row_labels(release, label)
    rows = [find_row(release, labels, row) for row in (first, second)]
    if rows[0] == rows[1]:
        raise HoldfastError("a row cannot be compared with itself. Hint: name two rows.")
    one, other = (row_law(release, row_kinds(release)[row]) for row in rows)
    law = np.convolve(one.probabilities, other.probabilities[::-1])
    zero = len(one.probabilities) - 1
    level = check_level(level)
    low, high = shortest_run(law, level)
    return RowComparison(
        first=labels[rows[0]],
        second=labels[rows[1]],
        first_more=float(law[zero + 1 :].sum()),
        equal=float(law[zero]),
        second_more=float(law[:zero].sum()),
        difference=one.mean - other.mean,
        interval=(low - zero, high - zero),
        level=level,
        notes=_same_at_the_top(one, other) + row_notes(release, release.counts[rows], (one, other)),
    )


def total_of(
    release: "Release", group: Sequence[Any], *, label: str | None, level: float, method: str
) -> Answer:
    """The true total of a group of rows, with an interval."""
    rows = find_rows(release, row_labels(release, label), group)
    level = check_level(level)
    if method not in ("shrunk", "unbiased"):
        raise HoldfastError(f"`method` must be shrunk or unbiased, got {method!r:.40}.")
    n = len(release.target)
    counts = np.bincount(row_kinds(release)[rows], minlength=n)[:n]  # what is known adds 0
    if method == "unbiased" and counts[0]:
        _check_zeros(release)
    values, spread, notes = (_shrunk if method == "shrunk" else _unbiased)(release)
    prior = _prior_variance(release, counts) if method == "shrunk" else 0.0
    laws = (row_law(release, kind) for kind in np.unique(row_kinds(release)[rows]))
    notes += known_notes(release, release.counts[rows]) + top_notes(laws)
    notes += prior_notes(release) if method == "shrunk" else ()
    estimate, error = float(counts @ values), float(np.sqrt(counts @ spread + prior))
    reach = error * _normal_quantile((1 + level) / 2)
    highest = int(counts.sum()) * (n - 1)
    low, high = max(estimate - reach, 0.0), min(estimate + reach, float(highest))
    if method == "unbiased":
        estimate = min(max(estimate, 0.0), float(highest))
    return Answer(
        question=f"total of {numbered(len(rows), 'row')}",
        estimate=estimate,
        standard_error=error,
        interval=(min(low, estimate), max(high, estimate)),
        level=level,
        estimator="posterior" if method == "shrunk" else "unbiased",
        method="formula",
        notes=(*notes, SIMULATED) if release.privacy.simulated else notes,
    )


def _undecided(law: Posterior | None) -> tuple[str, ...]:
    """What to say of a row on top whose true count may be the highest there is."""
    notes = top_notes([law] if law else [])
    if not notes or law is None:
        return ()
    top = len(law.probabilities) - 1
    return (
        *notes,
        f"which of the rows with a true count of {top} or more is the highest cannot be told from "
        "this release: they are taken as tied, and ties are broken at random",
    )


def _same_at_the_top(one: Posterior, other: Posterior) -> tuple[str, ...]:
    if not (top_notes([one]) and top_notes([other])):
        return ()
    top = len(one.probabilities) - 1
    return (f"two rows with {top} or more each are taken as having the same",)


def _check_zeros(release: "Release") -> None:
    if known_share(release):
        raise HoldfastError(
            f"this release has {numbered(release.structural_zeros, 'row')} publicly known to be "
            "zero, which cannot be told apart from other rows that show 0, so their sum cannot be "
            "made unbiased. Hint: use method='shrunk', or leave out the rows you know to be zero "
            "where no other row of the group shows 0."
        )


def _chances_on_top(release: "Release", places: tuple[int, ...]) -> Vector:
    """For every kind of row, the probability that such a row is among the k highest, for each k.

    The last k is the largest. True counts that k rows or more exceed for sure are drawn as one.
    """
    n, generator = len(release.target), np.random.default_rng(SEED)
    rows, known = drawn_rows(release), release.structural_zeros
    seen = np.flatnonzero(rows)
    laws = np.array([posterior(release, j).probabilities for j in seen])
    laws /= laws.sum(axis=1, keepdims=True)
    low = _lowest_on_top(laws.T @ rows[seen], places[-1])
    laws = np.column_stack([laws[:, :low].sum(axis=1), laws[:, low:]])
    chances, certain = np.zeros((len(places), n)), np.zeros(len(places))
    zero = 0 if low else 1  # where rows known to be zero stand
    for _ in range(DRAWS):
        tables = generator.multinomial(rows[seen], laws)
        totals = tables.sum(axis=0)
        totals[zero] += known
        above = np.append(np.cumsum(totals[::-1])[::-1][1:], 0)
        for at, k in enumerate(places):
            chance = np.clip((k - above) / np.maximum(totals, 1), 0, 1)
            chances[at, seen] += tables @ chance
            certain[at] += chance[zero]
    if known_share(release):  # rows of kind 0 are drawn or known, nobody knows which
        chances[:, 0] += known * certain
        rows[0] += known
    return np.column_stack([chances / np.maximum(rows, 1), certain]) / DRAWS


def _lowest_on_top(expected: Vector, k: int) -> int:
    """The lowest true count that may be among the k highest, given how many rows to expect of
    each: below it, so many more rows are expected above that fewer than k have no chance."""
    above = np.cumsum(expected[::-1])[::-1]
    enough = np.flatnonzero(above >= k + 10 * np.sqrt(k) + 30)
    return int(enough[-1]) if len(enough) else 0


def _laws(release: "Release") -> list[Posterior | None]:
    """The law of every kind of row that there is."""
    seen = set(np.unique(row_kinds(release)).tolist())
    return [
        row_law(release, kind) if kind in seen else None for kind in range(len(release.target) + 1)
    ]


def _shrunk(release: "Release") -> tuple[Vector, Vector, tuple[str, ...]]:
    laws = _laws(release)[:-1]
    means = np.array([law.mean if law else 0.0 for law in laws])
    spread = np.array([law.variance if law else 0.0 for law in laws])
    note = (
        f"groups that differ from the whole table by D are seen to differ by about "
        f"{reliability(release):.0%} of D on average: expected counts are pulled towards the "
        "table's mean, and the interval knows nothing of it"
    )
    return means, spread, (note + ("; method='unbiased' is not pulled" * _invertible(release)),)


def reliability(release: "Release") -> float:
    """Which part of a difference between rows survives in their expected counts: 0 to 1.

    The variance of the posterior mean over the variance of the true count, both under z.
    """
    z, matrix = prior(release), release.mechanism.matrix
    steps, out = np.arange(len(z)), z @ matrix
    mean = float(z @ steps)
    variance = float(z @ (steps - mean) ** 2)
    means = np.divide((z * steps) @ matrix, out, out=np.zeros_like(out), where=out > 0)
    return float(out @ (means - mean) ** 2 / variance) if variance > 0 else 0.0


def _live(release: "Release") -> NDArray[np.int64]:
    """The counts that the mechanism can draw: with zT = z, not those that z leaves out."""
    if release.mechanism.target is None:
        return np.arange(len(release.target))
    return np.flatnonzero(release.target > 0)


def _invertible(release: "Release") -> bool:
    """Whether `method="unbiased"` can be had; what takes long to find out is not promised."""
    live = _live(release)
    if len(live) > DENSE_UP_TO or known_share(release):
        return False
    return bool(np.linalg.cond(release.mechanism.matrix[np.ix_(live, live)]) <= MAX_CONDITION)


def _unbiased(release: "Release") -> tuple[Vector, Vector, tuple[str, ...]]:
    """Values u with T u = 0, 1, ..., n-1: whatever the true count is, u_j has it as its mean."""
    n = len(release.target)
    live = _live(release)
    matrix = release.mechanism.matrix[np.ix_(live, live)]
    if np.linalg.cond(matrix) > MAX_CONDITION:
        raise HoldfastError(
            "this mechanism is too noisy to be inverted. Hint: use method='shrunk', or ask "
            "about the distribution."
        )
    values, spread = np.zeros((2, n))
    values[live] = np.linalg.solve(matrix, live.astype(np.float64))
    noise = np.maximum(matrix @ values[live] ** 2 - live**2, 0)
    joint = prior(release)[live, None] * matrix
    out = joint.sum(axis=0)
    spread[live] = np.where(out > 0, noise @ (joint / np.where(out > 0, out, 1)), noise)
    missing = n - len(live)
    note = f"{missing} counts that stage 1 gave no share are left out of the inversion"
    return values, spread, (note,) if missing else ()


def _prior_variance(release: "Release", counts: NDArray[np.int64]) -> float:
    """What stage 1's error in z adds to the variance of a sum of expected counts."""
    z, matrix = prior(release), release.mechanism.matrix
    steps, out = np.arange(len(z)), z @ matrix
    drawn = counts.astype(np.float64)
    drawn[0] *= 1 - known_share(release)
    seen = np.flatnonzero(drawn)
    scaled = matrix[:, seen] / out[seen]
    means = (z * steps) @ scaled
    slope = ((steps[:, None] - means) * scaled) @ drawn[seen]
    first = release.evidence.first
    loads = first.loads(slope)
    return float(first.variance * loads @ loads)


def _normal_quantile(probability: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)
