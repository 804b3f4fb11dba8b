"""What people use today: mechanisms that do not keep the distribution of counts."""

from holdfast.baselines.truncated_geometric import TruncatedGeometric

__all__ = ["TruncatedGeometric"]
