"""What an analyst gets for a question."""

from dataclasses import dataclass, field
from typing import Any

from holdfast.arrays import Marks

USUAL_LEVEL = 0.9
"""An estimate of "best" lies in the interval of this level, whatever level is asked for."""
SIMULATED = "SIMULATION: a seed made this release, so it protects nobody"


@dataclass(frozen=True, kw_only=True, eq=False)
class About:
    """Rows of a release."""

    release: str
    """A digest of its counts."""
    marks: Marks
    """Which of its rows."""

    def meets(self, other: "About") -> bool:
        """Whether some row is in both."""
        return self.release == other.release and bool((self.marks & other.marks).any())


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An estimate with its uncertainty, from both stages' noise.

    >>> print(Answer(question="share of rows equal to 0", estimate=0.512, standard_error=0.004,
    ...              interval=(0.505, 0.519), level=0.9, estimator="best", method="formula",
    ...              percent=True))
    share of rows equal to 0: 51.2% (90% interval 50.5% to 51.9%)
    """

    question: str
    """In words."""
    estimate: float
    """The answer."""
    standard_error: float | None
    """Standard deviation of the unrestricted estimate, from stage 1 and sampling; None where the
    question has none."""
    interval: tuple[float, float]
    """Covers the truth with probability `level`, over the randomness of the release."""
    level: float
    """Of the interval."""
    estimator: str
    """"best", "released", "target" or "posterior"."""
    method: str
    """"formula" or "bootstrap": how the uncertainty was computed."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    percent: bool = False
    """Whether the answer is a share."""
    whole: bool = False
    """Whether the answer is a whole number."""
    about: tuple[About, ...] = field(default=(), repr=False, compare=False)
    """The rows that it is about."""
    top_code: int | None = None
    """The count that stands for itself and all above it, where the answer is a count."""

    def __str__(self) -> str:
        low, high = (self.in_words(value) for value in self.interval)
        text = f"{self.question}: {self.in_words(self.estimate)}"
        text += f" ({percent(self.level)} interval {low} to {high})"
        return "\n".join([text, *(f"  {note}." for note in self.notes)])

    def in_words(self, value: float) -> str:
        """A value of this answer as people write it."""
        if self.percent:
            places = digits_for(100 * (self.interval[1] - self.interval[0]))
            return f"{value:.{places}%}"
        if self.whole:
            more = " or more" if self.top_code is not None and value >= self.top_code else ""
            return f"{value:,.0f}{more}"
        return f"{value:,.{digits_for(self.interval[1] - self.interval[0])}f}"

    def _repr_html_(self) -> str:
        from holdfast.analysis.notebook import answer_html

        return answer_html(self)

    def __float__(self) -> float:
        return self.estimate

    def difference(self, other: "Answer") -> "Answer":
        """This answer minus another about other rows, or about another release."""
        from holdfast.analysis.comparisons import difference

        return difference(self, other)

    def ratio(self, other: "Answer") -> "Answer":
        """This answer over another about other rows, or about another release."""
        from holdfast.analysis.comparisons import ratio

        return ratio(self, other)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "question": self.question,
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "interval": list(self.interval),
            "level": self.level,
            "estimator": self.estimator,
            "method": self.method,
            "notes": list(self.notes),
        }


def percent(level: float) -> str:
    """A level as people write it, never rounded to another one.

    >>> percent(0.9), percent(0.999)
    ('90%', '99.9%')
    """
    return f"{100 * level:g}%"


def digits_for(width: float) -> int:
    """Decimal places that an interval of this width deserves: two digits of the width.

    >>> digits_for(1.4), digits_for(0.02), digits_for(300), digits_for(0)
    (1, 3, 0, 0)
    """
    places = 0
    while 0 < width < 10 and places < 6:
        width, places = width * 10, places + 1
    return places
