"""The parts of an audit: draws, features of outputs, events, bounds, exact matrices, releases."""

from holdfast.former.studies.audit.exact import audit_matrix
from holdfast.former.studies.audit.repeated import RepeatedRelease
from holdfast.former.studies.audit.repeated_groups import RepeatedGroups
from holdfast.former.studies.audit.result import Audit

__all__ = ["Audit", "RepeatedGroups", "RepeatedRelease", "audit_matrix"]
