"""One declaration of everything a run can be asked: names, types, help, defaults, panels."""

from holdfast.request.fields import FIELDS
from holdfast.request.parameter import Form, Panel, Parameter
from holdfast.request.request import Request, as_options

__all__ = ["FIELDS", "Form", "Panel", "Parameter", "Request", "as_options"]
