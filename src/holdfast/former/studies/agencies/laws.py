"""Small-count suppression, rounding, random rounding and the cell-key method.

Each is called with a count and gives the law of what is published for it, exactly; None stands for
a count that is not shown.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.studies.agencies.ptable import PerturbationTable, entropy_table

Law = dict[int | None, Fraction]
ONE = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Published:
    """A method that treats every count by itself, the same count always by the same law."""

    def __call__(self, count: int) -> Law:
        """The law of what is published for a count."""
        raise NotImplementedError

    @property
    def unseen(self) -> int:
        """What an analyst takes a count for that is not shown."""
        return 0

    def matrix(self, max_count: int) -> Floats:
        """Row i is the law of what is published for i, capped at max_count; what is not shown
        counts as `unseen`."""
        found = np.zeros((max_count + 1, max_count + 1))
        for count in range(max_count + 1):
            for shown, share in self(count).items():
                found[count, min(self.unseen if shown is None else shown, max_count)] += share
        return found


@dataclass(frozen=True, kw_only=True)
class Suppression(Published):
    """Counts from 1 to below a threshold are not shown; the others are, as they are.

    The second round, which hides other counts so that totals give nothing away, is left out: it
    depends on the totals that are published.

    >>> Suppression(below=5)(3), Suppression(below=5)(7), Suppression(below=5).unseen
    ({None: Fraction(1, 1)}, {7: Fraction(1, 1)}, 2)
    """

    below: int = 5
    """The smallest count, after 0, that is shown."""

    def __call__(self, count: int) -> Law:
        """Nothing, or the count."""
        return {None: ONE} if 0 < count < self.below else {count: ONE}

    @property
    def unseen(self) -> int:
        """The middle of what is not shown."""
        return self.below // 2


@dataclass(frozen=True, kw_only=True)
class Rounding(Published):
    """Every count becomes the nearest multiple of a base; halfway goes up.

    >>> Rounding(base=5)(7), Rounding(base=5)(8)
    ({5: Fraction(1, 1)}, {10: Fraction(1, 1)})
    """

    base: int = 5
    """What is published is a multiple of it."""

    def __call__(self, count: int) -> Law:
        """One multiple."""
        return {(2 * count + self.base) // (2 * self.base) * self.base: ONE}


@dataclass(frozen=True, kw_only=True)
class RandomRounding(Published):
    """Every count goes to one of the two multiples around it, so that its mean stays.

    >>> RandomRounding(base=5)(7)
    {5: Fraction(3, 5), 10: Fraction(2, 5)}
    """

    base: int = 5
    """What is published is a multiple of it."""

    def __call__(self, count: int) -> Law:
        """The multiple below, and the one above."""
        low, rest = count - count % self.base, count % self.base
        if not rest:
            return {low: ONE}
        up = Fraction(rest, self.base)
        return {low: 1 - up, low + self.base: up}


@dataclass(frozen=True, kw_only=True)
class CellKey(Published):
    """Noise from a perturbation table, looked up by the sum of random keys of the people counted.

    The same people always get the same noise. Seen over the keys, which are uniform and secret, the
    noise has the law in the table, and one person more or less means another key.
    """

    table: PerturbationTable = entropy_table()  # noqa: RUF009
    """The law of the noise."""

    def __call__(self, count: int) -> Law:
        """The count with its noise."""
        return {count + v: share for v, share in self.table.noise(count).items()}
