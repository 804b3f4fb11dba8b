"""Which representations map to extreme points: the K^⊥ criterion of the geometric appendix."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.paper.theory.decomposition import Decomposition
from holdfast.paper.theory.epsilon import Array, is_exact, numbers, zeros
from holdfast.paper.theory.extreme import member, piece_vectors, place
from holdfast.paper.theory.linear_algebra import dependencies, independent
from holdfast.paper.theory.polytopes import Polytope, constraint_matrix
from holdfast.paper.theory.scales import pattern_at, scale_matrix


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
