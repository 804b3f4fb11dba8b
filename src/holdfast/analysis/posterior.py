"""What a released count says about the true one, row by row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from holdfast.analysis.answer import SIMULATED, percent
from holdfast.analysis.known_zeros import known_notes, known_share, row_kinds
from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, whole_number

if TYPE_CHECKING:
    from holdfast.release.release import Release

NOTED_TOP = 0.001
MOST_HELD = 200_000_000  # probabilities of true counts


@dataclass(frozen=True, kw_only=True, eq=False)
class Posterior:
    r"""The law of a row's true count i given its released count j: $z_i T_{ij} / (zT)_j$.

    z is the prior: what is known of a row before its released count is looked at. It is right
    on average over the rows of the table, if z is right, and not for a row that other knowledge
    sets apart. z's own uncertainty is not in it. It is not about rows publicly known to be zero.
    """

    count: int
    """The released count."""
    probabilities: Floats = field(repr=False)
    """Of the true counts 0, 1, ..., n-1; the last means n-1 or more."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the highest count."""
        return top_notes([self])

    @property
    def mean(self) -> float:
        """The expected true count."""
        return float(self.probabilities @ np.arange(len(self.probabilities)))

    @property
    def median(self) -> int:
        """The true count is as likely below it as above."""
        return int(np.searchsorted(np.cumsum(self.probabilities), 0.5 - 1e-12))

    @property
    def variance(self) -> float:
        """Of the true count."""
        return float(self.probabilities @ (np.arange(len(self.probabilities)) - self.mean) ** 2)

    def interval(self, level: float = 0.9) -> tuple[int, int]:
        """The shortest run of true counts that has at least this probability."""
        return shortest_run(self.probabilities, check_level(level))

    def at_least(self, k: int) -> float:
        """The probability that the true count is k or more.

        >>> Posterior(count=1, probabilities=np.array([0.25, 0.5, 0.25])).at_least(1)
        0.75
        """
        return float(self.probabilities[max(k, 0) :].sum())

    def equal(self, k: int) -> float:
        """The probability that the true count is k."""
        return float(self.probabilities[k]) if 0 <= k < len(self.probabilities) else 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """For every row of the table, what its released count says about its true count."""

    level: float
    """Asked for; discrete intervals hold at least this probability, and often more."""
    low: Integers = field(repr=False)
    """Lower ends, in row order."""
    high: Integers = field(repr=False)
    """Upper ends."""
    probability: Floats = field(repr=False)
    """What the intervals really hold."""
    mean: Floats = field(repr=False)
    """Expected true counts."""
    median: Integers = field(repr=False)
    """Medians of the true counts."""
    zero: Floats = field(repr=False)
    """Probability that the true count is 0."""
    laws: tuple[Posterior, ...] = field(repr=False)
    """One for every released count that occurs, and one for rows known to be zero."""
    law_of: NDArray[np.intp] = field(repr=False)
    """Which of the laws each row has."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""

    def at_least(self, k: int) -> Floats:
        """For every row, the probability that its true count is k or more."""
        return np.array([law.at_least(k) for law in self.laws])[self.law_of]

    def columns(self) -> dict[str, list[Any]]:
        """As columns to stand beside the table."""
        ends = percent(self.level).removesuffix("%")
        return {
            f"low_{ends}": self.low.tolist(),
            f"high_{ends}": self.high.tolist(),
            "expected": np.round(self.mean, 3).tolist(),
            "median": self.median.tolist(),
            "probability_zero": np.round(self.zero, 4).tolist(),
        }


def posterior(release: "Release", count: Any) -> Posterior:
    """The law of the true count of a row whose released count is `count`."""
    top = len(release.target) - 1
    count = whole_number(count, "count", most=top, hint="it is a released count.")
    column = release.mechanism.expected(np.eye(1, top + 1, int(count))[0])
    joint = prior(release) * np.maximum(column, 0.0)
    if joint.sum() <= 0:
        raise HoldfastError(
            f"`count` {count} is never released by this mechanism: its target share is 0."
        )
    return Posterior(count=count, probabilities=joint / joint.sum())


def row_law(release: "Release", kind: Any) -> Posterior:
    """The law of the true count of a row of this kind, which may be publicly known to be zero."""
    if kind == len(release.target):
        return Posterior(count=0, probabilities=np.eye(1, len(release.target))[0])
    known = known_share(release) if kind == 0 else 0.0
    if not known:
        return posterior(release, kind)
    law = known * np.eye(1, len(release.target))[0]
    if known < 1:
        law = law + (1 - known) * posterior(release, kind).probabilities
    return Posterior(count=int(kind), probabilities=law)


def prior_notes(release: "Release") -> tuple[str, ...]:
    """What to say of every question about rows where z itself is uncertain."""
    from holdfast.analysis.cautions import FEW_FOR_ROWS, largest_spread

    try:
        spread = largest_spread(release.evidence)
    except HoldfastError:  # a stage 1 that is not known here
        return ()
    if spread < FEW_FOR_ROWS:
        return ()
    return (
        "the distribution of counts is itself uncertain, with few rows for this budget: what is "
        "said of rows holds on average if the distribution is right, and may be less "
        "certain than stated",
    )


def row_notes(release: "Release", counts: Any, laws: Iterable[Posterior] = ()) -> tuple[str, ...]:
    """What to say of an answer about rows with these released counts and laws."""
    simulated = (SIMULATED,) if release.privacy.simulated else ()
    return known_notes(release, counts) + top_notes(laws) + prior_notes(release) + simulated


def top_notes(laws: Iterable[Posterior]) -> tuple[str, ...]:
    """What to say where a row's true count may be the highest, which stands for all above it.

    >>> top_notes([Posterior(count=1, probabilities=np.array([0.5, 0.5]))])
    ('counts above 1, if any, were published as 1: a true count of 1 means 1 or more, and enters \
expected counts, differences and sums as 1',)
    """
    reaching = [law for law in laws if law.probabilities[-1] >= NOTED_TOP]
    if not reaching:
        return ()
    top = len(reaching[0].probabilities) - 1
    return (
        f"counts above {top}, if any, were published as {top}: a true count of {top} means {top} "
        f"or more, and enters expected counts, differences and sums as {top}",
    )


def run_words(interval: Sequence[int], top: int) -> str:
    """An interval of true counts as people write it; the highest stands for all above it.

    >>> run_words((3, 8), 50), run_words((3, 50), 50), run_words((50, 50), 50)
    ('3 to 8', '3 to 50 or more', '50 or more')
    """
    low, high = interval
    last = f"{high} or more" if high == top else str(high)
    return last if low == high == top else f"{low} to {last}"


def prior(release: "Release") -> Floats:
    """What is known of a row before its count is looked at: z, or without a stage 1, the best
    estimate of the distribution."""
    skipped = release.mechanism.target is None and release.evidence.first.skipped
    return release.evidence.best if skipped else release.target


def intervals(release: "Release", level: float) -> Intervals:
    """Intervals for every row; rows of the same kind have the same."""
    level = check_level(level)
    seen, where = np.unique(row_kinds(release), return_inverse=True)
    if len(seen) * len(release.target) > MOST_HELD:
        raise HoldfastError(
            "intervals for every row of so long a range take too much memory. "
            "Hint: ask about the rows that matter, one by one."
        )
    laws = [row_law(release, kind) for kind in seen]
    ends = np.array([law.interval(level) for law in laws], dtype=np.int64)
    held = [law.probabilities[a : b + 1].sum() for law, (a, b) in zip(laws, ends, strict=True)]
    return Intervals(
        level=level,
        low=ends[where, 0],
        high=ends[where, 1],
        probability=np.array(held)[where],
        mean=np.array([law.mean for law in laws])[where],
        median=np.array([law.median for law in laws], dtype=np.int64)[where],
        zero=np.array([law.equal(0) for law in laws])[where],
        laws=tuple(laws),
        law_of=where,
        notes=row_notes(release, seen, laws),
    )


def shortest_run(probabilities: Floats, level: float) -> tuple[int, int]:
    """The shortest run with at least this probability; of several, the most probable.

    >>> shortest_run(np.array([0.05, 0.5, 0.4, 0.05]), 0.9)
    (1, 2)
    """
    below = np.concatenate([[0], np.cumsum(probabilities)])
    needed = below[:-1] + level * below[-1]
    ends = np.searchsorted(below, needed - 1e-12)  # first end with enough between
    starts = np.flatnonzero(ends < len(below))
    lengths = ends[starts] - starts
    short = starts[lengths == lengths.min()]
    best = short[np.argmax(below[ends[short]] - below[short])]
    return int(best), int(ends[best] - 1)


def check_level(level: Any) -> float:
    """A level for an interval."""
    number = isinstance(level, int | float | np.integer | np.floating)
    if isinstance(level, bool) or not number or not 0.5 <= level <= 0.999:
        raise HoldfastError(
            f"`level` must lie between 0.5 and 0.999, got {level!r:.40}. Hint: 0.9 is usual."
        )
    return float(str(level))  # a narrow float names its decimal: 0.9, not 0.8999999762
