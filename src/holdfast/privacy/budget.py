"""Epsilon and delta as exact numbers, and the exact parts of epsilon for one column of counts."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.privacy.noise import Noise
from holdfast.privacy.rational import exact_fraction

SMALLEST = Fraction(1, 10**6)
LARGEST_EPSILON = Fraction(10)
SMALLEST_DELTA = Fraction(1, 10**12)


def exact_epsilon(epsilon: Any, *, name: str = "epsilon") -> Fraction:
    """Epsilon as a Fraction; a float means the decimal number that it prints as.

    >>> exact_epsilon("0.1"), exact_epsilon(0.1), exact_epsilon("1/3")
    (Fraction(1, 10), Fraction(1, 10), Fraction(1, 3))
    """
    value = exact_fraction(epsilon, name)
    if value <= 0:
        raise HoldfastError(f"`{name}` must be positive, got {epsilon}. Hint: 0.1 to 5 is usual.")
    if value < SMALLEST:
        raise HoldfastError(
            f"`{name}` is {epsilon}, below {float(SMALLEST):g}: the release would be noise alone. "
            "Hint: 0.1 to 5 is usual."
        )
    if value > LARGEST_EPSILON:
        raise HoldfastError(
            f"`{name}` is {epsilon}, above {LARGEST_EPSILON}. holdfast refuses it: so large an "
            "epsilon promises one person almost nothing. Hint: 0.1 to 5 is usual."
        )
    return value


def exact_delta(delta: Any, *, least: Fraction | int = SMALLEST_DELTA) -> Fraction:
    """Delta as a Fraction, 0 for pure privacy; a float means the decimal that it prints as.

    `least` is the smallest that the arithmetic of a caller can tell from 0, here that of integer
    weights; with 0 every delta will do.

    >>> exact_delta("1e-6"), exact_delta(0)
    (Fraction(1, 1000000), Fraction(0, 1))
    """
    value = exact_fraction(delta, "delta")
    if value != 0 and not least <= value < 1:
        allowed = f"0, or from {float(least):g} to below 1" if least else "0 or more and below 1"
        raise HoldfastError(
            f"`delta` must be {allowed}, got {delta!s:.40}. "
            "Hint: well below one over the number of people; 1e-6 is usual."
        )
    return value


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The epsilon of one column of counts, and its exact parts: counts + whole + sums + totals.

    One person may be in `person_rows` rows and add up to `contributions` to each. Noise on single
    counts hides a change of `contributions` in one row, for its part of epsilon divided by the
    rows. Sums and totals change by `contributions * person_rows` in all, at the most
    (docs/noise.md).

    >>> budget = Budget(epsilon=Fraction(1), counts=Fraction(3, 4), whole=Fraction(1, 4))
    >>> budget.noise_of_counts.epsilon, budget.noises["whole"].epsilon
    (Fraction(3, 4), Fraction(1, 4))
    """

    epsilon: Fraction
    """What this column may spend on one person."""
    counts: Fraction
    """Spent on the noisy count of every row."""
    whole: Fraction
    """Spent on the noisy sums of the whole table."""
    sums: Fraction = Fraction(0)
    """Spent on the noisy sums of each group beside them; 0 where none are measured."""
    totals: Fraction = Fraction(0)
    """Spent on totals; 0 where none are measured."""
    contributions: int = 1
    """How much one person may add to one row, at the most."""
    person_rows: int = 1
    """In how many rows one person may be, at the most."""

    def __post_init__(self) -> None:
        parts = self.counts, self.whole, self.sums, self.totals
        if min(parts) < 0 or self.counts == 0 or sum(parts) != self.epsilon:
            raise HoldfastError("the parts of the budget do not add up to epsilon.")

    @staticmethod
    def divided(
        epsilon: Fraction,
        *,
        totals: Fraction,
        whole: Fraction,
        sums: Fraction,
        contributions: int,
        person_rows: int,
    ) -> "Budget":
        """The budget in which totals have their share of epsilon, and sums of the whole table and
        of its groups theirs of the rest. What is left is epsilon_2, spent on single counts."""
        rest = epsilon * (1 - totals)
        return Budget(
            epsilon=epsilon,
            counts=rest * (1 - whole - sums),
            whole=rest * whole,
            sums=rest * sums,
            totals=epsilon * totals,
            contributions=contributions,
            person_rows=person_rows,
        )

    @property
    def reach(self) -> int:
        """How much one person can add to the counts of this column together."""
        return self.contributions * self.person_rows

    @property
    def noise_of_counts(self) -> Noise:
        """Noise of a single count."""
        return Noise.least(self.counts / self.person_rows, self.contributions)

    @property
    def noises(self) -> dict[str, Noise | None]:
        """Noise of each sum of the whole table, of each sum of a group and of each total, by the
        name of the part that is spent on it; None where nothing is."""
        parts = {"whole": self.whole, "sums": self.sums, "totals": self.totals}
        return {
            name: Noise(epsilon=part / self.reach) if part else None for name, part in parts.items()
        }
