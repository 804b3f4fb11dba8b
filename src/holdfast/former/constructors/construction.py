"""What every constructor returns."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import CertificateError
from holdfast.former.constructors.dual_bound import above_the_optimum
from holdfast.former.constructors.representation import Representation
from holdfast.former.mechanism.curves import Curves
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.mechanism.rounding import certified_mechanism

ROW_TOLERANCE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Construction:
    """A constructor's result: what it found, and the certified mechanism to sample."""

    form: Floats | Curves
    """A transition matrix before rounding, n x n, or the curves of one in integers."""
    epsilon: Fraction
    """The privacy loss that it was built for."""
    target: Floats | None
    """The law of the released counts that it is built for, or None."""
    count_error: float
    """Expected count error before rounding, for counts distributed as they were given."""
    method: str
    """Which constructor, and what it chose."""
    source: Floats | None = None
    """The law of the true counts; None where that is the target itself."""
    delta: Fraction = Fraction(0)
    """The probability with which its privacy loss may exceed epsilon; 0 if it never may."""
    lower_bound: float | None = None
    """No mechanism in F has a smaller count error than this; None where unknown."""
    gap: float | None = None
    """(count_error - lower_bound) / |count_error|; 0 for the optimum; None where unknown."""
    representation: Representation | None = None
    """The scales that add up to the matrix; None where unknown."""

    def __post_init__(self) -> None:
        if isinstance(self.form, Curves):
            return
        if not np.abs(self.form.sum(axis=1) - 1).max() <= ROW_TOLERANCE:
            raise CertificateError("the constructed rows do not sum to 1 within 1e-9.")

    @property
    def description(self) -> str:
        """The method and, where it is known, how far above the optimum it is."""
        return self.method + (f", {above_the_optimum(self.gap)}" if self.gap else "")

    @property
    def matrix(self) -> Floats:
        """The transition matrix; of curves the one that is sampled, where n x n can be held."""
        return self.mechanism.matrix if isinstance(self.form, Curves) else self.form

    @cached_property
    def mechanism(self) -> Mechanism:
        """Certified integers: the only thing that can be sampled."""
        if isinstance(self.form, Curves):
            return Mechanism(
                curves=self.form,
                epsilon=self.epsilon,
                delta=self.delta,
                target=self.target,
                source=self.source,
            )
        return certified_mechanism(
            self.form, epsilon=self.epsilon, target=self.target, delta=self.delta
        )
