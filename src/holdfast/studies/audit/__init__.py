"""The parts of an audit: draws, features of outputs, events, bounds, exact matrices, releases."""

from holdfast.studies.audit.exact import audit_matrix
from holdfast.studies.audit.repeated import RepeatedRelease
from holdfast.studies.audit.repeated_groups import RepeatedGroups
from holdfast.studies.audit.result import Audit

__all__ = ["Audit", "RepeatedGroups", "RepeatedRelease", "audit_matrix"]
