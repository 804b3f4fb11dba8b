"""Stage 1: histogram of counts -> target distribution."""

from holdfast.privatizers.classic_laplace import ClassicLaplace
from holdfast.privatizers.gaussian import CumulativeGaussian, CyclicGaussian
from holdfast.privatizers.hierarchical import Hierarchical
from holdfast.privatizers.laplace import CumulativeIsotonic, CumulativeSmooth, CyclicLaplace
from holdfast.privatizers.long_range import LongRange
from holdfast.privatizers.own import (
    certifier,
    is_own,
    made_anew,
    measured_target,
    published_name,
    usual_privatizer,
)
from holdfast.privatizers.planning import ExpectedError, expected_error
from holdfast.privatizers.privatizer import Privatizer, Skipped
from holdfast.privatizers.privelet import Privelet

__all__ = [
    "ClassicLaplace",
    "CumulativeGaussian",
    "CumulativeIsotonic",
    "CumulativeSmooth",
    "CyclicGaussian",
    "CyclicLaplace",
    "ExpectedError",
    "Hierarchical",
    "LongRange",
    "Privatizer",
    "Privelet",
    "Skipped",
    "certifier",
    "expected_error",
    "is_own",
    "made_anew",
    "measured_target",
    "published_name",
    "usual_privatizer",
]
