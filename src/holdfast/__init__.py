"""holdfast: tables of counts, published with differential privacy, whose distribution holds fast.

>>> import holdfast
>>> release = holdfast.privatize([0, 2, 1, 0, 5], epsilon=1, max_count=10, seed=1)
>>> release.privacy.randomness
'a seed (simulation: protects nobody)'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from holdfast.errors import BudgetError, CertificateError, HoldfastError
from holdfast.verify import verify  # now, so that the function wins over the package of its name

if TYPE_CHECKING:
    from holdfast import constructors, privatizers
    from holdfast.analysis.combining import combine
    from holdfast.constructors import baselines
    from holdfast.engines import spark
    from holdfast.engines.memory import privatize
    from holdfast.engines.opendp import opendp_measurement
    from holdfast.engines.stream import privatize_stream
    from holdfast.ledger.ledger import Ledger
    from holdfast.mechanism.mechanism import Mechanism
    from holdfast.privacy import metrics
    from holdfast.privatizers.private_quantile import PrivateQuantile
    from holdfast.release.bundle import load
    from holdfast.release.promise import Privacy
    from holdfast.release.release import Release, StreamedRelease
    from holdfast.release.several import StreamedTableRelease, TableRelease
    from holdfast.release.several_bundle import load_table
    from holdfast.studies import plots, theory
    from holdfast.studies.audit import Audit
    from holdfast.studies.audit.black_box import audit
    from holdfast.studies.compare.comparison import Comparison, compare
    from holdfast.studies.methods import Method
    from holdfast.studies.plan.plan import Plan, plan
    from holdfast.tables.count_by import count_by
    from holdfast.tables.files import read_csv, read_excel
    from holdfast.tables.groups import classes

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
    "metrics": "privacy.metrics",
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
    if name in _MODULES:
        found = import_module(f"holdfast.{_MODULES[name]}")
    elif name in _HOMES:
        found = getattr(import_module(f"holdfast.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
