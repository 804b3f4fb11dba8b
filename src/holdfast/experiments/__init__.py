"""The studies behind the defaults, and the paper's tables and figures."""

from holdfast.experiments.datasets import DATASETS, SYNTHETIC, Dataset, dataset

__all__ = ["DATASETS", "SYNTHETIC", "Dataset", "dataset"]
