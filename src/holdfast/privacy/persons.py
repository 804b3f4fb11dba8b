"""Who is protected by a release, what each column of counts may spend, and what is promised.

Budgets of columns add up where one person may be in all of them. Where every row of a person is
counted in one column, the largest of them holds for all: each of m rows spends 1/m of the epsilon
of its column.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError, whole_number
from holdfast.privacy.budget import Budget
from holdfast.privacy.rational import exact_fraction

UNIT = re.compile(r"[a-z][a-z -]{0,38}[a-z]")
MOST_ROWS = 1_000_000
MOST_COLUMNS = 20


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
        if self._in_one:
            return tuple(epsilon for _ in self.columns)
        weights = self.weights or tuple(Fraction(1) for _ in self.columns)
        return tuple(epsilon * weight / sum(weights) for weight in weights)

    def together(self, spent: Sequence[Fraction]) -> Fraction:
        """What columns that spend so much on one person spend on them together."""
        return max(spent) if self._in_one else sum(spent, Fraction(0))

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
            where = f"{'' if one else 'each '}in one of" if self._in_one else "in any of"
            pairs = zip(self.columns, most, strict=True)
            named = ", ".join(f"{column} {words}" for column, words in pairs)
            added = f", {where} {whose} columns of counts: {named}"
        return (
            f"Two tables are neighbours when one {self.unit} is added to or removed from one of "
            f"them: at most {rows}{added}."
        )

    @property
    def protected(self) -> str:
        """To whom the promise is.

        >>> Persons(columns=("n",), contributions=(2,)).protected
        'one person who adds at most 2 to one row'
        >>> both = Persons(columns=("a", "b"), contributions=(1, 2), person_rows=3, unit="firm")
        >>> both.protected
        'one firm that adds at most 1 to a and 2 to b in each of at most 3 rows'
        """
        rows = "one row" if self.person_rows == 1 else f"each of at most {self.person_rows:,} rows"
        who = f"one {self.unit} {'who' if self.unit == 'person' else 'that'} adds at most"
        if len(self.columns) == 1:
            return f"{who} {self.contributions[0]:,} to {rows}"
        pairs = zip(self.contributions, self.columns, strict=True)
        added = [f"{number:,} to {column}" for number, column in pairs]
        return f"{who} {(' or ' if self._in_one else ' and ').join(added)} in {rows}"

    @property
    def _in_one(self) -> bool:
        return self.person_in is PersonIn.ONE

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; exact numbers as fractions in text."""
        return {
            "person_in": self.person_in.value,
            "weights": [str(weight) for weight in self.weights],
            "contributions": list(self.contributions),
            "person_rows": self.person_rows,
            "unit": self.unit,
        }

    @staticmethod
    def from_dict(columns: Sequence[str], record: Mapping[str, Any]) -> "Persons":
        """The inverse of `to_dict`."""
        return Persons(
            columns=tuple(columns),
            contributions=tuple(record["contributions"]),
            person_in=PersonIn(record["person_in"]),
            weights=tuple(exact_fraction(each, "weights") for each in record["weights"]),
            person_rows=record["person_rows"],
            unit=record["unit"],
        )


def read_persons(
    columns: Sequence[str],
    *,
    person_in: Any = PersonIn.ALL.value,
    weights: Any = None,
    contributions: Any = 1,
    rows: Any = 1,
    unit: Any = "person",
) -> Persons:
    """What a steward says of the persons in a table."""
    if person_in not in (*PersonIn,):
        raise HoldfastError(
            f"`person_in` must be 'all columns' or 'one column', got {person_in!r:.40}. Hint: may "
            "one person be counted in several columns of a row, or in one of them alone?"
        )
    if not isinstance(unit, str) or not UNIT.fullmatch(unit):
        raise HoldfastError(
            f"`unit` must be a word in lower-case letters, got {unit!r:.40}. Hint: person, "
            "household, establishment."
        )
    where = PersonIn(person_in)
    if weights is not None and where is PersonIn.ONE:
        raise HoldfastError(
            "`weights` divide epsilon between columns, and with person_in='one column' every "
            "column has all of it. Hint: leave `weights` out."
        )
    return Persons(
        columns=tuple(columns),
        contributions=tuple(
            whole_number(one, "contributions", least=1, most=MOST_ROWS)
            for one in for_columns(contributions, columns, "contributions")
        ),
        person_in=where,
        weights=() if weights is None else _weights(weights, columns),
        person_rows=whole_number(rows, "rows", least=1, most=MOST_ROWS),
        unit=unit,
    )


def for_columns(value: Any, columns: Sequence[str], parameter: str) -> tuple[Any, ...]:
    """One value for each column, from one for all, a list, or a dictionary by column.

    >>> for_columns({"rape": 2, "murder": 1}, ["murder", "rape"], "contributions")
    (1, 2)
    """
    if isinstance(value, Mapping):
        if set(value) != set(columns):
            raise HoldfastError(
                f"`{parameter}` must have a value for every column of counts, and no other. "
                f"Hint: {', '.join(columns)}."
            )
        return tuple(value[column] for column in columns)
    if isinstance(value, list | tuple):
        if len(value) != len(columns):
            raise HoldfastError(
                f"`{parameter}` must have one value for each of the {len(columns)} columns of "
                f"counts, got {len(value)}."
            )
        return tuple(value)
    return tuple(value for _ in columns)


def _weights(weights: Any, columns: Sequence[str]) -> tuple[Fraction, ...]:
    if not isinstance(weights, Mapping | list | tuple):
        raise HoldfastError("`weights` must be a number for each column of counts.")
    found = tuple(
        exact_fraction(one, "weights") for one in for_columns(weights, columns, "weights")
    )
    if min(found) <= 0:
        raise HoldfastError("`weights` must be above 0.")
    return found


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

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; exact numbers as fractions in text."""
        return {
            "epsilon": str(self.epsilon),
            "persons": self.persons.to_dict(),
            "budgets": [budget.to_dict() for budget in self.budgets],
            "simulated": self.simulated,
            "randomness": self.randomness,
            "neighbours": self.neighbours,
        }

    @staticmethod
    def from_dict(columns: tuple[str, ...], record: dict[str, Any]) -> "Promise":
        """The inverse of `to_dict`; `columns` are the names of the columns of counts."""
        return Promise(
            epsilon=exact_fraction(record["epsilon"], "epsilon"),
            persons=Persons.from_dict(columns, record["persons"]),
            budgets=tuple(map(Budget.from_dict, record["budgets"])),
            simulated=bool(record["simulated"]),
        )
