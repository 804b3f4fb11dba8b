"""Stage 2: target distribution -> count mechanism."""

from holdfast.constructors.construction import Construction
from holdfast.constructors.constructor import Constructor
from holdfast.constructors.heuristic import Heuristic
from holdfast.constructors.linear_program import LinearProgram
from holdfast.constructors.optimal import Optimal
from holdfast.constructors.representation import Representation
from holdfast.constructors.unfixed import UnfixedOptimum

__all__ = [
    "Construction",
    "Constructor",
    "Heuristic",
    "LinearProgram",
    "Optimal",
    "Representation",
    "UnfixedOptimum",
]
