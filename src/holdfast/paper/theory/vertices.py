"""All extreme points of a small polytope, in exact arithmetic."""

from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.paper.theory.epsilon import Array, identity, zeros
from holdfast.paper.theory.linear_algebra import dependencies, independent, solve, whole
from holdfast.paper.theory.polytopes import Polytope, constraint_matrix, polytope
from holdfast.paper.theory.scales import scale_matrix

MOST_COLUMNS = 4
LARGEST = 64  # constraints: one bit each
Rays = NDArray[Any]  # one ray a row; Python integers
Masks = NDArray[np.uint64]  # bit i: constraint i holds with equality


def vertices(name: str, *, n: int | None = None, z: Any = None, epsilon: Any) -> list[Array]:
    """Every extreme point of F, U, R_F or R_U: exact, sorted, each once. For n up to 4.

    All inequalities are homogeneous, so the polytope is a slice of the cone {x : Gx ≥ 0,
    Ex = 0} with E the differences of row sums and the fixed point; its extreme rays come from
    the double description method, and each is scaled to row sums of one.

    >>> from holdfast.paper.theory import log, show
    >>> third = ["1/3", "1/3", "1/3"]
    >>> [len(vertices(p, z=third, epsilon=log(2))) for p in ("F", "R_F", "U", "R_U")]
    [36, 78, 27, 36]
    >>> print(show(vertices("F", z=["1/2", "1/2"], epsilon=log(2))[0]))
    1/3 2/3
    2/3 1/3
    """
    where = polytope(name, n=n, z=z, epsilon=epsilon)
    if not where.exact:
        raise HoldfastError("`vertices` is exact. Hint: epsilon=theory.log(2), z as fractions.")
    live = [j for j in range(where.n) if where.z is None or where.z[j] > 0]
    bounds_each = 2 ** (where.n - 1) if where.of_representations else 2 * where.n - 2
    count = len(live) * bounds_each
    if len(live) > MOST_COLUMNS or count > LARGEST:
        raise HoldfastError(
            f"{name} has too many constraints to enumerate: {count}, with n = {where.n} and "
            f"{len(live)} columns that are not zero. Time and memory grow exponentially with "
            f"them. Hint: at most {MOST_COLUMNS} such columns and {LARGEST} constraints."
        )
    basis, bounds, total = _cone(where, live)
    rays = extreme_rays(np.array(list(map(whole, bounds @ basis.T))))
    points = [_point(x, total, where, live) for x in rays @ basis]
    return sorted(points, key=lambda point: tuple(point.flat))


def _cone(where: Polytope, live: list[int]) -> tuple[Array, Array, Array]:
    """A basis of {x : Ex = 0}, one integer vector a row; G; and the sum of row 0 as a row.

    x holds one live column after the other.
    """
    n = where.n
    to_rows = bounds = identity(n)
    if where.of_representations:
        to_rows, bounds = scale_matrix(n, where.epsilon), identity(2 ** (n - 1))
    elif n > 1:
        bounds = -constraint_matrix(n, where.epsilon)
    width = to_rows.shape[1]
    sums = np.concatenate([to_rows] * len(live), axis=1)
    equations = [sums[i] - sums[0] for i in range(1, n)]
    inequalities = zeros((len(live) * len(bounds), sums.shape[1]), True)
    for k, j in enumerate(live):
        column = slice(k * width, (k + 1) * width)
        inequalities[k * len(bounds) : (k + 1) * len(bounds), column] = bounds
        if where.z is not None:
            fixed = -where.z[j] * sums[0]
            fixed[column] += where.z @ to_rows
            equations.append(fixed)
    if equations:
        basis = np.array(list(dependencies(np.array(equations).T)))
    else:  # n = 1
        basis = identity(sums.shape[1])
    return np.array(list(map(whole, basis))), inequalities, sums[0]


def _point(x: Array, total: Array, where: Polytope, live: list[int]) -> Array:
    columns = x.reshape(len(live), -1).T
    matrix = zeros((len(columns), where.n), True)
    matrix[:, live] = columns / (total @ x)
    return matrix


def extreme_rays(constraints: Rays) -> Rays:
    """The extreme rays of the pointed cone {y : Ay ≥ 0}, one per row, as coprime integers:
    the double description method, in exact integers. A has at most 64 rows.

    Constraints are added one at a time. A new ray lies between two adjacent old ones, on
    different sides of the new constraint; two rays are adjacent if no third one satisfies
    with equality all the constraints that both do.

    >>> print(*extreme_rays(np.array([[1, 0], [-1, 2]], dtype=object)).tolist())
    [2, 1] [0, 1]
    """
    first = independent(constraints)
    if len(first) < constraints.shape[1]:
        raise HoldfastError("the cone is not pointed.")
    rays = _simplex_rays(constraints[first])
    done = list(first)
    masks = _masks(constraints, rays, done)
    for index in range(len(constraints)):
        if index not in first:
            done.append(index)
            rays, masks = _cut(constraints, index, rays, masks, done)
    return rays


def _cut(
    constraints: Rays, index: int, rays: Rays, masks: Masks, done: list[int]
) -> tuple[Rays, Masks]:
    sides = rays @ constraints[index]
    ahead = np.flatnonzero(sides > 0)
    behind = np.flatnonzero(sides < 0)
    new = [
        _primitive(sides[a] * rays[b] - sides[b] * rays[a])
        for a, b in _adjacent(masks, ahead, behind, constraints.shape[1])
    ]
    kept = rays[np.flatnonzero(sides >= 0)]
    rays = np.concatenate([kept, np.array(new, dtype=object)]) if new else kept
    return rays, _masks(constraints, rays, done)


def _adjacent(
    masks: Masks, ahead: NDArray[np.intp], behind: NDArray[np.intp], dimension: int
) -> list[tuple[int, int]]:
    pairs = []
    for a in ahead:
        common = masks[behind] & masks[a]
        # an edge lies on at least d - 2 constraints
        for k in np.flatnonzero(np.bitwise_count(common) >= dimension - 2):
            if np.count_nonzero(masks & common[k] == common[k]) == 2:
                pairs.append((int(a), int(behind[k])))
    return pairs


def _masks(constraints: Rays, rays: Rays, done: list[int]) -> Masks:
    masks = np.zeros(len(rays), dtype=np.uint64)
    for index in done:
        tight = (rays @ constraints[index] == 0).astype(np.uint64)
        masks |= tight << np.uint64(index)
    return masks


def _primitive(ray: Rays) -> Rays:
    return np.asarray(ray // gcd(*ray.tolist()))


def _simplex_rays(square: Rays) -> Rays:
    """The rays of {y : Ay ≥ 0} for an invertible A: the columns of its inverse."""
    columns = [solve(list(square.T), side) for side in identity(len(square))]
    return np.array([_primitive(whole(column)) for column in columns], dtype=object)
