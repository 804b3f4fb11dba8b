"""What statistical agencies do to counts today, as laws of what is published, for comparison.

None of it goes through a certificate, so none of it can make a release: these methods are here to
be measured, and to be told what they promise.
"""

from holdfast.former.studies.agencies.laws import CellKey, RandomRounding, Rounding, Suppression
from holdfast.former.studies.agencies.promise import Promise, promise_of
from holdfast.former.studies.agencies.ptable import PerturbationTable, entropy_table, read_ptable

__all__ = [
    "CellKey",
    "PerturbationTable",
    "Promise",
    "RandomRounding",
    "Rounding",
    "Suppression",
    "entropy_table",
    "promise_of",
    "read_ptable",
]
