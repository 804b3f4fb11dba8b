"""What an audit found."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The result of an audit: how much privacy loss was shown, and whether that is too much.

    A passed audit is not a proof: it says that these draws, on these two tables, showed no more
    than `lower_bound`.
    """

    lower_bound: float
    """The privacy loss is at least this: with probability `confidence`, or for certain."""
    estimate: float
    """Log ratio of the event's two frequencies (no bound), or the exact privacy loss."""
    epsilon: Fraction | None
    """Claimed; None when nothing was."""
    delta: Fraction = Fraction(0)
    """Claimed."""
    event: str
    """The event that tells the tables apart best, in words."""
    direction: str
    """Under which of the two the event is more frequent."""
    frequencies: tuple[float, float]
    """How frequent the event was under the more frequent side and under the other."""
    draws: int | None = None
    """Draws per table; None for an exact audit."""
    confidence: float = 1.0
    """Probability that `lower_bound` holds, before anything was drawn; 1 when exact."""
    tolerance: float = 0.0
    """How far above `epsilon` is put down to rounding: only for matrices of floats."""
    reused: bool = False
    """Whether two calls gave the very same draws, as with a fixed seed."""
    findings: tuple[str, ...] = ()
    """What else was noticed, in words."""

    @property
    def exact(self) -> bool:
        """Whether the result was computed from a matrix, not from draws."""
        return self.draws is None

    @property
    def violation(self) -> bool:
        """Whether the claim is refuted."""
        if self.epsilon is None:
            return self.reused
        # without a tolerance the claim stays a fraction: adding 0.0 would round it
        limit = self.epsilon + self.tolerance if self.tolerance else self.epsilon
        return self.lower_bound > limit or self.reused

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values that JSON can hold; an infinite loss is the text "inf"."""
        return {
            "violation": self.violation,
            "exact": self.exact,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "delta": str(self.delta),
            "lower_bound": _plain(self.lower_bound),
            "estimate": _plain(self.estimate),
            "confidence": self.confidence,
            "draws": self.draws,
            "event": self.event,
            "direction": self.direction,
            "frequencies": list(self.frequencies),
            "reused": self.reused,
            "findings": list(self.findings),
        }


def _plain(value: float) -> float | str:
    return "inf" if value == float("inf") else value
