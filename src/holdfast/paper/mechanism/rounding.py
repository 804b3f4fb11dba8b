"""Float matrix -> mechanism: integer weights that pass the certificate."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import CertificateError
from holdfast.paper.mechanism.certificate import TOTAL
from holdfast.paper.mechanism.mechanism import Mechanism

MIX = 2.0**-36  # largest share of the rank-one matrix 1z that is mixed in before rounding
FLOORS = [8.0**k for k in range(-3, 8)]  # tried in turn, in units of the entries' likely errors


def certified_mechanism(
    matrix: Floats,
    *,
    epsilon: Fraction,
    target: Floats | None,
    source: Floats | None = None,
    delta: Fraction = Fraction(0),
) -> Mechanism:
    r"""Round a float matrix to integer weights that pass the certificate.

    Every live column j gets a floor f_j: T' = (1 - Σf) T + 1f. Since e^ε T'_{i+1,j} - T'_{i,j}
    is then at least (e^ε - 1) f_j, an f_j of coth(ε/2) times the error of the entries keeps
    the claim through rounding. Where f_j = λ w_j for all j the law w of the outputs is kept
    exactly. The floors start far below the bound on the matrix's own errors, because all of them
    together cost Σf times the mean distance of two counts, and grow until the certificate passes.
    With a `delta` the matrix is rounded as it is: then a zero beside a small weight does no harm.
    """
    live = np.asarray(target > 0 if target is not None else (matrix > 0).any(axis=0))
    claim: dict[str, Any] = {"epsilon": epsilon, "target": target, "source": source, "delta": delta}
    if delta:
        return Mechanism(weights=_rounded(matrix * live, np.zeros(len(live))), **claim)
    spread = target if target is not None else live / live.sum()
    widen = 1 / math.tanh(float(epsilon) / 2)
    errors = _entry_errors(matrix)
    for size in FLOORS:
        least = widen * (size * errors + max(size, 1) * 2.0**-60)
        floors = np.maximum(min(size, 1) * MIX * spread, least) * live
        try:
            return Mechanism(weights=_rounded(matrix * live, floors), **claim)
        except CertificateError as error:
            failure = str(error)  # the error itself would keep this frame and its arrays alive
    raise CertificateError(f"no rounding of this matrix passes the certificate: {failure}")


def _rounded(matrix: Floats, floors: Floats) -> Integers:
    """Whole weights near 2^62 times (1 - Σf) T + 1f, every row adding up to 2^62.

    What rounding leaves over goes to the row's largest weight.
    """
    keep = 1 - floors.sum()
    weights = np.rint((matrix * (keep / matrix.sum(axis=1, keepdims=True)) + floors) * TOTAL)
    integers: Integers = weights.astype(np.int64)
    largest = np.argmax(integers, axis=1)
    rows = np.arange(len(integers))
    integers[rows, largest] += TOTAL - integers.sum(axis=1)
    return integers


def _entry_errors(matrix: Floats) -> Floats:
    """Per column, the largest error that float rounding and inexact row sums leave in an entry."""
    rows = np.abs(matrix.sum(axis=1) - 1)
    nearby = np.maximum(rows, np.maximum(np.append(rows[1:], 0), np.append(0, rows[:-1])))
    return np.asarray(((2.0**-47 + 2 * nearby)[:, None] * matrix).max(axis=0))
