"""The truncated geometric mechanism of Ghosh, Roughgarden and Sundararajan (2009)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from holdfast.former.constructors.construction import Construction
from holdfast.former.constructors.constructor import Constructor
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.metrics import count_error
from holdfast.former.tables.histogram import check_target


@dataclass(frozen=True, kw_only=True)
class TruncatedGeometric(Constructor):
    r"""Two-sided geometric noise on a count, clamped to 0 ... n-1.

    With $\alpha = e^{-\epsilon}$: $T_{ij} = \alpha^{|i-j|} (1-\alpha)/(1+\alpha)$ inside,
    and $\alpha^{|i-j|} / (1+\alpha)$ for j = 0 and j = n-1, which take the tails. Needs no
    target; it is called with one so that its count error can be stated. Cost: O(n^2).

    >>> TruncatedGeometric()([0.5, 0.3, 0.2], epsilon="1").matrix.sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """

    error: Any = "absolute"
    """Count error that is reported."""

    one_stage: ClassVar[bool] = True
    holds_matrix: ClassVar[bool] = True

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for counts from 0 to len(target) - 1."""
        z, exact = check_target(target), exact_epsilon(epsilon)
        n, alpha = len(z), np.exp(-float(exact))
        steps = np.arange(n)
        matrix = alpha ** np.abs(steps[:, None] - steps) * (1 - alpha) / (1 + alpha)
        matrix[:, [0, -1]] /= 1 - alpha
        if n == 1:
            matrix = np.ones((1, 1))
        return Construction(
            form=matrix,
            epsilon=exact,
            target=None,
            count_error=count_error(matrix, z, self.error),
            method="TruncatedGeometric",
        )
