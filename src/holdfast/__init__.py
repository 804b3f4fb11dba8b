"""holdfast: tables of counts, published with differential privacy, whose distribution holds fast.

>>> import holdfast
>>> release = holdfast.privatize([0, 2, 1, 0, 5], epsilon=1, max_count=10, seed=1)
>>> release.privacy.randomness
'a seed (simulation: protects nobody)'
"""

from holdfast import baselines, constructors, metrics, plots, privatizers, theory
from holdfast.audit import audit
from holdfast.auditing import Audit
from holdfast.bundle import load
from holdfast.compare import Comparison, compare
from holdfast.count_by import count_by
from holdfast.errors import BudgetError, CertificateError, HoldfastError
from holdfast.experiments.methods import Method
from holdfast.ledger import Ledger
from holdfast.mechanism import Mechanism
from holdfast.opendp_bridge import opendp_measurement
from holdfast.plan import Plan, plan
from holdfast.private_quantile import PrivateQuantile
from holdfast.privatize import privatize
from holdfast.release import Privacy, Release, StreamedRelease
from holdfast.streaming import privatize_stream
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
    "theory",
    "verify",
]
