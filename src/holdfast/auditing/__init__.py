"""The parts of an audit: draws, features of outputs, events, bounds, exact matrices, pipelines."""

from holdfast.auditing.exact import audit_matrix
from holdfast.auditing.pipeline import Pipeline
from holdfast.auditing.report import Audit

__all__ = ["Audit", "Pipeline", "audit_matrix"]
