"""holdfast: tables of counts, published with differential privacy, whose distribution holds fast.

>>> import holdfast
>>> holdfast.classes("population", 8)
Classes(column='population', number=8)
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from holdfast.errors import BudgetError, CertificateError, HoldfastError, LeakError

_HOMES = {
    "Ledger": "ledger.ledger",
    "Release": "release.release",
    "classes": "tables.groups",
    "compare": "plan.compare",
    "count_by": "tables.count_by",
    "explain": "plan.explain",
    "load": "release.load",
    "plan": "plan.plan",
    "privatize": "engine.privatize",
    "verify": "verify.verify",
}
"""Where the public functions and classes are defined."""

__all__ = [
    "BudgetError",
    "CertificateError",
    "HoldfastError",
    "LeakError",
    *_HOMES,
    "paper",
]


class _Package(ModuleType):
    """holdfast itself, whose functions `plan` and `verify` win over the packages of their names."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: a release needs few of them."""
    if name in ("paper", "former"):
        return import_module(f"holdfast.{name}")
    home = f"holdfast.{_HOMES.get(name, 'former')}"
    if name not in _HOMES and name not in import_module(home).__all__:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    package = home.rpartition(".")[0]  # until the new path is whole, the former one stands in
    is_there = find_spec(package) is not None and find_spec(home) is not None
    found = getattr(import_module(home if is_there else "holdfast.former"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
