"""The exact audit of a matrix: no draws, no confidence, every pair of rows and every output."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.arrays import Floats, exact_row_sums
from holdfast.errors import HoldfastError
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.studies.audit.result import Audit
from holdfast.former.privacy.approximate import exact_delta
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.delta import group_delta
from holdfast.former.privacy.rational import exp_below

ROW_TOLERANCE = 1e-9
FLOAT_TOLERANCE = 1e-9
Matrix = NDArray[Any]
Worst = tuple[Fraction | None, int, int, int]


def audit_matrix(matrix: Any, *, epsilon: Any = None, delta: Any = 0, steps: int = 1) -> Audit:
    r"""The privacy loss of a matrix whose row i is the law of the output for input i.

    With `delta` = 0 it is the largest $\ln(T_{ij} / T_{kj})$ with |i - k| <= `steps`, compared
    as exact fractions; a positive entry beside a zero is an infinite loss. With `delta` it is
    the smallest ε with $\sum_j \max(T_{ij} - e^\epsilon T_{kj}, 0) \le \delta$. Rows of integers
    count as weights. For a `Mechanism` the claim defaults to its own, enlarged for `steps`. A
    matrix of floats is taken as printed, and 1e-9 above the claim is put down to rounding.
    Cost: O(n^2 steps).

    >>> audit_matrix([[3, 1], [1, 3]], epsilon=1).violation
    True
    >>> round(audit_matrix([[3, 1], [1, 3]], epsilon=1.1).lower_bound, 6)
    1.098612
    >>> audit_matrix([[1.0, 0.0], [0.9999, 0.0001]], epsilon=1).lower_bound
    inf
    """
    if isinstance(matrix, Mechanism):
        epsilon = matrix.epsilon * steps if epsilon is None else epsilon
        delta = delta or group_delta(matrix.delta, matrix.epsilon, min(steps, matrix.max_count))
        matrix = matrix.weights
    weights = _check(matrix)
    claimed = None if epsilon is None else exact_epsilon(epsilon)
    small = exact_delta(delta, least=0)
    reach = min(steps, len(weights) - 1)
    rounded = FLOAT_TOLERANCE if weights.dtype.kind == "f" else 0.0
    if small:
        return _approximate(weights, claimed, small, reach)
    ratio, more, less, output = _worst(weights, reach)
    exact = math.inf if ratio is None else _log(ratio)
    if claimed is not None and ratio is not None and not rounded:
        exact = _on_the_right_side(exact, ratio, claimed)
    return Audit(
        lower_bound=exact,
        estimate=exact,
        epsilon=claimed,
        tolerance=rounded,
        event=f"output {output}",
        direction=f"input {more} over input {less}",
        frequencies=_shares(weights, more, less, output),
        findings=()
        if ratio is not None
        else (f"output {output} is possible for input {more} and impossible for input {less}.",),
    )


def _check(matrix: Any) -> Matrix:
    array = np.asarray(matrix)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "iuf":
        raise HoldfastError("`matrix` must be 2-D, a row of probabilities or weights per input.")
    array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    if not (array >= 0).all() or not np.isfinite(array).all():
        raise HoldfastError("`matrix` must have finite entries of 0 or more.")
    sums = array.sum(axis=1, dtype=np.float64)
    if array.dtype.kind == "f" and np.abs(sums - 1).max() > ROW_TOLERANCE:
        raise HoldfastError("`matrix` must have rows that sum to 1 within 1e-9.")
    if not (sums > 0).all():
        raise HoldfastError("`matrix` must have no empty row.")
    return array


def _totals(weights: Matrix) -> list[int]:
    if weights.dtype.kind == "f":
        return [1] * len(weights)
    return exact_row_sums(weights)


def _worst(weights: Matrix, reach: int) -> Worst:
    """The largest ratio of two entries in a column, or None where the lower is zero."""
    totals = _totals(weights)
    worst: Worst = (Fraction(1), 0, min(1, len(weights) - 1), 0)
    for step in range(1, reach + 1):
        for more, less in ((0, step), (step, 0)):
            found = _worst_pair(weights, totals, step, more, less)
            if found[0] is None:
                return found
            if worst[0] is not None and found[0] > worst[0]:
                worst = found
    return worst


def _worst_pair(weights: Matrix, totals: list[int], step: int, more: int, less: int) -> Worst:
    height = len(weights) - step
    top, bottom = weights[more : more + height], weights[less : less + height]
    zero = np.argwhere((top > 0) & (bottom == 0))
    if len(zero):
        row, column = map(int, zero[0])
        return None, row + more, row + less, column
    shares = np.array(totals, dtype=np.float64)[:, None]
    a, b = top / shares[more : more + height], bottom / shares[less : less + height]
    ratios = np.divide(a, b, out=np.zeros(a.shape), where=b > 0)
    # floats are off by a few units in the last place: candidates within that, compared exactly
    near = np.argwhere(ratios >= ratios.max() * (1 - 2.0**-49))
    if ratios.max() == 0:
        return Fraction(1), more, less, 0
    return max(
        (
            Fraction(top[i, j].item())
            * totals[i + less]
            / (Fraction(bottom[i, j].item()) * totals[i + more]),
            int(i) + more,
            int(i) + less,
            int(j),
        )
        for i, j in near.tolist()
    )


def _log(ratio: Fraction) -> float:
    if ratio < 2:
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _on_the_right_side(loss: float, ratio: Fraction, claimed: Fraction) -> float:
    """The float next to ln(ratio) that is above the claim exactly when ratio > e^claim."""
    above = ratio > exp_below(claimed)
    if above == (loss > claimed):
        return loss
    edge = float(claimed)
    while (edge > claimed) != above:
        edge = math.nextafter(edge, math.inf if above else -math.inf)
    return edge


def _shares(weights: Matrix, more: int, less: int, output: int) -> tuple[float, float]:
    totals = _totals(weights)
    return float(weights[more, output] / totals[more]), float(weights[less, output] / totals[less])


def _approximate(weights: Matrix, claimed: Fraction | None, delta: Fraction, reach: int) -> Audit:
    """The smallest ε at which the hockey-stick divergence is at most δ, for the worst pair."""
    shares = weights / np.array(_totals(weights), dtype=np.float64)[:, None]
    losses = [
        (
            _smallest_epsilon(shares[i], shares[k], float(delta)),
            shares[i][shares[k] == 0].sum(),
            i,
            k,
        )
        for i in range(len(shares))
        for k in range(max(0, i - reach), min(len(shares), i + reach + 1))
        if i != k
    ] or [(0.0, 0.0, 0, 0)]
    loss, _, more, less = max(losses)  # of infinite losses, the one that is seen most often
    mass = shares[more] > math.exp(min(loss, 700.0)) * shares[less]
    return Audit(
        lower_bound=loss,
        estimate=loss,
        epsilon=claimed,
        delta=delta,
        tolerance=FLOAT_TOLERANCE,
        event=f"an output out of {int(mass.sum())}, each above e^epsilon",
        direction=f"input {more} over input {less}",
        frequencies=(float(shares[more][mass].sum()), float(shares[less][mass].sum())),
    )


def _smallest_epsilon(p: Floats, q: Floats, delta: float) -> float:
    """By falling ratio p/q: with the first k outputs, (P_k - δ)/Q_k is largest at the answer."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(p > 0, p / q, 0.0), kind="stable")
        mass, other = np.cumsum(p[order]) - delta, np.cumsum(q[order])
        ratio = np.where(mass > 0, mass / other, 0.0)
    top = float(ratio.max())
    return math.log(top) if top > 1 else 0.0
