"""What every privatizer is, and what it may say of itself."""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats


class Privatizer(ABC):
    """A distribution privatizer: (ε, δ)-private when one unit moves between adjacent bins.

    One of your own derives from this and writes the two abstract methods; everything else has a
    default. What it says of its privacy is a claim, and releases call it one.
    """

    delta: Any = Fraction(0)
    """δ, as a number or text; 0 is pure ε-privacy."""
    certified_by: ClassVar[str] = "OpenDP's map"
    """Who vouches for ε; heeded for holdfast's own privatizers alone."""
    independent_steps: ClassVar[bool] = False
    """Whether a unit that moves m bins changes m measured integers by one each, under noise of
    their own, so that it costs m losses of one step; heeded for holdfast's own alone."""
    ledger_name: str | None = None
    """Text by which a ledger knows it again, different for whatever draws by another law; None
    where nobody vouches for that, and every release is then drawn and paid for."""

    @abstractmethod
    def __call__(self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None) -> Floats:
        """The target distribution z of a histogram of counts; its total N is public."""

    @abstractmethod
    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """The privacy loss that the noise library's own privacy map states; at most epsilon."""

    def cumulative_variance(self, bins: int, epsilon: Any) -> Floats:
        """About the variance of C_0, ..., C_(n-2) before projection: that of Laplace noise."""
        return np.full(bins - 1, 2 / float(epsilon) ** 2)


class Skipped(Privatizer):
    """Stage 1 left out: the uniform distribution, which says nothing and costs nothing."""

    certified_by = "nothing was read"

    def __call__(self, histogram: ArrayLike, *, epsilon: Any, rng: Any = None) -> Floats:
        """As many equal shares as the histogram has entries."""
        n = len(np.asarray(histogram))
        return np.full(n, 1 / n)

    def certified_epsilon(self, epsilon: Any) -> Fraction:
        """Nothing."""
        return Fraction(0)

    def __repr__(self) -> str:
        return "no stage 1"
