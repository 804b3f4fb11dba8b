"""What can move at a point of a polytope without breaking a constraint that binds there."""

from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.paper.constructors.representation import Representation
from holdfast.paper.theory.decomposition import Decomposition, as_decomposition, runs
from holdfast.paper.theory.epsilon import Array, numbers, zeros
from holdfast.paper.theory.polytopes import Polytope, broken_sum, polytope
from holdfast.paper.theory.scales import scale

AT_BOUND = 1e-11  # a float step this close to its bound, relatively, counts as bound
Segment = tuple[int, int, int]
"""(column, first row, last row): rows that bound privacy constraints join."""


def place(matrix: Any, name: str, *, z: Any, epsilon: Any) -> Polytope:
    """The polytope in which a matrix of this size is looked at."""
    if isinstance(matrix, Decomposition | Representation):
        return polytope(name, n=as_decomposition(matrix, epsilon).n, z=z, epsilon=epsilon)
    shape = numbers(matrix, epsilon, "matrix").shape
    if len(shape) != 2:
        raise HoldfastError("`matrix` must have rows and columns.")
    return polytope(name, n=shape[1], z=z, epsilon=epsilon)


def member(representation: Any, where: Polytope) -> Decomposition:
    """The pieces of an element of R_F or R_U; raises with the constraint that it breaks."""
    if not where.of_representations:
        raise HoldfastError(f"{where.name} has no representation matrices. Hint: R_F or R_U.")
    parts = as_decomposition(representation, where.epsilon)
    negative = [j for j, _, amount in parts if amount < -where.tolerance]
    reason = (
        f"column {negative[0]} of B has a negative entry."
        if negative
        else broken_sum(parts.matrix(), where, "ΨB")
    )
    if parts.n != where.n or reason is not None:
        raise HoldfastError(f"not in {where.name}: {reason or 'wrong size.'}")
    return parts


def piece_vectors(parts: Decomposition, where: Polytope) -> list[Array]:
    """What each piece adds to the rows and, with a fixed point, to its column."""
    return [vector_of(column, scale(p, where.epsilon), where) for column, p, _ in parts]


def segments(matrix: Array, where: Polytope) -> list[Segment]:
    """The live columns of T, cut where no privacy constraint binds."""
    slack, found = 0 if where.exact else AT_BOUND, []
    for j in range(where.n):
        t = matrix[:, j]
        if t.any():
            ratios = [max(t[i] / t[i + 1], t[i + 1] / t[i]) for i in range(where.n - 1)]
            cuts = runs(ratio >= where.grow * (1 - slack) for ratio in ratios)
            found += [(j, first, last) for first, last in cuts]
    return found


def segment_vectors(matrix: Array, cut: list[Segment], where: Polytope) -> list[Array]:
    """What scaling each segment changes, in the rows and in the fixed point."""
    vectors = []
    for column, first, last in cut:
        part = zeros(where.n, where.exact)
        part[first : last + 1] = matrix[first : last + 1, column]
        vectors.append(vector_of(column, part, where))
    return vectors


def vector_of(column: int, part: Array, where: Polytope) -> Array:
    """What adding `part` to a column changes: the row sums, then the fixed point."""
    kept = zeros(where.n, where.exact)
    if where.z is not None:
        kept[column] = where.z @ part
    return np.concatenate([part, kept])
