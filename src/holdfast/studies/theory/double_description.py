"""The double description method: the extreme rays of a cone, in exact integers."""

from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.studies.theory.epsilon import identity
from holdfast.studies.theory.linear_algebra import independent, solve, whole

Rays = NDArray[Any]  # one ray a row; Python integers
Masks = NDArray[np.uint64]  # bit i: constraint i holds with equality
LARGEST = 64  # constraints: one bit each


def extreme_rays(constraints: Rays) -> Rays:
    """The extreme rays of the pointed cone {y : Ay ≥ 0}, one per row, as coprime integers.

    A has at most 64 rows.

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
