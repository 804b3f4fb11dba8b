"""Stage 1: histogram of counts -> target distribution."""

from holdfast.former.privatizers.classic_laplace import ClassicLaplace
from holdfast.former.privatizers.gaussian import CumulativeGaussian, CyclicGaussian
from holdfast.former.privatizers.hierarchical import Hierarchical
from holdfast.former.privatizers.laplace import CumulativeIsotonic, CumulativeSmooth, CyclicLaplace
from holdfast.former.privatizers.long_range import LongRange
from holdfast.former.privatizers.own import (
    certifier,
    is_own,
    made_anew,
    measured_target,
    published_name,
    usual_privatizer,
)
from holdfast.former.privatizers.planning import ExpectedError, expected_error
from holdfast.former.privatizers.privatizer import Privatizer, Skipped
from holdfast.former.privatizers.privelet import Privelet

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
