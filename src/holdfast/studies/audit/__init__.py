"""The parts of an audit: draws, features of outputs, events, bounds, exact matrices, pipelines."""

from holdfast.studies.audit.exact import audit_matrix
from holdfast.studies.audit.pipeline import Pipeline
from holdfast.studies.audit.report import Audit

__all__ = ["Audit", "Pipeline", "audit_matrix"]
