"""The paper's theory as a working toolkit: scales, polytopes, representations, extreme points.

Exact under a budget `log(ratio)`, whose e^ε is rational: all numbers are then Fractions. Under
any other budget they are floats, and comparisons have a tolerance. See docs/theory.md.

>>> from holdfast.paper import theory
>>> ln2, third = theory.log(2), ["1/3", "1/3", "1/3"]
>>> corner = theory.reduce_mechanism([third] * 3, z=third, epsilon=ln2, error="absolute")
>>> theory.is_extreme(corner, "F", z=third, epsilon=ln2)
True
"""

from holdfast.paper.theory.convexity import (
    best_columns,
    count_error,
    error_weights,
    is_row_wise_concentrating,
    is_row_wise_convex,
    place_peaks,
    scale_errors,
)
from holdfast.paper.theory.decomposition import (
    Decomposition,
    decompose,
    decompose_column,
    from_dense,
)
from holdfast.paper.theory.epsilon import Log, log, show
from holdfast.paper.theory.extreme import (
    exact_amounts,
    is_affinely_simplified,
    is_extreme,
    is_linearly_simplified,
    movement,
    positive_entry_bounds,
)
from holdfast.paper.theory.lower_bound import LowerBound, lower_bound
from holdfast.paper.theory.polytopes import (
    constraint_matrix,
    is_indistinguishable,
    is_member,
    why_not,
)
from holdfast.paper.theory.preservation import (
    Preservation,
    is_in_kernel_complement,
    preservation,
)
from holdfast.paper.theory.reduction import reduce_mechanism, reduce_representation
from holdfast.paper.theory.scales import (
    pattern_index,
    pattern_of,
    patterns,
    peaked_matrix,
    peaked_weights,
    scale,
    scale_matrix,
    single_peaked,
    walk,
)
from holdfast.paper.theory.vertices import vertices

__all__ = [
    "Decomposition",
    "Log",
    "LowerBound",
    "Preservation",
    "best_columns",
    "constraint_matrix",
    "count_error",
    "decompose",
    "decompose_column",
    "error_weights",
    "exact_amounts",
    "from_dense",
    "is_affinely_simplified",
    "is_extreme",
    "is_in_kernel_complement",
    "is_indistinguishable",
    "is_linearly_simplified",
    "is_member",
    "is_row_wise_concentrating",
    "is_row_wise_convex",
    "log",
    "lower_bound",
    "movement",
    "pattern_index",
    "pattern_of",
    "patterns",
    "peaked_matrix",
    "peaked_weights",
    "place_peaks",
    "positive_entry_bounds",
    "preservation",
    "reduce_mechanism",
    "reduce_representation",
    "scale",
    "scale_errors",
    "scale_matrix",
    "show",
    "single_peaked",
    "vertices",
    "walk",
    "why_not",
]
