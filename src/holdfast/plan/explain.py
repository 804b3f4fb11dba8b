"""Epsilon in words and odds, for people who decide and do not compute."""

import math
import textwrap
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any

from holdfast.errors import HoldfastError, aligned, decimal_above
from holdfast.privacy.budget import LARGEST_EPSILON
from holdfast.privacy.rational import exact_fraction
from holdfast.release.readme import bounded

SUSPICIONS = (0.001, 0.01, 0.1, 0.5)
USUAL = Fraction(5)
"""A larger epsilon is said to be large wherever it is met."""
MOST_EXPLAINED = 100
NEARLY = 0.995
WIDTH = 78  # of a line that fits any screen


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What an epsilon lets anybody learn about one person, at the most.

    >>> explain(1).sentence.endswith("right at most 73.2 times in 100; a coin is right 50 times.")
    True
    """

    epsilon: Fraction

    @property
    def factor(self) -> float:
        """e^ε: how much more probable anything published can become by one person."""
        return math.exp(float(self.epsilon))

    @property
    def guess(self) -> float:
        """How often the best guess is right of whether a person was counted, at even odds."""
        return self.suspicion(0.5)

    def suspicion(self, before: float) -> float:
        """The highest probability after the release of a claim about one person, for somebody who
        knows everybody else and gave it the probability `before`.

        >>> round(explain(1).suspicion(0.5), 3), round(explain(1).suspicion(0.01), 4)
        (0.731, 0.0267)
        """
        return 1 / (1 + (1 - before) / before * math.exp(-float(self.epsilon)))

    @property
    def sentence(self) -> str:
        """What it promises, in a sentence."""
        right = f"right at most {_percent(self.guess)} times in 100; a coin is right 50 times"
        return (
            "With it, whoever knows everybody else in the data and must say whether one person was "
            f"counted is {right if self.guess < NEARLY else 'nearly always right'}.{self.size}"
        )

    @property
    def size(self) -> str:
        """Whether it is large; nothing where it is usual."""
        if self.epsilon > LARGEST_EPSILON:
            return f" It is so large that holdfast refuses it: {LARGEST_EPSILON} is the most."
        return " It is large: 0.1 to 5 is usual." if self.epsilon > USUAL else ""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "epsilon": str(self.epsilon),
            "factor": self.factor,
            "best_guess_at_even_odds": self.guess,
            "suspicions": [
                {"before": before, "after_at_most": self.suspicion(before)} for before in SUSPICIONS
            ],
            "deployments": deployments(),
        }

    def __str__(self) -> str:
        name = f"epsilon = {float(self.epsilon):g}"
        odds = [(f"{before:.1%}", f"{_percent(self.suspicion(before))}%") for before in SUSPICIONS]
        uses = [
            textwrap.fill(
                "{epsilon:<8g}{product}, {by} {year}: {protects}".format(**deployment),
                WIDTH,
                subsequent_indent=" " * 8,
            )
            for deployment in deployments()
        ]
        return "\n\n".join(
            [
                f"With {name} {bounded(self.epsilon, 'person')}",
                self.sentence,
                "What somebody may come to believe of one person:\n\n"
                + aligned(("before the release", "after it, at most"), odds),
                "It holds whatever else is known, now or later, and for everything in a release "
                "together: the counts, their distribution, totals and groups share this epsilon. "
                "It does not hide what is true of people in general, nor columns that are "
                "published as they are. Another release of the same data adds its own epsilon.",
                "Who uses which epsilon (OpenDP Deployments Registry; one for a day or a month is "
                "spent again every day or month), and what it protects:\n\n" + "\n".join(uses),
            ]
        )


def _percent(probability: float) -> str:
    """In percent, rounded up to three digits."""
    return decimal_above(Fraction(100 * probability), 3)


def explain(epsilon: Any) -> Explanation:
    """What this epsilon, of at most 100, means for one person, whatever else is known about them.

    Parameters:
        epsilon: A number or text, above 0 and at most 100.

    Returns:
        An `Explanation`: odds, sentences, known deployments; printed, a page of text.

    Raises:
        HoldfastError: If it is no such number.

    >>> round(explain(1).guess, 2)  # how often a guess whether somebody was counted is right
    0.73
    """
    exact = exact_fraction(epsilon, "epsilon")
    if not 0 < exact <= MOST_EXPLAINED:
        raise HoldfastError(
            f"`epsilon` must be above 0 and at most {MOST_EXPLAINED}. Hint: 0.1 to 5 is usual."
        )
    return Explanation(epsilon=exact)


def deployments() -> list[dict[str, Any]]:
    """Differential privacy in use, by epsilon, as the OpenDP Deployments Registry has it: whom or
    what the epsilon is for, whether noise is central, as here, or local, and the registry's file.
    """
    import csv

    text = (files("holdfast") / "plan" / "data" / "deployments.csv").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = list(csv.DictReader(text.splitlines()))
    for row in rows:
        row["year"], row["epsilon"] = int(row["year"]), float(row["epsilon"])
        row["delta"] = float(row["delta"]) if row["delta"] else None
        row["source"] = f"{row.pop('file')} at {row.pop('commit')}"
    return sorted(rows, key=lambda row: row["epsilon"])
