"""holdfast: tables of counts, published with differential privacy, whose distribution holds fast.

>>> import holdfast
>>> release = holdfast.privatize([0, 2, 1, 0, 5], epsilon=1, max_count=10, seed=1)
>>> release.privacy.randomness
'a seed (simulation: protects nobody)'
"""

from holdfast import constructors, privatizers
from holdfast.constructors import baselines
from holdfast.engines import spark
from holdfast.engines.memory import privatize
from holdfast.engines.opendp import opendp_measurement
from holdfast.engines.stream import privatize_stream
from holdfast.errors import BudgetError, CertificateError, HoldfastError
from holdfast.ledger.ledger import Ledger
from holdfast.mechanism.mechanism import Mechanism
from holdfast.privacy import metrics
from holdfast.privatizers.private_quantile import PrivateQuantile
from holdfast.release.bundle import load
from holdfast.release.release import Privacy, Release, StreamedRelease
from holdfast.studies import plots, theory
from holdfast.studies.audit import Audit
from holdfast.studies.audit.black_box import audit
from holdfast.studies.compare.comparison import Comparison, compare
from holdfast.studies.methods import Method
from holdfast.studies.plan.plan import Plan, plan
from holdfast.tables.count_by import count_by
from holdfast.verify import verify

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
    "audit",
    "baselines",
    "compare",
    "constructors",
    "count_by",
    "load",
    "metrics",
    "opendp_measurement",
    "plan",
    "plots",
    "privatize",
    "privatize_stream",
    "privatizers",
    "spark",
    "theory",
    "verify",
]
