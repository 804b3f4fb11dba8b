"""What a ledger is asked to pay for: the charges of a release, and all that decides it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.ledger.corrections import Correction
from holdfast.privacy.persons import PersonIn
from holdfast.privacy.promise import Promise
from holdfast.tables.periods import Period
from holdfast.tables.subset import Subset

SPELLED_IN_MANY_WAYS = {"subset", "period"}


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What measurements cost: each is (epsilon, delta)-private whatever was seen before."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    times: int = 1
    """How many such measurements there are, each with noise of its own."""

    def __post_init__(self) -> None:
        if self.epsilon < 0 or not 0 <= self.delta < 1 or self.times < 1:
            raise HoldfastError("a charge must be 0 or more, and its delta below 1.")


def sums_of(charges: Iterable[Charge]) -> tuple[Fraction, Fraction]:
    """Epsilon and delta of charges together."""
    pairs = [(charge.epsilon * charge.times, charge.delta * charge.times) for charge in charges]
    return sum((e for e, _ in pairs), Fraction(0)), sum((d for _, d in pairs), Fraction(0))


def charges_of(promise: Promise) -> tuple[Charge, ...]:
    """What a release costs one person, measurement by measurement; known before it is made.

    A person in m rows changes m noisy counts, each of which has noise of its own. Noisy sums, those
    of the whole table and totals are one charge each: one person may move one of them several
    times. Where rows of a person are counted in one of several columns, the person's rows may be
    spread over them in any way, and the whole release is one charge.
    """
    if promise.persons.person_in is PersonIn.ONE and len(promise.budgets) > 1:
        return (Charge(epsilon=promise.epsilon),)
    charges = []
    for budget in promise.budgets:
        rows = budget.person_rows
        charges.append(Charge(epsilon=budget.counts / rows, times=rows))
        charges += [Charge(epsilon=part) for part in (budget.sums, budget.whole, budget.totals)]
    return tuple(charge for charge in charges if charge.epsilon)


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
    stored_bytes: int = field(default=0, repr=False)
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
