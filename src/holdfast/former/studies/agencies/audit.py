"""The audit of a perturbation table: what the cell-key method promises with it."""

import os
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.former.studies.agencies.laws import CellKey
from holdfast.former.studies.agencies.promise import promise_of
from holdfast.former.studies.agencies.ptable import read_ptable
from holdfast.former.studies.audit.exact import audit_matrix
from holdfast.former.studies.audit.result import Audit

USUAL = (1, 2, 5)


def audit_ptable(path: str | os.PathLike[str], *, epsilon: Any = None, delta: Any = 0) -> Audit:
    """The privacy loss of one count under a perturbation table, for one person more or less.

    All counts are covered: beyond the last one of the table the noise is the same, and two such
    counts are compared too. The findings give delta, exactly, at usual epsilons and the claimed.
    """
    method = CellKey(table=read_ptable(path))
    counts = len(method.table.rows) + 1
    width = counts + max(v for law in method.table.rows for v in law)
    matrix = np.zeros((counts, width))
    for count in range(counts):
        for shown, share in method(count).items():
            matrix[count, shown] = float(share)
    found = audit_matrix(matrix, epsilon=epsilon, delta=delta)
    asked = [*USUAL, *([] if found.epsilon is None or found.epsilon in USUAL else [found.epsilon])]
    told = [str(promise_of(method, budget, max_count=counts - 1)) for budget in asked]
    return replace(found, findings=(*found.findings, *told))
