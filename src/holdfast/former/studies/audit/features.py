"""Outputs of any kind -> columns of numbers in which events are sought."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from itertools import combinations
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.release.release import Release

PAIRED_UP_TO, MOST_PAIRS = 8, 2000
CLEAR = (
    2.0  # Kolmogorov-Smirnov distance of two samples, in units of its scale: 1 in 1,500 by chance
)


class Kind(Enum):
    """What a column is made of; events of different kinds do not compete."""

    COORDINATE = "a number of the output"
    DERIVED = "a number computed from the output"
    PAIR = "two numbers of the output"
    WHOLE = "the whole output"


@dataclass(frozen=True, kw_only=True)
class Column:
    """One number per draw, of both tables: the table's draws first, then the neighbour's."""

    name: str
    """What it is, for the report."""
    known: Floats
    """The distinct values, ascending."""
    codes: Integers
    """Length 2 x draws: the place of each draw's value in `known`."""
    kind: Kind = Kind.COORDINATE
    """What it is made of."""
    ordered: bool = True
    """Whether larger and smaller mean something; if not, only equality does."""


@runtime_checkable
class _OfFrames(Protocol):
    """A series or a frame of any library."""

    def to_numpy(self) -> Any:
        """Its values."""


@cache
def _is_of_frames(kind: type) -> bool:
    return issubclass(kind, _OfFrames)  # slow, and asked of every number that was drawn


def column_of(name: str, values: Any, kind: Kind = Kind.COORDINATE) -> Column:
    """A column from its values."""
    known, codes = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    return Column(name=name, known=known, codes=codes, kind=kind)


@dataclass(frozen=True, kw_only=True, eq=False)
class Outputs:
    """The outputs on both tables, from which columns are made."""

    parts: Sequence[Floats]
    """One matrix per part of the output, one row per draw."""
    extra: Floats | None = None
    """Further numbers of each draw."""
    differing: Sequence[int] = ()
    """The places where the two tables differ, where that is known."""

    def columns(self) -> Iterator[Column]:
        """The coordinates of the outputs, and what is derived from them.

        Sums, extremes, the number of zeros, the lowest bit of floats, the output as a whole, and
        coordinates in pairs: broken mechanisms show in one of these.
        """
        for columns in self.coordinates:
            for column in columns:
                yield column
                yield from _lowest_bit(column)
        for k, part in enumerate(self.parts):
            if part.shape[1] > 1:
                yield from _derived(self._name(k), part)
        yield from self._joint()

    @property
    def left_out(self) -> int:
        """How many pairs of coordinates are too many to be compared."""
        return max(len(self.pairs) - MOST_PAIRS, 0)

    @cached_property
    def coordinates(self) -> list[list[Column]]:
        """One list per part; the last has the extra numbers."""
        found = [_coordinates(self._name(k), part) for k, part in enumerate(self.parts)]
        return found if self.extra is None else [*found, _coordinates("feature", self.extra)]

    @cached_property
    def pairs(self) -> list[tuple[Column, Column]]:
        """All pairs of coordinates, where they are few; else each coordinate with those that
        stand where the tables differ, and with those that tell the tables apart."""
        every = [column for columns in self.coordinates for column in columns]
        if len(every) <= PAIRED_UP_TO:
            return list(combinations(every, 2))
        placed = [c[k] for c in self.coordinates for k in self.differing if k < len(c)]
        leading = {column.name: column for column in [*placed, *_telling(every)]}
        names = list(leading)
        return [
            (one, other)
            for rank, one in enumerate(leading.values())
            for other in every
            if other.name not in names[: rank + 1]
        ]

    def _name(self, part: int) -> str:
        return f"output[{part}]" if len(self.parts) > 1 else "output"

    def _joint(self) -> Iterator[Column]:
        """The output as a whole; coordinates in pairs, and their differences: rows that share
        their noise only tell together. Where parts are several, each coordinate with the whole
        first part: so z and a count."""
        every = [column for columns in self.coordinates for column in columns]
        if len(every) == 1:
            return
        yield _together("the whole output", every, Kind.WHOLE)
        for one, other in self.pairs[:MOST_PAIRS]:
            yield _together(f"({one.name}, {other.name})", [one, other], Kind.PAIR)
            yield _difference(one, other)
        if len(every) > PAIRED_UP_TO and len(self.coordinates) > 1:
            first = _together("output[0]", self.coordinates[0], Kind.WHOLE)
            for column in every[len(self.coordinates[0]) :][:MOST_PAIRS]:
                yield _together(f"(output[0], {column.name})", [first, column], Kind.PAIR)


def parts_of_batch(outputs: Any, size: int) -> list[Floats]:
    """What a batched mechanism returned, as one matrix per part with a row per draw."""
    pieces = list(outputs) if isinstance(outputs, tuple) else [outputs]
    parts = [np.asarray(piece) for piece in pieces]
    if any(part.ndim == 0 or len(part) != size for part in parts):
        raise HoldfastError(
            "a batched mechanism must return one output per draw along the first axis. "
            "Hint: mechanism(table, size), an array or a tuple of arrays of length `size`."
        )
    return [_numbers(part.reshape(size, -1)) for part in parts]


def parts_of(outputs: Sequence[Any]) -> list[Floats]:
    """Single outputs as one matrix per part with a row per draw.

    Tuples of one length have parts. Takes the outputs of both tables at once, so that both
    are laid out alike. Of a release: z, the counts, and what was measured.
    """
    outputs = [_of_release(o) if isinstance(o, Release) else o for o in outputs]
    lengths = {len(o) if isinstance(o, tuple) else -1 for o in outputs}
    if len(lengths) == 1 and min(lengths) > 0:
        return [_stack([o[k] for o in outputs]) for k in range(lengths.pop())]
    return [_stack(outputs)]


def _of_release(release: Release) -> tuple[Any, ...]:
    noisy: list[Any] = [release.measurement]
    targets = release.target
    if release.groups is not None:
        targets, found = release.groups.targets.ravel(), release.groups.measurement
        noisy = [*found.groups, found.whole]
    if release.totals is not None:
        noisy += [np.array(release.totals.measured), release.totals.measured_whole]
    known = [np.atleast_1d(part) for part in noisy if part is not None]
    return (targets, release.counts, *([np.concatenate(known)] if known else []))


def _stack(outputs: Sequence[Any]) -> Floats:
    """A row per output; shorter ones are filled up, and their length is a column then."""
    rows = [_atoms(output) for output in outputs]
    widest = max(len(row) for row in rows)
    if any(len(row) != widest for row in rows) or widest == 0:
        rows = [[*row, *[math.nan] * (widest - len(row)), len(row)] for row in rows]
    return np.array([[_number(atom) for atom in row] for row in rows], dtype=np.float64)


def _atoms(output: Any) -> list[Any]:
    kind: Any = type(output)
    if _is_of_frames(kind):
        output = output.to_numpy()
    if isinstance(output, np.ndarray):
        output = output.tolist()
    if isinstance(output, dict):
        output = sorted(output.items(), key=repr)
    if isinstance(output, set | frozenset):
        output = sorted(output, key=repr)
    if isinstance(output, list | tuple):
        return [atom for item in output for atom in _atoms(item)]
    return [output]


def _numbers(array: NDArray[Any]) -> Floats:
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    return np.array([[_number(atom) for atom in row] for row in array.tolist()], dtype=np.float64)


def _number(atom: Any) -> float:
    """A number for any value, the same in every round; anything else is hashed."""
    if not isinstance(atom, str | bytes):
        try:
            return float(atom)
        except (TypeError, ValueError, OverflowError):
            pass
    text = str(atom) if isinstance(atom, str) else repr(atom)
    digest = hashlib.blake2b(text.encode(), digest_size=6).digest()
    return -1e15 - int.from_bytes(digest, "big")


def _coordinates(name: str, part: Floats) -> list[Column]:
    if part.shape[1] == 1:
        return [column_of(name, part[:, 0])]
    return [column_of(f"{name}[{k}]", part[:, k]) for k in range(part.shape[1])]


def _lowest_bit(column: Column) -> Iterator[Column]:
    """The exponent of the lowest bit of a float: rounding leaves its mark there."""
    values = np.nan_to_num(column.known, posinf=0.0, neginf=0.0)
    if (values == np.rint(values)).all():
        return
    mantissa, exponent = np.frexp(values)
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1).astype(np.float64)) + exponent - 53
    lowest[whole == 0] = np.inf
    yield column_of(f"lowest bit of {column.name}", lowest[column.codes], Kind.DERIVED)


def _derived(name: str, part: Floats) -> Iterator[Column]:
    part = np.nan_to_num(part, posinf=1e300, neginf=-1e300, nan=-2e300)
    yield column_of(f"sum({name})", part.sum(axis=1), Kind.DERIVED)
    yield column_of(f"max({name})", part.max(axis=1), Kind.DERIVED)
    yield column_of(f"min({name})", part.min(axis=1), Kind.DERIVED)
    yield column_of(f"zeros({name})", (part == 0).sum(axis=1), Kind.DERIVED)


def _telling(columns: Sequence[Column]) -> list[Column]:
    """The coordinates that differ most between the tables, on the quarter that scores are learnt
    on: by their Kolmogorov-Smirnov distance."""
    far = [(_distance(column), -place) for place, column in enumerate(columns)]
    ranked = sorted((found for found in far if found[0] > CLEAR), reverse=True)
    return [columns[-place] for _, place in ranked[:PAIRED_UP_TO]]


def _distance(column: Column) -> float:
    draws = len(column.codes) // 2
    quarter, size = draws // 4, len(column.known)
    ours, theirs = (
        np.cumsum(np.bincount(column.codes[start : start + quarter], minlength=size))
        for start in (0, draws)
    )
    return float(np.abs(ours - theirs).max() / np.sqrt(2 * quarter))


def _difference(a: Column, b: Column) -> Column:
    ours, theirs = (
        np.nan_to_num(c.known, posinf=1e300, neginf=-1e300, nan=-2e300)[c.codes] for c in (a, b)
    )
    return column_of(f"{b.name} - {a.name}", theirs - ours, Kind.DERIVED)


def _together(name: str, columns: Sequence[Column], kind: Kind) -> Column:
    """A column whose values are equal where all these columns' are."""
    code = np.zeros(len(columns[0].codes), dtype=np.int64)
    for column in columns:
        _, code = np.unique(code * len(column.known) + column.codes, return_inverse=True)
    known = np.arange(int(code.max()) + 1, dtype=np.float64)
    return Column(name=name, known=known, codes=code, kind=kind, ordered=False)
