"""A count mechanism: integer weights that prove its privacy, and exact draws from them."""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import CertificateError, HoldfastError
from holdfast.paper.distributions import check_target
from holdfast.paper.mechanism.certificate import TOTAL, Certificate, certify
from holdfast.privacy.approximate import exact_delta
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.randomness import Randomness, randomness

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
    uniform = source.bits_62(len(counts)).astype(np.int64)
    order = np.argsort(counts, kind="stable")
    starts = np.searchsorted(counts[order], np.arange(len(weights) + 1))
    drawn = np.empty(len(counts), dtype=np.int64)
    for i in np.flatnonzero(np.diff(starts)):
        rows = order[starts[i] : starts[i + 1]]
        drawn[rows] = np.searchsorted(np.cumsum(weights[i]), uniform[rows], side="right")
    return drawn
