"""A tree of noisy sums over the histogram of counts, made consistent (Qardaji et al. 2013)."""

from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import whole_number
from holdfast.paper.privatizers.privatizer import Noisy


@dataclass(frozen=True, kw_only=True)
class Hierarchical(Noisy):
    r"""Discrete Laplace noise on every node of a b-ary tree below its root, then the consistent
    tree of least variance: weighted averaging upwards, mean consistency downwards.

    The root is N, which is public: no noise, and the leaves add up to it. One row that moves to
    the next bin changes two nodes by one on each level where the two bins have different
    ancestors: 2 per level below the root at worst, so the scale is
    $2 \lceil \log_b n \rceil / \epsilon$. (OpenDP's `make_b_ary_tree` measures the root as well,
    which would cost one more level, and its consistency step takes the root as noisy; hence the
    tree here.) Where the last node of a level has fewer children, averages are weighted by the
    true variances, so the estimate is the best linear one for every n.
    Cost: O(n). The noise of the cumulative sums is correlated.

    >>> z = Hierarchical(branching=2)([40, 0, 0, 10, 6], epsilon=1, rng=7)
    >>> z.sum().round(12), Hierarchical(branching=2).sensitivity(5)
    (np.float64(1.0), 6)
    """

    projection: str = "clip"
    branching: int = 16
    """How many children a node has."""

    def __post_init__(self) -> None:
        super().__post_init__()
        branching = whole_number(
            self.branching, "branching", least=2, most=10**6, hint="16 is usual."
        )
        object.__setattr__(self, "branching", branching)

    def sensitivity(self, bins: int) -> int:
        """Two for every level below the root: what a move between the root's children costs."""
        return 2 * (len(level_sizes(bins, self.branching)) - 1)

    def levels(self, histogram: Integers) -> list[Integers]:
        """The sums of all nodes below the root, leaves first, left to right."""
        sums, levels = histogram, []
        while len(sums) > 1:
            levels.append(sums)
            sums = np.add.reduceat(sums, np.arange(0, len(sums), self.branching))
        return levels

    def estimate(self, noisy: Integers, bins: int, total: int) -> Floats:
        """The leaves of the consistent tree nearest to the noisy one, in least squares."""
        sizes = level_sizes(bins, self.branching)[:-1]
        levels = np.split(noisy.astype(np.float64), np.cumsum(sizes)[:-1]) if sizes else []
        averaged, variances = _average_upwards(levels, self.branching)
        return _consistent_downwards(averaged, variances, float(total), self.branching)


def level_sizes(bins: int, branching: int) -> list[int]:
    """How many nodes each level has, from the leaves to the root.

    >>> level_sizes(81, 16)
    [81, 6, 1]
    """
    sizes = [bins]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // branching))
    return sizes


def _average_upwards(levels: list[Floats], branching: int) -> tuple[list[Floats], list[Floats]]:
    """Each node's best estimate from its own subtree, and its variance in units of the noise's."""
    averaged, variances = levels[:1], [np.ones(len(level)) for level in levels[:1]]
    for level in levels[1:]:
        starts = np.arange(0, len(averaged[-1]), branching)
        below = np.add.reduceat(averaged[-1], starts)
        variance = np.add.reduceat(variances[-1], starts)
        averaged.append((level * variance + below) / (1 + variance))
        variances.append(variance / (1 + variance))
    return averaged, variances


def _consistent_downwards(
    averaged: list[Floats], variances: list[Floats], total: float, branching: int
) -> Floats:
    """Children share what they miss of their parent in proportion to their variances."""
    fixed = np.array([total])
    for estimate, variance in zip(reversed(averaged), reversed(variances), strict=True):
        starts = np.arange(0, len(estimate), branching)
        parent = np.arange(len(estimate)) // branching
        missing = fixed - np.add.reduceat(estimate, starts)
        share = variance / np.add.reduceat(variance, starts)[parent]
        fixed = estimate + share * missing[parent]
    return fixed
