"""What a ledger is asked to pay for; and what stands in it: its beginning, limits, spends and their
ends, each a JSON object."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from holdfast.ledger.chain import Receipt
from holdfast.ledger.recognition import Prints
from holdfast.privacy.promise import Charge, sums_of
from holdfast.tables.subset import Period, Subset

Body = dict[str, Any]


class EntryKind(StrEnum):
    """What an entry is, in the words of the file."""

    BEGUN = "begun"
    LIMIT = "limit"
    SPEND = "spend"
    END = "end"


class SpendState(StrEnum):
    """What became of a spend, in the words of the file."""

    DONE = "done"
    OPEN = "open"
    """Under way, or its process was killed."""
    ABANDONED = "abandoned"
    """An error came after it was recorded."""


@dataclass(frozen=True, kw_only=True)
class Begun:
    """The beginning of the chain of entries."""

    time: str
    user: str


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What a dataset may spend from this entry on.

    >>> import holdfast, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = holdfast.Ledger(folder.name + "/budget.ledger")
    >>> ledger.set_limit("homicides", epsilon=2)
    >>> ledger.history("homicides")[0].epsilon
    Fraction(2, 1)
    >>> folder.cleanup()
    """

    dataset: str
    epsilon: Fraction
    delta: Fraction
    per_period: bool
    """Whether each period may spend as much, and not all of them together."""
    time: str
    user: str


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """Of what, to where and why something is released; nothing depends on it."""

    file: str = ""
    column: str = ""
    folder: str = ""
    purpose: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Charged:
    """What costs something, by its charges."""

    charges: tuple[Charge, ...]

    @property
    def epsilon(self) -> Fraction:
        """Of all charges together."""
        return sums_of(self.charges)[0]

    @property
    def delta(self) -> Fraction:
        """Of all charges together."""
        return sums_of(self.charges)[1]


@dataclass(frozen=True, kw_only=True)
class Spend(Charged):
    """What one release has spent: it counts, whatever became of the release.

    >>> import holdfast, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = holdfast.Ledger(folder.name + "/budget.ledger")
    >>> ledger.set_limit("homicides", epsilon=2)
    >>> number = ledger.spend("homicides", epsilon="1/2")
    >>> ledger.spends()[0].epsilon, ledger.spends()[0].state.value
    (Fraction(1, 2), 'open')
    >>> folder.cleanup()
    """

    receipt: Receipt
    """Its entry, as a release remembers it."""
    dataset: str
    state: SpendState
    time: str
    ended: str | None
    user: str
    words: str
    """What decided the release: JSON, or nothing."""
    subset: Subset | None
    """The rows that were released, where it was not all of them."""
    period: Period | None
    """The days that the counts are of, where that was said."""
    known_by: Prints | None
    """By what its table is known again."""
    purpose: Purpose

    @property
    def id(self) -> int:
        """Its number: that of its entry."""
        return self.receipt.entry


def written_charges(charges: tuple[Charge, ...]) -> list[list[Any]]:
    """Charges as they stand in an entry."""
    return [[str(each.epsilon), str(each.delta), each.times] for each in charges]


def read_charges(written: list[list[Any]]) -> tuple[Charge, ...]:
    """The inverse of `written_charges`."""
    return tuple(
        Charge(epsilon=Fraction(epsilon), delta=Fraction(delta), times=times)
        for epsilon, delta, times in written
    )


def as_text(body: Body) -> str:
    """A JSON object as the one text that stands for it: of an entry, what is hashed."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)


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
class Payment(Charged):
    """A release that is about to be measured: what it costs, and all that decides its law but the
    table."""

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
        return as_text(words)
