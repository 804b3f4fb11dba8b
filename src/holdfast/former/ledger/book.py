"""All entries of a ledger, read in the order in which they were written; what is left by them."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from holdfast.errors import BudgetError
from holdfast.former.ledger.entries import (
    Begun,
    Body,
    Kind,
    Limit,
    Purpose,
    Spend,
    State,
    plainly,
    read_charges,
)
from holdfast.former.ledger.periods import DatedPaid, Period, charged_on_a_day, read_period
from holdfast.former.ledger.recognition import RowPrints
from holdfast.former.tables.subset import Subset

ALL_TIME, ANY_PERIOD = "all time", "any one period"


@dataclass(frozen=True, kw_only=True)
class Balance:
    """What a dataset, or a subset or a period of it, may spend, has spent, and has left."""

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
                    f"Nothing was drawn. Hint: {less}have whoever answers for the data raise the "
                    "limit."
                )


@dataclass(kw_only=True)
class Book:
    """All entries of a ledger, read; every total is computed from them."""

    order: list[Begun | Limit | int] = field(default_factory=list)
    """Every entry but ends, in the order of writing; a spend by its number."""
    limits: dict[str, Limit] = field(default_factory=dict)
    """The latest limit of each dataset, for all time."""
    period_limits: dict[str, Limit] = field(default_factory=dict)
    """The latest limit of each period of a dataset."""
    spends: dict[int, Spend] = field(default_factory=dict)
    entries: int = 0

    def add(self, body: Body) -> None:
        """Read the next entry; raises whatever comes where it makes no sense."""
        self.entries += 1
        kind = Kind(body["kind"])
        if kind is Kind.BEGUN:
            begun = Begun(time=body["time"], user=body["user"], earlier=body["earlier"])
            self.order.append(begun)
        elif kind in (Kind.LIMIT, Kind.PERIOD_LIMIT):
            self._add_limit(body, per_period=kind is Kind.PERIOD_LIMIT)
        elif kind is Kind.SPEND:
            self._add_spend(body)
        else:
            self._add_end(body)

    def history(self) -> list[Begun | Limit | Spend]:
        """Every entry in the order of writing, spends with what became of them."""
        return [self.spends[each] if isinstance(each, int) else each for each in self.order]

    @property
    def datasets(self) -> list[str]:
        """The names of all datasets that have a limit."""
        return sorted(self.limits.keys() | self.period_limits.keys())

    def balances(
        self, dataset: str, subset: Subset | None = None, period: Period | None = None
    ) -> list[Balance]:
        """Limit, spent and left of one dataset, or of a subset or a period of it: of the period
        where each has a limit, and for all time where there is such a limit. All of them bind."""
        mine = self.spends_of(dataset)
        found = []
        if dataset in self.period_limits:
            when = ANY_PERIOD if period is None else str(period)
            found.append(_balance(self.period_limits[dataset], mine, subset, period, when))
        if dataset in self.limits:
            found.append(_balance(self.limits[dataset], mine, subset, None, ALL_TIME))
        if not found:
            raise BudgetError(
                f"dataset {dataset!r} has no limit in this ledger, so nothing may be spent. "
                "Hint: check the name, or set one with `holdfast ledger set-limit`."
            )
        return found

    def all_balances(self, dataset: str) -> list[Balance]:
        """For all time, and of each period that has spent anything; of any one where none has."""
        found = [each for each in self.balances(dataset) if each.when == ALL_TIME]
        if dataset in self.period_limits:
            spent_in = {spend.period for spend in self.spends_of(dataset) if spend.period}
            periods: list[Period | None] = [*sorted(spent_in)] or [None]
            found += [self.balances(dataset, period=period)[0] for period in periods]
        return found

    def spends_of(self, dataset: str) -> list[Spend]:
        """Every spend of a dataset, in the order of writing."""
        return [spend for spend in self.spends.values() if spend.dataset == dataset]

    def _add_limit(self, body: Body, *, per_period: bool) -> None:
        limit = Limit(
            dataset=body["dataset"],
            epsilon=Fraction(body["epsilon"]),
            delta=Fraction(body["delta"]),
            time=body["time"],
            user=body.get("user", ""),
            per_period=per_period,
        )
        (self.period_limits if per_period else self.limits)[limit.dataset] = limit
        self.order.append(limit)

    def _add_spend(self, body: Body) -> None:
        number = body["spend"]
        if number in self.spends:
            raise ValueError("two spends have one number")
        self.spends[number] = Spend(
            id=number,
            entry=self.entries,
            dataset=body["dataset"],
            epsilon=Fraction(body["epsilon"]),
            delta=Fraction(body["delta"]),
            charges=read_charges(body["charges"]),
            state=State.OPEN,
            time=body["time"],
            ended=None,
            what=body["what"],
            fingerprint=body["fingerprint"],
            subset=Subset(*body["subset"]) if "subset" in body else None,
            period=read_period(body.get("period")),
            known_by=RowPrints.from_body(body.get("known_by")),
            **{name: body.get(name, "") for name in ("user", *vars(Purpose()))},
        )
        self.order.append(number)

    def _add_end(self, body: Body) -> None:
        spend, state = self.spends[body["spend"]], State(body["state"])
        if spend.state is not State.OPEN or state is State.OPEN:
            raise ValueError("a spend ends once")
        self.spends[spend.id] = replace(spend, state=state, ended=body["time"])


def _balance(
    limit: Limit, spends: list[Spend], subset: Subset | None, period: Period | None, when: str
) -> Balance:
    """Against one limit; where it was lowered below what any rows have spent, no subset has
    anything left."""
    counted = [spend for spend in spends if _meet(spend.period, period)]
    states = {state.value: 0 for state in State}
    for spend in counted:
        states[spend.state.value] += 1

    def paid(amounts: list[Fraction]) -> list[DatedPaid]:
        return [
            DatedPaid(
                period=spend.period if limit.per_period else None,
                subset=spend.subset,
                amount=amount,
            )
            for spend, amount in zip(counted, amounts, strict=True)
        ]

    epsilons = paid([spend.epsilon for spend in counted])
    deltas = paid([spend.delta for spend in counted])

    def highest(of: Subset | None) -> tuple[Fraction, Fraction]:
        return charged_on_a_day(epsilons, period, of), charged_on_a_day(deltas, period, of)

    epsilon, delta = highest(None)
    if epsilon <= limit.epsilon and delta <= limit.delta:
        epsilon, delta = highest(subset)
    return Balance(
        dataset=limit.dataset,
        when=when,
        epsilon_limit=limit.epsilon,
        epsilon_spent=epsilon,
        delta_limit=limit.delta,
        delta_spent=delta,
        states=states,
    )


def _meet(one: Period | None, other: Period | None) -> bool:
    """Whether two periods have a day in common; none stands for every day."""
    if one is None or other is None:
        return True
    return max(one.first, other.first) <= min(one.last, other.last)
