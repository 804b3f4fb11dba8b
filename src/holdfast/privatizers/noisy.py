"""What the privatizers here share: measure integers with noise, estimate, project."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.budget import exact_epsilon
from holdfast.histogram import check_histogram
from holdfast.privatizers.projection import Noise, find_projection
from holdfast.randomness import Randomness, laplace_measurement, randomness

MOST_SENSITIVE = 64  # two per level, and 32 levels of two branches hold 2^32 bins


@dataclass(frozen=True, kw_only=True)
class Noisy:
    """A privatizer: exact noise on integers, then post-processing of the noisy integers."""

    certified_by: ClassVar[str] = "OpenDP's map"
    law: ClassVar[str] = "other"

    projection: str
    """"clip", "simplex", "isotonic" or "smooth": how the noisy histogram becomes a
    distribution."""

    def __post_init__(self) -> None:
        find_projection(self.projection)

    def __call__(
        self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None
    ) -> NDArray[np.float64]:
        """The target distribution z, from exact noise of the operating system or, with `rng`,
        from a simulation."""
        eta = check_histogram(histogram)
        noisy = self.measure(eta, exact_epsilon(epsilon), randomness(rng))
        estimate = self.estimate(noisy, len(eta), int(eta.sum()))
        noise = Noise(variance=self.cumulative_variance(len(eta), epsilon), law=self.law)
        return find_projection(self.projection)(estimate, noise)

    def measure(
        self, histogram: NDArray[np.int64], epsilon: Fraction, source: Randomness
    ) -> NDArray[np.int64]:
        """The noisy integers: all that is ever learnt about the histogram but its total."""
        raise NotImplementedError

    def estimate(
        self, noisy: NDArray[np.int64], bins: int, total: int
    ) -> NDArray[np.float64] | NDArray[np.int64]:
        """The noisy integers as a histogram that adds up to `total`; it may be negative."""
        raise NotImplementedError

    def cumulative_variance(self, bins: int, epsilon: Any) -> NDArray[np.float64]:
        """The variance of the estimate's cumulative sums C_0, ..., C_(n-2), before projection."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LaplaceByLevel(Noisy):
    """A privatizer with discrete Laplace noise of one scale on integers that one unit, moved
    to the next bin, changes by at most `sensitivity(bins)` in L1."""

    def sensitivity(self, bins: int) -> int:
        """The most that moving one unit to the next bin changes the measured integers, in L1."""
        raise NotImplementedError

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """The largest loss that OpenDP's privacy map states for any number of bins; at most
        epsilon."""
        return _largest_stated(exact_epsilon(epsilon))


def laplace_variance(epsilon: Fraction, sensitivity: int = 1) -> float:
    """The variance of discrete Laplace noise that is epsilon-private at this sensitivity.

    >>> round(laplace_variance(Fraction(1)), 4)
    1.8413
    """
    return float(0.5 / np.sinh(float(epsilon) / sensitivity / 2) ** 2)


@cache
def _largest_stated(epsilon: Fraction) -> Fraction:
    return max(laplace_measurement(epsilon, s)[1] for s in range(1, MOST_SENSITIVE + 1))
