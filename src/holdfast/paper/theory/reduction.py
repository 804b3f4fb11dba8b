"""Walks to an extreme point, along movements that keep every binding constraint."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.paper.theory.convexity import error_weights
from holdfast.paper.theory.decomposition import Decomposition
from holdfast.paper.theory.epsilon import Array, Number, zeros
from holdfast.paper.theory.extreme import (
    Segment,
    member,
    piece_vectors,
    place,
    segment_vectors,
    segments,
)
from holdfast.paper.theory.linear_algebra import dependency
from holdfast.paper.theory.polytopes import Polytope, check_member
from holdfast.paper.theory.scales import heights, powers, scale

DUST = 1e-12  # a float column that has shrunk to this part of its largest size is dead


def reduce_representation(
    representation: Any, name: str = "R_F", *, z: Any = None, epsilon: Any, error: Any = None
) -> Decomposition:
    """An extreme point of R_F (or R_U), reached from any element B by movement matrices.

    Every move ends where an entry of B becomes zero, so there are fewer moves than pieces.
    The extreme point uses only scales that B uses, each in a column where B has it. With
    `error`, no move raises ⟨W, ΨB⟩: see `reduce_mechanism`.

    >>> from holdfast.paper.theory import decompose, is_extreme, log
    >>> third = ["1/3", "1/3", "1/3"]
    >>> mixed = decompose([third] * 3, log(2))
    >>> len(mixed), is_extreme(mixed, "R_F", z=third, epsilon=log(2))
    (8, False)
    >>> found = reduce_representation(mixed, z=third, epsilon=log(2))
    >>> len(found), is_extreme(found, "R_F", z=third, epsilon=log(2))
    (5, True)
    """
    where = place(representation, name, z=z, epsilon=epsilon)
    parts = member(representation, where)
    weights = error_weights(error, n=where.n, z=z, epsilon=epsilon)
    while (move := dependency(piece_vectors(parts, where))) is not None:
        costs = [weights[:, j] @ scale(p, epsilon) for j, p, _ in parts]
        move = _downhill(move, costs)
        amounts = np.array([amount for _, _, amount in parts])
        step, stopped = _first_stop(zip(amounts, move, strict=True))
        left = amounts + step * move
        pieces = (
            (j, p, a)
            for k, ((j, p, _), a) in enumerate(zip(parts, left, strict=True))
            if k != stopped and a > 0
        )
        parts = Decomposition(n=parts.n, epsilon=epsilon, pieces=tuple(pieces))
    return parts


def reduce_mechanism(
    matrix: Any, name: str = "F", *, z: Any = None, epsilon: Any, error: Any = None
) -> Array:
    """An extreme point of F (or U) reached from any T in it, with no larger count error.

    A move scales the segments of T's columns, so bounds that bind stay bound, and it ends
    where another one binds: at most n^2 moves. `error` is "absolute", "squared" or a weight
    matrix W; of the two directions of a move the one that does not raise ⟨W, T⟩ is taken.
    Without it either may be.

    >>> from holdfast.paper.theory import log, show
    >>> half = ["1/2", "1/2"]
    >>> print(show(reduce_mechanism([half] * 2, z=half, epsilon=log(2), error="absolute")))
    2/3 1/3
    1/3 2/3
    """
    where = place(matrix, name, z=z, epsilon=epsilon)
    if where.of_representations:
        raise HoldfastError(f"{name} holds representations. Hint: `reduce_representation`.")
    t = check_member(matrix, where).copy()
    weights = error_weights(error, n=where.n, z=z, epsilon=epsilon)
    cut, largest = segments(t, where), t.max(axis=0)
    while (move := dependency(segment_vectors(t, cut, where))) is not None:
        costs = [weights[a : b + 1, j] @ t[a : b + 1, j] for j, a, b in cut]
        move = _downhill(move, costs)
        t, cut = _scaled(t, cut, move, largest, where)
        largest = np.maximum(largest, t.max(axis=0))
    return t


def _downhill(move: Array, costs: Iterable[Any]) -> Array:
    """The move or its opposite, whichever does not raise the cost."""
    return -move if sum(m * c for m, c in zip(move, costs, strict=True)) > 0 else move


def _first_stop(slacks: Iterable[tuple[Number, Number]]) -> tuple[Number, int]:
    """The largest step that keeps every slack + step·rate non-negative, and which one stops.

    There is one: what moves adds up to zero, so something shrinks. Rounding can leave a float
    slack just below zero; such a one stops the move where it begins.
    """
    return min(
        (max(-slack / rate, 0 * rate), k) for k, (slack, rate) in enumerate(slacks) if rate < 0
    )


def _scaled(
    t: Array, cut: list[Segment], move: Array, largest: Array, where: Polytope
) -> tuple[Array, list[Segment]]:
    """T after the longest move that keeps it private, and its segments then."""
    rates = zeros(t.shape, where.exact)
    for (j, a, b), value in zip(cut, move, strict=True):
        rates[a : b + 1, j] = value * t[a : b + 1, j]
    slacks: list[tuple[Number, Number]] = []
    stops: list[tuple[int, bool]] = []  # a segment, and whether it joins the next one
    for k, (j, a, b) in enumerate(cut):
        slacks.append((t[a, j], rates[a, j]))
        stops.append((k, False))
        if b + 1 < where.n:
            for high, low in ((b, b + 1), (b + 1, b)):
                slack, rate = (where.grow * x[low, j] - x[high, j] for x in (t, rates))
                slacks.append((slack, rate))
                stops.append((k, True))
    step, first = _first_stop(slacks)
    moved = t + step * rates
    if where.exact:
        return moved, segments(moved, where)
    k, joins = stops[first]
    if joins:
        j, a, _ = cut[k]
        cut = [*cut[:k], (j, a, cut[k + 1][2]), *cut[k + 2 :]]
    dead = moved.max(axis=0) <= DUST * largest
    if not joins:
        dead[cut[k][0]] = True
    return _tidied(moved, cut, dead, where)


def _tidied(
    moved: Array, cut: list[Segment], dead: Array, where: Polytope
) -> tuple[Array, list[Segment]]:
    """What a float move leaves, without its rounding: dead columns at 0, bound steps at bound.

    A column dies as a whole, and its last segments join at that very moment; so rounding may
    stop the move at a join and leave dust that looks like a column.
    """
    moved[:, dead] = 0
    live = [segment for segment in cut if not dead[segment[0]]]
    for j, a, b in live:
        column = moved[a : b + 1, j]
        h = heights([1 if up > 0 else -1 for up in np.diff(column)])
        column[:] = column[int(np.argmax(h))] * powers(h, where.epsilon)
    return moved, live
