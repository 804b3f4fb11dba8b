"""A count mechanism: exact integer weights, their certificate, and the matrix as a view."""

import hashlib
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.errors import CertificateError, HoldfastError
from holdfast.privacy.approximate import certify_delta, exact_delta
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.metrics import count_error
from holdfast.privacy.randomness import randomness
from holdfast.privacy.rational import exp_below, log_above
from holdfast.tables.histogram import check_target

TOTAL = 1 << 62
FIXED_POINT_TOLERANCE = 1e-9
MIX = 2.0**-36  # largest share of the rank-one matrix 1z that is mixed in before rounding
FLOORS = [8.0**k for k in range(-4, 8)]  # tried in turn, in units of the entries' likely errors


@dataclass(frozen=True, kw_only=True, eq=False)
class Mechanism:
    r"""A count mechanism: row i is sampled with probability exactly weights[i, j] / 2^62.

    It exists only if its integers prove its claim: with p/q the largest ratio of two
    weights in the same column and adjacent rows, $p/q \le e^\epsilon$ is checked in exact
    arithmetic (docs/privacy-guarantee.md, "Stage 2"). With a `delta` the claim is
    (ε, δ)-privacy, and the hockey-stick divergence of adjacent rows, both ways, is checked
    instead, as exactly. The check runs again before every draw, and nothing turns it off.
    Cost: O(n^2) time and memory.

    >>> coin = Mechanism(weights=np.full((2, 2), 2**61), epsilon="0.5")
    >>> coin.certified_epsilon
    Fraction(0, 1)
    >>> Mechanism(weights=np.diag([2**62, 2**62]), epsilon="0.5")
    Traceback (most recent call last):
    holdfast.errors.CertificateError: output 0 is possible for input 0 and impossible for input 1.
    """

    weights: NDArray[np.int64]
    """n x n; every row adds up to `total`."""
    epsilon: Fraction
    """Declared: the privacy loss for a change of one in one count."""
    target: NDArray[np.float64] | None = None
    """The distribution that the mechanism keeps, if it keeps one."""
    delta: Fraction = Fraction(0)
    """Declared: 0 for pure differential privacy, which is then what the weights must prove."""
    certified_epsilon: Fraction = field(init=False)
    """Proved from the weights, rounded up; never above `epsilon`."""
    certified_delta: Fraction = field(init=False)
    """Proved from the weights at `epsilon`, rounded up; never above `delta`."""
    digest: str = field(init=False)
    """SHA-256 of weights, epsilon and delta."""

    def __post_init__(self) -> None:
        epsilon, delta = exact_epsilon(self.epsilon), exact_delta(self.delta)
        weights = np.array(self.weights, order="C")
        square = weights.ndim == 2 and weights.shape[0] == weights.shape[1] > 0
        if weights.dtype != np.int64 or not square:
            raise CertificateError("`weights` must be a square matrix of 64-bit integers.")
        weights.setflags(write=False)
        certified, certified_delta = _certify(weights, epsilon, delta)
        target = self.target
        if target is not None:
            target = check_target(target)
            _check_fixed_point(weights, target)
            target.setflags(write=False)
        for name, value in (
            ("epsilon", epsilon),
            ("delta", delta),
            ("weights", weights),
            ("target", target),
            ("certified_epsilon", certified),
            ("certified_delta", certified_delta),
            ("digest", _digest(weights, epsilon, delta)),
        ):
            object.__setattr__(self, name, value)

    @property
    def total(self) -> int:
        """What every row of weights adds up to: 2^62."""
        return TOTAL

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The transition probabilities as float64: a view for people, never sampled."""
        matrix = self.weights / float(TOTAL)
        matrix.setflags(write=False)
        return matrix

    @property
    def fixed_point(self) -> NDArray[np.float64] | None:
        """z with zT = z up to 1e-9, or None for a mechanism that keeps no distribution."""
        return self.target

    def sample(self, counts: ArrayLike, rng: Any = None) -> NDArray[np.int64]:
        """One exact draw per count, from operating-system entropy; with `rng` a simulation."""
        from holdfast.mechanism.sampling import draw

        inputs = np.asarray(counts)
        if inputs.ndim != 1 or (inputs.dtype.kind not in "iu" and len(inputs)):
            raise HoldfastError("`counts` must be a 1-D array of whole numbers.")
        if len(inputs) and not (inputs.min() >= 0 and inputs.max() < len(self.weights)):
            raise HoldfastError(
                f"`counts` must lie between 0 and {len(self.weights) - 1}. Hint: top-code first."
            )
        return draw(self, inputs.astype(np.int64), randomness(rng))

    def as_opendp(self) -> Any:
        """This mechanism as an OpenDP measurement; see `holdfast.engines.opendp`."""
        from holdfast.engines.opendp import mechanism_measurement

        return mechanism_measurement(self)

    def verify(self) -> None:
        """Repeat the certificate on the weights as they are now; raise if anything changed."""
        _certify(self.weights, self.epsilon, self.delta)
        if _digest(self.weights, self.epsilon, self.delta) != self.digest:
            raise CertificateError("the mechanism was changed after it was certified.")

    def count_error(self, target: ArrayLike, error: Any = "absolute") -> float:
        """Expected count error of the sampled weights for counts distributed as `target`."""
        return count_error(self.matrix, target, error)

    def __repr__(self) -> str:
        delta = f", certified_delta={float(self.certified_delta):.6g}" if self.delta else ""
        return (
            f"Mechanism(n={len(self.weights)}, epsilon={float(self.epsilon):g}, "
            f"certified_epsilon={float(self.certified_epsilon):.6g}{delta})"
        )


def _certify(
    weights: NDArray[np.int64], epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, Fraction]:
    """What the weights prove, as (epsilon, delta); raises if it is more than was declared."""
    if delta == 0:
        return certify(weights, epsilon), Fraction(0)
    _check_rows(weights)
    return epsilon, certify_delta(weights, epsilon, delta)


def certify(weights: NDArray[np.int64], epsilon: Fraction) -> Fraction:
    """The smallest epsilon that these weights prove, rounded up; raises if above `epsilon`."""
    from holdfast.mechanism.certificate_kernel import worst_ratio  # numba: not before it is needed

    _check_rows(weights)
    top, bottom, row, column = worst_ratio(weights)
    if bottom == 0:
        held, lost = (row, row + 1) if weights[row, column] else (row + 1, row)
        raise CertificateError(
            f"output {column} is possible for input {held} and impossible for input {lost}."
        )
    ratio = Fraction(int(top), int(bottom))
    if ratio > exp_below(epsilon):
        raise CertificateError(
            f"output {column} tells inputs {row} and {row + 1} apart by more than "
            f"epsilon = {epsilon}."
        )
    return min(log_above(ratio), epsilon)


def _check_rows(weights: NDArray[np.int64]) -> None:
    if (weights < 0).any():
        raise CertificateError("a weight is negative.")
    # two sums of half words: a row of corrupt 64-bit weights could wrap around
    sums = (weights >> 32).sum(axis=1).astype(object) * 2**32 + (weights & 0xFFFFFFFF).sum(axis=1)
    wrong = np.flatnonzero(sums != TOTAL)
    if len(wrong):
        raise CertificateError(f"the weights of row {wrong[0]} do not add up to 2^62.")


def certified_mechanism(
    matrix: NDArray[np.float64],
    *,
    epsilon: Fraction,
    target: NDArray[np.float64] | None,
    delta: Fraction = Fraction(0),
) -> Mechanism:
    r"""Round a float matrix to integer weights that pass the certificate.

    Every live column j gets a floor f_j: T' = (1 - Σf) T + 1f. Since e^ε T'_{i+1,j} - T'_{i,j}
    is then at least (e^ε - 1) f_j, an f_j of coth(ε/2) times the error of the entries keeps
    the claim through rounding. Where f_j = λ z_j for all j the fixed point is kept exactly.
    The floors start far below the bound on the matrix's own errors, because all of them together
    cost Σf times the mean distance of two counts, and grow until the certificate passes.
    With a `delta` the matrix is rounded as it is: then a zero beside a small weight does no harm.
    """
    from holdfast.mechanism.certificate_kernel import round_rows

    live = np.asarray(target > 0 if target is not None else (matrix > 0).any(axis=0))
    if delta:
        weights = round_rows(matrix, live * 2.0**-200, 1.0, TOTAL)  # floors that round to nothing
        return Mechanism(weights=weights, epsilon=epsilon, target=target, delta=delta)
    spread = target if target is not None else live / live.sum()
    widen = 1 / math.tanh(float(epsilon) / 2)
    errors = _entry_errors(matrix)
    for size in FLOORS:
        least = widen * (size * errors + max(size, 1) * 2.0**-60)
        floors = np.maximum(min(size, 1) * MIX * spread, least) * live
        weights = round_rows(matrix, floors, 1 - floors.sum(), TOTAL)
        try:
            return Mechanism(weights=weights, epsilon=epsilon, target=target)
        except CertificateError as error:
            failure = str(error)  # the error itself would keep this frame and its arrays alive
    raise CertificateError(f"no rounding of this matrix passes the certificate: {failure}")


def check_mechanism(mechanism: Any, epsilon: Fraction, delta: Fraction = Fraction(0)) -> None:
    """Refuse, before anything is drawn, what is no certified mechanism for this promise."""
    if type(mechanism) is not Mechanism or mechanism.epsilon > epsilon or mechanism.delta > delta:
        raise CertificateError(
            f"the constructor must return a holdfast.Mechanism for epsilon {epsilon}"
            + (f" and delta {delta}" if delta else "")
            + " or less."
        )


def _entry_errors(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Per column, the largest error that float rounding and inexact row sums leave in an entry."""
    rows = np.abs(matrix.sum(axis=1) - 1)
    nearby = np.maximum(rows, np.maximum(np.append(rows[1:], 0), np.append(0, rows[:-1])))
    return np.asarray(((2.0**-47 + 2 * nearby)[:, None] * matrix).max(axis=0))


def _check_fixed_point(weights: NDArray[np.int64], target: NDArray[np.float64]) -> None:
    if target.shape != (len(weights),):
        raise CertificateError("`target` must have one entry per row of weights.")
    if np.abs(target @ weights / float(TOTAL) - target).max() > FIXED_POINT_TOLERANCE:
        raise CertificateError("the weights do not keep the target distribution to 1e-9.")


def _digest(weights: NDArray[np.int64], epsilon: Fraction, delta: Fraction = Fraction(0)) -> str:
    claim = f"epsilon={epsilon}" + (f" delta={delta}" if delta else "")
    digest = hashlib.sha256(f"holdfast mechanism n={len(weights)} {claim}\n".encode())
    digest.update(np.ascontiguousarray(weights.astype("<i8", copy=False)).data)
    return digest.hexdigest()
