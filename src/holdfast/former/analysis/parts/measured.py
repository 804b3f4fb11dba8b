"""What stage 1 says of all rows of a mechanism, without their released counts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.former.privatizers.groups import block_edges, group_epsilon
from holdfast.former.release.groups import Groups

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

Tell = Callable[[Floats], tuple[float, float] | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """The rows of a mechanism, and what was measured of them."""

    rows: int
    matrix: Floats = field(repr=False)
    """T."""
    target: Floats = field(repr=False)
    """z, or where there is no stage 1 the best estimate of the distribution."""
    tell: Tell = field(repr=False)
    """For f, an unbiased estimate of f · h over all these rows, and its variance; None where stage
    1 does not say."""


def measured_whole(release: "Release") -> Measured:
    """Of a release with one mechanism."""
    view = release.evidence

    def tell(f: Floats) -> tuple[float, float] | None:
        if view.first.skipped:
            return None
        loads = view.first.loads(f)
        noise = view.first.variance * float(loads @ loads) * view.rows**2
        return view.rows * float(f @ view.first.shares), noise

    target = view.best if view.first.skipped else view.target
    return Measured(rows=view.rows, matrix=view.matrix, target=target, tell=tell)


def measured_group(release: "Release", groups: Groups, number: int) -> Measured:
    """Of one group of a release by group, whose groups these are."""
    group, noisy = groups.at(number), groups.measurement.groups[number]
    n = len(group.target)
    spent = group_epsilon(release.privacy.budget.unit_1, len(groups), n)
    alpha = float(np.exp(-float(spent)))
    variance = 2 * alpha / (1 - alpha) ** 2

    def tell(f: Floats) -> tuple[float, float] | None:
        steps = -np.diff(f)  # f · h = f_top rows + sum of steps times cumulative sums
        weights = _by_block(steps, noisy, n)
        if weights is None:
            return None
        value = float(f[-1]) * group.rows + float(weights @ noisy)
        return value, variance * float(weights @ weights)

    return Measured(rows=group.rows, matrix=group.mechanism.matrix, target=group.target, tell=tell)


def _by_block(steps: Floats, noisy: Integers, n: int) -> Floats | None:
    """Weights of the measured sums; None where a block's counts would need different ones."""
    if len(noisy) == n - 1:
        return steps
    edges = block_edges(n)
    first = steps[edges[:-1]]
    same = np.repeat(first, np.diff(edges))
    return first if np.allclose(same, steps, rtol=0, atol=1e-12 * np.abs(steps).max()) else None
