"""One declaration of everything a run can be asked: names, types, help, defaults, panels."""

from holdfast.request.asked import Asked, Form, Panel
from holdfast.request.documentation import declared
from holdfast.request.fields import FIELDS
from holdfast.request.request import Request

__all__ = ["FIELDS", "Asked", "Form", "Panel", "Request", "declared"]
