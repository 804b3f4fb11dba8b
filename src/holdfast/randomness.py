"""Where randomness comes from: the operating system, or a seed that marks a simulation."""

import math
import os
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError


class Randomness(Protocol):
    """A source of exact integer draws."""

    @property
    def simulated(self) -> bool:
        """Whether a seed makes the draws repeatable, so that they protect nobody."""

    def bits_62(self, size: int) -> NDArray[np.uint64]:
        """Independent uniform integers in [0, 2^62)."""

    def add_laplace(self, values: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.int64]:
        """Values plus independent discrete Laplace noise, epsilon-private at L1 sensitivity 1."""


class SystemEntropy:
    """The operating system's entropy; noise is drawn by OpenDP."""

    simulated = False

    def bits_62(self, size: int) -> NDArray[np.uint64]:
        """Independent uniform integers in [0, 2^62)."""
        return np.frombuffer(os.urandom(8 * size), dtype=np.uint64) >> np.uint64(2)

    def add_laplace(self, values: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.int64]:
        """Values plus discrete Laplace noise from OpenDP, whose privacy map allows epsilon."""
        if len(values) == 0:
            return values.copy()
        measurement, _ = laplace_measurement(epsilon)
        return np.array(measurement(values.tolist()), dtype=np.int64)


class Simulation:
    """A seeded generator: for tests and studies, never for a release of private data."""

    simulated = True

    def __init__(self, seed: int | np.random.Generator) -> None:
        self.generator = np.random.default_rng(seed)

    def bits_62(self, size: int) -> NDArray[np.uint64]:
        """Independent uniform integers in [0, 2^62)."""
        return self.generator.integers(0, 1 << 62, size=size, dtype=np.uint64)

    def add_laplace(self, values: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.int64]:
        """Values plus discrete Laplace noise, as the difference of two geometric draws."""
        p = -math.expm1(-float(epsilon))
        first, second = self.generator.geometric(p, size=(2, len(values)))
        return np.asarray(values + first - second)


def randomness(rng: Any) -> Randomness:
    """The source that `rng` asks for: None is the operating system, anything else a simulation.

    >>> randomness(None).simulated, randomness(7).simulated
    (False, True)
    """
    if rng is None:
        return SystemEntropy()
    if type(rng) in (SystemEntropy, Simulation):  # a subclass could hide that it is seeded
        return rng  # type: ignore[no-any-return]
    if isinstance(rng, np.random.Generator):
        return Simulation(rng)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return Simulation(int(rng))
    raise HoldfastError(
        "`rng` (or `seed`) must be None, a whole number of 0 or more, or a numpy Generator, "
        f"got {type(rng).__name__}. Hint: leave it out for a real release."
    )


@lru_cache(maxsize=64)
def laplace_measurement(epsilon: Fraction) -> tuple[Any, Fraction]:
    """OpenDP's discrete Laplace on integers, and the epsilon that its privacy map states.

    The scale is the first float from 1/epsilon upwards for which the map stays within epsilon.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = float(1 / epsilon)
    while True:
        measurement = dp.m.make_laplace(*space, scale=scale)
        stated = Fraction(measurement.map(1))
        if stated <= epsilon:
            return measurement, stated
        scale = math.nextafter(scale, math.inf)
