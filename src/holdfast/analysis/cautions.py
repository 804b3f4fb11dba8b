"""When an answer must say that its interval may cover less than stated."""

import numpy as np

from holdfast.analysis.evidence import Evidence
from holdfast.arrays import Floats

FEW_FOR_ANSWERS = 0.2
FEW_ROWS_FOR_BUDGET = (
    "too few rows for this budget: the interval may cover less than stated; stage 1's noise is a "
    "fifth of the answer's range or more"
)


def spread_of(view: Evidence, f: Floats) -> float:
    """Stage 1's standard deviation of the answer f · ζ, in parts of the answer's range."""
    wide = float(f.max() - f.min())
    if view.first.skipped or wide <= 0:
        return 0.0
    loads = view.first.loads(f)
    return float(np.sqrt(view.first.variance * loads @ loads)) / wide
