"""Where randomness comes from: the operating system, or a seed that marks a simulation."""

import hashlib
import math
import os
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError


class SystemEntropy:
    """The operating system's random bits. OpenDP draws noise for few rows (`noise.add_noise`), and
    `sampler` makes all other noise of these bits."""

    simulated = False
    """Whether a seed makes the draws repeatable, so that they protect nobody."""

    def words(self, size: int, *, stream: str, at: int = 0) -> NDArray[np.uint64]:
        """Independent uniform integers in [0, 2^64), never the same twice: those from number `at`
        on of a stream."""
        return np.frombuffer(os.urandom(8 * size), dtype=np.uint64)

    def add_laplace(self, values: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.int64]:
        """Values plus discrete Laplace noise from OpenDP, whose privacy map allows epsilon for a
        change of one."""
        return measured(laplace_measurement(epsilon)[0], values)


class Simulation:
    """A seeded generator: for tests and studies, never for a release of private data."""

    simulated = True

    def __init__(self, seed: int | np.random.Generator) -> None:
        self.generator = np.random.default_rng(seed)
        self._seed = None if isinstance(seed, np.random.Generator) else int(seed)

    def words(self, size: int, *, stream: str, at: int = 0) -> NDArray[np.uint64]:
        """Uniform integers in [0, 2^64), which seed, stream and number determine.

        >>> whole = Simulation(1).words(9, stream="counts")
        >>> bool((whole[5:] == Simulation(1).words(4, stream="counts", at=5)).all())
        True
        """
        if self._seed is None:  # of a generator
            self._seed = int.from_bytes(self.generator.bytes(16))
        digest = hashlib.sha256(f"{self._seed} {stream}".encode()).digest()
        key = np.frombuffer(digest[:16], dtype="<u8")
        # Philox makes four words of one number of its counter
        generator = np.random.Philox(key=key, counter=at // 4)
        return np.asarray(generator.random_raw(at % 4 + size)[at % 4 :])

    def add_laplace(self, values: NDArray[np.int64], epsilon: Fraction) -> NDArray[np.int64]:
        """Values plus discrete Laplace noise, as the difference of two geometric draws."""
        p = -math.expm1(-float(epsilon))
        first, second = self.generator.geometric(p, size=(2, len(values)))
        return np.asarray(values + first - second)


Randomness = SystemEntropy | Simulation
"""A source of exact integer draws."""


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


def measured(measurement: Any, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """What a measurement of OpenDP makes of integers."""
    if len(values) == 0:
        return values.copy()
    return np.array(measurement(values.tolist()), dtype=np.int64)


@lru_cache(maxsize=256)
def laplace_measurement(epsilon: Fraction) -> tuple[Any, Fraction]:
    """OpenDP's discrete Laplace on integers, and the epsilon that its privacy map states.

    The scale is the first float from 1/epsilon upwards for which the map, asked about a change of
    one in L1, stays within epsilon.
    """
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance

    space = vectors(), l1_distance(T="i64")
    scale = float(1 / epsilon)
    while True:
        measurement = make_laplace(*space, scale=scale)
        stated = Fraction(measurement.map(1))
        if stated <= epsilon:
            return measurement, stated
        scale = math.nextafter(scale, math.inf)


def vectors() -> Any:
    """OpenDP's domain of vectors of integers. Not by way of its prelude, which imports polars."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.mod import enable_features

    enable_features("contrib")
    return vector_domain(atom_domain(T="i64"))
