"""What a release promises, and to whom."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.privacy.budget import Budget
from holdfast.privacy.persons import Persons
from holdfast.privacy.rational import exact_fraction


@dataclass(frozen=True, kw_only=True)
class Promise:
    """Epsilon, who is protected by it, and the exact budget of each column of counts."""

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
