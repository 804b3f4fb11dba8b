"""Draws of a mechanism on two tables, side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.studies.audit.features import parts_of, parts_of_batch

ROUNDS = 10  # the two tables take turns, so that drift cannot pass for a difference
SURPRISE = 40.0
Progress = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Outputs as numbers: the table's draws first, then as many of the neighbour's."""

    parts: list[Floats]
    """One matrix per part of the output, 2 x draws rows."""
    reused: bool
    """Whether two rounds on the same table gave the very same varying outputs."""


def collect(
    mechanism: Callable[..., Any],
    tables: tuple[Any, Any],
    *,
    draws: int,
    batched: bool,
    progress: Progress | None = None,
) -> Draws:
    """Draw from the two tables alternately, in ten rounds."""
    sizes = [draws // ROUNDS + (k < draws % ROUNDS) for k in range(ROUNDS)]
    rounds: tuple[list[Any], list[Any]] = ([], [])
    done = 0
    for size in sizes:
        for table, kept in zip(tables, rounds, strict=True):
            if batched:
                kept.append(parts_of_batch(mechanism(table, size), size))
            else:
                kept.extend(mechanism(table) for _ in range(size))
            done += size
            if progress is not None:
                progress(done)
    every = [*rounds[0], *rounds[1]]
    parts = _join(every) if batched else parts_of(every)
    starts = np.cumsum([0, *sizes])[:-1]
    reused = any(_repeats(parts, starts + shift, min(sizes)) for shift in (0, draws))
    return Draws(parts=parts, reused=reused)


def _join(batches: list[list[Floats]]) -> list[Floats]:
    if len({tuple(part.shape[1] for part in parts) for parts in batches}) != 1:
        raise HoldfastError("a batched mechanism must return outputs of one shape.")
    return [np.concatenate(pieces) for pieces in zip(*batches, strict=True)]


def _repeats(parts: list[Floats], starts: Integers, size: int) -> bool:
    """Whether two rounds are equal draw by draw, where chance would make them so with less
    than e^-40."""
    seen = set()
    for start in starts.tolist():
        rows = np.concatenate([part[start : start + size] for part in parts], axis=1)
        mark = rows.tobytes()
        if mark in seen and _surprise(rows) > SURPRISE:
            return True
        seen.add(mark)
    return False


def _surprise(rows: Floats) -> float:
    """Minus the log probability that as many further draws would be the same, one by one."""
    _, counts = np.unique(rows, axis=0, return_counts=True)
    return float(-len(rows) * np.log(np.sum((counts / len(rows)) ** 2)))
