"""What people use today: mechanisms that do not keep the distribution of counts."""

from holdfast.baselines.discrete_gaussian import DiscreteGaussian
from holdfast.baselines.staircase import Staircase
from holdfast.baselines.truncated_geometric import TruncatedGeometric

__all__ = ["DiscreteGaussian", "Staircase", "TruncatedGeometric"]
