"""What every distribution privatizer is: a private distribution z of a histogram of counts.

A projection takes a noisy histogram that adds up to N, and makes a distribution of it. That is
post-processing: it costs no privacy.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.paper.distributions import check_histogram, check_target
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.noise import Noise
from holdfast.privacy.randomness import Randomness, laplace_measurement, randomness

NoisyHistogram = Integers | Floats


def clip(noisy: NoisyHistogram) -> Floats:
    """Negative entries become 0 and the rest is scaled to sum 1: what the paper does.

    >>> clip(np.array([6, -2, 4])).tolist()
    [0.6, 0.0, 0.4]
    """
    positive = np.maximum(noisy, 0)
    return np.asarray(positive / positive.sum())


def isotonic(noisy: NoisyHistogram) -> Floats:
    """The distribution whose cumulative histogram is nearest to the noisy one.

    The noise sits on the cumulative histogram, which never decreases and lies in [0, N]:
    least-squares isotonic regression, clamped to that range (Hay et al. 2010).

    >>> isotonic(np.array([6, -2, 4])).tolist()
    [0.625, 0.0, 0.375]
    """
    total = noisy.sum()
    if len(noisy) == 1:
        return np.ones(1)
    fitted = nearest_rising(np.cumsum(noisy)[:-1])
    cumulative = np.concatenate([[0], np.clip(fitted, 0, total), [total]])
    shares = np.maximum(np.diff(cumulative), 0)
    return np.asarray(shares / shares.sum())


def nearest_rising(values: ArrayLike) -> Floats:
    """Least-squares isotonic regression: what falls is pooled into blocks with its mean. O(n).

    >>> nearest_rising([1, 3, 2, 4]).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    means: list[float] = []
    sizes: list[int] = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        mean, size = value, 1
        while means and means[-1] >= mean:
            total = mean * size + means.pop() * sizes[-1]
            size += sizes.pop()
            mean = total / size
        means.append(mean)
        sizes.append(size)
    return np.repeat(means, sizes)


PROJECTIONS: dict[str, Callable[[NoisyHistogram], Floats]] = {
    "clip": clip,
    "isotonic": isotonic,
}


def find_projection(name: str) -> Callable[[NoisyHistogram], Floats]:
    """The projection of this name."""
    if name not in PROJECTIONS:
        raise HoldfastError(
            f"`projection` must be one of {', '.join(PROJECTIONS)}, got {name!r:.40}."
        )
    return PROJECTIONS[name]


MOST_SENSITIVE = 64  # two per level, and 32 levels of two branches hold 2^32 bins


class Privatizer(ABC):
    """A distribution privatizer: (ε, δ)-private when one unit moves between adjacent bins.

    One of your own derives from this and writes `__call__`, or is a plain function of
    (histogram, *, epsilon, rng). Its privacy is its author's claim, and results say so.
    """

    delta: Any = Fraction(0)
    """δ, as a number or text; 0 is pure ε-privacy."""

    @abstractmethod
    def __call__(self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None) -> Floats:
        """The target distribution z of a histogram of counts; its total N is public.

        Noise is the operating system's, or a simulation's where `rng` is a seed, a NumPy
        `Generator` or a `holdfast.privacy.randomness.Simulation`: pass it on to
        `randomness(rng)`, or a release that is to be private would be repeatable.
        """


@dataclass(frozen=True)
class FunctionPrivatizer(Privatizer):
    """A plain function as a privatizer: pure ε, by its author's claim."""

    function: Callable[..., ArrayLike]

    def __call__(self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None) -> Floats:
        """What the function makes, checked to be a distribution."""
        return check_target(self.function(histogram, epsilon=epsilon, rng=rng), "z")


def as_privatizer(privatizer: Any) -> Privatizer:
    """A privatizer, or a function as one; refuses what cannot be called, such as a name."""
    if isinstance(privatizer, Privatizer):
        return privatizer
    if isinstance(privatizer, type) or not callable(privatizer):
        raise HoldfastError(
            f"`privatizer` must be a privatizer, got {privatizer!r:.40}. "
            "Hint: holdfast.paper.privatizers.CyclicLaplace(), with its brackets."
        )
    return FunctionPrivatizer(privatizer)


@dataclass(frozen=True, kw_only=True)
class Noisy(Privatizer):
    """A privatizer of the paper: exact noise on integers that are linear in the histogram, an
    estimate of the histogram from them, and its projection.

    The noise is discrete Laplace of one scale, for integers that one unit, moved to the next bin,
    changes by at most `sensitivity(bins)` in L1.
    """

    projection: str
    """"clip" or "isotonic": how the noisy histogram becomes a distribution."""

    def __post_init__(self) -> None:
        find_projection(self.projection)

    def __call__(self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None) -> Floats:
        """The target distribution z, from exact noise of the operating system or, with `rng`,
        from a simulation."""
        eta, exact = check_histogram(histogram), exact_epsilon(epsilon)
        noisy = self.measure(eta, exact, randomness(rng))
        return find_projection(self.projection)(self.estimate(noisy, len(eta), int(eta.sum())))

    @abstractmethod
    def sensitivity(self, bins: int) -> int:
        """The most that moving one unit to the next bin changes the measured integers, in L1."""

    @abstractmethod
    def levels(self, histogram: Integers) -> list[Integers]:
        """The integers that are measured, level by level; none of a single bin, whose total is
        public."""

    @abstractmethod
    def estimate(self, noisy: Integers, bins: int, total: int) -> Floats | Integers:
        """The noisy integers as a histogram that adds up to `total`; it may be negative."""

    def measure(self, histogram: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        """The noisy integers: all that is ever learnt about the histogram, except for its total."""
        levels = self.levels(histogram)
        if not levels:
            return np.empty(0, dtype=np.int64)
        return source.add_laplace(
            np.concatenate(levels), epsilon / self.sensitivity(len(histogram))
        )

    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """The variance of C_0, ..., C_(n-2), before projection; estimates are linear in noise."""
        measured = sum(map(len, self.levels(np.zeros(bins, dtype=np.int64))))
        if not measured:
            return np.empty(0)
        units = np.eye(measured, dtype=np.int64)
        parts = np.cumsum([self.estimate(unit, bins, 0) for unit in units], axis=1)[:, :-1]
        noise = Noise(epsilon=exact_epsilon(epsilon) / self.sensitivity(bins))
        return np.asarray(noise.variance * (parts**2).sum(axis=0))

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """The largest loss that OpenDP's privacy map states for any number of bins; at most
        epsilon."""
        return _largest_stated(exact_epsilon(epsilon))


@cache
def _largest_stated(epsilon: Fraction) -> Fraction:
    return max(s * laplace_measurement(epsilon / s)[1] for s in range(1, MOST_SENSITIVE + 1))
