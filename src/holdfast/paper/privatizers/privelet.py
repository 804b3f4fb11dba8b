"""Privelet (Xiao, Wang and Gehrke 2010): noise on the Haar wavelet coefficients."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.paper.privatizers.privatizer import Noisy


@dataclass(frozen=True, kw_only=True)
class Privelet(Noisy):
    r"""Discrete Laplace noise on unnormalised Haar coefficients of the histogram of counts.

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
