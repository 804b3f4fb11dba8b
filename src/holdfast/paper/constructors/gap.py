"""How far a mechanism's count error may be above the optimum."""

import math
from decimal import ROUND_CEILING, Context


def relative_gap(error: float, bound: float) -> float:
    """(error - bound) / |error|: how much of the count error could at most be saved.

    >>> relative_gap(2.0, 1.5)
    0.25
    """
    if error <= bound:
        return 0.0
    return (error - bound) / abs(error) if error else math.inf


def above_the_optimum(gap: float) -> str:
    """A relative gap as a sentence about the optimum, rounded up to two digits.

    For a positive error, error / bound - 1 = gap / (1 - gap); for a negative one it is less.

    >>> above_the_optimum(0.2)
    'at most 25 % above the optimum'
    """
    if gap >= 1:
        return "at an unknown distance from the optimum"
    per_cent = Context(prec=2, rounding=ROUND_CEILING).create_decimal(100 * gap / (1 - gap))
    return f"at most {per_cent:f} % above the optimum"
