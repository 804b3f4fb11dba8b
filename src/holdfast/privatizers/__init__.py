"""Stage 1: histogram of counts -> target distribution."""

from holdfast.privatizers.laplace import CumulativeIsotonic, CyclicLaplace
from holdfast.privatizers.privatizer import Measuring, Privatizer, certifier, measured_target

__all__ = [
    "CumulativeIsotonic",
    "CyclicLaplace",
    "Measuring",
    "Privatizer",
    "certifier",
    "measured_target",
]
