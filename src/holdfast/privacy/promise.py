"""Who is protected by a release, what is promised, and what that costs one person.

Budgets of columns add up where one person may be in all of them. Where every row of a person is
counted in one column, the largest of them holds for all: each of m rows spends 1/m of the epsilon
of its column.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from holdfast.errors import HoldfastError
from holdfast.privacy.budget import Budget


class PersonIn(StrEnum):
    """In how many columns of counts a row of one person may be counted."""

    ALL = "all columns"
    ONE = "one column"


@dataclass(frozen=True, kw_only=True)
class Persons:
    """What one person may change in a table, and what is promised for it.

    >>> persons = Persons(columns=("murder", "rape"), contributions=(1, 2))
    >>> print(persons.neighbours)
    Two tables are neighbours when one person is added to or removed from one of them: at most 1 \
row changes, in any of its columns of counts: murder by at most 1, rape by at most 2.
    >>> persons.parts(Fraction(1))
    (Fraction(1, 2), Fraction(1, 2))
    """

    columns: tuple[str, ...]
    """The columns of counts."""
    contributions: tuple[int, ...]
    """How much one person may add to one row of each."""
    person_in: PersonIn = PersonIn.ALL
    """Whether one row of a person is counted in all columns or in one of them."""
    weights: tuple[Fraction, ...] = ()
    """Weights that divide epsilon where one person may be in all columns; evenly by default."""
    person_rows: int = 1
    """In how many rows one person may be."""
    unit: str = "person"
    """Who is protected, in a word."""

    def parts(self, epsilon: Fraction) -> tuple[Fraction, ...]:
        """What each column may spend on one person."""
        if self.person_in is PersonIn.ONE:
            return tuple(epsilon for _ in self.columns)
        weights = self.weights or tuple(Fraction(1) for _ in self.columns)
        return tuple(epsilon * weight / sum(weights) for weight in weights)

    def together(self, spent: Sequence[Fraction]) -> Fraction:
        """What columns that spend so much on one person spend on them together."""
        return max(spent) if self.person_in is PersonIn.ONE else sum(spent, Fraction(0))

    @property
    def neighbours(self) -> str:
        """Which tables are compared, in a sentence."""
        one = self.person_rows == 1
        rows = "1 row changes" if one else f"{self.person_rows:,} rows change"
        most = [f"by at most {number:,}" for number in self.contributions]
        if len(self.columns) == 1:
            added = f" {most[0]}" if one else f", each {most[0]}"
        else:
            whose = "its" if one else "their"
            each = f"{'' if one else 'each '}in one of"
            where = each if self.person_in is PersonIn.ONE else "in any of"
            pairs = zip(self.columns, most, strict=True)
            named = ", ".join(f"{column} {words}" for column, words in pairs)
            added = f", {where} {whose} columns of counts: {named}"
        return (
            f"Two tables are neighbours when one {self.unit} is added to or removed from one of "
            f"them: at most {rows}{added}."
        )


@dataclass(frozen=True, kw_only=True)
class Promise:
    """Epsilon, who is protected by it, and the exact budget of each column of counts.

    >>> import holdfast
    >>> promise = holdfast.privatize([0, 5, 1], epsilon="1/2", seed=1).promise
    >>> promise.epsilon, promise.budgets[0].epsilon, promise.randomness
    (Fraction(1, 2), Fraction(1, 2), 'a seed (simulation: protects nobody)')
    """

    epsilon: Fraction
    """For one person, in all."""
    persons: Persons
    """What one person may change in the table."""
    budgets: tuple[Budget, ...]
    """One for each column of counts, in the order of `persons.columns`."""
    simulated: bool
    """Whether a seed was given: then the release protects nobody."""

    def __post_init__(self) -> None:
        spent = [budget.epsilon for budget in self.budgets]
        if self.persons.together(spent) != self.epsilon:
            raise HoldfastError("the budgets of the columns do not come to epsilon.")
        for budget, most in zip(self.budgets, self.persons.contributions, strict=True):
            if (budget.contributions, budget.person_rows) != (most, self.persons.person_rows):
                raise HoldfastError("a budget is not that of the persons who are protected.")

    @property
    def randomness(self) -> str:
        """Where the randomness came from."""
        return "a seed (simulation: protects nobody)" if self.simulated else "operating system"

    @property
    def neighbours(self) -> str:
        """Which tables the promise compares, in words."""
        return (
            f"{self.persons.neighbours} The rows and their order, the structural zeros, which "
            "counts are missing, and the columns published beside the counts are public and "
            "published unchanged."
        )


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What measurements cost: each is (epsilon, delta)-private whatever was seen before."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    times: int = 1
    """How many such measurements there are, each with noise of its own."""

    def __post_init__(self) -> None:
        if self.epsilon < 0 or not 0 <= self.delta < 1 or self.times < 1:
            raise HoldfastError("a charge must be 0 or more, and its delta below 1.")


def sums_of(charges: Iterable[Charge]) -> tuple[Fraction, Fraction]:
    """Epsilon and delta of charges together."""
    pairs = [(charge.epsilon * charge.times, charge.delta * charge.times) for charge in charges]
    return sum((e for e, _ in pairs), Fraction(0)), sum((d for _, d in pairs), Fraction(0))


def charges_of(promise: Promise) -> tuple[Charge, ...]:
    """What a release costs one person, measurement by measurement; known before it is made.

    A person in m rows changes m noisy counts, each of which has noise of its own. Noisy sums of the
    whole table, those of groups and totals are one charge each: one person may move one of them
    several times. Where each row of a person is counted in one of several columns, the person's
    rows may be spread over them in any way, and the whole release is one charge.
    """
    if promise.persons.person_in is PersonIn.ONE and len(promise.budgets) > 1:
        return (Charge(epsilon=promise.epsilon),)
    charges = []
    for budget in promise.budgets:
        rows = budget.person_rows
        charges.append(Charge(epsilon=budget.counts / rows, times=rows))
        charges += [Charge(epsilon=part) for part in (budget.whole, budget.sums, budget.totals)]
    return tuple(charge for charge in charges if charge.epsilon)
