"""The total of a group of rows, with the pull towards the whole table said."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.analysis.answer import SIMULATED, Answer
from holdfast.analysis.categories import laws_of_rows
from holdfast.analysis.evidence import DENSE_UP_TO
from holdfast.analysis.known_zeros import known_notes, known_share, row_kinds
from holdfast.analysis.posterior import check_level, prior, prior_notes, row_law, top_notes
from holdfast.analysis.rows import find_rows, row_labels
from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, numbered

if TYPE_CHECKING:
    from holdfast.release.release import Release

MAX_CONDITION = 1e8


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


def _check_zeros(release: "Release") -> None:
    if known_share(release):
        raise HoldfastError(
            f"this release has {numbered(release.structural_zeros, 'row')} publicly known to be "
            "zero, which cannot be told apart from other rows that show 0, so their sum cannot be "
            "made unbiased. Hint: use method='shrunk', or leave out the rows you know to be zero "
            "where no other row of the group shows 0."
        )


def _shrunk(release: "Release") -> tuple[Floats, Floats, tuple[str, ...]]:
    laws = laws_of_rows(release)[:-1]
    means = np.array([law.mean if law else 0.0 for law in laws])
    spread = np.array([law.variance if law else 0.0 for law in laws])
    note = (
        f"groups that differ from the whole table by D are seen to differ by about "
        f"{reliability(release):.0%} of D on average: expected counts are pulled towards the "
        "table's mean, and the interval does not account for it"
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


def _live(release: "Release") -> Integers:
    """The counts that the mechanism can draw: with zT = z, not those that z leaves out."""
    if release.mechanism.target is None:
        return np.arange(len(release.target))
    return np.flatnonzero(release.target > 0)


def _invertible(release: "Release") -> bool:
    """Whether `method="unbiased"` is available; not promised where finding out would take long."""
    live = _live(release)
    if len(live) > DENSE_UP_TO or known_share(release):
        return False
    return bool(np.linalg.cond(release.mechanism.matrix[np.ix_(live, live)]) <= MAX_CONDITION)


def _unbiased(release: "Release") -> tuple[Floats, Floats, tuple[str, ...]]:
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


def _prior_variance(release: "Release", counts: Integers) -> float:
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
