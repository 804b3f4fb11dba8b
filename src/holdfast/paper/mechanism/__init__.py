"""A count mechanism in exact integers: its weights, its certificate, its draws."""

from holdfast.paper.mechanism.certificate import TOTAL, Certificate
from holdfast.paper.mechanism.mechanism import Mechanism, certified_mechanism

__all__ = ["TOTAL", "Certificate", "Mechanism", "certified_mechanism"]
