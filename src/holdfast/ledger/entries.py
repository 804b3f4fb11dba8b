"""What stands in a ledger: limits and spends, read in the order in which they were written.

An entry is a JSON object. Fields that this version does not know are left alone, kinds of entries
that it does not know are refused: it could not say what is left.
"""

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from holdfast.errors import BudgetError
from holdfast.ledger.subsets import charged
from holdfast.tables.subset import Subset

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


@dataclass(frozen=True, kw_only=True)
class Balance:
    """What a dataset, or a subset of it, may spend, has spent, and has left."""

    dataset: str
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
                    f"dataset {self.dataset!r} cannot afford this: {name} spent "
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
    """The latest limit of each dataset."""
    spends: dict[int, Spend] = field(default_factory=dict)
    entries: int = 0

    def add(self, body: Body) -> None:
        """Read the next entry; raises whatever comes where it makes no sense."""
        self.entries += 1
        kind = Kind(body["kind"])
        if kind is Kind.BEGUN:
            begun = Begun(time=body["time"], user=body["user"], earlier=body["earlier"])
            self.order.append(begun)
        elif kind is Kind.LIMIT:
            self._add_limit(body)
        elif kind is Kind.SPEND:
            self._add_spend(body)
        else:
            self._add_end(body)

    def history(self) -> list[Begun | Limit | Spend]:
        """Every entry in the order of writing, spends with what became of them."""
        return [self.spends[each] if isinstance(each, int) else each for each in self.order]

    def balance(self, dataset: str, subset: Subset | None = None) -> Balance:
        """Limit, spent and left of one dataset, or of a subset of it; where a limit was lowered
        below what any rows have spent, no subset has anything left."""
        if dataset not in self.limits:
            raise BudgetError(
                f"dataset {dataset!r} has no limit in this ledger, so nothing may be spent. "
                "Hint: check the name, or set one with `holdfast ledger set-limit`."
            )
        limit, mine = self.limits[dataset], self.spends_of(dataset)
        states = {state.value: 0 for state in State}
        for spend in mine:
            states[spend.state.value] += 1
        epsilons = [(spend.subset, spend.epsilon) for spend in mine]
        deltas = [(spend.subset, spend.delta) for spend in mine]
        highest = charged(epsilons), charged(deltas)
        if highest[0] <= limit.epsilon and highest[1] <= limit.delta:
            highest = charged(epsilons, subset), charged(deltas, subset)
        return Balance(
            dataset=dataset,
            epsilon_limit=limit.epsilon,
            epsilon_spent=highest[0],
            delta_limit=limit.delta,
            delta_spent=highest[1],
            states=states,
        )

    def spends_of(self, dataset: str) -> list[Spend]:
        """Every spend of a dataset, in the order of writing."""
        return [spend for spend in self.spends.values() if spend.dataset == dataset]

    def _add_limit(self, body: Body) -> None:
        limit = Limit(
            dataset=body["dataset"],
            epsilon=Fraction(body["epsilon"]),
            delta=Fraction(body["delta"]),
            time=body["time"],
            user=body.get("user", ""),
        )
        self.limits[limit.dataset] = limit
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
            charges=_charges(body["charges"]),
            state=State.OPEN,
            time=body["time"],
            ended=None,
            what=body["what"],
            fingerprint=body["fingerprint"],
            subset=Subset(*body["subset"]) if "subset" in body else None,
            **{name: body.get(name, "") for name in ("user", *vars(Purpose()))},
        )
        self.order.append(number)

    def _add_end(self, body: Body) -> None:
        spend, state = self.spends[body["spend"]], State(body["state"])
        if spend.state is not State.OPEN or state is State.OPEN:
            raise ValueError("a spend ends once")
        self.spends[spend.id] = replace(spend, state=state, ended=body["time"])


def written_charges(charges: tuple[Charge, ...]) -> list[list[Any]]:
    """Charges as they stand in an entry."""
    return [[str(each.epsilon), str(each.delta), each.times] for each in charges]


def _charges(written: list[list[Any]]) -> tuple[Charge, ...]:
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
