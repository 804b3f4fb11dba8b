"""The privatizers that studies and tests compare: the one list of them."""

from collections.abc import Callable
from functools import partial

from holdfast.former.privatizers import (
    ClassicLaplace,
    CumulativeGaussian,
    CumulativeSmooth,
    CyclicGaussian,
    CyclicLaplace,
    Hierarchical,
    Privatizer,
    Privelet,
)
from holdfast.former.privatizers.named_projections import PROJECTIONS

DELTA = "1e-6"
OWN = "own"

CONTENDERS: dict[str, Callable[..., Privatizer]] = {
    "cumulative Laplace": CumulativeSmooth,
    "cyclic Laplace": CyclicLaplace,
    "classic Laplace": ClassicLaplace,
    "Privelet": Privelet,
    "hierarchical": Hierarchical,
    "cumulative Gaussian": partial(CumulativeGaussian, delta=DELTA),
    "cyclic Gaussian": partial(CyclicGaussian, delta=DELTA),
}
"""By the noise they add; each takes any `projection`."""

SELF_CONTAINED: dict[str, Callable[[], Privatizer]] = {}
"""Those that bring their own way from noise to a distribution."""

DEFAULT = ("cumulative Laplace", "smooth")
"""What `privatize` uses when nothing is said, as (name, projection)."""


def pairs() -> list[tuple[str, str]]:
    """Every privatizer with every projection, as names.

    >>> ("cyclic Laplace", "clip") in pairs() and DEFAULT in pairs()
    True
    """
    combined = [(name, projection) for name in CONTENDERS for projection in PROJECTIONS]
    return combined + [(name, OWN) for name in SELF_CONTAINED]


def contender(name: str, projection: str) -> Privatizer:
    """The privatizer of a pair of names."""
    if projection == OWN:
        return SELF_CONTAINED[name]()
    return CONTENDERS[name](projection=projection)
