"""How large stage 1's error will be, from a public prior: for planning, without the data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, whole_number
from holdfast.former.privatizers.privatizer import Privatizer
from holdfast.former.privacy.budget import exact_epsilon
from holdfast.former.privacy.metrics import kolmogorov_smirnov, total_variation, wasserstein
from holdfast.former.privacy.randomness import Simulation
from holdfast.former.tables.histogram import check_target

LARGEST_NUMBER = 10**12
MEASURES: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "wasserstein": wasserstein,
    "kolmogorov_smirnov": kolmogorov_smirnov,
    "total_variation": total_variation,
}


@dataclass(frozen=True, kw_only=True)
class ExpectedError:
    """The mean error of simulated runs, and how well it is known."""

    mean: float
    """Over the repetitions."""
    standard_error: float
    """Of the mean."""
    repetitions: int
    """How many runs were simulated."""

    def __str__(self) -> str:
        return f"{self.mean:.4g} ± {self.standard_error:.2g}"


def expected_error(
    privatizer: Privatizer,
    prior: ArrayLike,
    N: int,
    epsilon: Any,
    *,
    repetitions: int = 200,
    measure: str = "wasserstein",
    seed: int = 0,
) -> ExpectedError:
    """The error of z against the distribution of counts, were N rows drawn from a public prior.

    Each repetition draws a table of N counts from `prior`, a distribution over 0, ..., n - 1, and
    measures E d(ζ, z) for the privatizer's z. Nothing private is looked at, so it costs no budget:
    take last year's published distribution, or a guess. `measure` is "wasserstein",
    "kolmogorov_smirnov" or "total_variation". Cost: `repetitions` runs of the privatizer.

    >>> from holdfast.former.privatizers import CumulativeIsotonic
    >>> plan = expected_error(CumulativeIsotonic(), [0.6, 0.3, 0.1], 1000, "0.1", repetitions=50)
    >>> 0.005 < plan.mean < 0.05 and plan.standard_error < plan.mean / 5
    True
    """
    p, exact = _prior(prior), exact_epsilon(epsilon)
    rows = whole_number(N, "N", least=1, most=LARGEST_NUMBER, hint="the number of rows.")
    runs = whole_number(
        repetitions, "repetitions", least=2, most=LARGEST_NUMBER, hint="200 is usual."
    )
    distance = _measure(measure)
    rng = np.random.default_rng(seed)
    source = Simulation(rng)
    errors = np.empty(runs)
    for run in range(runs):
        histogram = rng.multinomial(rows, p)
        errors[run] = distance(histogram / rows, privatizer(histogram, epsilon=exact, rng=source))
    return ExpectedError(
        mean=float(errors.mean()),
        standard_error=float(errors.std(ddof=1) / np.sqrt(runs)),
        repetitions=runs,
    )


def _prior(prior: ArrayLike) -> Floats:
    try:
        return check_target(prior)
    except HoldfastError:
        raise HoldfastError(
            "`prior` must be a probability distribution over the counts 0, 1, ...: non-negative "
            "numbers that sum to 1. Hint: divide a published histogram of counts by its total."
        ) from None


def _measure(name: str) -> Callable[[ArrayLike, ArrayLike], float]:
    if name not in MEASURES:
        raise HoldfastError(f"`measure` must be one of {', '.join(MEASURES)}, got {name!r:.40}.")
    return MEASURES[name]
