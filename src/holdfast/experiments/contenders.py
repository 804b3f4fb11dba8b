"""The privatizers that studies and tests compare: the one list of them."""

from collections.abc import Callable
from functools import partial

from holdfast.privatizers import (
    ClassicLaplace,
    CumulativeGaussian,
    CumulativeIsotonic,
    CyclicGaussian,
    CyclicLaplace,
    Hierarchical,
    Privatizer,
    Privelet,
)

DELTA = "1e-6"

CONTENDERS: dict[str, Callable[..., Privatizer]] = {
    "cumulative Laplace": CumulativeIsotonic,
    "cyclic Laplace": CyclicLaplace,
    "classic Laplace": ClassicLaplace,
    "Privelet": Privelet,
    "hierarchical": Hierarchical,
    "cumulative Gaussian": partial(CumulativeGaussian, delta=DELTA),
    "cyclic Gaussian": partial(CyclicGaussian, delta=DELTA),
}
"""By the noise they add; each takes any `projection`."""
