"""The paper's experiments, each a description, run by one engine and written up in a report."""

from holdfast.former.studies.reproduce.claims import Verdict
from holdfast.former.studies.reproduce.experiment import FULL, QUICK, Experiment
from holdfast.former.studies.reproduce.register import EXPERIMENTS, Outcome, reproduce

__all__ = ["EXPERIMENTS", "FULL", "QUICK", "Experiment", "Outcome", "Verdict", "reproduce"]
