"""Outputs of any kind -> columns of numbers in which events are sought."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.release.release import Release

Values = NDArray[np.float64]
PAIRED_UP_TO, DIFFERENCES_UP_TO = 8, 16


@dataclass(frozen=True, kw_only=True)
class Column:
    """One number per draw, of both tables: the table's draws first, then the neighbour's."""

    name: str
    """What it is, for the report."""
    known: Values
    """The distinct values, ascending."""
    codes: NDArray[np.int64]
    """Length 2 x draws: the place of each draw's value in `known`."""
    ordered: bool = True
    """Whether larger and smaller mean something; if not, only equality does."""


@runtime_checkable
class _OfFrames(Protocol):
    """A series or a frame of any library."""

    def to_numpy(self) -> Any:
        """Its values."""


def column_of(name: str, values: Any) -> Column:
    """A column from its values."""
    known, codes = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    return Column(name=name, known=known, codes=codes)


def columns_of(parts: Sequence[Values], extra: Values | None = None) -> Iterator[Column]:
    """The coordinates of the outputs, and what is derived from them.

    Sums, extremes, differences, the number of zeros, the lowest bit of floats, the output as
    a whole and coordinates in pairs: mechanisms that break, break in one of these.
    """
    plain: list[list[Column]] = []
    for k, part in enumerate(parts):
        name = f"output[{k}]" if len(parts) > 1 else "output"
        plain.append(_coordinates(name, part))
        for column in plain[-1]:
            yield column
            yield from _lowest_bit(column)
        if part.shape[1] > 1:
            yield from _derived(name, part)
    if extra is not None:
        plain.append(_coordinates("feature", extra))
        yield from plain[-1]
    yield from _joint(plain)


def parts_of_batch(outputs: Any, size: int) -> list[Values]:
    """What a batched mechanism returned, as one matrix per part with a row per draw."""
    pieces = list(outputs) if isinstance(outputs, tuple) else [outputs]
    parts = [np.asarray(piece) for piece in pieces]
    if any(part.ndim == 0 or len(part) != size for part in parts):
        raise HoldfastError(
            "a batched mechanism must return one output per draw along the first axis. "
            "Hint: mechanism(table, size), an array or a tuple of arrays of length `size`."
        )
    return [_numbers(part.reshape(size, -1)) for part in parts]


def parts_of(outputs: Sequence[Any]) -> list[Values]:
    """Single outputs as one matrix per part with a row per draw.

    Tuples of one length have parts. Takes the outputs of both tables at once, so that both
    are laid out alike. Of a release: z, the counts, and what stage 1 measured.
    """
    outputs = [_of_release(o) if isinstance(o, Release) else o for o in outputs]
    lengths = {len(o) if isinstance(o, tuple) else -1 for o in outputs}
    if len(lengths) == 1 and min(lengths) > 0:
        return [_stack([o[k] for o in outputs]) for k in range(lengths.pop())]
    return [_stack(outputs)]


def _of_release(release: Release) -> tuple[Any, ...]:
    noisy = release.measurement
    return (
        (release.target, release.counts)
        if noisy is None
        else (release.target, release.counts, noisy)
    )


def _stack(outputs: Sequence[Any]) -> Values:
    """A row per output; shorter ones are filled up, and their length is a column then."""
    rows = [_atoms(output) for output in outputs]
    widest = max(len(row) for row in rows)
    if any(len(row) != widest for row in rows) or widest == 0:
        rows = [[*row, *[math.nan] * (widest - len(row)), len(row)] for row in rows]
    return np.array([[_number(atom) for atom in row] for row in rows], dtype=np.float64)


def _atoms(output: Any) -> list[Any]:
    if isinstance(output, _OfFrames):
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


def _numbers(array: NDArray[Any]) -> Values:
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    return np.array([[_number(atom) for atom in row] for row in array.tolist()], dtype=np.float64)


def _number(atom: Any) -> float:
    """A number for any value, the same in every round; what is no number gets a hash of it."""
    if not isinstance(atom, str | bytes):
        try:
            return float(atom)
        except (TypeError, ValueError, OverflowError):
            pass
    text = str(atom) if isinstance(atom, str) else repr(atom)
    digest = hashlib.blake2b(text.encode(), digest_size=6).digest()
    return -1e15 - int.from_bytes(digest, "big")


def _coordinates(name: str, part: Values) -> list[Column]:
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
    yield column_of(f"lowest bit of {column.name}", lowest[column.codes])


def _derived(name: str, part: Values) -> Iterator[Column]:
    part = np.nan_to_num(part, posinf=1e300, neginf=-1e300, nan=-2e300)
    yield column_of(f"sum({name})", part.sum(axis=1))
    yield column_of(f"max({name})", part.max(axis=1))
    yield column_of(f"min({name})", part.min(axis=1))
    yield column_of(f"zeros({name})", (part == 0).sum(axis=1))
    width = part.shape[1]
    pairs = [(k, k + 1) for k in range(width - 1)] if width <= DIFFERENCES_UP_TO else []
    if width <= PAIRED_UP_TO:
        pairs = list(combinations(range(width), 2))
    for a, b in pairs:
        yield column_of(f"{name}[{b}] - {name}[{a}]", part[:, b] - part[:, a])


def _joint(plain: Sequence[Sequence[Column]]) -> Iterator[Column]:
    """The output as a whole; coordinates in pairs, or each with the first part where they are
    many: what z says and what a count says may only tell together."""
    every = [column for columns in plain for column in columns]
    if len(every) == 1:
        return
    yield _together("the whole output", every)
    if len(every) <= PAIRED_UP_TO:
        for a, b in combinations(every, 2):
            yield _together(f"({a.name}, {b.name})", [a, b])
    elif len(plain) > 1:
        first = _together("output[0]", plain[0])
        rest = [column for columns in plain[1:] for column in columns]
        for column in rest[: 4 * PAIRED_UP_TO]:
            yield _together(f"(output[0], {column.name})", [first, column])


def _together(name: str, columns: Sequence[Column]) -> Column:
    """A column whose values are equal where all these columns' are."""
    code = np.zeros(len(columns[0].codes), dtype=np.int64)
    for column in columns:
        _, code = np.unique(code * len(column.known) + column.codes, return_inverse=True)
    known = np.arange(int(code.max()) + 1, dtype=np.float64)
    return Column(name=name, known=known, codes=code, ordered=False)
