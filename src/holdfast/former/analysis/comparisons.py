"""Two numbers with intervals side by side: the interval of their difference and of their ratio."""

from collections.abc import Callable
from math import hypot, inf, sqrt

Ends = tuple[float, float]


def difference_ends(a: float, its: Ends, b: float, others: Ends) -> Ends:
    r"""Of a - b, for independent errors, from the two intervals' own sides.

    $d - \sqrt{(a-l_a)^2 + (u_b-b)^2}$ to $d + \sqrt{(u_a-a)^2 + (b-l_b)^2}$ with d = a - b (Zou and
    Donner 2008), so that it is as lopsided as they are.

    >>> difference_ends(5.0, (2.0, 6.0), 1.0, (0.0, 5.0))
    (-1.0, 5.414213562373095)
    """
    a_near, b_near = min(max(a, its[0]), its[1]), min(max(b, others[0]), others[1])
    middle = a_near - b_near
    low = middle - hypot(a_near - its[0], others[1] - b_near)
    return low, middle + hypot(its[1] - a_near, b_near - others[0])


def ratio_ends(a: float, its: Ends, b: float, others: Ends) -> Ends:
    """Of a / b, for numbers of 0 or more: r is in it while 0 is in that of a - r b (Donner and
    Zou 2012). Where b may be 0, or a has no upper end, there is none.

    >>> ratio_ends(4.0, (4.0, 4.0), 2.0, (1.0, 4.0))
    (1.0, 4.0)
    """
    a, b = min(max(a, its[0]), its[1]), min(max(b, others[0]), others[1])
    below, above = its[0] > 0 and others[1] < inf, others[0] > 0 and its[1] < inf
    low = _roots(a, b, a - its[0], others[1] - b)[0] if below else 0.0
    high = _roots(a, b, its[1] - a, b - others[0])[1] if above else inf
    return max(low, 0.0), high


def _roots(a: float, b: float, reach_a: float, reach_b: float) -> Ends:
    """The r at which (a - r b)^2 = reach_a^2 + r^2 reach_b^2."""
    square = b * b - reach_b * reach_b
    under = (a * b) ** 2 - square * (a * a - reach_a * reach_a)
    if square == 0:
        r = (a * a - reach_a * reach_a) / (2 * a * b)
        return r, inf
    ends = sorted((a * b + sign * sqrt(max(under, 0.0))) / square for sign in (-1, 1))
    return (ends[0], ends[1]) if square > 0 else (ends[1], inf)


def ends_in_words(ends: Ends, word: Callable[[float], str]) -> str:
    """An interval as people write it, also one without an end.

    >>> [ends_in_words(ends, "{:+.0f}".format) for ends in ((-1, 2), (3, inf), (-inf, -3))]
    ['-1 to +2', '+3 or more', '-3 or less']
    """
    low, high = ends
    if high == inf:
        return "cannot be told" if low == -inf else f"{word(low)} or more"
    return f"{word(high)} or less" if low == -inf else f"{word(low)} to {word(high)}"
