"""Outputs of any kind -> columns of numbers in which events are sought."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.release import Release

Values = NDArray[np.float64]
Outputs = Any
PAIRED_UP_TO, DIFFERENCES_UP_TO = 8, 16


@dataclass(frozen=True, kw_only=True)
class Column:
    """One number per draw, of both tables: the table's draws first, then the neighbour's."""

    name: str
    """What it is, for the report."""
    values: Values
    """Length 2 x draws."""
    ordered: bool = True
    """Whether larger and smaller mean something; if not, only equality does."""


def columns_of(parts: Sequence[Values], extra: Values | None = None) -> list[Column]:
    """The coordinates of the outputs, and what is derived from them.

    Sums, extremes, differences, the number of zeros, the lowest bit of floats, the output as
    a whole and coordinates in pairs: mechanisms that break, break in one of these.
    """
    found: list[Column] = []
    several = len(parts) > 1
    for k, part in enumerate(parts):
        name = f"output[{k}]" if several else "output"
        coordinates = _coordinates(name, part)
        found += coordinates
        found += [bit for column in coordinates if (bit := _lowest_bit(column)) is not None]
        if part.shape[1] > 1:
            found += _derived(name, part)
    found += _joint(parts, [c for c in found if c.name.endswith("]") or not several])
    if extra is not None:
        found += _coordinates("feature", extra)
    return found


def rows_of(outputs: Outputs, batched: bool, draws: int) -> list[Values]:
    """Outputs as one matrix per part, a row per draw. Text becomes numbers that keep equality."""
    if batched:
        pieces = list(outputs) if isinstance(outputs, tuple) else [outputs]
        parts = [np.asarray(piece) for piece in pieces]
        if any(part.ndim == 0 or len(part) != draws for part in parts):
            raise HoldfastError(
                "a batched mechanism must return one output per draw along the first axis. "
                "Hint: mechanism(table, size), an array or a tuple of arrays of length `size`."
            )
        return [_numbers(part.reshape(draws, -1)) for part in parts]
    outputs = [(o.target, o.counts) if isinstance(o, Release) else o for o in outputs]
    first = outputs[0]
    if isinstance(first, tuple) and all(
        isinstance(o, tuple) and len(o) == len(first) for o in outputs
    ):
        return [_stack([o[k] for o in outputs]) for k in range(len(first))]
    return [_stack(outputs)]


def codes_of(columns: Sequence[Values]) -> Values:
    """One number per row, the same for two rows if and only if they are equal."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for values in columns:
        _, inverse = np.unique(values, return_inverse=True)
        _, code = np.unique(code * (int(inverse.max()) + 1) + inverse, return_inverse=True)
    return code.astype(np.float64)


def _stack(outputs: Sequence[Any]) -> Values:
    rows = [_atoms(output) for output in outputs]
    widest = max(len(row) for row in rows)
    if all(len(row) == widest for row in rows):
        return _numbers(np.array(rows, dtype=object).reshape(len(rows), widest))
    padded = [[*row, *[math.nan] * (widest - len(row)), len(row)] for row in rows]
    return _numbers(np.array(padded, dtype=object))


def _atoms(output: Any) -> list[Any]:
    if hasattr(output, "to_numpy"):
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
    return np.stack([_column_numbers(column) for column in array.T], axis=1)


def _column_numbers(column: NDArray[Any]) -> Values:
    try:
        if not any(isinstance(value, str | bytes) for value in column):
            return column.astype(np.float64)
    except (TypeError, ValueError):
        pass
    return np.array([_text_number(value) for value in column], dtype=np.float64)


def _text_number(value: Any) -> float:
    """A number for a value that is none: the same in every run and for both tables."""
    from hashlib import blake2b

    return float(int.from_bytes(blake2b(repr(value).encode(), digest_size=6).digest(), "big"))


def _coordinates(name: str, part: Values) -> list[Column]:
    if part.shape[1] == 1:
        return [Column(name=name, values=part[:, 0])]
    return [Column(name=f"{name}[{k}]", values=part[:, k]) for k in range(part.shape[1])]


def _lowest_bit(column: Column) -> Column | None:
    """The exponent of the lowest bit of a float: rounding leaves its mark there."""
    values = np.nan_to_num(column.values, posinf=0.0, neginf=0.0)
    if (values == np.rint(values)).all():
        return None
    mantissa, exponent = np.frexp(values)
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest = np.log2(np.maximum(whole & -whole, 1).astype(np.float64)) + exponent - 53
    return Column(name=f"lowest bit of {column.name}", values=np.where(whole == 0, 99.0, lowest))


def _derived(name: str, part: Values) -> list[Column]:
    summaries: dict[str, Callable[[Values], Any]] = {
        "sum": lambda x: x.sum(axis=1),
        "max": lambda x: x.max(axis=1),
        "min": lambda x: x.min(axis=1),
        "zeros": lambda x: (x == 0).sum(axis=1),
    }
    found = [
        Column(name=f"{word}({name})", values=np.asarray(summary(part), dtype=np.float64))
        for word, summary in summaries.items()
    ]
    width = part.shape[1]
    pairs: list[tuple[int, int]] = []
    if width <= DIFFERENCES_UP_TO:
        near = [(k, k + 1) for k in range(width - 1)]
        pairs = list(combinations(range(width), 2)) if width <= PAIRED_UP_TO else near
    return found + [
        Column(name=f"{name}[{b}] - {name}[{a}]", values=part[:, b] - part[:, a]) for a, b in pairs
    ]


def _joint(parts: Sequence[Values], coordinates: Sequence[Column]) -> list[Column]:
    every = [part[:, k] for part in parts for k in range(part.shape[1])]
    if len(every) == 1:
        return []
    found = [Column(name="the whole output", values=codes_of(every), ordered=False)]
    if len(every) <= PAIRED_UP_TO:
        pairs = combinations([c for c in coordinates if not c.name.startswith("lowest")], 2)
        found += [_pair(a.name, a.values, b) for a, b in pairs]
    elif len(parts) > 1:
        whole = codes_of([parts[0][:, k] for k in range(parts[0].shape[1])])
        rest = [c for c in coordinates if not c.name.startswith(("lowest", "output[0]"))]
        found += [_pair("output[0]", whole, c) for c in rest[: 4 * PAIRED_UP_TO]]
    return found


def _pair(name: str, values: Values, other: Column) -> Column:
    return Column(
        name=f"({name}, {other.name})", values=codes_of([values, other.values]), ordered=False
    )
