"""A count mechanism: integer weights that prove its privacy, and exact draws from them."""

import math
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import CertificateError, HoldfastError
from holdfast.paper.distributions import check_target
from holdfast.paper.mechanism.certificate import TOTAL, Certificate, certify
from holdfast.privacy.budget import exact_delta, exact_epsilon
from holdfast.privacy.randomness import Randomness, SystemEntropy, randomness

KEPT_WITHIN = 1e-9


class Mechanism:
    r"""A count mechanism: output j for input i has probability exactly weights[i, j] / 2^62.

    It exists only if the weights prove its claim (`certificate.certify`), for a change of one in
    one count. The check runs again before every draw, and nothing turns it off. Cost: O(n^2).

    >>> coin = Mechanism(weights=np.full((2, 2), 2**61), epsilon="0.5")
    >>> coin.certificate.epsilon, coin.sample([0, 1, 1, 0], rng=1)
    (Fraction(0, 1), array([1, 1, 0, 1]))
    >>> Mechanism(weights=np.diag([2**62, 2**62]), epsilon="0.5")
    Traceback (most recent call last):
    holdfast.errors.CertificateError: output 0 is possible for input 0 and impossible for input 1.
    """

    weights: Integers
    """n x n; every row adds up to 2^62."""
    epsilon: Fraction
    """Declared: the privacy loss for a change of one in one count."""
    delta: Fraction
    """Declared: 0 for pure differential privacy, which is then what the weights must prove."""
    target: Floats | None
    """The law of the released counts, if it is fixed by that of the true ones."""
    source: Floats | None
    """The law of the true counts for which it is; None where that is the target itself."""
    certificate: Certificate
    """What the weights prove."""

    def __init__(
        self,
        *,
        weights: Integers,
        epsilon: Any,
        delta: Any = 0,
        target: ArrayLike | None = None,
        source: ArrayLike | None = None,
    ) -> None:
        integers = np.array(weights, order="C")
        square = integers.ndim == 2 and integers.shape[0] == integers.shape[1] > 0
        if integers.dtype != np.int64 or not square:
            raise CertificateError("`weights` must be a square matrix of 64-bit integers.")
        integers.setflags(write=False)
        claim = exact_epsilon(epsilon), exact_delta(delta)
        vars(self).update(
            weights=integers,
            epsilon=claim[0],
            delta=claim[1],
            certificate=certify(integers, *claim),
            target=_law(target, len(integers), "target"),
            source=_law(source, len(integers), "source"),
        )
        self._check_image()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a mechanism cannot be changed.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a mechanism cannot be changed.")

    def __len__(self) -> int:
        return len(self.weights)

    @cached_property
    def matrix(self) -> Floats:
        """The transition probabilities as float64: a view for people, never sampled."""
        matrix = self.weights / float(TOTAL)
        matrix.setflags(write=False)
        return matrix

    @property
    def fixed_point(self) -> Floats | None:
        """z with zT = z up to 1e-9, or None for a mechanism that keeps no distribution."""
        return self.target if self.source is None else None

    def verify(self) -> None:
        """Repeat the certificate on the weights as they are now."""
        certify(self.weights, self.epsilon, self.delta)

    def sample(self, counts: ArrayLike, rng: Any = None) -> Integers:
        r"""One exact draw per count, from the operating system's entropy; with `rng` a simulation.

        A draw is the first j whose cumulative weight $S_{ij}$ exceeds u, for u uniform in
        $[0, 2^{62})$: exactly $K_{ij}$ of the $2^{62}$ values of u give j.
        """
        inputs = np.asarray(counts)
        if inputs.ndim != 1 or (inputs.dtype.kind not in "iu" and len(inputs)):
            raise HoldfastError("`counts` must be a 1-D array of whole numbers.")
        if len(inputs) and not (inputs.min() >= 0 and inputs.max() < len(self)):
            raise HoldfastError(
                f"`counts` must lie between 0 and {len(self) - 1}. Hint: top-code first."
            )
        Mechanism.verify(self)
        return draw(self.weights, inputs.astype(np.int64), randomness(rng))

    def image(self, source: ArrayLike) -> Floats:
        """The law of the released counts, for true counts distributed as `source`."""
        return np.asarray(np.asarray(source, dtype=np.float64) @ self.matrix)

    def _check_image(self) -> None:
        if self.target is None:
            return
        source = self.target if self.source is None else self.source
        if np.abs(self.image(source) - self.target).max() > KEPT_WITHIN:
            raise CertificateError("the weights do not keep the target distribution to 1e-9.")

    def __reduce__(self) -> Any:
        """Pickled as its parts, so that a copy is certified before it exists."""
        names = ("weights", "epsilon", "delta", "target", "source")
        return _rebuilt, ({name: vars(self)[name] for name in names},)

    def __repr__(self) -> str:
        proved = self.certificate
        delta = f", certified_delta={float(proved.delta):.6g}" if self.delta else ""
        return (
            f"Mechanism(n={len(self)}, epsilon={float(self.epsilon):g}, "
            f"certified_epsilon={float(proved.epsilon):.6g}{delta})"
        )


def _rebuilt(parts: dict[str, Any]) -> Mechanism:
    return Mechanism(**parts)


def _law(law: ArrayLike | None, n: int, name: str) -> Floats | None:
    if law is None:
        return None
    checked = check_target(law, name)
    if len(checked) != n:
        raise CertificateError(f"`{name}` must have one share for every count.")
    checked.setflags(write=False)
    return checked


def draw(weights: Integers, counts: Integers, source: Randomness) -> Integers:
    """One draw per count from its row of weights, each from 62 uniform bits of its own."""
    if isinstance(source, SystemEntropy):
        uniform = (source.words(len(counts), stream="") >> np.uint64(2)).astype(np.int64)
    else:
        uniform = source.generator.integers(0, TOTAL, size=len(counts))
    order = np.argsort(counts, kind="stable")
    starts = np.searchsorted(counts[order], np.arange(len(weights) + 1))
    drawn = np.empty(len(counts), dtype=np.int64)
    for i in np.flatnonzero(np.diff(starts)):
        rows = order[starts[i] : starts[i + 1]]
        drawn[rows] = np.searchsorted(np.cumsum(weights[i]), uniform[rows], side="right")
    return drawn


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
