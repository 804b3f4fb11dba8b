"""What a ledger is asked to pay for: the charges of a release, and all that decides it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from holdfast.ledger.entries import Purpose
from holdfast.privacy.composition import Charge, sums_of
from holdfast.tables.periods import Period
from holdfast.tables.subset import Subset

SPELLED_IN_MANY_WAYS = {"subset", "period"}
Labels = Iterable[str]
"""The category of each row as text, in the order in which rows are published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Correction:
    """The published release that another one corrects."""

    receipt: str | None
    """What it remembers of its spend."""
    labels: Labels | None
    """The labels that it published; None where it has no category."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Payment:
    """A release that is about to be measured: what it costs, and all that decides its law but the
    table."""

    charges: tuple[Charge, ...]
    """What it will spend."""
    rows: int = 0
    """Rows that are measured or pass through."""
    simulated: bool = False
    """Whether a seed was given: then nothing is spent."""
    request: dict[str, Any] | None = None
    """What of the request decides the release: plain values, the same for equal requests; None of a
    spend by hand. Subset and period are known by their own fields, however they were spelled."""
    subset: Subset | None = None
    """The rows that are read, where it is not all of them."""
    period: Period | None = None
    """The days that the counts are of, where that is said."""
    corrects: Correction | None = None
    """The release whose rows these are, with other labels or columns."""
    same_counts: bool = False
    """Whether it may have the counts of another period: that is meant, and no wrong file."""
    purpose: Purpose = field(default_factory=Purpose)
    """Of what, to where and why, for the ledger's history."""
    stored_bytes: int = 0
    """About how many bytes its stored copy will take."""

    @property
    def epsilon(self) -> Fraction:
        """What it will spend in all."""
        return sums_of(self.charges)[0]

    @property
    def delta(self) -> Fraction:
        """What it will spend of delta in all."""
        return sums_of(self.charges)[1]

    @property
    def words(self) -> str:
        """Canonical JSON: the same in every process for equal requests of as many rows; nothing of
        a spend by hand.

        >>> charge = Charge(epsilon=Fraction(1, 2))
        >>> Payment(charges=(charge,), rows=4, request={"unit": "person"}).words
        '{"delta":"0","epsilon":"1/2","request":{"unit":"person"},"rows":4}'
        """
        if self.request is None:
            return ""
        named = {name: self.request[name] for name in self.request.keys() - SPELLED_IN_MANY_WAYS}
        words: dict[str, Any] = {
            "request": named,
            "rows": self.rows,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
        }
        if self.subset is not None:
            words["subset"] = [self.subset.column, self.subset.key]
        if self.period is not None:
            words["period"] = self.period.days
        return json.dumps(words, sort_keys=True, separators=(",", ":"), allow_nan=False)
