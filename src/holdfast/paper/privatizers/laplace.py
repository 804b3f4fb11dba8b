"""Discrete Laplace noise on the histogram of counts, on its cumulative sums, on the coefficients of
a Haar tree, or on the sums of a tree of ranges."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import whole_number
from holdfast.paper.privatizers.privatizer import Noisy
from holdfast.privacy.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class ClassicLaplace(Noisy):
    r"""Discrete Laplace noise of scale 2/ε on $\eta_0, ..., \eta_{n-1}$.

    One person moves one row to the next bin: one bin loses one, another gains one, so the L1
    sensitivity is 2. The total, which is public, is restored by taking the same number off
    every bin. The noise of the cumulative histogram grows with the number of bins added up.
    Cost: O(n).

    >>> z = ClassicLaplace()([40, 0, 0, 10], epsilon=1, rng=7)
    >>> z.sum().round(12), (z >= 0).all()
    (np.float64(1.0), np.True_)
    """

    projection: str = "clip"

    def sensitivity(self, bins: int) -> int:
        """One bin loses one, another gains one."""
        return 2

    def levels(self, histogram: Integers) -> list[Integers]:
        """Every bin; a single one is the public total."""
        return [histogram] if len(histogram) > 1 else []

    def estimate(self, noisy: Integers, bins: int, total: int) -> Floats:
        """The noisy bins, shifted alike to the public total."""
        if bins == 1:
            return np.array([float(total)])
        return np.asarray(noisy + (total - noisy.sum()) / bins)


@dataclass(frozen=True, kw_only=True)
class OnCumulative(Noisy):
    r"""A privatizer with independent noise on C_0, ..., C_(n-2); C_(n-1) = N is public.

    One person moves one row from bin i to bin i+1, which changes $C_i = \sum_{k \le i} \eta_k$
    by 1 and nothing else: L1 and L2 sensitivity are 1.
    """

    def sensitivity(self, bins: int) -> int:
        """One cumulative sum changes by one."""
        return 1

    def levels(self, histogram: Integers) -> list[Integers]:
        """The cumulative histogram without its last entry."""
        return [np.cumsum(histogram)[:-1]] if len(histogram) > 1 else []

    def estimate(self, noisy: Integers, bins: int, total: int) -> Integers:
        """The differences of the noisy cumulative histogram."""
        return np.diff(np.concatenate([[0], noisy, [total]]))


@dataclass(frozen=True, kw_only=True)
class Cumulative(OnCumulative):
    r"""Discrete Laplace noise of scale 1/ε on C_0, ..., C_(n-2), then isotonic regression.

    The cyclic Laplace mechanism without its $L_0$: the same privacy at half the variance, and a
    projection that removes what noise adds to empty bins. Cost: O(n).

    >>> z = Cumulative()([40, 0, 0, 10], epsilon=1, rng=7)
    >>> z.sum().round(12), (z >= 0).all()
    (np.float64(1.0), np.True_)
    """

    projection: str = "isotonic"


@dataclass(frozen=True, kw_only=True)
class CyclicLaplace(OnCumulative):
    r"""The paper's cyclic Laplace mechanism, on whole numbers.

    $V_i = \eta_i + L_i - L_{i+1}$ with $L_n = L_0$ and discrete Laplace $L_i$ of scale 1/ε.
    Given $L_0$ it is the cumulative release, so it has the same privacy.

    >>> CyclicLaplace()([40, 0, 0, 10], epsilon=1, rng=7).sum().round(12)
    np.float64(1.0)
    """

    projection: str = "clip"

    def measure(self, histogram: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        """The cumulative release with one more draw, the paper's $L_0$, on all of it."""
        common = source.add_laplace(np.zeros(1, dtype=np.int64), epsilon)
        return super().measure(histogram, epsilon, source) + common

    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """Twice that of one draw."""
        return 2 * super().cumulative_variance(bins, epsilon)


@dataclass(frozen=True, kw_only=True)
class Privelet(Noisy):
    r"""Discrete Laplace noise on unnormalised Haar coefficients of the histogram of counts (Xiao,
    Wang and Gehrke 2010).

    A node of the binary tree over the bins measures the integer $c$ = (sum of its left half)
    - (sum of its right half); equal noise on all of them is Privelet's weighting. A node whose
    right half lies beyond the last bin measures nothing, and the base coefficient is N, which
    is public. One row that moves from bin i to i+1 changes the lowest node above both by 2,
    and each node on the two paths below it by 1: at most 2 per level, so the scale is at most
    $2 \lceil \log_2 n \rceil / \epsilon$.
    Cost: O(n). The noise of neighbouring cumulative sums is correlated.

    >>> z = Privelet()([40, 0, 0, 10, 6], epsilon=1, rng=7)
    >>> z.sum().round(12), Privelet().sensitivity(5)
    (np.float64(1.0), 4)
    """

    projection: str = "clip"

    def sensitivity(self, bins: int) -> int:
        """The most that moving one unit to the next bin changes the coefficients, in L1."""
        return _sensitivity(bins)

    def levels(self, histogram: Integers) -> list[Integers]:
        """The coefficients, from the smallest nodes to the root, left to right."""
        return haar(histogram)

    def estimate(self, noisy: Integers, bins: int, total: int) -> Floats:
        """The histogram with these coefficients and this total."""
        return inverse_haar(noisy, bins, total)


def haar(histogram: Integers) -> list[Integers]:
    """Left minus right of every node that has both halves, one array per level, leaves first.

    >>> [level.tolist() for level in haar(np.array([4, 1, 0, 2, 5]))]
    [[3, -2], [3], [2]]
    """
    levels, sums = [], histogram
    for _ in _widths(len(histogram)):
        pairs = len(sums) // 2
        left, right = sums[: 2 * pairs : 2], sums[1 : 2 * pairs : 2]
        levels.append(left - right)
        sums = np.append(left + right, sums[2 * pairs :])
    return levels


def inverse_haar(noisy: Integers, bins: int, total: int) -> Floats:
    """The histogram whose coefficients these are.

    >>> inverse_haar(np.array([3, -2, 3, 2]), 5, 12).tolist()
    [4.0, 1.0, 0.0, 2.0, 5.0]
    """
    sums, end = np.array([float(total)]), len(noisy)
    for width in reversed(_widths(bins)):
        nodes = -(-bins // (width // 2))
        pairs = nodes // 2
        c = noisy[end - pairs : end]
        below = np.empty(nodes)
        below[: 2 * pairs : 2] = (sums[:pairs] + c) / 2
        below[1 : 2 * pairs : 2] = (sums[:pairs] - c) / 2
        below[2 * pairs :] = sums[pairs:]
        sums, end = below, end - pairs
    return sums


def _widths(bins: int) -> list[int]:
    """How many bins the nodes of each level cover, leaves' parents first."""
    return [2**level for level in range(1, (bins - 1).bit_length() + 1)]


@cache
def _sensitivity(bins: int) -> int:
    i = np.arange(bins - 1)
    change = np.zeros(bins - 1, dtype=np.int64)
    for width in _widths(bins):
        below_one_node = i // width == (i + 1) // width
        in_two_halves = i // (width // 2) != (i + 1) // (width // 2)
        change += 2 * (below_one_node & in_two_halves)
        for node in (i // width, (i + 1) // width):
            has_right_half = node * width + width // 2 < bins
            change += ~below_one_node & has_right_half
    return int(change.max(initial=0))


@dataclass(frozen=True, kw_only=True)
class Hierarchical(Noisy):
    r"""Discrete Laplace noise on every node of a b-ary tree below its root, then the consistent
    tree of least variance: weighted averaging upwards, mean consistency downwards (Qardaji et al.
    2013).

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
