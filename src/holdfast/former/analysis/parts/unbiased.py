r"""Sums over rows of many mechanisms, without a model of their laws.

For a mechanism T let h solve $T h = f$. Then $h(j)$ of a released count j has $f$ of the true count
as its mean, so the sum of h over the released counts is free of what the draws do to it, whatever
the true counts are. T may have no exact solution, or one that blows up: h is the least-squares one
under z with a penalty on its size, and what that bends is part of the reach.
"""

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.analysis.parts.part import Part, Stratum

PENALTY = 0.3  # over the number of rows
MOST_WORK = 10**10  # counts cubed times mechanisms


def solved(matrix: Floats, prior: Floats, wanted: Floats, rows: int) -> Floats:
    """h for each column of `wanted`."""
    weights = np.maximum(prior, 0) + 1e-3 / len(prior)
    weights = weights / weights.sum()
    normal = matrix.T @ (weights[:, None] * matrix)
    normal += np.diag(PENALTY / rows * (weights @ matrix) + 1e-12)
    return np.asarray(np.linalg.solve(normal, matrix.T @ (weights[:, None] * wanted)))


def unbiased(part: Part, slope: Floats, level: float) -> tuple[float, float] | None:
    """An interval for slope · h of the part's true counts; None where it takes too long."""
    from scipy.special import ndtri

    if len(slope) ** 3 * len(part.strata) > MOST_WORK:
        return None
    value, variance, bent = np.sum([_of(one, slope, part.rows) for one in part.strata], axis=0)
    reach = float(ndtri((1 + level) / 2)) * variance**0.5 + abs(bent)
    return float(value - reach), float(value + reach)


def _of(stratum: Stratum, slope: Floats, rows: int) -> tuple[float, float, float]:
    """Of the rows of one mechanism: the sum, its variance, and how far it is off on average."""
    T, z, number = stratum.measured.matrix, stratum.measured.target, stratum.inside.drawn.rows
    h = solved(T, z, slope[:, None], rows)[:, 0]
    mean = T @ h
    variance = np.maximum(T @ h**2 - mean**2, 0.0)
    bent = float(z @ (mean - slope))
    return float(stratum.shown @ h), number * float(z @ variance), number * bent
