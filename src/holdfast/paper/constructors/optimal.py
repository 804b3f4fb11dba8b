"""The optimum over F in closed form: noise, then the monotone map that carries its law to w."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError
from holdfast.paper.constructors.construction import Construction, Constructor
from holdfast.paper.constructors.noise_and_map import carried, noisy_law
from holdfast.paper.distributions import check_target
from holdfast.privacy.approximate import exact_delta
from holdfast.privacy.budget import exact_epsilon
from holdfast.privacy.metrics import POWERS, count_error, error_weights

ROUNDING = 1e-12  # of the largest weight: what a computed W may miss the Monge property by
SLACK = 2.0**-43  # relative error of sums of at most 10^4 positive floats, each right to 2^-50
SPARE_DELTA = Fraction(1, 2**46)  # times 1 + e^ε: what float entries and rounding can add to δ


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimal(Constructor):
    r"""The mechanism with the least count error among all that are ε-private and keep z.

    $$\min \langle W, T \rangle : \quad T 1 = 1, \quad z^\top T = w, \quad
    e^{-\epsilon} t_{i+1,j} \le t_{ij} \le e^{\epsilon} t_{i+1,j}.$$

    Discrete Laplace noise on the count, then the monotone map, ties at random, that carries the law
    of the noisy count to w (docs/optimum.md, with the proof). It is the same for every error that
    grows convexly with the distance, on either side, so no error need be chosen. Cost: O(n^2).

    >>> found = Optimal()([0.5, 0.3, 0.2], epsilon="0.5")
    >>> round(found.count_error, 6), found.gap < 1e-12
    (0.611303, True)
    """

    target: ArrayLike | None = None
    """w: the law that the released counts are to have; by default z itself, the fixed point."""
    error: Any = "absolute"
    """Count error that is reported: see `metrics.error_weights`. A weight matrix must have the
    Monge property, or other mechanisms than this one have the least error."""
    delta: Any = 0
    """The probability with which the privacy loss of one person may exceed epsilon. With a delta
    and zeros in z several monotone maps may keep w; any of them is as good."""

    def __call__(self, target: ArrayLike, *, epsilon: Any) -> Construction:
        """The mechanism for true counts with this distribution."""
        z, exact, delta = check_target(target), exact_epsilon(epsilon), self.promised_delta
        w = z if self.target is None else check_target(self.target)
        if w.shape != z.shape:
            raise HoldfastError("`target` must have one share for every count, as z has.")
        if delta > math.expm1(exact):
            raise HoldfastError(
                f"`delta` must be at most e^epsilon - 1, got {float(delta):g} with epsilon = "
                f"{float(exact):g}, or nothing is left to protect."
            )
        planned = max(delta - SPARE_DELTA * Fraction(1 + math.exp(exact)), Fraction(0))
        matrix = carried(noisy_law(len(z), float(exact), float(planned)), z, w)
        error, _ = _least(z, w, self.error, float(exact), matrix)
        return Construction(
            matrix=matrix,
            epsilon=exact,
            target=w,
            source=None if self.target is None else z,
            count_error=error,
            method="Optimal()",
            delta=delta,
            bound=partial(least_error, z, self.error, exact, law=w, delta=delta),
        )

    @property
    def promised_delta(self) -> Fraction:
        """Delta for one person."""
        return exact_delta(self.delta)


def least_error(
    z: Floats,
    error: Any,
    epsilon: Fraction,
    *,
    law: Floats | None = None,
    delta: Fraction = Fraction(0),
) -> float | None:
    """What no mechanism in F has a smaller count error than; None for errors where that is open."""
    w = z if law is None else law
    if not isinstance(error, str) and steepest(error_weights(error, z), z, w) is None:
        return None
    matrix = carried(noisy_law(len(z), float(epsilon), float(delta)), z, w)
    return _least(z, w, error, float(epsilon), matrix)[1]


def _least(z: Floats, w: Floats, error: Any, epsilon: float, matrix: Floats) -> tuple[float, float]:
    """The error of the optimum, and a float that it is not below.

    A map that misses the level of an output by a rounding error changes the count error by as much,
    times the steepest slope of the error.
    """
    if isinstance(error, str) and error in POWERS:
        value = size = count_error(matrix, z, error)
        slope = 1.0 if error == "absolute" else 2.0 * len(w)
    else:
        weights = error_weights(error, z)
        steep = steepest(weights, z, w)
        if steep is None:
            raise HoldfastError(
                "`error` must have the Monge property, as every convex function of the distance "
                "has: only then is the least error known in closed form. "
                "Hint: LinearProgram(error=...) takes any weights."
            )
        value, size, slope = count_error(matrix, z, weights), float(np.abs(weights).sum()), steep
    below = np.cumsum(w)
    levels = float(np.minimum(below, np.maximum(1 - below, 0)).sum())
    grow = 1 + math.exp(epsilon)
    return value, value - SLACK * (size + 2.0**-6 * grow * slope * levels)


def steepest(weights: Floats, z: Floats, w: Floats) -> float | None:
    """How much the error of one count changes per step; None without the Monge property.

    With l(i, j) the error of releasing j for a true count i: l(i, j) + l(i+1, j+1) must not exceed
    l(i, j+1) + l(i+1, j). Counts that do not occur must not weigh; what is never released may.
    """
    live = weights[:, w > 0]
    costs = live[z > 0] / z[z > 0, None]
    steps = np.diff(costs, axis=1)
    slip = ROUNDING * np.abs(costs).max()
    if (np.diff(steps, axis=0) > slip).any() or (np.ptp(live[z == 0], axis=1) > slip).any():
        return None
    return float(np.abs(steps).max(initial=0))
