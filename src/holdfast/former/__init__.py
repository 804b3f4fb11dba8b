"""The product before noise first; it goes as the new path takes over what it does.

>>> import holdfast.former as holdfast
>>> release = holdfast.privatize([0, 2, 1, 0, 5], epsilon=1, max_count=10, seed=1)
>>> release.privacy.randomness
'a seed (simulation: protects nobody)'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.errors import BudgetError, CertificateError, HoldfastError
from holdfast.former.verify import (
    verify,  # now, so that the function wins over the package of its name
)

if TYPE_CHECKING:
    from holdfast import constructors, privatizers
    from holdfast.former.analysis.combining import combine
    from holdfast.former.constructors import baselines
    from holdfast.former.engines import spark
    from holdfast.former.engines.memory import privatize
    from holdfast.former.engines.opendp import opendp_measurement
    from holdfast.former.engines.stream import privatize_stream
    from holdfast.former.ledger.ledger import Ledger
    from holdfast.former.mechanism.mechanism import Mechanism
    from holdfast.former.privatizers.private_quantile import PrivateQuantile
    from holdfast.former.release.bundle import load
    from holdfast.former.release.promise import Privacy
    from holdfast.former.release.release import Release, StreamedRelease
    from holdfast.former.release.several import StreamedTableRelease, TableRelease
    from holdfast.former.release.several_bundle import load_table
    from holdfast.former.studies import plots, theory
    from holdfast.former.studies.audit import Audit
    from holdfast.former.studies.audit.black_box import audit
    from holdfast.former.studies.compare.comparison import Comparison, compare
    from holdfast.former.studies.methods import Method
    from holdfast.former.studies.plan.plan import Plan, plan
    from holdfast.former.privacy import metrics
    from holdfast.former.tables.count_by import count_by
    from holdfast.former.tables.files import read_csv, read_excel
    from holdfast.former.tables.groups import classes

__all__ = [
    "Audit",
    "BudgetError",
    "CertificateError",
    "Comparison",
    "HoldfastError",
    "Ledger",
    "Mechanism",
    "Method",
    "Plan",
    "Privacy",
    "PrivateQuantile",
    "Release",
    "StreamedRelease",
    "StreamedTableRelease",
    "TableRelease",
    "audit",
    "baselines",
    "classes",
    "combine",
    "compare",
    "constructors",
    "count_by",
    "load",
    "load_table",
    "metrics",
    "opendp_measurement",
    "plan",
    "plots",
    "privatize",
    "privatize_stream",
    "privatizers",
    "read_csv",
    "read_excel",
    "spark",
    "theory",
    "verify",
]

_MODULES = {
    "baselines": "constructors.baselines",
    "constructors": "constructors",
    "plots": "studies.plots",
    "privatizers": "privatizers",
    "spark": "engines.spark",
    "theory": "studies.theory",
}
_HOMES = {
    "Audit": "studies.audit",
    "Comparison": "studies.compare.comparison",
    "Ledger": "ledger.ledger",
    "Mechanism": "mechanism.mechanism",
    "Method": "studies.methods",
    "Plan": "studies.plan.plan",
    "Privacy": "release.promise",
    "PrivateQuantile": "privatizers.private_quantile",
    "Release": "release.release",
    "StreamedRelease": "release.release",
    "StreamedTableRelease": "release.several",
    "TableRelease": "release.several",
    "audit": "studies.audit.black_box",
    "classes": "tables.groups",
    "combine": "analysis.combining",
    "compare": "studies.compare.comparison",
    "count_by": "tables.count_by",
    "load": "release.bundle",
    "load_table": "release.several_bundle",
    "opendp_measurement": "engines.opendp",
    "plan": "studies.plan.plan",
    "privatize": "engines.memory",
    "privatize_stream": "engines.stream",
    "read_csv": "tables.files",
    "read_excel": "tables.files",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: a release needs few of them."""
    if name == "metrics":
        found = import_module("holdfast.former.privacy.metrics")
    elif name in _MODULES:
        found = import_module(f"holdfast.former.{_MODULES[name]}")
    elif name in _HOMES:
        found = getattr(import_module(f"holdfast.former.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
