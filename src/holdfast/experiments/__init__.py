"""Studies by simulation: the paper's experiments and our own."""

from holdfast.experiments.datasets import DATASETS, SYNTHETIC, Dataset, dataset

__all__ = ["DATASETS", "SYNTHETIC", "Dataset", "dataset"]
