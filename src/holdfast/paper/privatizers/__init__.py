"""Step 2 of the framework: from a histogram of counts to a private target distribution."""

from holdfast.paper.privatizers.gaussian import CyclicGaussian
from holdfast.paper.privatizers.laplace import (
    ClassicLaplace,
    Cumulative,
    CyclicLaplace,
    Hierarchical,
    Privelet,
)
from holdfast.paper.privatizers.privatizer import Privatizer
from holdfast.paper.privatizers.quantile import PrivateQuantile

__all__ = [
    "ClassicLaplace",
    "Cumulative",
    "CyclicGaussian",
    "CyclicLaplace",
    "Hierarchical",
    "PrivateQuantile",
    "Privatizer",
    "Privelet",
]
