"""What stands in a ledger: its beginning, limits, spends and their ends.

An entry is a JSON object. Fields that this version does not know are left alone, kinds of entries
that it does not know are refused: it could not say what is left.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from holdfast.former.ledger.periods import Period
from holdfast.former.ledger.recognition import RowPrints
from holdfast.former.tables.subset import Subset

Body = dict[str, Any]


class State(StrEnum):
    """What became of a spend, in the words of the file."""

    DONE = "done"
    OPEN = "open"
    """Under way, or its process was killed."""
    ABANDONED = "abandoned"
    """An error came after it was recorded."""


class Kind(StrEnum):
    """What an entry is, in the words of the file."""

    BEGUN = "begun"
    LIMIT = "limit"
    PERIOD_LIMIT = "limit of each period"
    SPEND = "spend"
    END = "end"


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What a step of a release costs: it is (epsilon, delta)-private whatever was seen before."""

    epsilon: Fraction
    """Its privacy loss."""
    delta: Fraction = Fraction(0)
    """How often it may be more."""
    times: int = 1
    """How many such steps there are, each with noise of its own."""


@dataclass(frozen=True, kw_only=True)
class Begun:
    """The beginning of the chain of entries."""

    time: str
    user: str
    earlier: int
    """How many entries of an older ledger it was begun over; what changed them before is not
    known."""


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What a dataset may spend from this entry on."""

    dataset: str
    epsilon: Fraction
    delta: Fraction
    time: str
    user: str = ""
    per_period: bool = False
    """Whether each period may spend as much, and not all of them together."""


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """Of what, to where and why something is released; nothing depends on it."""

    file: str = ""
    column: str = ""
    folder: str = ""
    purpose: str = ""


@dataclass(frozen=True, kw_only=True)
class Spend(Purpose):
    """What one release has spent: it counts, whatever became of the release."""

    id: int
    entry: int
    """Its place among all entries."""
    dataset: str
    epsilon: Fraction
    delta: Fraction
    charges: tuple[Charge, ...]
    state: State
    time: str
    ended: str | None
    what: str
    """Parameters of the release: JSON, or nothing."""
    fingerprint: str
    user: str = ""
    subset: Subset | None = None
    """The rows that were released, where it was not all of them."""
    period: Period | None = None
    """The days that the counts are of, where that was said."""
    known_by: RowPrints | None = None
    """By what its rows are known again where the table beside the counts has changed."""


def sums_of(charges: Iterable[Charge]) -> tuple[Fraction, Fraction]:
    """Epsilon and delta that charges come to."""
    pairs = [(each.epsilon * each.times, each.delta * each.times) for each in charges]
    return sum((e for e, _ in pairs), Fraction(0)), sum((d for _, d in pairs), Fraction(0))


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
    """An entry as the one text that stands for it: what is hashed."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def plainly(number: Fraction | int) -> str:
    """A fraction as people write it, exactly where that is short.

    >>> plainly(Fraction(3, 2)), plainly(Fraction(1, 3)), plainly(Fraction(1, 10**6))
    ('1.5', '1/3 (0.333333)', '0.000001')
    """
    number = Fraction(number)
    scaled = number * 10**9
    if scaled.denominator == 1:
        return f"{float(number):.9f}".rstrip("0").rstrip(".")
    return f"{number} ({float(number):.6g})" if len(str(number)) < 20 else f"{float(number):.9g}"
