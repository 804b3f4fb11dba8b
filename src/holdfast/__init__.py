"""holdfast: tables of counts, published with differential privacy, whose distribution holds fast.

>>> import holdfast
>>> release = holdfast.privatize([0, 2, 1, 0, 5], epsilon=1, max_count=10, seed=1)
>>> release.privacy.randomness
'a seed (simulation: protects nobody)'
"""

from holdfast import baselines, constructors, metrics, privatizers, theory
from holdfast.bundle import load
from holdfast.count_by import count_by
from holdfast.errors import CertificateError, HoldfastError
from holdfast.mechanism import Mechanism
from holdfast.private_quantile import PrivateQuantile
from holdfast.privatize import privatize
from holdfast.release import Privacy, Release
from holdfast.verify import verify

__all__ = [
    "CertificateError",
    "HoldfastError",
    "Mechanism",
    "Privacy",
    "PrivateQuantile",
    "Release",
    "baselines",
    "constructors",
    "count_by",
    "load",
    "metrics",
    "privatize",
    "privatizers",
    "theory",
    "verify",
]
