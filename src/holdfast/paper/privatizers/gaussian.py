"""Privatizers that add discrete Gaussian noise to the cumulative histogram of counts."""

import math
from dataclasses import dataclass, field
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import CertificateError, HoldfastError
from holdfast.paper.privatizers.laplace import OnCumulative
from holdfast.privacy.budget import exact_delta, exact_epsilon
from holdfast.privacy.gaussian import add_gaussian
from holdfast.privacy.randomness import Randomness

DIGITS = 50
MARGIN = Decimal("1e-30")  # sums of 50-digit terms are right to 1e-40
ROOT_2_PI = Decimal("2.5066282746310005024157652848110452530069")  # rounded down
WIDEST = 1e9


def delta_bound(epsilon: Fraction, scale: float) -> Fraction:
    r"""An upper bound of δ(ε, σ), in decimal arithmetic with every error on the safe side.

    X has $P(X = x) \propto f(x) = \exp(-x^2 / 2\sigma^2)$ on the integers. The law of X and that
    of X + 1 have likelihood ratio $\exp((2x+1)/2\sigma^2)$, which grows with x, so the privacy loss
    exceeds ε exactly from $k = \lceil \epsilon\sigma^2 - 1/2 \rceil$ on, and (Canonne, Kamath and
    Steinke 2020, Theorem 7)

    $$ \delta(\epsilon, \sigma) = P(X \ge k) - e^\epsilon P(X \ge k + 1)
       = \frac{f(k) - (e^\epsilon - 1) \sum_{x > k} f(x)}{\sum_x f(x)}. $$

    >>> float(delta_bound(Fraction(1), 4.0))
    3.0554546492668225e-06
    """
    variance = Fraction(scale) ** 2
    k = math.ceil(epsilon * variance - Fraction(1, 2))
    with localcontext(Context(prec=DIGITS)):
        twice = 2 * _decimal(variance)
        excess = _decimal(epsilon).exp() - 1
        numerator = _f(k, twice) * (1 + MARGIN) - excess * _tail(k + 1, scale, twice)
        return max(Fraction(numerator / _normaliser(scale, twice) * (1 + MARGIN)), Fraction(0))


@lru_cache(maxsize=256)
def smallest_scale(epsilon: Fraction, delta: Fraction) -> float:
    """The smallest scale for which `delta_bound` allows delta, found to a part in 10^6.

    >>> round(smallest_scale(Fraction(1), Fraction(1, 10**6)), 4)
    4.2308
    """
    low, high = _bracket(float(epsilon), float(delta))
    while high > low * (1 + 2e-15):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _delta(float(epsilon), middle) <= delta else (middle, high)
    step = 1e-15 if high < 1000 else 1e-9
    while delta_bound(epsilon, high) > delta:  # decides; the search in floats only suggests
        high *= 1 + step
        step *= 4
    return high


def _bracket(epsilon: float, delta: float) -> tuple[float, float]:
    """Scales around the smallest. δ dips where k steps up, so it is looked at there: for
    ε ≥ 1 and σ near 1 it does not fall everywhere."""
    low, k = 0.05, 0
    while True:
        high = math.sqrt((k + 0.5) / epsilon)
        if _delta(epsilon, high) <= delta:
            return min(low, high), high
        if high > WIDEST:
            raise HoldfastError(
                "`epsilon` and `delta` are so small that the noise would be wider than "
                f"{WIDEST:g}. Hint: raise `delta` or `epsilon`."
            )
        low, k = high, k + 1 if k < 64 else 2 * k


def _delta(epsilon: float, scale: float) -> float:
    """δ(ε, σ) in floats, as a sum of positive terms; the continuous Gaussian's where σ is huge."""
    if scale > 3000:
        return _continuous_delta(epsilon, scale)
    k = math.ceil(epsilon * scale**2 - 0.5)
    x = np.arange(k, k + 10 + math.ceil(12 * scale), dtype=np.float64)
    terms = np.exp(-((x / scale) ** 2) / 2) * -np.expm1(epsilon - (x + 0.5) / scale**2)
    around = np.arange(1, 10 + math.ceil(12 * scale))
    return float(terms.sum() / (1 + 2 * np.exp(-((around / scale) ** 2) / 2).sum()))


def _continuous_delta(epsilon: float, scale: float) -> float:
    from scipy.special import log_ndtr

    near, far = 0.5 / scale - epsilon * scale, -0.5 / scale - epsilon * scale
    first = float(log_ndtr(near))
    return math.exp(first) * -math.expm1(epsilon + float(log_ndtr(far)) - first)


def _f(x: int, twice: Decimal) -> Decimal:
    return (-(x * x) / twice).exp()


def _tail(first: int, scale: float, twice: Decimal) -> Decimal:
    r"""A lower bound of $\sum_{x \ge first} f(x)$, summed in blocks of 2h + 1 terms.

    Around a block's middle c, $f(c+t) + f(c-t) = 2 f(c) \cosh(at) e^{-t^2/2\sigma^2}$ with
    $a = c/\sigma^2$, which is at least $2 f(c) (1 + a^2t^2/2)(1 - t^2/2\sigma^2)$.
    """
    h = int(scale / 1000)
    squares = Decimal(2 * sum(t * t for t in range(h + 1)))
    fourths = Decimal(2 * sum(t**4 for t in range(h + 1)))
    total = Decimal(0)
    for block in range(math.ceil((12 * scale + 10) / (2 * h + 1))):
        c = first + h + block * (2 * h + 1)
        half = (2 * c / twice) ** 2 / 2  # a^2 / 2
        weight = 2 * h + 1 + (half - 1 / twice) * squares - half / twice * fourths
        total += _f(c, twice) * weight
    return total * (1 - MARGIN)


def _normaliser(scale: float, twice: Decimal) -> Decimal:
    r"""A lower bound of $\sum_x f(x)$: part of the sum, or of its Poisson dual, σ√(2π) + ...."""
    part = 1 + 2 * sum((_f(x, twice) for x in range(1, 60)), Decimal(0))
    return max(part, ROOT_2_PI * Decimal(scale)) * (1 - MARGIN)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


SMALLEST_DELTA = Fraction(1, 10**100)  # decimals of 50 digits bound the noise's tail to here


@dataclass(frozen=True, kw_only=True)
class CyclicGaussian(OnCumulative):
    r"""The paper's cyclic Gaussian mechanism, on whole numbers: (ε, δ)-private.

    $V_i = \eta_i + G_i - G_{i+1}$ with $G_n = G_0$: discrete Gaussian noise on C_0, ..., C_(n-2)
    and one more $G_0$ on all of them. One person changes one C_i by 1, so δ is that of a single
    discrete Gaussian moved by one, whose exact formula gives the smallest σ. Cost: O(n), and once
    O(min(σ, 5000)).

    >>> privatizer = CyclicGaussian(delta="1e-6")
    >>> privatizer([40, 0, 0, 10], epsilon=1, rng=7).sum().round(12)
    np.float64(1.0)
    >>> round(privatizer.scale(1), 4)
    4.2308
    """

    delta: Any = field()  # must be given, though the base has a default
    """The probability that ε may fail: choose it well below 1/N; kept as a Fraction."""
    projection: str = "clip"

    def __post_init__(self) -> None:
        super().__post_init__()
        exact = exact_delta(self.delta, least=SMALLEST_DELTA)
        if not exact:
            raise HoldfastError(
                "`delta` must be positive for a Gaussian. Hint: Laplace noise needs none."
            )
        object.__setattr__(self, "delta", exact)

    def scale(self, epsilon: Any) -> float:
        """The smallest σ of the discrete Gaussian that is (ε, δ)-private for a change of one."""
        return smallest_scale(exact_epsilon(epsilon), self.delta)

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """Epsilon itself, once the exact law of this noise is known to keep δ."""
        exact = exact_epsilon(epsilon)
        if delta_bound(exact, self.scale(exact)) > self.delta:
            raise CertificateError("the Gaussian noise does not keep `delta`; nothing is released.")
        return exact

    def measure(self, histogram: Integers, epsilon: Fraction, source: Randomness) -> Integers:
        """The noisy cumulative sums, all with the same $G_0$."""
        scale = self.scale(epsilon)
        common = add_gaussian(np.zeros(1, dtype=np.int64), scale, source)
        return add_gaussian(np.cumsum(histogram)[:-1], scale, source) + common

    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """Twice σ², or less where σ is small: by less than 1e-10 of it from σ = 2 on."""
        scale, x = self.scale(epsilon), np.arange(-30, 31)
        weights = np.exp(-((x / scale) ** 2) / 2)
        single = float(x**2 @ weights / weights.sum()) if scale < 2 else scale**2
        return np.full(bins - 1, 2 * single)
