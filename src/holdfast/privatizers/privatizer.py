"""What every privatizer is."""

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Privatizer(Protocol):
    """A distribution privatizer: ε-private when one unit moves between adjacent bins.

    One that is (ε, δ)-private has an attribute `delta`, a Fraction; without it δ is 0.
    """

    def __call__(
        self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None
    ) -> NDArray[np.float64]:
        """The target distribution z of a histogram of counts; its total N is public."""

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """The privacy loss that the noise library's own privacy map states; at most epsilon."""


class Skipped:
    """Stage 1 left out: the uniform distribution, which says nothing and costs nothing."""

    certified_by = "nothing was read"

    def __call__(
        self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None
    ) -> NDArray[np.float64]:
        """As many equal shares as the histogram has entries."""
        n = len(np.asarray(histogram))
        return np.full(n, 1 / n)

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """Nothing."""
        return Fraction(0)

    def __repr__(self) -> str:
        return "no stage 1"


def certifier(privatizer: Privatizer) -> str:
    """Who vouches for a privatizer's epsilon: OpenDP for ours, its author for another."""
    kind = type(privatizer)
    if kind.__module__.startswith("holdfast.privatizers."):
        return str(getattr(kind, "certified_by", "OpenDP's map"))
    return f"claimed by {kind.__qualname__}, not checked"
