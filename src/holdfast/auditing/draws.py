"""Draws of a mechanism on two tables, side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.auditing.features import Values, rows_of
from holdfast.errors import HoldfastError

ROUNDS = 10  # the two tables take turns, so that drift cannot pass for a difference
Progress = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Outputs as numbers: the table's draws first, then as many of the neighbour's."""

    parts: list[Values]
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
    """Draw from both tables in ten rounds by turns."""
    sizes = [draws // ROUNDS + (k < draws % ROUNDS) for k in range(ROUNDS)]
    rounds: tuple[list[list[Values]], list[list[Values]]] = ([], [])
    done = 0
    for size in sizes:
        for table, kept in zip(tables, rounds, strict=True):
            kept.append(_round(mechanism, table, size, batched))
            done += size
            if progress is not None:
                progress(done)
    shapes = {tuple(part.shape[1] for part in parts) for kept in rounds for parts in kept}
    if len({len(shape) for shape in shapes}) != 1:
        raise HoldfastError("`mechanism` must return outputs with the same number of parts.")
    widths = [max(shape[k] for shape in shapes) for k in range(len(next(iter(shapes))))]
    every = [*rounds[0], *rounds[1]]
    parts = [
        np.concatenate([_widen(parts[k], width) for parts in every])
        for k, width in enumerate(widths)
    ]
    return Draws(parts=parts, reused=any(_repeats(kept) for kept in rounds))


def _round(mechanism: Callable[..., Any], table: Any, size: int, batched: bool) -> list[Values]:
    outputs = mechanism(table, size) if batched else [mechanism(table) for _ in range(size)]
    return rows_of(outputs, batched, size)


def _widen(part: Values, width: int) -> Values:
    missing = width - part.shape[1]
    return np.pad(part, ((0, 0), (0, missing)), constant_values=np.nan) if missing else part


def _repeats(rounds: list[list[Values]]) -> bool:
    """Whether two rounds that are not constant are equal, draw by draw."""
    size = min(len(parts[0]) for parts in rounds)
    seen = set()
    for parts in rounds:
        head = [part[:size] for part in parts]
        varied = any(bool((part != part[:1]).any()) for part in head)
        mark = b"".join(np.ascontiguousarray(part).tobytes() for part in head)
        if varied and size >= 100 and mark in seen:
            return True
        seen.add(mark)
    return False
