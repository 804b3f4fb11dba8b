"""What a released count says about the true one, row by row."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, whole_number
from holdfast.former.analysis.answer import SIMULATED
from holdfast.former.analysis.cautions import high_is_noted
from holdfast.former.analysis.known_zeros import known_notes, known_share
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.release.row_laws import shortest_run
from holdfast.former.release.row_prior import LONG, row_prior

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


@dataclass(frozen=True, kw_only=True, eq=False)
class Posterior:
    r"""The law of a row's true count i given its released count j: $z_i T_{ij} / (zT)_j$.

    z is the prior: what is known of a row before its released count is looked at; where z is itself
    uncertain, with a little of every count mixed in. It is right on average over the rows of the
    table, and not for a row that other knowledge sets apart. It is not about rows publicly known to
    be zero.
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


def posterior(release: "Release", count: Any, group: int = 0) -> Posterior:
    """The law of the true count of a row whose released count is `count`, of the group with this
    number where there are groups."""
    top = len(release.target) - 1
    count = whole_number(count, "count", most=top, hint="it is a released count.")
    before, mechanism = prior(release, group)
    joint = before * column_of(mechanism, count)
    if joint.sum() <= 0:
        raise HoldfastError(
            f"`count` {count:,} is never released by this mechanism: its target share is 0."
        )
    return Posterior(count=count, probabilities=joint / joint.sum())


def column_of(mechanism: Mechanism, count: int) -> Floats:
    """For each true count, the probability of being released as this one."""
    curves, n = mechanism.curves, len(mechanism)
    if curves is None or n <= LONG:
        return np.maximum(mechanism.expected(np.eye(1, n, count)[0]), 0.0)
    column = np.full(n, float(curves.floors[count]))
    first, weights = curves.column(count)
    column[first : first + len(weights)] = weights
    return column / mechanism.total


def group_number(release: "Release", name: str | None) -> int:
    """Which group is meant: a release by group needs one, others have none."""
    if release.groups is None:
        if name is not None:
            raise HoldfastError("`group` does not fit this release, which has no groups.")
        return 0
    if name not in release.groups.names:
        short = len(release.target) <= LONG
        rows = "intervals.csv in its folder has every row" if short else "ask about a row by name"
        raise HoldfastError(
            "`group` must name one of the groups of this release, each of which has a mechanism of "
            f"its own. Hint: {rows}; in Python "
            f"release.posterior(3, group={release.groups.names[0]!r:.60})."
        )
    return release.groups.names.index(name)


def row_law(release: "Release", kind: Any) -> Posterior:
    """The law of the true count of a row of this kind, which may be publicly known to be zero."""
    group, kind = divmod(int(kind), len(release.target) + 1)
    if kind == len(release.target):
        return Posterior(count=0, probabilities=np.eye(1, len(release.target))[0])
    known = known_share(release) if kind == 0 else 0.0
    if not known:
        return posterior(release, kind, group)
    law = known * np.eye(1, len(release.target))[0]
    if known < 1:
        law = law + (1 - known) * posterior(release, kind).probabilities
    return Posterior(count=int(kind), probabilities=law)


def row_notes(release: "Release", counts: Any, laws: Iterable[Posterior] = ()) -> tuple[str, ...]:
    """What to say of an answer about rows with these released counts and laws."""
    return rows_notes(release, counts, top_notes(laws))


def rows_notes(release: "Release", counts: Any, of_the_top: tuple[str, ...]) -> tuple[str, ...]:
    """What to say of an answer about rows with these released counts, with what is said of the
    highest one."""
    simulated = (SIMULATED,) if release.privacy.simulated else ()
    return known_notes(release, counts) + of_the_top + simulated


def top_notes(laws: Iterable[Posterior]) -> tuple[str, ...]:
    """What to say where a row's true count may be the highest, which stands for all above it.

    >>> top_notes([Posterior(count=1, probabilities=np.array([0.5, 0.5]))])
    ('counts above 1, if any, were published as 1: a true count of 1 means 1 or more, and enters \
expected counts, differences and sums as 1',)
    """
    reaching = [law for law in laws if high_is_noted(law.probabilities[-1])]
    return top_note(len(reaching[0].probabilities) - 1) if reaching else ()


def top_note(top: int) -> tuple[str, ...]:
    """What to say where a row's true count may be the highest."""
    return (
        f"counts above {top:,}, if any, were published as {top:,}: a true count of {top:,} means "
        f"{top:,} or more, and enters expected counts, differences and sums as {top:,}",
    )


def run_words(interval: Sequence[int], top: int) -> str:
    """An interval of true counts as people write it; the highest stands for all above it.

    >>> run_words((3, 8), 50), run_words((3, 50), 50), run_words((0, 0), 50)
    ('3 to 8', '3 or more', '0')
    >>> run_words((2_998, 3_002), 20_000)
    '2,998 to 3,002'
    """
    low, high = interval
    if high == top:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def prior(release: "Release", group: int = 0) -> tuple[Floats, Mechanism]:
    """What is known of a row before its count is looked at, and the mechanism that drew it."""
    if release.privacy.budget.stage_1:
        return row_prior(release, group)
    return release.evidence.best, release.mechanism


def check_level(level: Any) -> float:
    """A level for an interval."""
    number = isinstance(level, int | float | np.integer | np.floating)
    if isinstance(level, bool) or not number or not 0.5 <= level <= 0.999:
        raise HoldfastError(
            f"`level` must lie between 0.5 and 0.999, got {level!r:.40}. Hint: 0.9 is usual."
        )
    return float(str(level))  # a narrow float names its decimal: 0.9, not 0.8999999762
