"""Stage 2: target distribution -> count mechanism."""

from holdfast.former.constructors.construction import Construction
from holdfast.former.constructors.constructor import Constructor
from holdfast.former.constructors.heuristic import Heuristic
from holdfast.former.constructors.linear_program import LinearProgram
from holdfast.former.constructors.optimal import Optimal
from holdfast.former.constructors.representation import Representation
from holdfast.former.constructors.unfixed import UnfixedOptimum

__all__ = [
    "Construction",
    "Constructor",
    "Heuristic",
    "LinearProgram",
    "Optimal",
    "Representation",
    "UnfixedOptimum",
]
