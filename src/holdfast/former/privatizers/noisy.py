"""What the privatizers here share: measure integers with noise, estimate, project."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.former.privatizers.named_projections import find_projection
from holdfast.former.privatizers.privatizer import Privatizer
from holdfast.former.privatizers.projection import Noise
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.randomness import Randomness, laplace_measurement, randomness
from holdfast.former.tables.histogram import check_histogram

MOST_SENSITIVE = 64  # two per level, and 32 levels of two branches hold 2^32 bins


@dataclass(frozen=True, kw_only=True)
class Noisy(Privatizer):
    """A privatizer: exact noise on integers, then post-processing of the noisy integers."""

    def __call__(self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None) -> Floats:
        """The target distribution z, from exact noise of the operating system or, with `rng`,
        from a simulation."""
        eta = check_histogram(histogram)
        exact = exact_epsilon(epsilon)
        noisy = self.measure(eta, exact, randomness(rng))
        return self.fit(noisy, len(eta), int(eta.sum()), exact)

    @abstractmethod
    def measure(self, histogram: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        """The noisy integers: all that is ever learnt about the histogram, except for its total."""

    @abstractmethod
    def fit(self, noisy: Integers, bins: int, total: int, epsilon: Fraction) -> Floats:
        """z from the noisy integers and what is public: post-processing, which costs nothing."""


@dataclass(frozen=True, kw_only=True)
class Projected(Noisy):
    """One whose noisy integers are a linear view of the histogram, which a projection turns into
    z."""

    common_noise: ClassVar[bool] = False
    """Whether one more draw is added to every measured integer."""
    gaussian: ClassVar[bool] = False
    """Whether the noise is discrete Gaussian; otherwise it is discrete Laplace."""
    law: ClassVar[str] = "other"
    """That of the noise on the cumulative histogram: see `Noise`."""

    projection: str
    """"clip", "simplex", "isotonic" or "smooth": how the noisy histogram becomes a
    distribution."""

    def __post_init__(self) -> None:
        find_projection(self.projection)

    def fit(self, noisy: Integers, bins: int, total: int, epsilon: Fraction) -> Floats:
        """z by the projection of the estimated histogram."""
        noise = Noise(variance=self.cumulative_variance(bins, epsilon), law=self.law)
        return find_projection(self.projection)(self.estimate(noisy, bins, total), noise)

    @abstractmethod
    def estimate(self, noisy: Integers, bins: int, total: int) -> Floats | Integers:
        """The noisy integers as a histogram that adds up to `total`; it may be negative."""

    def response(self, size: int, bins: int) -> Callable[[Floats], Floats]:
        """How f · estimate, for one f or each column of f, answers to one more in each of the
        `size` noisy integers; `estimate` is linear."""
        start = self.estimate(np.zeros(size, dtype=np.int64), bins, 0)
        ones = np.eye(size, dtype=np.int64)
        moved = np.array([self.estimate(one, bins, 0) - start for one in ones])
        return lambda answer: np.asarray(moved @ answer)

    def sensitivity(self, bins: int) -> int:
        """The most that moving one unit to the next bin changes the measured integers, in L1."""
        return 1

    def variance(self, epsilon: Any, bins: int) -> float:
        """That of the noise on each measured integer, without what is common to all."""
        return laplace_variance(exact_epsilon(epsilon), self.sensitivity(bins))

    @abstractmethod
    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """The variance of the estimate's cumulative sums C_0, ..., C_(n-2), before projection."""


@dataclass(frozen=True, kw_only=True)
class LaplaceByLevel(Projected):
    """A privatizer with discrete Laplace noise of one scale on integers that one unit, moved
    to the next bin, changes by at most `sensitivity(bins)` in L1."""

    @abstractmethod
    def sensitivity(self, bins: int) -> int:
        """The most that moving one unit to the next bin changes the measured integers, in L1."""

    @abstractmethod
    def levels(self, histogram: Integers) -> list[Integers]:
        """The integers that are measured, level by level; none of a single bin, whose total is
        public."""

    @abstractmethod
    def unit_variance(self, bins: int) -> Floats:
        """The variance of C_0, ..., C_(n-2) when the noise on every integer has variance 1."""

    def measure(self, histogram: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        """All levels with noise, one after the other."""
        levels = self.levels(histogram)
        if not levels:
            return np.empty(0, dtype=np.int64)
        return source.add_laplace(np.concatenate(levels), epsilon, self.sensitivity(len(histogram)))

    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """The variance of C_0, ..., C_(n-2), before projection."""
        return self.variance(epsilon, bins) * self.unit_variance(bins) if bins > 1 else np.empty(0)

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
