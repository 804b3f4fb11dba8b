"""What a release promises, to whom, and what was certified."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.former.privacy.budget import Budget
from holdfast.former.privacy.delta import promise_in_words


@dataclass(frozen=True, kw_only=True)
class Privacy:
    """What a release promises, and what was certified from what was drawn."""

    budget: Budget
    """Promised: epsilon and its exact split."""
    stage_1_certified: Fraction
    """From OpenDP's privacy map, for one person."""
    stage_2_certified: Fraction
    """From the integer weights that were sampled, for one person."""
    stage_1_certified_by: str = "OpenDP's map"
    """Who vouches for stage 1."""
    quantile_certified: Fraction = Fraction(0)
    """From OpenDP's privacy map, for one person: what finding max_count took."""
    totals_certified: Fraction = Fraction(0)
    """From OpenDP's privacy map, for one person: what measuring totals took."""
    delta: Fraction = Fraction(0)
    """The chance that epsilon fails for one person, at the most; 0 is pure epsilon."""
    simulated: bool
    """Whether a seed was used: then the release protects nobody."""

    @property
    def epsilon(self) -> Fraction:
        """Promised to one person, in all."""
        return self.budget.epsilon

    @property
    def certified_epsilon(self) -> Fraction:
        """Certified for one person, in all; at most `epsilon`."""
        stages = self.stage_1_certified + self.stage_2_certified
        return self.quantile_certified + self.totals_certified + stages

    @property
    def promise(self) -> str:
        """The promise in one line; with a delta it never reads as pure epsilon."""
        return promise_in_words(self.epsilon, self.delta)

    @property
    def neighbours(self) -> str:
        """Which tables the promise compares."""
        many, top, found = self.budget.person_rows, "max_count, ", ""
        changed = "one row changes," if many == 1 else f"at most {many} rows change, each"
        if self.budget.quantile:
            found = " max_count was found from the data, privately, for its own part of epsilon."
            top = ""
        return (
            f"Two tables are neighbours when one {self.budget.unit} is added to or removed from "
            f"one of them: {changed} by at most `contributions`. The number of rows and their "
            f"order, {top}the structural zeros, which counts are missing, and the columns "
            f"published beside the counts are public and published unchanged.{found}"
        )

    @property
    def randomness(self) -> str:
        """Where the randomness came from."""
        return "a seed (simulation: protects nobody)" if self.simulated else "operating system"

    @property
    def parts(self) -> tuple[tuple[str, Fraction, Fraction, str], ...]:
        """Every part of a release: what it was given of epsilon, what was certified, and how."""
        budget, who = self.budget, self.stage_1_certified_by
        return (
            ("max_count", budget.quantile, self.quantile_certified, "OpenDP's map"),
            ("totals", budget.totals, self.totals_certified, "OpenDP's map"),
            ("the distribution of counts", budget.stage_1, self.stage_1_certified, who),
            ("the counts themselves", budget.stage_2, self.stage_2_certified, "exact integers"),
        )

    def __post_init__(self) -> None:
        if any(not 0 <= certified <= given for _, given, certified, _ in self.parts):
            raise HoldfastError("a stage was certified for more than it was given.")
        if not 0 <= self.delta < 1:
            raise HoldfastError("`delta` must be 0 or more and below 1.")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; exact numbers as fractions in text."""
        more: dict[str, Any] = {}
        if self.budget.totals:
            more = {
                "totals": str(self.budget.totals),
                "totals_certified": str(self.totals_certified),
            }
        if not self.usual_persons:
            more |= {"person_rows": self.budget.person_rows, "unit": self.budget.unit}
        return more | {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "bound": str(self.budget.quantile),
            "stage_1": str(self.budget.stage_1),
            "stage_2": str(self.budget.stage_2),
            "contributions": self.budget.contributions,
            "steps": self.budget.steps,
            "bound_certified": str(self.quantile_certified),
            "stage_1_certified": str(self.stage_1_certified),
            "stage_1_certified_by": self.stage_1_certified_by,
            "stage_2_certified": str(self.stage_2_certified),
            "certified_epsilon_decimal": f"{float(self.certified_epsilon):.12g}",
            "promise": self.promise,
            "neighbours": self.neighbours,
            "randomness": self.randomness,
            "simulated": self.simulated,
        }

    @property
    def usual_persons(self) -> bool:
        """Whether the promise is to a person, who is in one row at the most."""
        return self.budget.person_rows == 1 and self.budget.unit == "person"

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "Privacy":
        """The inverse of `to_dict`."""
        budget = Budget(
            epsilon=Fraction(record["epsilon"]),
            quantile=Fraction(record.get("bound", 0)),
            totals=Fraction(record.get("totals", 0)),
            stage_1=Fraction(record["stage_1"]),
            stage_2=Fraction(record["stage_2"]),
            contributions=int(record["contributions"]),
            steps=int(record["steps"]),
            person_rows=int(record.get("person_rows", 1)),
            unit=str(record.get("unit", "person")),
        )
        return Privacy(
            budget=budget,
            stage_1_certified=Fraction(record["stage_1_certified"]),
            stage_1_certified_by=str(record["stage_1_certified_by"]),
            stage_2_certified=Fraction(record["stage_2_certified"]),
            quantile_certified=Fraction(record.get("bound_certified", 0)),
            totals_certified=Fraction(record.get("totals_certified", 0)),
            delta=Fraction(record.get("delta", 0)),
            simulated=bool(record["simulated"]),
        )
