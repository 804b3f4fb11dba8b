"""Epsilon in words and odds, for people who decide and do not compute."""

import math
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.former.privacy.approximate import exact_delta
from holdfast.former.privacy.budget import exact_fraction
from holdfast.former.tables.csv import parse_csv

SUSPICIONS = (0.001, 0.01, 0.1, 0.5)


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """Differential privacy in use, as the OpenDP Deployments Registry has it."""

    product: str
    by: str
    year: int
    epsilon: float
    delta: float | None
    protects: str
    """Whom or what the epsilon is for."""
    kind: str
    """"central", as holdfast, or "local": noise before anything is collected."""
    source: str
    """The registry's file and its commit."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What an epsilon lets anybody learn about one person, at the most."""

    epsilon: Fraction
    delta: Fraction

    @property
    def factor(self) -> float:
        """e^ε: how much more probable anything published can become by one person."""
        return math.exp(float(self.epsilon))

    @property
    def guess(self) -> float:
        """How often the best guess is right of whether a person was counted, at even odds."""
        return self.suspicion(0.5)

    def suspicion(self, before: float) -> float:
        """The highest probability that somebody who knows all others can give to a claim about
        one person after the release, who gave it this much before; with delta, but for a chance
        of delta.

        >>> round(explain(1).suspicion(0.5), 3), round(explain(1).suspicion(0.01), 4)
        (0.731, 0.0267)
        """
        return 1 / (1 + (1 - before) / before * math.exp(-float(self.epsilon)))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "factor": self.factor,
            "best_guess_at_even_odds": self.guess,
            "suspicions": [
                {"before": before, "after_at_most": self.suspicion(before)} for before in SUSPICIONS
            ],
            "deployments": [vars(known) for known in deployments()],
        }


def explain(epsilon: Any, delta: Any = 0) -> Explanation:
    """What this (ε, δ) means for one person, whatever else is known about them."""
    exact = exact_fraction(epsilon, "epsilon")
    if not 0 < exact <= 100:
        raise HoldfastError("`epsilon` must be above 0 and at most 100. Hint: 0.1 to 5 is usual.")
    return Explanation(epsilon=exact, delta=exact_delta(delta, least=0))


def deployments() -> tuple[Deployment, ...]:
    """Deployments by epsilon, with the source of each figure."""
    table = parse_csv((files("holdfast") / "data" / "deployments.csv").read_bytes())
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return tuple(
        Deployment(
            product=row["product"],
            by=row["by"],
            year=int(row["year"]),
            epsilon=float(row["epsilon"]),
            delta=float(row["delta"]) if row["delta"] else None,
            protects=row["protects"],
            kind=row["kind"],
            source=f"{row['file']} at {row['commit']}",
        )
        for row in sorted(rows, key=lambda row: float(row["epsilon"]))
    )
