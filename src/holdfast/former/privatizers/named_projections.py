"""Projections by the names that privatizers call them with."""

from collections.abc import Callable

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.former.privatizers.projection import Noise, NoisyHistogram, clip, isotonic, simplex
from holdfast.former.privatizers.smooth import smooth_fit

Projection = Callable[[NoisyHistogram, Noise], Floats]

PROJECTIONS: dict[str, Projection] = {
    "clip": clip,
    "simplex": simplex,
    "isotonic": isotonic,
    "smooth": smooth_fit,
}


def find_projection(name: str) -> Projection:
    """The projection of this name."""
    if name not in PROJECTIONS:
        raise HoldfastError(
            f"`projection` must be one of {', '.join(PROJECTIONS)}, got {name!r:.40}."
        )
    return PROJECTIONS[name]
