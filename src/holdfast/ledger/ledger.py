"""A ledger: what each dataset may spend, and what every release of it has spent."""

import hmac
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from holdfast.errors import BudgetError, HoldfastError
from holdfast.ledger.sqlite_file import change, create, now, read
from holdfast.privacy.approximate import exact_delta
from holdfast.privacy.budget import exact_fraction

LONGEST_NAME = 200


class State(StrEnum):
    """What became of a spend, in the words of the file."""

    DONE = "done"
    OPEN = "open"
    """Under way, or its process was killed."""
    ABANDONED = "abandoned"
    """An error came after it was recorded."""


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
class Limit:
    """What a dataset may spend from a moment on."""

    dataset: str
    epsilon: Fraction
    delta: Fraction
    time: str


@dataclass(frozen=True, kw_only=True)
class Spend:
    """One row of a ledger: it counts, whatever became of the release."""

    id: int
    dataset: str
    epsilon: Fraction
    delta: Fraction
    charges: tuple[Charge, ...]
    state: State
    time: str
    ended: str | None
    what: str
    """Parameters of the release: JSON, or nothing."""


@dataclass(frozen=True, kw_only=True)
class Balance:
    """What a dataset may spend, has spent, and has left."""

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


@dataclass(frozen=True)
class Ledger:
    r"""A file that keeps, for each dataset, a limit and one row per spend, in exact fractions.

    A spend is on disk before `spend` returns, and counts from then on: nothing takes it back.
    Any number of processes may use one ledger; check and record are one transaction, so together
    they cannot exceed a limit. What is where: docs/ledger.md.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(folder.name + "/budget.ledger")
    >>> ledger.set_limit("homicides", epsilon=2)
    >>> ledger.finish(ledger.spend("homicides", epsilon="1.5"), "done")
    >>> ledger.balance("homicides").epsilon_left
    Fraction(1, 2)
    >>> ledger.spend("homicides", epsilon=1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    holdfast.errors.BudgetError: dataset 'homicides' cannot afford this: epsilon spent 1.5, ...
    >>> folder.cleanup()
    """

    path: Path
    """The file; `set_limit` makes it where there is none."""
    timeout: float = 60.0
    """Seconds to wait for other processes before giving up."""

    def __init__(self, path: str | os.PathLike[str], timeout: float = 60.0) -> None:
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "timeout", timeout)

    def set_limit(self, dataset: str, *, epsilon: Any, delta: Any = 0) -> None:
        """Set what a dataset may spend in all; it replaces an earlier limit and stays on record."""
        name, amount = check_name(dataset), _amounts(epsilon, delta)
        create(self.path, self.timeout)
        with change(self.path, self.timeout) as db:
            db.execute(
                "INSERT INTO limits (dataset, epsilon, delta, time) VALUES (?, ?, ?, ?)",
                (name, *map(str, amount), now()),
            )

    def spend(
        self,
        dataset: str,
        *,
        epsilon: Any,
        delta: Any = 0,
        charges: Sequence[Charge] = (),
        fingerprint: str = "",
        what: str = "",
    ) -> int:
        """Record a spend, or raise `BudgetError`. Draw only after it has returned; its number is
        what `finish` takes."""
        amount = _amounts(epsilon, delta)
        steps = tuple(charges) or (Charge(epsilon=amount[0], delta=amount[1]),)
        _check_sum(steps, amount)
        with change(self.path, self.timeout) as db:
            _balance(db, check_name(dataset)).check(*amount)
            cursor = db.execute(
                "INSERT INTO spends (dataset, epsilon, delta, parts, state, time, fingerprint, "
                "what) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    dataset,
                    *map(str, amount),
                    _to_text(steps),
                    State.OPEN.value,
                    now(),
                    fingerprint,
                    what,
                ),
            )
        return int(cursor.lastrowid or 0)

    def finish(self, spend: int, state: State | str) -> None:
        """Mark an open spend "done" or "abandoned". It counts either way."""
        if state not in (State.DONE, State.ABANDONED):
            raise HoldfastError(f"`state` must be done or abandoned, got {state!r:.40}.")
        with change(self.path, self.timeout) as db:
            db.execute(
                "UPDATE spends SET state = ?, ended = ? WHERE id = ? AND state = ?",
                (str(state), now(), spend, State.OPEN.value),
            )
            found = db.execute("SELECT state FROM spends WHERE id = ?", (spend,)).fetchone()
            if found != (state,):  # a process that shows the release again may have been first
                raise HoldfastError(f"`spend` {spend} is not open in `{self.path}`.")

    def balance(self, dataset: str) -> Balance:
        """Limit, spent and left of one dataset."""
        with self._reading() as db:
            return _balance(db, check_name(dataset))

    def balances(self) -> list[Balance]:
        """The balance of every dataset, by name."""
        with self._reading() as db:
            names = db.execute("SELECT DISTINCT dataset FROM limits ORDER BY dataset").fetchall()
            return [_balance(db, name) for (name,) in names]

    def spends(self, dataset: str) -> list[Spend]:
        """Every spend of a dataset, in the order in which they were recorded."""
        with self._reading() as db:
            return _spends(db, "dataset = ?", check_name(dataset))

    def history(self, dataset: str | None = None) -> list[Spend | Limit]:
        """Limits and spends of one dataset, or of all, in the order of time."""
        with self._reading() as db:
            entries: list[Spend | Limit] = [
                Limit(dataset=name, epsilon=Fraction(epsilon), delta=Fraction(delta), time=time)
                for name, epsilon, delta, time in db.execute(
                    "SELECT dataset, epsilon, delta, time FROM limits ORDER BY id"
                )
            ]
            entries += _spends(db, "?", 1)
        wanted = [entry for entry in entries if dataset in (None, entry.dataset)]
        return sorted(wanted, key=lambda entry: entry.time)

    def fingerprint(self, content: bytes) -> str:
        """A digest under this ledger's own random key. It tells nothing without the ledger;
        whoever has the ledger can test a guess at the content with it."""
        with self._reading() as db:
            (key,) = db.execute("SELECT key FROM about").fetchone()
        return hmac.digest(key, content, "sha256").hex()

    def made(self, dataset: str, fingerprint: str) -> list[Spend]:
        """Spends on this very release that were not abandoned, the latest first."""
        with self._reading() as db:
            found = _spends(
                db,
                "dataset = ? AND fingerprint = ? AND state != ?",
                dataset,
                fingerprint,
                State.ABANDONED.value,
            )
        return found[::-1]

    def spends_on(self, fingerprint: str) -> list[int]:
        """The numbers of all spends on this very release, under whatever name of a dataset."""
        with self._reading() as db:
            return [spend.id for spend in _spends(db, "fingerprint = ?", fingerprint)]

    def folder(self, spend: int, fingerprint: str) -> Path:
        """Where the release of a spend is stored; numbers alone begin anew in another ledger."""
        file = self.path.resolve()
        return file.with_name(file.name + ".releases") / f"{spend:06d}-{fingerprint[:32]}"

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with read(self.path, self.timeout) as db:
            yield db


def open_ledger(ledger: Any) -> Ledger:
    """A ledger from a path or from itself; raises where there is none."""
    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    with read(opened.path, opened.timeout):
        return opened


def check_name(dataset: Any) -> str:
    """The name of a dataset; raises if it is none."""
    if not isinstance(dataset, str) or not 0 < len(dataset.strip()) == len(dataset) <= LONGEST_NAME:
        raise HoldfastError(
            f"`dataset` must be a name of 1 to {LONGEST_NAME} characters, got {dataset!r:.40}. "
            "Hint: the same name for all releases of the same people's data."
        )
    return dataset


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


def _amounts(epsilon: Any, delta: Any) -> tuple[Fraction, Fraction]:
    amounts = exact_fraction(epsilon, "epsilon"), exact_delta(delta, least=0)
    if amounts[0] <= 0:
        raise HoldfastError(f"`epsilon` must be positive, got {epsilon!s:.40}.")
    return amounts


def _check_sum(charges: Sequence[Charge], amount: tuple[Fraction, Fraction]) -> None:
    sums = (
        sum((charge.epsilon * charge.times for charge in charges), Fraction(0)),
        sum((charge.delta * charge.times for charge in charges), Fraction(0)),
    )
    negative = any(c.epsilon < 0 or c.delta < 0 or c.times < 0 for c in charges)
    if sums != amount or negative:
        raise HoldfastError("`charges` must be 0 or more and add up to `epsilon` and `delta`.")


def _balance(db: Connection, dataset: str) -> Balance:
    limit = db.execute(
        "SELECT epsilon, delta FROM limits WHERE dataset = ? ORDER BY id DESC LIMIT 1", (dataset,)
    ).fetchone()
    if limit is None:
        raise BudgetError(
            f"dataset {dataset!r} has no limit in this ledger, so nothing may be spent. "
            "Hint: check the name, or set one with `holdfast ledger set-limit`."
        )
    groups = db.execute(
        "SELECT epsilon, delta, state, COUNT(*) FROM spends WHERE dataset = ? "
        "GROUP BY epsilon, delta, state",
        (dataset,),
    ).fetchall()
    states = {state.value: 0 for state in State}
    for _, _, state, number in groups:
        states[State(state).value] += number
    return Balance(
        dataset=dataset,
        epsilon_limit=Fraction(limit[0]),
        epsilon_spent=sum((Fraction(e) * number for e, _, _, number in groups), Fraction(0)),
        delta_limit=Fraction(limit[1]),
        delta_spent=sum((Fraction(d) * number for _, d, _, number in groups), Fraction(0)),
        states=states,
    )


def _spends(db: Connection, where: str, *values: Any) -> list[Spend]:
    rows = db.execute(
        "SELECT id, dataset, epsilon, delta, parts, state, time, ended, what FROM spends "
        f"WHERE {where} ORDER BY id",
        values,
    )
    return [
        Spend(
            id=id,
            dataset=dataset,
            epsilon=Fraction(epsilon),
            delta=Fraction(delta),
            charges=_from_text(parts),
            state=State(state),
            time=time,
            ended=ended,
            what=what,
        )
        for id, dataset, epsilon, delta, parts, state, time, ended, what in rows
    ]


def _to_text(charges: Sequence[Charge]) -> str:
    return json.dumps([[str(each.epsilon), str(each.delta), each.times] for each in charges])


def _from_text(text: str) -> tuple[Charge, ...]:
    return tuple(
        Charge(epsilon=Fraction(epsilon), delta=Fraction(delta), times=times)
        for epsilon, delta, times in json.loads(text)
    )
