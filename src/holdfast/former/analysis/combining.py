"""Rubin's rules: one estimate from several plausible tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError


@dataclass(frozen=True, kw_only=True)
class Combined:
    """An estimate from several tables, with what they disagree on in its standard error."""

    estimate: float
    standard_error: float
    degrees: float
    """Of freedom, of Student's law that the interval comes from."""
    noise: float
    """Which part of the variance is due to the release's noise: 0 to 1."""

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Covers with this probability."""
        from scipy.special import stdtrit

        reach = float(stdtrit(self.degrees, (1 + level) / 2)) * self.standard_error
        return self.estimate - reach, self.estimate + reach

    def __float__(self) -> float:
        return self.estimate


def combine(estimates: Sequence[float], standard_errors: Sequence[float]) -> Combined:
    """Rubin's rules for the same number computed from every table of `release.impute`.

    The mean of the estimates; the mean of their variances, plus 1 + 1/m times the variance between
    them.

    >>> found = combine([1.0, 1.2, 0.8], [0.1, 0.1, 0.1])
    >>> found.estimate, round(found.standard_error, 4)
    (1.0, 0.2517)
    """
    values = np.asarray(estimates, dtype=np.float64)
    errors = np.asarray(standard_errors, dtype=np.float64)
    if values.ndim != 1 or values.shape != errors.shape or len(values) < 2:
        raise HoldfastError(
            "`combine` needs an estimate and a standard error from each of two tables or more."
        )
    within, between = np.mean(errors**2), values.var(ddof=1)
    return combined(float(values.mean()), float(within), float(between), len(values))


def combined(mean: float, within: float, between: float, times: int) -> Combined:
    """From the variances within and between the tables."""
    extra = (1 + 1 / times) * between
    total = within + extra
    noise = extra / total if total > 0 else 0.0
    degrees = (times - 1) / noise**2 if noise > 0 else np.inf
    return Combined(
        estimate=mean,
        standard_error=float(np.sqrt(total)),
        degrees=float(degrees),
        noise=float(noise),
    )


def least_squares(matrix: Floats, outcome: Floats) -> tuple[Floats, Floats]:
    """Coefficients and their robust covariance (HC1)."""
    rows, size = matrix.shape
    inverse = np.linalg.pinv(matrix)
    found = inverse @ outcome
    left = outcome - matrix @ found
    scaled = inverse * left
    return np.asarray(found), np.asarray(scaled @ scaled.T * rows / (rows - size))
