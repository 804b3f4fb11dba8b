"""What people use today: mechanisms that do not keep the distribution of counts."""

from holdfast.constructors.baselines.discrete_gaussian import DiscreteGaussian
from holdfast.constructors.baselines.staircase import Staircase
from holdfast.constructors.baselines.truncated_geometric import TruncatedGeometric

__all__ = ["DiscreteGaussian", "Staircase", "TruncatedGeometric"]
