"""What is known of the columns that were drawn before another: how the classes of their true and
of their released counts go together. Worked out from the integers of their mechanisms."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from holdfast.former.verify.curve_table import CurveTable
from holdfast.former.verify.mechanism import Floats, Integers
from holdfast.former.verify.report import Damage, NotChecked

REMEMBERED, MOST_CELLS = 2, 2000  # those who make a release stop far below
Label = tuple[str, ...]


class Column(Protocol):
    """A column that was checked: what is asked of it here."""

    record: dict[str, Any]

    def kernels(self) -> tuple[list[CurveTable], Floats, Floats]:
        """The mechanism of each group, the law of its true counts and that of the released."""


@dataclass
class Before:
    """The columns so far, one after the other."""

    _last: Column | None = None
    _cells: Integers | None = None
    _laws: Floats | None = field(default=None, repr=False)
    """By group, true and released cells of the columns that are remembered."""
    _sizes: tuple[int, ...] = ()

    def add(self, column: Column) -> None:
        """Take in a column that is in order."""
        self._last = column

    def blur(self, labels: tuple[Label, ...], record: dict[str, Any]) -> tuple[Integers, Floats]:
        """What the groups of the next column are, and the part of their rows whose true counts are
        of each of them."""
        given, within = record["given"], record["within"]["columns"]
        if self._last is None or self._last.record["count_column"] != given[-1]:
            raise Damage(
                "release.json: given must name the columns drawn before, as they were drawn."
            )
        if len(labels) > MOST_CELLS:
            raise Damage(f"groups.csv has more than {MOST_CELLS} groups, given other counts.")
        cells, ends = _cells(labels, len(within) - len(given))
        self._follow(ends)
        if cells.shape[1] - 1 != len(self._sizes) or self._laws is None:
            raise Damage("release.json: given must name the last two columns drawn before, or one.")
        if (cells[:, 1:].max(axis=0) >= self._sizes).any() or cells[:, 0].max() >= len(self._laws):
            raise Damage("groups.csv has other classes than the column before.")
        self._cells = cells
        at = np.ravel_multi_index(tuple(cells[:, 1:].T), self._sizes)
        group = cells[:, 0]
        mixed = self._laws[group[:, None], at[None, :], at[:, None]]
        mixed[group[:, None] != group[None, :]] = 0
        empty = mixed.sum(axis=1) <= 0
        mixed[empty] = np.eye(len(mixed))[empty]
        return cells, mixed / mixed.sum(axis=1, keepdims=True)

    def _follow(self, ends: list[int]) -> None:
        """Take in the last column by its classes, which end at these released counts."""
        if self._last is None:
            raise Damage("no column was drawn before.")
        kernels, true, released = self._last.kernels()
        top = len(true[0]) - 1
        upper = np.array([*ends[:-1], top])
        if (np.diff(upper) <= 0).any() or upper[0] < 0:
            raise Damage("groups.csv has other classes than the column before.")
        starts = np.array([0, *(upper[:-1] + 1)])
        chances = [np.diff(kernel.reached(upper), axis=0, prepend=0.0) for kernel in kernels]
        if self._laws is None or self._cells is None:
            # P(true in c, released in k) = sum of z_i P(released in k | i) over i in c
            joint = [
                np.add.reduceat(p * z, starts, axis=1).T for p, z in zip(chances, true, strict=True)
            ]
            self._laws, self._sizes = np.array(joint), (len(upper),)
            return
        self._laws = self._crossed(chances, released, starts)
        self._sizes = (*self._sizes, len(upper))[-REMEMBERED:]

    def _crossed(self, chances: list[Floats], released: Floats, starts: Integers) -> Floats:
        """P(c, b; k, l) = P(c; k) P(b, l | c, k), summed over all columns but the last two."""
        old, cells, K = self._laws, self._cells, len(starts)
        if old is None or cells is None:
            raise Damage("no column was drawn before.")
        at, many = np.ravel_multi_index(tuple(cells[:, 1:].T), self._sizes), old.shape[1]
        laws = np.zeros((len(old), many, K, many, K))
        for i in range(len(cells)):
            for j in np.flatnonzero(cells[:, 0] == cells[i, 0]):
                both = np.add.reduceat(chances[i] * released[j], starts, axis=1).T
                laws[cells[i, 0], at[j], :, at[i], :] = old[cells[i, 0], at[j], at[i]] * both
        if len(self._sizes) < REMEMBERED:
            return laws.reshape(len(old), many * K, many * K)
        first, second = self._sizes
        apart = laws.reshape(len(old), first, second, K, first, second, K).sum(axis=(1, 4))
        return np.asarray(apart.reshape(len(old), second * K, second * K))


def _cells(labels: tuple[Label, ...], plain: int) -> tuple[Integers, list[int]]:
    """The numbers of the labels: that of the first `plain` of them together, that of each class;
    and the highest released count of each class of the last column."""
    prefixes = list(dict.fromkeys(label[:plain] for label in labels))
    numbers = [[prefixes.index(label[:plain]) for label in labels]]
    ends: list[int] = []
    for k in range(plain, len(labels[0])):
        classes = sorted({_class(label[k]) for label in labels})
        numbers.append([classes.index(_class(label[k])) for label in labels])
        ends = [end for _, end in classes]
    return np.array(numbers, dtype=np.int64).T, ends


def _class(text: str) -> tuple[int, int]:
    try:
        low, high = map(int, text.split(" to "))
    except ValueError:
        raise Damage("groups.csv: a class of released counts must have whole numbers.") from None
    return low, high


def curves_of(kernel: Any) -> CurveTable:
    """A mechanism that is made of curves."""
    if not isinstance(kernel, CurveTable):
        raise NotChecked("the relation to a column that is not made of curves cannot be repeated.")
    return kernel
