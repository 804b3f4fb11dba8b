"""One draw of a released table, and what every study measures of it."""

import numpy as np
from numpy.typing import NDArray

from holdfast.privacy.metrics import (
    absolute_deviation,
    kolmogorov_smirnov,
    squared_error,
    total_variation,
    wasserstein,
)
from holdfast.studies.engine import Row

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

DISTANCES = {
    "wasserstein": wasserstein,
    "kolmogorov_smirnov": kolmogorov_smirnov,
    "total_variation": total_variation,
}
ERRORS = {"absolute": absolute_deviation, "squared": squared_error}


def drawn(histogram: Counts, matrix: Floats, rng: np.random.Generator) -> Floats:
    """The distribution of one released table.

    >>> drawn(np.array([2, 3]), np.eye(2), np.random.default_rng(1)).tolist()
    [0.4, 0.6]
    """
    rows = matrix / matrix.sum(axis=1, keepdims=True)
    return np.asarray(rng.multinomial(histogram, rows).sum(axis=0) / histogram.sum())


def errors_of(truth: Floats, matrix: Floats, released: Floats) -> Row:
    """Errors of the distribution, as drawn; of the counts, as expected from the matrix."""
    return {name: distance(truth, released) for name, distance in DISTANCES.items()} | {
        name: error(matrix, truth) for name, error in ERRORS.items()
    }
