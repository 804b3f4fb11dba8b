"""What every privatizer is."""

from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Privatizer(Protocol):
    """A distribution privatizer: ε-private when one unit moves between adjacent bins."""

    def __call__(
        self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None
    ) -> NDArray[np.float64]:
        """The target distribution z of a histogram of counts; its total N is public."""

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """The privacy loss that the noise library's own privacy map states; at most epsilon."""


@runtime_checkable
class Measuring(Protocol):
    """A privatizer that measures first and fits z to the measurement, which can be published.

    The measurement is C_0, ..., C_(n-2) plus independent discrete Laplace noise of scale 1/ε
    and, with `common_noise`, one more draw of it added to all. It is ε-private by itself and z
    is computed from it, so publishing it costs nothing, and its noise law is known exactly,
    which that of z is not.
    """

    common_noise: ClassVar[bool]

    def measure(self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None) -> NDArray[np.int64]:
        """The noisy cumulative histogram without its last entry, which is N."""

    def fit(
        self, noisy: NDArray[np.int64], *, rows: int, epsilon: Any = None
    ) -> NDArray[np.float64]:
        """z from the measurement."""


def measured_target(
    privatizer: Privatizer, histogram: NDArray[np.int64], *, epsilon: Any, rng: Any
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """z, and the measurement behind it where the privatizer makes one."""
    if not isinstance(privatizer, Measuring):
        return privatizer(histogram, epsilon=epsilon, rng=rng), None
    noisy = privatizer.measure(histogram, epsilon=epsilon, rng=rng)
    return privatizer.fit(noisy, rows=int(histogram.sum()), epsilon=epsilon), noisy


def certifier(privatizer: Privatizer) -> str:
    """Who vouches for a privatizer's epsilon: OpenDP for ours, its author for another."""
    kind = type(privatizer)
    own = kind.__module__.startswith("holdfast.privatizers.")
    return "OpenDP's map" if own else f"claimed by {kind.__qualname__}, not checked"
