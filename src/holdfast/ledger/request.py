"""What a ledger is asked to pay for: the charges of a release, and all that decides it."""

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from holdfast.ledger.corrections import Correction
from holdfast.ledger.entries import Purpose
from holdfast.privacy.composition import Charge, sums_of
from holdfast.tables.periods import Period
from holdfast.tables.subset import Subset

SPELLED_IN_MANY_WAYS = {"subset", "period"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Payment:
    """A release that is about to be measured: what it costs, and all that decides its law but the
    table."""

    rows: int
    """Rows that are measured."""
    structural_zeros: int
    """Rows that pass through."""
    charges: tuple[Charge, ...]
    """What it will spend."""
    simulated: bool
    """Whether a seed was given: then nothing is spent."""
    request: dict[str, Any]
    """What of the request decides the release: plain values, the same for equal requests. Subset
    and period are known by their own fields, however they were spelled."""
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
        """Canonical JSON: the same in every process for equal requests of as many rows.

        >>> charge = Charge(epsilon=Fraction(1, 2))
        >>> common = {"rows": 3, "structural_zeros": 1, "charges": (charge,), "simulated": False}
        >>> Payment(**common, request={"unit": "person"}).words
        '{"delta":"0","epsilon":"1/2","request":{"unit":"person"},"rows":4}'
        """
        named = {name: self.request[name] for name in self.request.keys() - SPELLED_IN_MANY_WAYS}
        words: dict[str, Any] = {
            "request": named,
            "rows": self.rows + self.structural_zeros,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
        }
        if self.subset is not None:
            words["subset"] = [self.subset.column, self.subset.key]
        if self.period is not None:
            words["period"] = self.period.days
        return json.dumps(words, sort_keys=True, separators=(",", ":"), allow_nan=False)
