"""Step 3 of the framework: from a target distribution to a certified count mechanism."""

from holdfast.paper.constructors.baselines import UnfixedOptimum
from holdfast.paper.constructors.construction import Construction, Constructor, Representation
from holdfast.paper.constructors.heuristic import Heuristic
from holdfast.paper.constructors.linear_program import LinearProgram
from holdfast.paper.constructors.optimal import Frontier, Optimal

__all__ = [
    "Construction",
    "Constructor",
    "Frontier",
    "Heuristic",
    "LinearProgram",
    "Optimal",
    "Representation",
    "UnfixedOptimum",
]
