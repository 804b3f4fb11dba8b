"""What is known of the true count of one row: its noisy count, and the counts around it. Plausible
true tables drawn from that: what other software can be run on, with Rubin's rules."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import whole_number
from holdfast.release.frames import as_table
from holdfast.release.release import Column, Release
from holdfast.release.row_intervals import has_prior, plain_intervals, posterior_runs
from holdfast.tables.csv import CsvTable

SAME = 1e-12  # probabilities as different as this are the same
FAR = 1e-9  # a chance that noise reaches so far is left out
PADDED = 1 << 20  # numbers of laws side by side
SEED = 20_263  # public: everybody draws the same tables
MOST_IMPUTED = 1000  # such tables
FADED = (
    "imputed counts are for their distribution in all rows and in declared groups. Their relations "
    "to other columns fade: ask('correlation') and regress are for these."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class RowLaw:
    """Probabilities of the true count of a row.

    >>> law = RowLaw(values=np.array([0, 1, 5]), probabilities=np.array([0.25, 0.7, 0.05]))
    >>> round(law.mean, 2), law.quantile(0.5), law.interval(0.9), law.equal(1)
    (0.95, 1, (0, 1), 0.7)
    """

    values: Integers
    """Counts, rising."""
    probabilities: Floats = field(repr=False)

    @cached_property
    def mean(self) -> float:
        """The expected count."""
        return float(self.values @ self.probabilities)

    @cached_property
    def variance(self) -> float:
        """Of the count."""
        return float((self.values - self.mean) ** 2 @ self.probabilities)

    def quantiles(self, levels: Floats) -> Integers:
        """For each level the smallest count that is not exceeded with this probability."""
        place = np.searchsorted(np.cumsum(self.probabilities), levels - SAME)
        return self.values[np.minimum(place, len(self.values) - 1)]

    def quantile(self, level: float) -> int:
        """The smallest count that is not exceeded with this probability."""
        return int(self.quantiles(np.array([level]))[0])

    def interval(self, level: float) -> tuple[int, int]:
        """The shortest run of counts with this probability, the more probable one of equals."""
        upto = np.concatenate([[0.0], np.cumsum(self.probabilities)])
        first = np.arange(len(self.values))
        last = np.searchsorted(upto, upto[:-1] + min(level, upto[-1]) - SAME) - 1
        fits = last < len(self.values)
        first, last = first[fits], last[fits]
        held = upto[last + 1] - upto[first]
        best = np.lexsort((-held, self.values[last] - self.values[first]))[0]
        return int(self.values[first[best]]), int(self.values[last[best]])

    def equal(self, count: int) -> float:
        """The probability of this very count."""
        return float(self.probabilities[self.values == count].sum())

    def at_most(self, count: int) -> float:
        """The probability of this count or fewer."""
        return float(self.probabilities[self.values <= count].sum())

    def draws(self, number: int) -> Floats:
        """Equally likely counts: quantiles of the law."""
        return self.quantiles((np.arange(number) + 0.5) / number).astype(np.float64)

    def less(self, other: "RowLaw") -> "RowLaw":
        """The law of this count less an independent one."""
        chances = differences([self], [other])[0]
        first = int(self.values[0] - other.values[-1])
        span = int(self.values[-1] - other.values[0]) - first + 1
        return RowLaw(values=np.arange(first, first + span), probabilities=chances[:span])

    @property
    def even(self) -> Floats:
        """Probabilities of all counts from the first to the last."""
        span = int(self.values[-1] - self.values[0]) + 1
        chances = np.bincount(self.values - self.values[0], self.probabilities, span)
        return np.asarray(chances, dtype=np.float64)


def differences(laws: Sequence[RowLaw], others: Sequence[RowLaw]) -> Floats:
    """Probabilities of the count of each law less an independent one of the other law: in each row
    from the least difference on, and 0 beyond the largest."""
    pairs = [(law.even, other.even[::-1]) for law, other in zip(laws, others, strict=True)]
    size = max(len(one) + len(other) for one, other in pairs)
    spectrum = np.ones((len(pairs), size // 2 + 1), dtype=np.complex128)
    for side in zip(*pairs, strict=True):
        padded = np.zeros((len(pairs), size))
        for row, chances in enumerate(side):
            padded[row, : len(chances)] = chances
        spectrum *= np.fft.rfft(padded)
    return np.maximum(np.fft.irfft(spectrum, size), 0.0)


def difference_intervals(
    laws: Sequence[RowLaw], others: Sequence[RowLaw], level: float
) -> tuple[Integers, Integers]:
    """The lower and the upper ends of the intervals, with equal tails, of these differences."""
    tail, ends = (1 - level) / 2, np.empty((2, len(laws)), dtype=np.int64)
    at_once = max(PADDED // max(len(law.even) for law in (*laws, *others)), 1)
    for start in range(0, len(laws), at_once):
        some = slice(start, start + at_once)
        upto = np.cumsum(differences(laws[some], others[some]), axis=1)
        first = np.array([law.values[0] for law in laws[some]])
        first -= np.array([other.values[-1] for other in others[some]])
        for end, chance in zip(ends, (tail, 1 - tail), strict=True):
            end[some] = first + (upto < chance - SAME).sum(axis=1)
    return ends[0], ends[1]


def row_law(column: Column, row: int) -> RowLaw:
    """The law of a row of a column, by its noisy count and the distribution of its group."""
    return law_of(column, int(column.group[row]), int(column.noisy[row]))


def likely_count(
    column: Column, row: int, level: float, expected: float
) -> tuple[float, tuple[int, int]]:
    """The count of a row, and the interval that rows.csv has: the expected count, or the end of
    the interval that is nearest to it, as a long tail may lift it above the likeliest counts."""
    noisy, noise = column.noisy[[row]], column.measurement.noise
    if not has_prior(column.estimate, noisy)[0]:
        low, high = plain_intervals(noisy, noise, level)
    else:
        prior = column.estimate.prior(int(column.group[row]))
        low, high = posterior_runs(noisy, *prior, noise, level)
    return float(np.clip(expected, low[0], high[0])), (int(low[0]), int(high[0]))


def laws_of(column: Column, rows: Integers) -> tuple[list[RowLaw], Integers]:
    """The laws of the kinds of rows that there are among these, and the kind of each: rows of a
    group with the same noisy count are alike."""
    span = np.int64(column.measurement.groups)
    keys = column.noisy[rows] * span + column.group[rows]
    kinds, number = np.unique(keys, return_inverse=True)
    laws = [law_of(column, int(key % span), int(key // span)) for key in kinds]
    return laws, number.ravel()


class CombinedNoise:
    """The law of the sum of the independent noises of columns of counts.

    Noise is symmetric, so a difference of noises has the law of their sum.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        law = np.ones(1)
        for column in columns:
            noise = column.measurement.noise
            reach = noise.quantile(1 - FAR)
            law = np.convolve(law, noise.probability(np.arange(-reach, reach + 1)))
        self.values, self.probabilities = np.arange(len(law)) - len(law) // 2, law
        self.beyond = np.bincount(np.abs(self.values), law)[::-1].cumsum()[::-1]

    def p_values(self, differences: Integers) -> Floats:
        """The probability of such a value, or of one farther from 0."""
        away = np.minimum(np.abs(differences), len(self.beyond) - 1)
        return np.asarray(np.minimum(self.beyond[away], 1.0))

    def reach(self, level: float) -> int:
        """The smallest distance from 0 that is not exceeded with this probability."""
        return int((self.beyond > 1 - level + 1e-15).sum()) - 1

    @property
    def fourth_moment(self) -> float:
        """The mean of the fourth power."""
        return float(self.values.astype(np.float64) ** 4 @ self.probabilities)


def law_of(column: Column, group: int, noisy: int) -> RowLaw:
    """The law of a row of this group that has this noisy count: by Bayes' rule; that of the noise
    alone where the distribution has nothing nearby."""
    held: dict[tuple[int, int], RowLaw] = column.__dict__.setdefault("_row_laws", {})
    if (group, noisy) in held:
        return held[group, noisy]
    noise, estimate = column.measurement.noise, column.estimate
    reach = noise.quantile(1 - FAR)
    near = np.arange(max(noisy - reach, 0), max(noisy, 0) + reach + 1)
    weights = noise.probability(noisy - near)
    if has_prior(estimate, np.array([noisy]))[0]:
        support, prior = estimate.prior(group)
        first, last = np.searchsorted(support, [near[0], near[-1] + 1])
        likely = prior[first:last] * noise.probability(noisy - support[first:last])
        if likely.sum() > 0:
            near, weights = support[first:last], likely
    weights = weights / weights.sum()
    kept = weights > FAR / len(weights)
    probabilities = weights[kept] / weights[kept].sum()
    return held.setdefault((group, noisy), RowLaw(values=near[kept], probabilities=probabilities))


def impute(release: Release, times: int = 20) -> list[Any]:
    """Tables of the kind that came in, or pandas frames where a file did, each with counts that may
    be the true ones.

    Counts of each row are drawn given its noisy count and the distribution of its group: they are
    for the distribution of a count, of all rows and of declared groups. They know nothing of other
    columns. Relations to these are weaker in them than in truth, whatever is done with Rubin's
    rules: `ask("correlation")` and `regress` are for relations.
    """
    times = whole_number(times, "times", least=1, most=MOST_IMPUTED)
    warnings.warn(FADED, stacklevel=3)
    drawn = {column.name: _drawn(column, times) for column in release.columns}
    counts = [{name: tables[k] for name, tables in drawn.items()} for k in range(times)]
    tables = map(release._replace, counts)
    each = zip(tables, counts, strict=True)
    return [as_table(release.cells, c) if isinstance(t, CsvTable) else t for t, c in each]


def _drawn(column: Column, times: int) -> Integers:
    """Drawn counts, of shape (times, rows): 0 where a row is known to be zero, -1 where missing."""
    generator = np.random.default_rng(SEED)
    tables = np.tile(np.where(column.missing, -1, 0), (times, 1)).astype(np.int64)
    rows = np.flatnonzero(column.measured)
    laws, kinds = laws_of(column, rows)
    order = np.argsort(kinds, kind="stable")
    alike = np.split(rows[order], np.flatnonzero(np.diff(kinds[order])) + 1)
    for law, some in zip(laws, alike, strict=len(rows) > 0):
        tables[:, some] = generator.choice(law.values, size=(times, len(some)), p=law.probabilities)
    return tables
