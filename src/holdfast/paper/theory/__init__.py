"""The paper's theory as a working toolkit: scales, polytopes, representations, extreme points.

Exact under a budget `log(ratio)`, whose e^ε is rational: all numbers are then Fractions. Under
any other budget they are floats, and comparisons have a tolerance. See docs/theory.md.

>>> from holdfast.paper import theory
>>> ln2, third = theory.log(2), ["1/3", "1/3", "1/3"]
>>> corner = theory.reduce_mechanism([third] * 3, z=third, epsilon=ln2, error="absolute")
>>> theory.is_extreme(corner, "F", z=third, epsilon=ln2)
True
"""

from holdfast.paper.constructors.optimal import LowerBound as LowerBound
from holdfast.paper.constructors.optimal import lower_bound as lower_bound
from holdfast.paper.theory.convexity import best_columns as best_columns
from holdfast.paper.theory.convexity import count_error as count_error
from holdfast.paper.theory.convexity import error_weights as error_weights
from holdfast.paper.theory.convexity import is_row_wise_concentrating as is_row_wise_concentrating
from holdfast.paper.theory.convexity import is_row_wise_convex as is_row_wise_convex
from holdfast.paper.theory.convexity import place_peaks as place_peaks
from holdfast.paper.theory.convexity import scale_errors as scale_errors
from holdfast.paper.theory.decomposition import Decomposition as Decomposition
from holdfast.paper.theory.decomposition import decompose as decompose
from holdfast.paper.theory.decomposition import decompose_column as decompose_column
from holdfast.paper.theory.decomposition import from_dense as from_dense
from holdfast.paper.theory.epsilon import Log as Log
from holdfast.paper.theory.epsilon import log as log
from holdfast.paper.theory.epsilon import show as show
from holdfast.paper.theory.extreme import Preservation as Preservation
from holdfast.paper.theory.extreme import exact_amounts as exact_amounts
from holdfast.paper.theory.extreme import is_affinely_simplified as is_affinely_simplified
from holdfast.paper.theory.extreme import is_extreme as is_extreme
from holdfast.paper.theory.extreme import is_in_kernel_complement as is_in_kernel_complement
from holdfast.paper.theory.extreme import is_linearly_simplified as is_linearly_simplified
from holdfast.paper.theory.extreme import movement as movement
from holdfast.paper.theory.extreme import positive_entry_bounds as positive_entry_bounds
from holdfast.paper.theory.extreme import preservation as preservation
from holdfast.paper.theory.polytopes import constraint_matrix as constraint_matrix
from holdfast.paper.theory.polytopes import is_indistinguishable as is_indistinguishable
from holdfast.paper.theory.polytopes import is_member as is_member
from holdfast.paper.theory.polytopes import why_not as why_not
from holdfast.paper.theory.reduction import reduce_mechanism as reduce_mechanism
from holdfast.paper.theory.reduction import reduce_representation as reduce_representation
from holdfast.paper.theory.scales import pattern_index as pattern_index
from holdfast.paper.theory.scales import pattern_of as pattern_of
from holdfast.paper.theory.scales import patterns as patterns
from holdfast.paper.theory.scales import peaked_matrix as peaked_matrix
from holdfast.paper.theory.scales import peaked_weights as peaked_weights
from holdfast.paper.theory.scales import scale as scale
from holdfast.paper.theory.scales import scale_matrix as scale_matrix
from holdfast.paper.theory.scales import single_peaked as single_peaked
from holdfast.paper.theory.scales import walk as walk
from holdfast.paper.theory.vertices import vertices as vertices
