"""Privatizers that add discrete Laplace noise to the cumulative histogram of counts."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.budget import exact_epsilon
from holdfast.histogram import check_histogram
from holdfast.privatizers.projection import find_projection
from holdfast.randomness import Randomness, laplace_measurement, randomness


@dataclass(frozen=True, kw_only=True)
class _OnCumulative:
    projection: str
    """"clip", "simplex" or "isotonic": how the noisy histogram becomes a distribution."""
    common_noise: ClassVar[bool] = False
    """Whether one more draw is added to the whole cumulative histogram."""

    def __post_init__(self) -> None:
        find_projection(self.projection)

    def __call__(
        self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None
    ) -> NDArray[np.float64]:
        """The target distribution z, from exact noise of the operating system or, with `rng`,
        from a simulation."""
        noisy = self.measure(histogram, epsilon=epsilon, rng=rng)
        return self.fit(noisy, rows=int(check_histogram(histogram).sum()), epsilon=epsilon)

    def measure(self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None) -> NDArray[np.int64]:
        """The noisy C_0, ..., C_(n-2): all that stage 1 draws, and private by itself."""
        cumulative = np.cumsum(check_histogram(histogram))
        return self._noisy(cumulative[:-1], exact_epsilon(epsilon), randomness(rng))

    def fit(
        self, noisy: NDArray[np.int64], *, rows: int, epsilon: Any = None
    ) -> NDArray[np.float64]:
        """z from what was measured: post-processing, which costs no privacy."""
        bounds = np.concatenate([[0], noisy, [rows]])
        return find_projection(self.projection)(np.diff(bounds))

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """What OpenDP's privacy map states for this noise; at most epsilon."""
        return laplace_measurement(exact_epsilon(epsilon))[1]

    def _noisy(
        self, cumulative: NDArray[np.int64], epsilon: Fraction, source: Randomness
    ) -> NDArray[np.int64]:
        return source.add_laplace(cumulative, epsilon)


@dataclass(frozen=True, kw_only=True)
class CumulativeIsotonic(_OnCumulative):
    r"""Discrete Laplace noise of scale 1/ε on C_0, ..., C_(n-2), then isotonic regression.

    One person moves one row from bin i to bin i+1, which changes $C_i = \sum_{k \le i} \eta_k$
    by 1 and nothing else, so the release has L1 sensitivity 1. Proof note: "Stage 1" in
    docs/privacy-guarantee.md. Cost: O(n).

    >>> z = CumulativeIsotonic()([40, 0, 0, 10], epsilon=1, rng=7)
    >>> z.sum().round(12), (z >= 0).all()
    (np.float64(1.0), np.True_)
    """

    projection: str = "isotonic"


@dataclass(frozen=True, kw_only=True)
class CyclicLaplace(_OnCumulative):
    r"""The paper's cyclic Laplace mechanism, on whole numbers.

    $V_i = \eta_i + L_i - L_{i+1}$ with $L_n = L_0$ and discrete Laplace $L_i$ of scale 1/ε.
    It is the cumulative release with one more $L_0$ added to every $C_i$: given $L_0$, the
    same proof holds. Same privacy as `CumulativeIsotonic`, twice the variance.

    >>> CyclicLaplace()([40, 0, 0, 10], epsilon=1, rng=7).sum().round(12)
    np.float64(1.0)
    """

    projection: str = "clip"
    common_noise: ClassVar[bool] = True

    def _noisy(
        self, cumulative: NDArray[np.int64], epsilon: Fraction, source: Randomness
    ) -> NDArray[np.int64]:
        common = source.add_laplace(np.zeros(1, dtype=np.int64), epsilon)
        return source.add_laplace(cumulative, epsilon) + common
