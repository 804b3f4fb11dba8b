"""The laws of the true counts of all rows, by what is known of them."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.analysis.cautions import high_is_noted
from holdfast.former.analysis.known_zeros import known_share
from holdfast.former.analysis.posterior import Posterior, prior, row_law
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.release.row_laws import SAME
from holdfast.former.release.row_prior import LONG

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

NOTHING = 1e-9  # of a law: what may be left out of it, and moves no end of an interval


@dataclass(frozen=True, kw_only=True, eq=False)
class Summary:
    """Of each law, what intervals show."""

    ends: Integers
    """The first and the last true count of the shortest run with the level."""
    held: Floats
    """The probability of that run."""
    mean: Floats
    median: Integers
    zero: Floats
    """The probability of 0."""
    reaches: bool
    """Whether any may be the highest count."""


class Laws(Sequence[Posterior]):
    """One law for each kind of row."""

    @abstractmethod
    def at_least(self, k: int) -> Floats:
        """By kind, the probability of k or more."""

    @abstractmethod
    def summary(self, level: float) -> Summary:
        """By kind, what intervals show."""

    @overload
    def __getitem__(self, place: int) -> Posterior: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Posterior, ...]: ...

    def __getitem__(self, place: int | slice) -> Posterior | tuple[Posterior, ...]:
        if isinstance(place, slice):
            return tuple(self._law(at) for at in range(len(self))[place])
        return self._law(range(len(self))[place])

    @abstractmethod
    def _law(self, place: int) -> Posterior:
        """One of them."""


class HeldLaws(Laws):
    """All probabilities of all of them."""

    def __init__(self, laws: Sequence[Posterior]) -> None:
        self._laws = tuple(laws)

    def __len__(self) -> int:
        return len(self._laws)

    def _law(self, place: int) -> Posterior:
        return self._laws[place]

    def at_least(self, k: int) -> Floats:
        """By kind, the probability of k or more."""
        return np.array([law.at_least(k) for law in self._laws])

    def summary(self, level: float) -> Summary:
        """By kind, what intervals show."""
        laws = self._laws
        ends = np.array([law.interval(level) for law in laws], dtype=np.int64).reshape(-1, 2)
        runs = zip(laws, ends, strict=True)
        return Summary(
            ends=ends,
            held=np.array([law.probabilities[a : b + 1].sum() for law, (a, b) in runs]),
            mean=np.array([law.mean for law in laws]),
            median=np.array([law.median for law in laws], dtype=np.int64),
            zero=np.array([law.equal(0) for law in laws]),
            reaches=any(high_is_noted(law.probabilities[-1]) for law in laws),
        )


@dataclass(frozen=True, eq=False)
class LongLaws(Laws):
    """Laws that are worked out where they are asked for, since all of them would be too much to
    hold; what intervals show is found from the few true counts that a released one may come from.
    """

    release: "Release" = field(repr=False)
    kinds: Integers

    def __len__(self) -> int:
        return len(self.kinds)

    def _law(self, place: int) -> Posterior:
        return row_law(self.release, self.kinds[place])

    def at_least(self, k: int) -> Floats:
        """By kind, the probability of k or more."""
        from holdfast.former.analysis.row_kernel import ABOVE

        return self._found(0.9, max(k, 0))[0][:, ABOVE]

    def summary(self, level: float) -> Summary:
        """By kind, what intervals show."""
        from holdfast.former.analysis.row_kernel import HELD, MEAN, TOP, ZERO

        numbers, ends = self._found(level, 0)
        return Summary(
            ends=ends[:, :2],
            held=numbers[:, HELD],
            mean=numbers[:, MEAN],
            median=ends[:, 2],
            zero=numbers[:, ZERO],
            reaches=high_is_noted(numbers[:, TOP].max(initial=0.0)),
        )

    def _found(self, level: float, above: int) -> tuple[Floats, Integers]:
        from holdfast.former.analysis.row_kernel import OUTSIDE, laws_of_columns

        n = len(self.release.target)
        groups, counts = np.divmod(self.kinds, n + 1)
        numbers, ends = np.zeros((len(counts), 6)), np.zeros((len(counts), 3), np.int64)
        drawn = (counts < n) & ((counts > 0) | (known_share(self.release) == 0))
        for group in np.unique(groups[drawn]).tolist():
            some = drawn & (groups == group)
            before, mechanism = prior(self.release, group)
            numbers[some], ends[some] = laws_of_columns(
                *shape_of(mechanism), before, counts[some], level, above, SAME
            )
        for place in np.flatnonzero(~drawn | (numbers[:, OUTSIDE] > NOTHING)).tolist():
            numbers[place], ends[place] = _numbers_of(self._law(place), level, above)
        return numbers, ends


def by_columns(release: "Release") -> bool:
    """Whether the range is long, and the mechanism made of curves of which columns can be had."""
    drawn = release.drawn_with
    one = drawn.parts[0] if isinstance(drawn, GroupedMechanism) else drawn
    return len(release.target) > LONG and has_columns(one)


def has_columns(mechanism: Mechanism) -> bool:
    """Whether it is made of curves of pure privacy."""
    return mechanism.curves is not None and not mechanism.curves.lift


def means_over(mechanism: Mechanism, before: Floats, counts: Integers, values: Floats) -> Floats:
    """For each of these released counts (columns), the mean of functions of the true one (rows)."""
    from holdfast.former.analysis.row_kernel import means_of_columns

    return np.asarray(means_of_columns(*shape_of(mechanism), before, counts, values))


def shape_of(mechanism: Mechanism) -> tuple[Any, ...]:
    """What the kernels take of a mechanism, where there is `by_columns`."""
    curves = mechanism.curves
    if curves is None:
        raise HoldfastError("this mechanism is not made of curves.")
    keep, _, powers = curves.scale
    return curves.turns, curves.heights, curves.floors, keep, powers


def _numbers_of(law: Posterior, level: float, above: int) -> tuple[list[float], list[int]]:
    """The same of a law that is at hand, in the order of the kernel."""
    low, high = law.interval(level)
    held = float(law.probabilities[low : high + 1].sum())
    top = float(law.probabilities[-1])
    numbers = [law.mean, law.equal(0), top, law.at_least(above), held, 0.0]
    return numbers, [low, high, law.median]


def laws_of(release: "Release", kinds: Integers) -> Laws:
    """The law of the true count of rows of each of these kinds."""
    if by_columns(release):
        return LongLaws(release, kinds)
    return HeldLaws([row_law(release, kind) for kind in kinds])
