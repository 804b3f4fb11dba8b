"""max_count: given, or found privately for a part of the budget."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.arrays import Integers
from holdfast.former.privatizers.private_quantile import PrivateQuantile
from holdfast.former.privacy.budget import Budget, exact_epsilon, split_budget
from holdfast.former.privacy.randomness import Randomness
from holdfast.former.tables.histogram import LARGEST_MAX_COUNT, check_max_count

AUTO = "auto"
USUAL_BINS = 50  # what the split takes for n while max_count is not known


@dataclass(frozen=True, kw_only=True)
class FoundMaxCount:
    """How a `max_count` was found from the data: published with the release.

    >>> found = FoundMaxCount(max_count=57, q=Fraction(9, 10), epsilon=Fraction(1, 20), highest=100)
    >>> FoundMaxCount.from_dict(found.to_dict()) == found
    True
    """

    max_count: int
    """What was found."""
    q: Fraction
    """Which quantile was asked for."""
    epsilon: Fraction
    """What it took of the budget, for one person."""
    highest: int
    """The highest value that it could have had."""
    method: str = "PrivateQuantile: discrete Laplace noise on cumulative counts"
    """How it was found."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; exact numbers as fractions in text."""
        return vars(self) | {"q": str(self.q), "epsilon": str(self.epsilon)}

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "FoundMaxCount":
        """The inverse of `to_dict`."""
        exact = {name: Fraction(record[name]) for name in ("q", "epsilon")}
        return FoundMaxCount(**(record | exact))


def read_max_count(max_count: Any) -> Any:
    """What `max_count` stands for: "auto" is the 0.999 quantile, found privately up to 1,000,000.

    >>> read_max_count("auto")
    PrivateQuantile(q=Fraction(999, 1000), epsilon=None, highest=1000000)
    >>> read_max_count(50)
    50
    """
    if isinstance(max_count, str) and max_count == AUTO:
        return PrivateQuantile("0.999", highest=LARGEST_MAX_COUNT)
    return max_count


def budget_for(max_count: Any, rows: int, *, epsilon: Any, **options: Any) -> Budget:
    """The budget and its split, from public numbers alone.

    It is settled before max_count is drawn: a split that depended on it could not be promised, or
    composed with other releases, beforehand.

    >>> budget = budget_for(PrivateQuantile("0.9", highest=500), 4000, epsilon=1)
    >>> budget.quantile, budget.stage_1 + budget.stage_2
    (Fraction(1, 50), Fraction(49, 50))
    """
    if type(max_count) is not PrivateQuantile:  # a subclass could draw less noise
        top = check_max_count(max_count)
        return split_budget(epsilon, max_count=top, rows=rows, **options)
    part = max_count.part(exact_epsilon(epsilon), rows)
    highest = max_count.highest
    bins = min(highest + 1, USUAL_BINS)
    budget = split_budget(
        epsilon, max_count=highest, rows=rows, bins=bins, quantile=part, **options
    )
    max_count.check_contributions(budget.contributions)
    return budget


def highest_count(max_count: Any) -> int:
    """The highest that max_count can be, before anything is known of the table."""
    return max_count.highest if type(max_count) is PrivateQuantile else check_max_count(max_count)


def find_max_count(
    max_count: Any, histogram: Integers, budget: Budget, source: Randomness
) -> FoundMaxCount | None:
    """max_count and how it was found; None where it was given.

    `histogram` goes from 0 to `highest_count(max_count)`.
    """
    if budget.quantile == 0:
        return None
    top = max_count.from_histogram(
        histogram,
        epsilon=budget.quantile / budget.person_rows,
        contributions=budget.contributions,
        rng=source,
    )
    return FoundMaxCount(
        max_count=top, q=max_count.q, epsilon=budget.quantile, highest=max_count.highest
    )


def certified_quantile(max_count: Any, budget: Budget) -> Fraction:
    """What is certified for finding max_count; 0 where it was given."""
    if not budget.quantile:
        return Fraction(0)
    return budget.person_rows * Fraction(
        max_count.certified_epsilon(budget.quantile / budget.person_rows)
    )
