"""What released counts say about the true ones: how classes of both go together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.mechanism.mechanism import Mechanism

REMEMBERED = 2
"""Columns, the last ones, to which the relation of the next is kept."""


def class_joint(mechanism: Mechanism, law: ArrayLike, classes: Integers) -> Floats:
    """P(true count in class c, released count in class k), as row c and column k.

    `classes` has the class of every count and `law` the law of the true counts. Cost: O(n log n) a
    class.
    """
    z, number = np.asarray(law, dtype=np.float64), int(classes.max()) + 1
    joint = np.zeros((number, number))
    for c in range(number):
        part = np.where(classes == c, z, 0.0)
        if part.sum() > 0:
            released = mechanism.image(part / part.sum()) * part.sum()
            joint[c] = np.bincount(classes, weights=released, minlength=number)
    return joint


@dataclass(frozen=True, kw_only=True, eq=False)
class Relation:
    """The joint law of the true and the released classes of counts, within each group of rows that
    public columns make."""

    laws: Floats
    """By group, true classes and released ones; those of several columns crossed, the last running
    fastest."""
    sizes: tuple[int, ...]
    """How many classes each of the columns has."""

    def blur(self, cells: Integers) -> Floats:
        """The part of the rows of each released cell whose true counts are of each cell.

        `cells` are those that occur: the group, then the class of each column. True cells that
        are never released are left out.
        """
        groups, at = cells[:, 0], self._flat(cells)
        mixed = self.laws[groups[:, None], at[None, :], at[:, None]]
        return _shares(np.where(groups[:, None] == groups[None, :], mixed, 0.0))

    def followed_by(
        self, mechanism: GroupedMechanism, cells: Integers, classes: Integers
    ) -> "Relation":
        """The same with a further column, whose counts went through the mechanism of their cell,
        to have there the law of rows whose true counts lie in it.

        P(c, b; k, l) = P(c; k) Σ_(i in b) P(i | c) P(released in l | i, k), for true classes c of
        the columns before and b of this one, released k and l. Columns but the last two are
        summed over.
        """
        number, at = int(classes.max()) + 1, self._flat(cells)
        hot = (classes == np.arange(number)[:, None]).astype(np.float64)
        by_class = mechanism.targets[:, None, :] * hot  # cell, true class, count
        chances = [np.array([part.expected(one) for one in hot]).T for part in mechanism.parts]
        laws = np.zeros((len(self.laws), *(self.laws.shape[1], number) * 2))
        for cell, k in enumerate(at):
            g = cells[cell, 0]
            same = cells[:, 0] == g
            seen = by_class[same] @ chances[mechanism.index[cell]]  # true cell, b, l
            laws[g, at[same], :, k, :] = self.laws[g, at[same], k][:, None, None] * seen
        return _remembered(laws, (*self.sizes, number))

    def _flat(self, cells: Integers) -> Integers:
        return np.asarray(np.ravel_multi_index(tuple(cells[:, 1:].T), self.sizes))


def first_relation(
    mechanisms: Sequence[Mechanism], laws: Sequence[Floats], classes: Integers
) -> Relation:
    """Of the first column: the mechanism of each group, and the law of its true counts."""
    pairs = zip(mechanisms, laws, strict=True)
    joint = np.array([class_joint(mechanism, law, classes) for mechanism, law in pairs])
    return Relation(laws=joint, sizes=(joint.shape[1],))


def _remembered(laws: Floats, sizes: tuple[int, ...]) -> Relation:
    """All classes crossed, of the last columns alone; `laws` is by group, true classes of the
    columns before, of this one, and the same of released ones."""
    kept = sizes[-REMEMBERED:]
    columns = len(sizes)
    apart = laws.reshape(len(laws), *sizes, *sizes)
    gone = range(columns - len(kept))
    summed = apart.sum(axis=tuple(1 + k + side * columns for side in (0, 1) for k in gone))
    cells = int(np.prod(kept))
    return Relation(laws=summed.reshape(len(laws), cells, cells), sizes=kept)


def _shares(mixed: Floats) -> Floats:
    """Each row as shares; where there is nothing, the class is what it says."""
    none = np.asarray(~(mixed > 0).any(axis=1))
    mixed = np.where(none[:, None], np.eye(len(mixed)), mixed)
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))
