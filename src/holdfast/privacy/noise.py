"""Exact integer noise: discrete Laplace, and the discrete staircase for larger shifts."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, whole_number
from holdfast.privacy.randomness import Randomness
from holdfast.privacy.rational import exp_above, exp_below
from holdfast.privacy.sampler import LARGEST_NOISE, Sampler

MOST_BY_OPENDP = 20_000  # rows: 10 µs each are 0.2 s
VALUE_CAP = LARGEST_NOISE // 2  # of what noise is added to, and of the results
LARGEST_SCALE = 1 << 40  # of shift / epsilon: noise stays far within 64 bits


@dataclass(frozen=True, kw_only=True)
class Noise:
    r"""Law of exact integer noise: the discrete staircase for shifts of up to `shift`.

    $P(X = x) \propto e^{-\epsilon\,\ell(x)}$ with level $\ell(x) = 0$ for $|x| < r$ and
    $\lfloor (|x| - r)/k \rfloor + 1$ beyond, for shift $k$ and width $r$. A shift of $x$ by up to
    $k$ changes the level by one at the most, so that $P(X = x) \le e^\epsilon P(X = x + s)$ for
    all $|s| \le k$. With $k = r = 1$ it is discrete Laplace noise of scale $1/\epsilon$.
    [Geng, Kairouz, Oh and Viswanath 2015]

    >>> noise = Noise.least(Fraction(2), 10)
    >>> noise.width, round(noise.mean_absolute, 3), noise.quantile(0.9)
    (3, 4.228, 11)
    """

    epsilon: Fraction
    """Promised for a change of a count by `shift`."""
    shift: int = 1
    """By how much one person may change a count, at the most: k."""
    width: int = 1
    """Integers from 0 on at the level of 0: r."""

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or self.epsilon <= 0:
            raise HoldfastError(f"`epsilon` must be a positive Fraction, got {self.epsilon!r:.60}.")
        whole_number(self.shift, "shift", least=1)
        whole_number(self.width, "width", least=1)
        if max(self.shift, self.width) / self.epsilon > LARGEST_SCALE:
            raise HoldfastError(
                f"`epsilon` must be larger, got {float(self.epsilon):g} for a shift of "
                f"{self.shift:,}. Hint: such noise would not fit into 64 bits."
            )

    @classmethod
    def least(cls, epsilon: Fraction, shift: int) -> "Noise":
        """Noise for shifts of up to `shift`, of the width for which E|X| is least.

        >>> [Noise.least(Fraction(1), shift).width for shift in (1, 2, 10, 1000)]
        [1, 1, 4, 378]
        """
        return cls(epsilon=epsilon, shift=shift, width=least_width(epsilon, shift))

    @property
    def _decay(self) -> float:
        return exp(-float(self.epsilon))

    @property
    def _rest(self) -> float:
        """1 - e^-epsilon."""
        return -expm1(-float(self.epsilon))

    @property
    def _weights(self) -> float:
        """The sum of e^(-epsilon level) over all integers."""
        return 2 * self.width - 1 + 2 * self.shift * self._decay / self._rest

    def probability(self, x: ArrayLike) -> Floats:
        """P(X = x), for integers x."""
        beyond = np.maximum(np.abs(np.asarray(x, dtype=np.int64)) - self.width, -self.shift)
        level = beyond // self.shift + 1
        return np.asarray(np.exp(-float(self.epsilon) * level) / self._weights)

    def cumulative(self, x: ArrayLike) -> Floats:
        """P(X <= x), for integers x."""
        place = np.asarray(x, dtype=np.int64)
        tail = self._tail(np.where(place < 0, -place - 1, place))
        return np.where(place < 0, tail, 1 - tail)

    def _tail(self, x: ArrayLike) -> Floats:
        """P(X > x), for integers x >= 0."""
        beyond = np.asarray(x, dtype=np.int64) - (self.width - 1)
        levels, places = np.divmod(np.maximum(beyond, 0), self.shift)
        weight = np.exp(-float(self.epsilon) * (levels + 1)) * (self.shift / self._rest - places)
        return np.asarray((weight - np.minimum(beyond, 0)) / self._weights)

    @property
    def mean_absolute(self) -> float:
        """E|X|."""
        k, r, moments = self.shift, self.width, self._level_moments()
        outside = (k * r + k * (k - 1) / 2) * moments[0] + k * k * moments[1]
        return (r * (r - 1) + 2 * outside) / self._weights

    @property
    def variance(self) -> float:
        """E X^2."""
        k, r, moments = self.shift, self.width, self._level_moments()
        squares = k * r * r + k * (k - 1) * r + (k - 1) * k * (2 * k - 1) / 6
        outside = squares * moments[0] + k * k * (2 * r + k - 1) * moments[1] + k**3 * moments[2]
        return (r * (r - 1) * (2 * r - 1) / 3 + 2 * outside) / self._weights

    def _level_moments(self) -> tuple[float, float, float]:
        """Sums of e^(-epsilon (j + 1)) j^p over j >= 0, for p = 0, 1, 2."""
        a, rest = self._decay, self._rest
        return a / rest, a**2 / rest**2, a**2 * (1 + a) / rest**3

    def quantile(self, level: float) -> int:
        """The smallest q with P(|X| <= q) >= level.

        >>> Noise(epsilon=Fraction(1)).quantile(0.95)
        3
        """
        if not 0 < level < 1:
            raise HoldfastError(f"`level` must lie between 0 and 1, got {level!r:.40}.")
        low, high = -1, self.width
        while 2 * self._tail(high) > 1 - level:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if 2 * self._tail(middle) > 1 - level else (low, middle)
        return high


def least_width(epsilon: Fraction, shift: int) -> int:
    """The width of least E|X|: ⌈k / (1 + e^(epsilon/2))⌉, decided in exact arithmetic.

    With b = k/(e^epsilon - 1) and u = 2r - 1 + 2b, E|X| is u/4 + D/u, D = kb + b^2 - 1/4. Width
    r + 1 is no better than r if 4D <= u(u + 2), which is e^epsilon >= ((k - r)/r)^2.

    >>> least_width(Fraction(1, 10), 10**6)
    487503
    """
    bits = 256
    while True:
        widest, narrowest = (
            -(-shift // (1 + bound(epsilon / 2, bits=bits))) for bound in (exp_below, exp_above)
        )
        if widest == narrowest:
            return int(widest)
        bits *= 2


def add_noise(
    values: ArrayLike, noise: Noise, source: Randomness, *, stream: str, at: int = 0
) -> Integers:
    """Integers plus independent exact noise; `values` are those of rows from number `at` on.

    With a seed the same row of the same `stream` always gets the same noise, however rows are cut
    into batches. Two uses must not share a stream.

    >>> from holdfast.privacy.randomness import Simulation
    >>> noise = Noise(epsilon=Fraction(1))
    >>> add_noise([3, 0, 1, 12], noise, Simulation(1), stream="counts")
    array([ 4,  0,  2, 15])
    """
    integers = np.asarray(values, dtype=np.int64)
    laplace = noise.shift == noise.width == 1
    if laplace and not source.simulated and at + len(integers) <= MOST_BY_OPENDP:
        return source.add_laplace(integers, noise.epsilon)
    drawn = _sampler(noise).draw(len(integers), source, stream, at)
    noisy = np.clip(integers, -VALUE_CAP, VALUE_CAP) + drawn
    # the result, for noise that is cut short would tell the value
    capped: Integers = np.clip(noisy, -VALUE_CAP, VALUE_CAP)
    return capped


@lru_cache(maxsize=16)  # about 1 MB each
def _sampler(noise: Noise) -> Sampler:
    return Sampler(noise.epsilon, noise.shift, noise.width)
