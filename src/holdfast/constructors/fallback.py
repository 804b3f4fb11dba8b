"""What is done where the optimum is not reached."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from holdfast.constructors.construction import Construction
from holdfast.constructors.dual_bound import relative_gap
from holdfast.constructors.heuristic import Heuristic
from holdfast.constructors.optimal import Optimal


def optimal_or_heuristic(
    optimal: Optimal, target: NDArray[np.float64], epsilon: Fraction
) -> Construction:
    """The optimum; if its gap is not reached, the heuristic's mechanism where that is better.

    The bound of the search that stopped holds for both.
    """
    found = optimal(target, epsilon=epsilon)
    if found.gap is None or found.lower_bound is None or found.gap <= optimal.gap:
        return found
    other = Heuristic(error=optimal.error)(target, epsilon=epsilon)
    if other.count_error >= found.count_error:
        return found
    bound = min(found.lower_bound, other.count_error)
    return replace(other, lower_bound=bound, gap=relative_gap(other.count_error, bound))
