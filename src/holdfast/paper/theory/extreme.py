"""Extreme points: movement matrices, simplified representations, exact ranks; and which
representations map to extreme points, by the K^⊥ criterion of the geometric appendix."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.paper.constructors.construction import Representation
from holdfast.paper.theory.decomposition import Decomposition, as_decomposition, merged, runs
from holdfast.paper.theory.epsilon import Array, is_exact, numbers, zeros
from holdfast.paper.theory.linear_algebra import dependencies, dependency, independent, solve
from holdfast.paper.theory.polytopes import (
    TOLERANCE,
    Polytope,
    broken_sum,
    check_member,
    constraint_matrix,
    polytope,
)
from holdfast.paper.theory.scales import (
    check_pattern,
    pattern_at,
    pattern_index,
    scale,
    scale_matrix,
)

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
    slack, cut = 0 if where.exact else AT_BOUND, []
    for j in range(where.n):
        t = matrix[:, j]
        if t.any():
            ratios = [max(t[i] / t[i + 1], t[i + 1] / t[i]) for i in range(where.n - 1)]
            cuts = runs(ratio >= where.grow * (1 - slack) for ratio in ratios)
            cut += [(j, first, last) for first, last in cuts]
    return cut


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


def is_extreme(matrix: Any, name: str, *, z: Any = None, epsilon: Any) -> bool:
    """Whether `matrix` is an extreme point of the polytope with this name.

    It is if the constraints that bind at it have full rank. Along bound steps a column can
    only be scaled as a whole, so the question is whether the scaled segments can move at all:
    one vector a segment, at most 2n - 1 of them in an extreme point of F. For R_F and R_U the
    segments are the pieces. Exact under an exact budget; up to a tolerance for floats.
    `matrix` may be a `Decomposition`, for R_F and R_U.

    >>> from holdfast.paper.theory import log
    >>> third = ["1/3", "1/3", "1/3"]
    >>> is_extreme([third] * 3, "F", z=third, epsilon=log(2))
    False
    >>> is_extreme([[0, 1, 0]] * 3, "U", epsilon=log(2))
    True
    """
    where = place(matrix, name, z=z, epsilon=epsilon)
    if where.of_representations:
        parts = merged(member(matrix, where), where.tolerance)
        return dependency(piece_vectors(parts, where)) is None
    entries = check_member(matrix, where)
    return dependency(segment_vectors(entries, segments(entries, where), where)) is None


def movement(representation: Any, name: str, *, z: Any = None, epsilon: Any) -> Array | None:
    """A non-zero movement matrix μ that is zero wherever B is; None if B is extreme.

    μ is in M_F (M_U for R_U): Ψμ1 = 0, and zΨμ = 0 for R_F. So B ± δμ stays in the polytope
    for small δ (the lemmas on simplified matrices and movement).

    >>> from holdfast.paper.theory import log, show
    >>> print(show(movement([[1, 0], ["1/2", "1/2"]], "R_U", epsilon=log(2))))
     0 0
    -1 1
    """
    where = place(representation, name, z=z, epsilon=epsilon)
    pieces = merged(member(representation, where), where.tolerance)
    values = dependency(piece_vectors(pieces, where))
    if values is None:
        return None
    mu = zeros((2 ** (where.n - 1), where.n), where.exact)
    for (column, pattern, _), value in zip(pieces, values, strict=True):
        mu[pattern_index(pattern), column] += value
    return mu


def is_affinely_simplified(representation: Any, *, z: Any, epsilon: Any) -> bool:
    r"""Whether the multiset $\uplus_j H(B_j)$ is linearly independent.

    H(B_j) holds the differences of column j's scales, each divided by its zΨ_u, from the
    first of them. A B in R_F is extreme in it exactly if they are independent; whether B is
    in R_F is not checked.
    """
    where = polytope("R_F", z=z, epsilon=epsilon)
    parts = merged(as_decomposition(representation, epsilon), where.tolerance)
    if parts.n != where.n:
        raise HoldfastError(f"`z` has {where.n} entries, but B has {parts.n} columns.")
    first: dict[int, Array] = {}
    differences = []
    for column, pattern, _ in sorted(parts, key=lambda piece: piece[:2]):
        s = scale(pattern, epsilon)
        unit = s / (where.z @ s)
        if column in first:
            differences.append(unit - first[column])
        first.setdefault(column, unit)
    return dependency(differences) is None


def is_linearly_simplified(representation: Any, *, epsilon: Any) -> bool:
    r"""Whether the multiset $\uplus_j G(B_j)$ of B's scales is linearly independent.

    A B in R_U is extreme in it exactly if it is; whether B is in R_U is not checked.
    """
    zero = 0 if is_exact(epsilon) else TOLERANCE
    parts = merged(as_decomposition(representation, epsilon), zero)
    return dependency([scale(pattern, epsilon) for _, pattern, _ in parts]) is None


def positive_entry_bounds(name: str, *, n: int | None = None, z: Any = None) -> tuple[int, int]:
    """Fewest and most positive entries of an extreme B (the corollaries on positive entries).

    Every extreme B of R_U has, besides, at most one positive entry in every row.

    >>> positive_entry_bounds("R_F", z=[0.5, 0, 0.5]), positive_entry_bounds("R_U", n=3)
    ((2, 4), (1, 3))
    """
    if name not in ("R_F", "R_U") or (z is None and (name == "R_F" or n is None)):
        raise HoldfastError("give R_F and `z`, or R_U and `n`.")
    where = polytope(name, n=n, z=z, epsilon=1)  # the bounds are the same for every budget
    if where.z is None:
        return 1, where.n
    live = int((where.z != 0).sum())
    return live, live + where.n - 1


def exact_amounts(representation: Any, name: str = "R_F", *, z: Any, epsilon: Any) -> Decomposition:
    """The one element of R_F (or R_U) that uses exactly these columns and patterns.

    Turns the float pieces of `Heuristic` into an exact representation: their columns and
    patterns are integers, and they determine the amounts. A piece that is not needed gets 0
    and is left out. Raises if there is no such element, or more than one.

    >>> from holdfast.paper.constructors import Heuristic
    >>> from holdfast.paper.theory import log, show
    >>> found = Heuristic(selector="max")([0.5, 0.5], epsilon=log(2)).representation
    >>> print(show(exact_amounts(found, z=["1/2", "1/2"], epsilon=log(2)).matrix()))
    2/3 1/3
    1/3 2/3
    """
    where = polytope(name, z=z, epsilon=epsilon)
    if not where.exact:
        raise HoldfastError("`exact_amounts` is exact. Hint: epsilon=theory.log(2).")
    places = [(int(column), check_pattern(pattern)) for column, pattern, _ in representation]
    vectors = [vector_of(column, scale(p, epsilon), where) for column, p in places]
    if dependency(vectors) is not None:
        raise HoldfastError(f"these pieces do not determine one element of {name}.")
    total = zeros(2 * where.n, True)
    total[: where.n] += 1
    if where.z is not None:
        total[where.n :] = where.z
    amounts = solve(vectors, total)
    if amounts is None or min(amounts) < 0:
        raise HoldfastError(f"no element of {name} has these pieces alone.")
    pieces = [(*place_, a) for place_, a in zip(places, amounts, strict=True) if a > 0]
    return Decomposition(n=where.n, epsilon=epsilon, pieces=tuple(pieces))


@dataclass(frozen=True, kw_only=True, eq=False)
class Preservation:
    """What the K^⊥ criterion says about one representation B."""

    direction: Array
    """D in K^⊥[Ψ], 2^(n-1) x n: B is among the maximisers of ⟨D, ·⟩ over the polytope."""
    face: Array
    """Where a maximiser may be positive: true where D is 0."""
    preserved: bool
    """Whether Ψ maps all maximisers to one point, that is, ΨB is an extreme point."""


def preservation(
    representation: Any, name: str = "R_F", *, z: Any = None, epsilon: Any
) -> Preservation:
    r"""The K^⊥ criterion for B in R_F (or R_U): is ΨB an extreme point of F (or U)?

    It is if and only if some $D \in K^\perp[\Psi]$ has B among the maximisers of ⟨D, ·⟩ and
    Ψ maps all of these to one point. If any D does, this one does: D = ΨᵀW, with column j of
    W the sum of the privacy constraints that bind in column j of ΨB. Then D ≤ 0, its maximum
    is 0, and the maximisers are the elements that are 0 wherever D < 0. Some of them are
    positive wherever D = 0, so the maximisers have one image exactly if Ψμ = 0 for every
    movement matrix μ that is 0 wherever D < 0. Exact budgets only; O(n 2^(n-1)) unknowns.

    >>> from holdfast.paper.theory import log
    >>> b = [["7/6", 0, 0], [0, 0, 0], [0, 0, "2/3"], ["7/6", 0, 0]]
    >>> preservation(b, "R_U", epsilon=log(2)).preserved
    False
    """
    where = place(representation, name, z=z, epsilon=epsilon)
    if not where.exact:
        raise HoldfastError("`preservation` is exact. Hint: epsilon=theory.log(2).")
    image = member(representation, where).matrix()
    direction = scale_matrix(where.n, epsilon).T @ _binding_sum(image, epsilon)
    face = direction == 0
    return Preservation(direction=direction, face=face, preserved=_one_image(face, where))


def is_in_kernel_complement(direction: Any, epsilon: Any) -> bool:
    """Whether D is orthogonal to every B with ΨB = 0.

    >>> from holdfast.paper.theory import log
    >>> is_in_kernel_complement([[3, 0], [0, 1]], log(2))  # n = 2: Ψ is invertible
    True
    """
    if not is_exact(epsilon):
        raise HoldfastError("`is_in_kernel_complement` is exact. Hint: epsilon=theory.log(2).")
    d = numbers(direction, epsilon, "direction")
    if d.ndim != 2 or d.shape[0] != 2 ** (d.shape[1] - 1):
        raise HoldfastError("`direction` must have n columns and 2^(n-1) rows.")
    psi = scale_matrix(d.shape[1], epsilon)
    return len(independent([*psi, *d.T])) == len(psi)


def _binding_sum(image: Array, epsilon: Any) -> Array:
    constraints = constraint_matrix(len(image), epsilon)
    return np.asarray(constraints.T @ (constraints @ image == 0).astype(int))


def _one_image(face: Array, where: Polytope) -> bool:
    places = [(int(j), pattern_at(int(u), where.n)) for j, u in np.argwhere(face.T)]
    parts = Decomposition(
        n=where.n, epsilon=where.epsilon, pieces=tuple((j, p, 1.0) for j, p in places)
    )
    vectors = piece_vectors(parts, where)
    for move in dependencies(vectors):
        change = zeros((where.n, where.n), True)
        for (j, _), vector, value in zip(places, vectors, move, strict=True):
            change[:, j] += value * vector[: where.n]
        if change.any():
            return False
    return True
