"""The paper's experiments, each a description, run by one engine and written up in a report."""

from holdfast.experiments.reproduce.experiment import FULL, QUICK, Experiment
from holdfast.experiments.reproduce.register import EXPERIMENTS, Outcome, reproduce

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "Experiment", "Outcome", "reproduce"]
