"""Stage 1: histogram of counts -> target distribution."""

from holdfast.privatizers.laplace import CumulativeIsotonic, CyclicLaplace
from holdfast.privatizers.privatizer import Privatizer, Skipped, certifier

__all__ = ["CumulativeIsotonic", "CyclicLaplace", "Privatizer", "Skipped", "certifier"]
