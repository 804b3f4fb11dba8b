"""holdfast: tables of counts, published with differential privacy, whose distribution holds fast.

>>> import holdfast
>>> release = holdfast.privatize([0, 2, 1, 0, 5], epsilon=1, seed=1)
>>> release.promise.randomness
'a seed (simulation: protects nobody)'
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from holdfast.errors import BudgetError, CertificateError, HoldfastError, LeakError

if TYPE_CHECKING:
    from holdfast import paper
    from holdfast.engine.privatize import privatize
    from holdfast.ledger.ledger import Ledger
    from holdfast.plan.compare import compare
    from holdfast.plan.explain import explain
    from holdfast.plan.plan import plan
    from holdfast.release.load import load
    from holdfast.release.release import Release
    from holdfast.tables.count_by import count_by
    from holdfast.tables.groups import classes
    from holdfast.verify.verify import verify

__all__ = [
    "BudgetError",
    "CertificateError",
    "HoldfastError",
    "LeakError",
    "Ledger",
    "Release",
    "classes",
    "compare",
    "count_by",
    "explain",
    "load",
    "paper",
    "plan",
    "privatize",
    "verify",
]

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


class _Package(ModuleType):
    """holdfast itself, whose functions `plan` and `verify` win over the packages of their names."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: a release needs few of them."""
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("holdfast")
    elif name == "paper":
        found = import_module("holdfast.paper")
    elif name in _HOMES:
        found = getattr(import_module(f"holdfast.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
