"""The paper's experiments, each a description, run by one engine and written up in a report."""

from holdfast.paper.experiments.claims import Verdict
from holdfast.paper.experiments.experiment import FULL, QUICK, Experiment
from holdfast.paper.experiments.register import EXPERIMENTS, Outcome, reproduce

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "Experiment", "Outcome", "Verdict", "reproduce"]
