"""holdfast: tables of counts, published with differential privacy, whose distribution holds fast."""

from typing import Any

from holdfast import former
from holdfast.errors import BudgetError, CertificateError, HoldfastError

__all__ = ["BudgetError", "CertificateError", "HoldfastError", *former.__all__]


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: a release needs few of them."""
    return getattr(former, name)
