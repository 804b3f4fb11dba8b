"""A count mechanism: exact integers, their certificate, and the matrix as a view."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import CertificateError, HoldfastError
from holdfast.former.mechanism.curves import Curves
from holdfast.former.mechanism.weights import TOTAL, Weights
from holdfast.former.privacy.approximate import certify_delta, exact_delta
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.randomness import randomness
from holdfast.former.privacy.rational import exp_below, log_above
from holdfast.former.tables.histogram import check_target

KEPT_WITHIN = 1e-9


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What the integers of a mechanism prove, and where."""

    epsilon: Fraction
    """Proved, rounded up; never above what was declared."""
    delta: Fraction = Fraction(0)
    """Proved at the declared epsilon, rounded up; never above what was declared."""
    worst: tuple[int, int, int, int] | None = None
    """The largest ratio as (numerator, denominator, row, column), the other row being the next;
    row and column are -1 where all rows are alike. None with a delta, where no ratio decides."""


class Certified:
    """What is certified when it is made and cannot be changed afterwards."""

    certificate: Certificate
    """What the integers prove."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a mechanism cannot be changed.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a mechanism cannot be changed.")

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def max_count(self) -> int:
        """The highest count that goes in or comes out: n - 1."""
        return len(self) - 1

    @property
    def certified_epsilon(self) -> Fraction:
        """Proved from the integers, rounded up; never above `epsilon`."""
        return self.certificate.epsilon


class Mechanism(Certified):
    r"""A count mechanism: row i is sampled with probability exactly row(i)[j] / 2^62.

    Its integers are a table of weights, or curves from which all weights follow
    (`holdfast.mechanism.curves`). It exists only if they prove its claim: with p/q the largest
    ratio of two weights in the same column and adjacent rows, $p/q \le e^\epsilon$ is checked in
    exact arithmetic (docs/privacy-guarantee.md, "Stage 2"). With a `delta` the claim is
    (ε, δ)-privacy, and the hockey-stick divergence of adjacent rows, both ways, is checked
    instead, as exactly. The check runs again whenever a sampler is made, and nothing turns it off.
    Cost: O(n^2) for weights, about O(n) for curves of the optimum, O(n/ε) at most.

    >>> coin = Mechanism(weights=np.full((2, 2), 2**61), epsilon="0.5")
    >>> coin.certified_epsilon
    Fraction(0, 1)
    >>> Mechanism(weights=np.diag([2**62, 2**62]), epsilon="0.5")
    Traceback (most recent call last):
    holdfast.errors.CertificateError: output 0 is possible for input 0 and impossible for input 1.
    """

    integers: Weights | Curves
    """What is certified and sampled."""
    epsilon: Fraction
    """Declared: the privacy loss for a change of one in one count."""
    delta: Fraction
    """Declared: 0 for pure differential privacy, which is then what the integers must prove."""
    target: Floats | None
    """The law of the released counts, if it is fixed by that of the true ones."""
    source: Floats | None
    """The law of the true counts for which it is; None where that is the target itself."""
    digest: str
    """SHA-256 of the integers, epsilon and delta."""

    def __init__(
        self,
        *,
        epsilon: Any,
        weights: Integers | None = None,
        curves: Curves | None = None,
        target: ArrayLike | None = None,
        source: ArrayLike | None = None,
        delta: Any = 0,
    ) -> None:
        claim = exact_epsilon(epsilon), exact_delta(delta)
        integers = _integers(weights, curves, claim[0])
        vars(self).update(
            integers=integers,
            epsilon=claim[0],
            delta=claim[1],
            certificate=certify(integers, *claim),
            digest=_digest(integers, *claim),
            target=_law(target, len(integers), "target"),
            source=_law(source, len(integers), "source"),
        )
        self._check_image()

    def __reduce__(self) -> Any:
        """Pickled as its parts, so that a copy is certified before it exists."""
        form = "curves" if self.curves is not None else "weights"
        parts = {form: self.curves if self.curves is not None else self.weights}
        law = {"target": self.target, "source": self.source}
        return _rebuilt, (parts | law | {"epsilon": self.epsilon, "delta": self.delta},)

    def __len__(self) -> int:
        return len(self.integers)

    @property
    def total(self) -> int:
        """What every row of weights adds up to: 2^62."""
        return TOTAL

    @property
    def certified_delta(self) -> Fraction:
        """Proved from the integers at `epsilon`, rounded up; never above `delta`."""
        return self.certificate.delta

    @property
    def curves(self) -> Curves | None:
        """The curves that it is made of; None if it is a table of weights."""
        return self.integers if isinstance(self.integers, Curves) else None

    def row(self, i: int) -> Integers:
        """The exact weights of one row: output j has probability row(i)[j] / total."""
        if not 0 <= i < len(self):
            raise HoldfastError(f"`i` must lie between 0 and {self.max_count}.")
        return self.integers.row(i)

    @cached_property
    def weights(self) -> Integers:
        """All n x n weights, where n is small enough to hold them."""
        weights = self.integers.table()
        weights.setflags(write=False)
        return weights

    @cached_property
    def matrix(self) -> Floats:
        """The transition probabilities as float64: a view for people, never sampled."""
        matrix = self.integers.table() / float(TOTAL)
        matrix.setflags(write=False)
        return matrix

    @property
    def fixed_point(self) -> Floats | None:
        """z with zT = z up to 1e-9, or None for a mechanism that keeps no distribution."""
        return self.target if self.source is None else None

    def sample(self, counts: ArrayLike, rng: Any = None) -> Integers:
        """One exact draw per count, from operating-system entropy; with `rng` a simulation."""
        from holdfast.former.mechanism.sampling import draw

        inputs = np.asarray(counts)
        if inputs.ndim != 1 or (inputs.dtype.kind not in "iu" and len(inputs)):
            raise HoldfastError("`counts` must be a 1-D array of whole numbers.")
        if len(inputs) and not (inputs.min() >= 0 and inputs.max() <= self.max_count):
            raise HoldfastError(
                f"`counts` must lie between 0 and {self.max_count}. Hint: top-code first."
            )
        return draw(self, inputs.astype(np.int64), randomness(rng))

    def as_opendp(self) -> Any:
        """This mechanism as an OpenDP measurement; see `holdfast.engines.opendp`."""
        from holdfast.former.engines.opendp import mechanism_measurement

        return mechanism_measurement(self)

    def verify(self) -> None:
        """Repeat the certificate on the integers as they are now; raise if anything changed."""
        certify(self.integers, self.epsilon, self.delta)
        if _digest(self.integers, self.epsilon, self.delta) != self.digest:
            raise CertificateError("the mechanism was changed after it was certified.")

    def count_error(self, target: ArrayLike, error: Any = "absolute") -> float:
        """Expected count error of what is sampled, for counts distributed as `target`."""
        return self.integers.count_error(np.asarray(target, dtype=np.float64), error)

    def image(self, source: ArrayLike) -> Floats:
        """The law of the released counts, for true counts distributed as `source`."""
        return self.integers.image(np.asarray(source, dtype=np.float64))

    def expected(self, values: ArrayLike) -> Floats:
        """For every true count, the expected value of the released one: T times `values`."""
        return self.integers.expected(np.asarray(values, dtype=np.float64))

    def _check_image(self) -> None:
        if self.target is None:
            return
        source = self.target if self.source is None else self.source
        if np.abs(self.integers.image(source) - self.target).max() > KEPT_WITHIN:
            raise CertificateError("the weights do not keep the target distribution to 1e-9.")

    def __repr__(self) -> str:
        delta = f", certified_delta={float(self.certified_delta):.6g}" if self.delta else ""
        return (
            f"Mechanism(n={len(self)}, epsilon={float(self.epsilon):g}, "
            f"certified_epsilon={float(self.certified_epsilon):.6g}{delta})"
        )


def _integers(
    weights: Integers | None, curves: Curves | None, epsilon: Fraction
) -> Weights | Curves:
    if (weights is None) == (curves is None):
        raise HoldfastError("a mechanism has either `weights` or `curves`.")
    if weights is not None:
        return Weights(weights)
    if type(curves) is not Curves or curves.epsilon != epsilon:
        raise CertificateError("`curves` must be holdfast's, made for this epsilon.")
    # anew from its integers: what was put on the object beside them must not speak for them
    parts = {name: getattr(curves, name) for name in ("turns", "heights", "floors", "lift")}
    return Curves(**parts, epsilon=epsilon)


def certify(integers: Weights | Curves, epsilon: Fraction, delta: Fraction) -> Certificate:
    """What these integers prove; raises if that is less than was declared."""
    integers.check(epsilon)
    if delta:
        proved = certify_delta(integers.neighbours(), epsilon, delta, total=TOTAL)
        return Certificate(epsilon=epsilon, delta=proved)
    worst = top, bottom, row, column = integers.worst()
    if bottom == 0:
        held, lost = (row, row + 1) if integers.row(row)[column] else (row + 1, row)
        raise CertificateError(
            f"output {column} is possible for input {held} and impossible for input {lost}."
        )
    ratio = Fraction(top, bottom)
    if ratio > exp_below(epsilon):
        raise CertificateError(
            f"output {column} tells inputs {row} and {row + 1} apart by more than "
            f"epsilon = {epsilon}."
        )
    return Certificate(epsilon=min(log_above(ratio), epsilon), worst=worst)


def check_mechanism(mechanism: Any, epsilon: Fraction, delta: Fraction = Fraction(0)) -> None:
    """Refuse, before any count is drawn, what is not a certified mechanism for this promise."""
    if type(mechanism) is not Mechanism or mechanism.epsilon > epsilon or mechanism.delta > delta:
        raise CertificateError(
            f"the constructor must make a mechanism for epsilon {epsilon}"
            + (f" and delta {delta}" if delta else "")
            + " or less."
        )


def _law(law: ArrayLike | None, n: int, name: str) -> Floats | None:
    if law is None:
        return None
    checked = check_target(law)
    if len(checked) != n:
        raise CertificateError(f"`{name}` must have one share for every count.")
    checked.setflags(write=False)
    return checked


def _digest(integers: Weights | Curves, epsilon: Fraction, delta: Fraction) -> str:
    return integers.digest(f"epsilon={epsilon}" + (f" delta={delta}" if delta else ""))


def _rebuilt(parts: dict[str, Any]) -> Mechanism:
    return Mechanism(**parts)
