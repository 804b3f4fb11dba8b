"""The room in which true counts are seen, and out of which only a measurement comes."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.measure.measurement import Measurement, Sums, Tally, Totals, check_edges
from holdfast.privacy.noise import VALUE_CAP, Noise, add_noise
from holdfast.privacy.randomness import Randomness

ChooseBlocks = Callable[[Integers, Integers, Noise, Noise], Integers]
"""Edges of blocks from noisy counts, the rows that have each, their noise, and that of a sum."""
FEW_GROUPS = 30
WHOLE_SHARE = Fraction(1, 5)


def totals_whole_share(groups: int) -> Fraction:
    """The part of the totals' epsilon for the total of the table; 0 where groups say it as well.

    In units of noise at the whole epsilon, the error of the sum of 51 groups is 10.1. With a fifth
    for the table it is 6.2, and that of a group rises from 1.41 to 1.75. Up to 30 groups there is
    little to gain: 16 have 5.7 and 5.0.

    >>> totals_whole_share(8), totals_whole_share(51)
    (Fraction(0, 1), Fraction(1, 5))
    """
    return WHOLE_SHARE if groups > FEW_GROUPS else Fraction(0)


class Room:
    """True counts of one column, by group, on their way to a `Measurement`.

    Rows come in batches, each once. A room holds true counts: whoever copies it must guard it like
    the table itself.

    >>> from holdfast.privacy.randomness import Simulation
    >>> room = Room(Noise(epsilon=Fraction(1)), source=Simulation(1))
    >>> room.noisy(np.array([3, 0, 1, 12]))
    array([ 2,  0,  1, 13])
    >>> measurement = room.finish(lambda *_: np.arange(4), whole=Noise(epsilon=Fraction(1, 4)))
    >>> measurement.whole.values.size
    3
    """

    def __init__(
        self, noise: Noise, *, source: Randomness, groups: int = 1, column: str | None = None
    ) -> None:
        """`noise` is that of single counts; `groups` how many groups there are. By its name a
        column has noise of its own with a seed."""
        self.noise, self.groups, self.column = noise, groups, column
        self._source = source
        self._true, self._noisy = _Growing(groups), _Growing(groups)
        self._open = True

    def noisy(self, counts: Integers, group: Integers | None = None, at: int = 0) -> Integers:
        """Noisy counts of a batch: of the rows from number `at` on, in these groups."""
        self._check_open()
        counts = np.asarray(counts, dtype=np.int64)
        within = np.zeros(len(counts), dtype=np.int64) if group is None else np.asarray(group)
        noisy = add_noise(counts, self.noise, self._source, stream=self._stream("counts"), at=at)
        self._true.add(Tally.of_rows(counts, within, groups=self.groups))
        self._noisy.add(Tally.of_rows(noisy, within, groups=self.groups))
        return noisy

    def finish(
        self,
        choose_blocks: ChooseBlocks,
        *,
        whole: Noise | None = None,
        sums: Noise | None = None,
        totals: Noise | None = None,
    ) -> Measurement:
        """What was measured, with noisy sums and totals; the room is closed by that.

        `whole` is the noise of sums of the whole table, `sums` that of each group's beside them,
        `totals` that of the total of each row's group. Each must suffice for all that one person
        adds to all counts together. Blocks are chosen from the noisy counts alone.
        """
        self._check_open()
        for noise in (whole, sums, totals):
            if noise and not noise.shift == noise.width == 1:
                raise HoldfastError("noise of sums and totals must be discrete Laplace: shift 1.")
        if sums and self.groups == 1:
            raise HoldfastError("sums of the only group are those of the whole table.")
        self._open = False
        noisy, true = self._noisy.tally(), self._true.tally()
        of_groups = range(self.groups) if sums else ()
        stream = "sums of the whole" if self.groups > 1 else "sums 0"  # those of the only group
        return Measurement(
            noise=self.noise,
            tally=noisy,
            whole=self._sums(noisy.whole(), true.whole(), 0, choose_blocks, whole, stream),
            sums=tuple(
                self._sums(noisy, true, g, choose_blocks, sums, f"sums {g}") for g in of_groups
            ),
            totals=self._totals(true, totals) if totals else None,
        )

    def _sums(
        self,
        noisy: Tally,
        true: Tally,
        group: int,
        choose_blocks: ChooseBlocks,
        noise: Noise | None,
        stream: str,
    ) -> Sums | None:
        """Noisy sums over the blocks that noisy counts ask for; None where they ask for none."""
        if noise is None:
            return None
        value, rows = noisy.of(group)
        edges = np.asarray(choose_blocks(value, rows, self.noise, noise), dtype=np.int64)
        check_edges(edges)
        if len(edges) < 2 or int(rows.sum()) * int(edges[-1] - edges[0]) >= VALUE_CAP:
            return None
        exact = block_sums(*true.of(group), edges)
        values = add_noise(exact, noise, self._source, stream=self._stream(stream))
        return Sums(edges=edges, values=values, noise=noise)

    def _totals(self, true: Tally, noise: Noise) -> Totals:
        exact = group_totals(true)
        share = totals_whole_share(self.groups)
        own = Noise(epsilon=noise.epsilon * (1 - share))
        values = add_noise(exact, own, self._source, stream=self._stream("totals"))
        if not share:
            return Totals(values=values, noise=own)
        shared = Noise(epsilon=noise.epsilon * share)
        whole = [min(sum(exact.tolist()), VALUE_CAP)]
        found = add_noise(whole, shared, self._source, stream=self._stream("total of the whole"))
        return Totals(values=values, noise=own, whole=int(found[0]), whole_noise=shared)

    def _stream(self, name: str) -> str:
        return f"{self.column!r} {name}"

    def _check_open(self) -> None:
        if not self._open:
            raise HoldfastError("this room is closed: what it saw has been measured already.")


def block_sums(counts: Integers, rows: Integers, edges: Integers) -> Integers:
    """Sums of C_i over the blocks of counts i, where C_i rows have a count of i or less.

    The sum of C_i over all i < t is that of t - c over the rows with a count c < t. Both terms are
    taken modulo 2^64, as any difference of them is below it.

    >>> block_sums(np.array([0, 2]), np.array([5, 1]), np.array([0, 1, 2, 4]))
    array([ 5,  5, 12])
    """
    place = np.searchsorted(counts, edges)
    below = np.append(0, np.cumsum(rows))[place]
    total = np.append(0, np.cumsum(rows * counts))[place]
    return np.asarray(np.diff(edges * below - total))


def group_totals(true: Tally) -> Integers:
    """The total of each group's counts, at most `VALUE_CAP`: a cap moves no two of them apart."""
    place = np.searchsorted(true.group, np.arange(true.groups + 1))
    products = true.rows.astype(object) * true.value  # Python's integers, of any size
    totals = np.diff(np.append(0, np.cumsum(products))[place])
    return np.minimum(totals, VALUE_CAP).astype(np.int64)


class _Growing:
    """A tally to which others are added: joined whenever the added ones have become as large."""

    def __init__(self, groups: int) -> None:
        self._groups = groups
        self._tallies: list[Tally] = []  # the first of which is large
        self._size = 0

    def add(self, tally: Tally) -> None:
        self._size += len(tally.rows) if self._tallies else 0
        self._tallies.append(tally)
        if self._size > 2 * len(self._tallies[0].rows):
            self.tally()

    def tally(self) -> Tally:
        """Everything that was added."""
        if len(self._tallies) != 1:
            self._tallies = [Tally.joined(self._tallies, groups=self._groups)]
            self._size = 0
        return self._tallies[0]
