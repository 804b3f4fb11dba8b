"""What people use today: mechanisms that do not keep the distribution of counts."""

from holdfast.former.constructors.baselines.discrete_gaussian import DiscreteGaussian
from holdfast.former.constructors.baselines.staircase import Staircase
from holdfast.former.constructors.baselines.truncated_geometric import TruncatedGeometric

__all__ = ["DiscreteGaussian", "Staircase", "TruncatedGeometric"]
