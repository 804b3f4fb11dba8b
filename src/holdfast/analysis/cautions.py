"""When an answer must say that its interval may cover less than stated."""

import numpy as np

from holdfast.analysis.evidence import DENSE_UP_TO, Evidence
from holdfast.arrays import Floats

FEW_FOR_ANSWERS, FEW_FOR_ROWS = 0.2, 0.1
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


def largest_spread(view: Evidence) -> float:
    """The largest of stage 1's standard deviations of the shares of rows with at most k."""
    n = len(view.target)
    if view.first.skipped:
        return 0.0
    steps = np.arange(n - 1) if n <= DENSE_UP_TO else np.array([0, n // 2])
    loads = view.first.loads((np.arange(n)[:, None] <= steps).astype(np.float64))
    variances = view.first.variance * np.square(loads).sum(axis=0)
    return float(np.sqrt(variances.max(initial=0.0)))
