"""All entries of a ledger, read in the order in which they were written; what is left by them,
and what several cost one row and one day together: less than the sum where they do not overlap.

Two subsets of one column have no row in common, so what they spend is spent side by side. Subsets
of different columns may overlap, and the whole table overlaps with everything: those add up.
Whatever happened on one day is in the tables of the periods that have this day, and in no others:
a day pays for the releases that cover it, and a release without a period covers every day. The
proofs are in docs/ledger.md and docs/years.md.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from itertools import chain

from holdfast.errors import BudgetError, listed_names, plainly
from holdfast.ledger.chain import Receipt
from holdfast.ledger.entries import (
    Begun,
    Body,
    EntryKind,
    Limit,
    Purpose,
    Spend,
    SpendState,
    read_charges,
)
from holdfast.ledger.recognition import Prints
from holdfast.privacy.promise import sums_of
from holdfast.tables.subset import Period, Subset, read_period

ALL_TIME, ANY_PERIOD = "all time", "any one period"


def charged(
    spends: Iterable[Spend], *, subset: Subset | None = None, period: Period | None = None
) -> tuple[Fraction, Fraction]:
    """The most epsilon that any row has paid for any one day, and the most delta; of the rows in a
    subset and the days of a period, where these are named."""
    paid = list(spends)
    by_day = [
        _charged_to_rows([each for each in paid if _is_paid_on(each, day)], subset)
        for day in _days_to_look_at(paid, period)
    ]
    return max(epsilon for epsilon, _ in by_day), max(delta for _, delta in by_day)


def _charged_to_rows(paid: Iterable[Spend], subset: Subset | None) -> tuple[Fraction, Fraction]:
    whole, columns = by_column(paid)
    epsilon, delta = _sums(whole)
    for column, labels in columns.items():
        if subset is not None and subset.column == column:
            amounts = [_sums(labels.get(subset.key, []))]
        else:
            amounts = [_sums(each) for each in labels.values()]
        epsilon += max(amount for amount, _ in amounts)
        delta += max(amount for _, amount in amounts)
    return epsilon, delta


def _sums(paid: Iterable[Spend]) -> tuple[Fraction, Fraction]:
    return sums_of(chain.from_iterable(each.charges for each in paid))


def by_column(paid: Iterable[Spend]) -> tuple[list[Spend], dict[str, dict[str, list[Spend]]]]:
    """What was paid for all rows; and by column and label, what was paid for those rows alone."""
    whole: list[Spend] = []
    columns: dict[str, dict[str, list[Spend]]] = defaultdict(lambda: defaultdict(list))
    for each in paid:
        of = each.subset
        (whole if of is None else columns[of.column][of.key]).append(each)
    return whole, columns


def _is_paid_on(each: Spend, day: date) -> bool:
    return each.period is None or each.period.covers(day)


def _days_to_look_at(paid: Sequence[Spend], period: Period | None) -> Iterator[date]:
    """The days on which a period begins: between them nothing is added to what a day has paid."""
    yield date.min if period is None else period.first
    for each in paid:
        begins = None if each.period is None else each.period.first
        if begins is not None and (period is None or period.covers(begins)):
            yield begins


@dataclass(frozen=True, kw_only=True)
class Balance:
    """What a dataset, or a subset or a period of it, may spend, has spent, and has left.

    >>> import holdfast, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = holdfast.Ledger(folder.name + "/budget.ledger")
    >>> ledger.set_limit("homicides", epsilon=2)
    >>> ledger.balance("homicides").epsilon_left
    Fraction(2, 1)
    >>> folder.cleanup()
    """

    dataset: str
    when: str = ALL_TIME
    """The period that it is about."""
    epsilon_limit: Fraction
    epsilon_spent: Fraction
    delta_limit: Fraction
    delta_spent: Fraction
    states: dict[str, int]
    """How many spends are done, open and abandoned."""

    @property
    def epsilon_left(self) -> Fraction:
        """What is left; 0 when a limit was lowered below what was spent."""
        return max(self.epsilon_limit - self.epsilon_spent, Fraction(0))

    @property
    def delta_left(self) -> Fraction:
        """What is left of delta."""
        return max(self.delta_limit - self.delta_spent, Fraction(0))

    @property
    def in_words(self) -> str:
        """The period, as a sentence goes on with it; nothing for all time."""
        return "" if self.when == ALL_TIME else f" in {self.when}"

    def check(self, epsilon: Fraction, delta: Fraction) -> None:
        """Raise, with spent, requested and limit, if this cannot be afforded."""
        for name, spent, asked, limit in (
            ("epsilon", self.epsilon_spent, epsilon, self.epsilon_limit),
            ("delta", self.delta_spent, delta, self.delta_limit),
        ):
            if spent + asked > limit:
                left = max(limit - spent, Fraction(0))
                less = f"ask for at most {plainly(left)}, or " if left else ""
                raise BudgetError(
                    f"dataset {self.dataset!r} cannot afford this{self.in_words}: {name} spent "
                    f"{plainly(spent)}, requested {plainly(asked)}, limit {plainly(limit)}. "
                    f"Nothing was spent. Hint: {less}have whoever answers for the data raise the "
                    "limit."
                )


@dataclass(kw_only=True)
class Book:
    """All entries of a ledger, read; every total is computed from them."""

    history: dict[int, Begun | Limit | Spend] = field(default_factory=dict)
    """Every entry but ends by its number, spends with what became of them."""
    limits: dict[tuple[str, bool], Limit] = field(default_factory=dict)
    """The latest limit of each dataset, for all time (False) and of each period (True)."""

    def add(self, body: Body, receipt: Receipt) -> None:
        """Read the next entry; raises whatever comes where it makes no sense."""
        match EntryKind(body["kind"]):
            case EntryKind.BEGUN:
                self.history[receipt.entry] = Begun(time=body["time"], user=body["user"])
            case EntryKind.LIMIT:
                self._add_limit(body, receipt)
            case EntryKind.SPEND:
                self._add_spend(body, receipt)
            case EntryKind.END:
                self._add_end(body)

    def balances(
        self, dataset: str, subset: Subset | None = None, period: Period | None = None
    ) -> list[Balance]:
        """Limit, spent and left of one dataset, or of a subset or a period of it: of the period
        where each has a limit, and for all time where there is such a limit. All of them bind."""
        limits = [self.limits.get((dataset, per_period)) for per_period in (True, False)]
        spends = self.spends(dataset)
        balances = [_balance(limit, spends, subset, period) for limit in limits if limit]
        if not balances:
            known = listed_names(dict.fromkeys(name for name, _ in self.limits)) or "nothing yet"
            raise BudgetError(
                f"dataset {dataset!r} has no limit in this ledger, so nothing may be spent. "
                f"Hint: it has limits of: {known}; check the name, or set a limit: "
                f"holdfast ledger set-limit FILE --dataset {shlex.quote(dataset)} --epsilon 2"
            )
        return balances

    def spend(self, number: int) -> Spend | None:
        """The spend of this number; None where there is none."""
        entry = self.history.get(number)
        return entry if isinstance(entry, Spend) else None

    def spends(self, dataset: str | None = None) -> list[Spend]:
        """Every spend, of one dataset or of all, in the order of writing."""
        spends = [entry for entry in self.history.values() if isinstance(entry, Spend)]
        return [spend for spend in spends if dataset is None or spend.dataset == dataset]

    def _add_limit(self, body: Body, receipt: Receipt) -> None:
        limit = Limit(
            dataset=body["dataset"],
            epsilon=Fraction(body["epsilon"]),
            delta=Fraction(body["delta"]),
            per_period=body["per_period"],
            time=body["time"],
            user=body["user"],
        )
        self.limits[limit.dataset, limit.per_period] = limit
        self.history[receipt.entry] = limit

    def _add_spend(self, body: Body, receipt: Receipt) -> None:
        prints = body.get("known_by")
        self.history[receipt.entry] = Spend(
            receipt=receipt,
            dataset=body["dataset"],
            charges=read_charges(body["charges"]),
            state=SpendState.OPEN,
            time=body["time"],
            ended=None,
            user=body["user"],
            words=body["words"],
            subset=Subset(*body["subset"]) if "subset" in body else None,
            period=read_period(body.get("period")),
            known_by=None if prints is None else Prints.from_body(prints),
            purpose=Purpose(**body["purpose"]),
        )

    def _add_end(self, body: Body) -> None:
        spend, state = self.spend(body["spend"]), SpendState(body["state"])
        if spend is None or spend.state is not SpendState.OPEN or state is SpendState.OPEN:
            raise ValueError("a spend ends once")
        self.history[spend.id] = replace(spend, state=state, ended=body["time"])


def _balance(
    limit: Limit, spends: list[Spend], subset: Subset | None, period: Period | None
) -> Balance:
    """Against one limit; where it was lowered below what any rows have spent, no subset has
    anything left."""
    when = ANY_PERIOD if period is None else str(period)
    if not limit.per_period:  # for all time it does not matter on which days
        spends, period, when = [replace(each, period=None) for each in spends], None, ALL_TIME
    counted = [spend for spend in spends if _meet(spend.period, period)]
    epsilon, delta = charged(counted, period=period)
    if epsilon <= limit.epsilon and delta <= limit.delta:
        epsilon, delta = charged(counted, period=period, subset=subset)
    return Balance(
        dataset=limit.dataset,
        when=when,
        epsilon_limit=limit.epsilon,
        epsilon_spent=epsilon,
        delta_limit=limit.delta,
        delta_spent=delta,
        states={state.value: sum(each.state is state for each in counted) for state in SpendState},
    )


def _meet(first: Period | None, other: Period | None) -> bool:
    """Whether two periods have a day in common; none stands for every day."""
    if first is None or other is None:
        return True
    return max(first.first, other.first) <= min(first.last, other.last)
