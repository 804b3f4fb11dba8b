"""A ledger: what each dataset may spend, and what every release of it has spent."""

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.ledger.book import Balance
from holdfast.ledger.chain import Receipt, releases_of
from holdfast.ledger.entries import (
    Begun,
    EntryKind,
    Limit,
    Payment,
    Purpose,
    Spend,
    SpendState,
    written_charges,
)
from holdfast.ledger.overlaps import charged, worst_charges
from holdfast.ledger.recognition import Content, Prints
from holdfast.ledger.sqlite_file import change, create, now, read, user
from holdfast.privacy.approximate import exact_delta
from holdfast.privacy.composition import composed_epsilon
from holdfast.privacy.promise import Charge
from holdfast.privacy.rational import exact_fraction
from holdfast.request import Request
from holdfast.tables.subset import read_period, read_subset

LONGEST_NAME = 200
NOTHING = Purpose()


@dataclass(frozen=True)
class Ledger:
    r"""A file that keeps, for each dataset, a limit and one entry per spend, in exact fractions.

    A spend is on disk before `spend` returns, and counts from then on: nothing takes it back.
    Any number of processes may use one ledger; check and record are one transaction, so together
    they cannot exceed a limit. Entries are chained, and all of them are checked whenever the
    ledger is opened: a damaged one, or an older copy that is known to be one, grants nothing.
    What is where: docs/ledger.md.

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
    purpose: Purpose = NOTHING
    """What is written beside every spend; see `telling`."""

    def __init__(
        self, path: str | os.PathLike[str], timeout: float = 60.0, purpose: Purpose = NOTHING
    ) -> None:
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "timeout", timeout)
        object.__setattr__(self, "purpose", purpose)

    def telling(
        self, *, purpose: str = "", file: Any = "", column: str = "", folder: Any = ""
    ) -> "Ledger":
        """The same ledger, which records with each spend what it was for.

        Parameters:
            purpose, file, column, folder: Why, of what, and to where something is released.
        """
        words = {"purpose": purpose, "file": file, "column": column, "folder": folder}
        texts = {name: os.fsdecode(value) for name, value in words.items() if value}
        return replace(self, purpose=replace(self.purpose, **texts))

    def set_limit(
        self, dataset: str, *, epsilon: Any, delta: Any = 0, per_period: bool = False
    ) -> None:
        """Set what a dataset may spend in all, or in each period.

        It replaces an earlier limit of this kind, which stays on record. Where both are set, a
        release must fit both.

        Parameters:
            dataset: One name for all releases of the same people's data.
            epsilon, delta: Numbers or text, exact: a float means the decimal that it prints as.
            per_period: Whether the releases of each period may spend as much together.
        """
        charge = _charge(epsilon, delta)
        body = {"kind": EntryKind.LIMIT, "dataset": check_name(dataset), "per_period": per_period}
        body |= {"epsilon": str(charge.epsilon), "delta": str(charge.delta)}
        create(self.path, self.timeout)
        with change(self.path, self.timeout) as pages:
            pages.append(body | {"time": now(), "user": user()})

    def spend(
        self, dataset: str, *, epsilon: Any, delta: Any = 0, subset: Any = None, period: Any = None
    ) -> int:
        """Record a spend by hand, or raise `BudgetError` and record nothing.

        Parameters:
            dataset: Its name in the ledger.
            epsilon, delta: Numbers or text, exact: a float means the decimal that it prints as.
            subset: Only rows with one label are touched, such as {"state": "NE"}: other labels of
                that column do not pay for it.
            period: Of which time the counts are, such as 2026: other times do not pay for it.

        Returns:
            Its number, which `finish` takes. Measure only after it has returned.
        """
        charges = (_charge(epsilon, delta),)
        rows, days = read_subset(subset), read_period(period)
        return self.record(dataset, Payment(charges=charges, subset=rows, period=days)).id

    def record(self, dataset: str, payment: Payment, prints: Prints | None = None) -> Spend:
        """Record what a release will spend, or raise `BudgetError`: on disk once it returns."""
        subset, period = payment.subset, payment.period
        about = {name: text for name, text in vars(payment.purpose).items() if text}
        about |= {name: text for name, text in vars(self.purpose).items() if text}
        if payment.epsilon <= 0:
            raise HoldfastError("`charges` must come to more than 0.")
        with change(self.path, self.timeout) as pages:
            for balance in pages.book.balances(check_name(dataset), subset, period):
                balance.check(payment.epsilon, payment.delta)
            body = {
                "kind": EntryKind.SPEND,
                "dataset": dataset,
                "charges": written_charges(payment.charges),
                "words": payment.words,
                "time": now(),
                "user": user(),
                "purpose": about,
            }
            body |= {} if subset is None else {"subset": [subset.column, subset.label]}
            body |= {} if period is None else {"period": period.days}
            body |= {} if prints is None else {"known_by": prints.to_body()}
            pages.append(body)
        return pages.book.spends()[-1]

    def finish(self, spend: int, state: SpendState | str) -> None:
        """Mark an open spend. It counts either way.

        Parameters:
            spend: What `spend` has returned.
            state: "done" or "abandoned".
        """
        if state not in (SpendState.DONE, SpendState.ABANDONED):
            raise HoldfastError(f"`state` must be done or abandoned, got {state!r:.40}.")
        with change(self.path, self.timeout) as pages:
            entry = pages.book.spend(spend)
            if entry is not None and entry.state == state:
                return  # a process that shows the release again was first
            if entry is None or entry.state is not SpendState.OPEN:
                raise HoldfastError(f"`spend` {spend} is not open in `{self.path}`.")
            end = {"kind": EntryKind.END, "spend": spend, "state": str(state), "time": now()}
            pages.append(end)

    def balance(self, dataset: str, *, subset: Any = None, period: Any = None) -> Balance:
        """What a dataset, or a subset or a period of it, may spend, has spent and has left.

        Parameters:
            dataset, subset, period: As for `spend`; a period counts where each has a limit.
        """
        balances = self.must_fit(dataset, subset=subset, period=period)
        return balances[-1] if period is None else balances[0]

    def must_fit(self, dataset: str, *, subset: Any = None, period: Any = None) -> list[Balance]:
        """Every balance that a release must fit: of its period, for all time.

        Parameters:
            dataset, subset, period: As for `spend`.
        """
        rows, days = read_subset(subset), read_period(period)
        with read(self.path, self.timeout) as pages:
            return pages.book.balances(check_name(dataset), rows, days)

    def balances(self, dataset: str | None = None) -> list[Balance]:
        """The balances of every dataset, by name: for all time, and of each period that has spent
        anything where each has a limit.

        Parameters:
            dataset: Only this one; all by default.
        """
        with read(self.path, self.timeout) as pages:
            names = pages.book.datasets if dataset is None else [check_name(dataset)]
            return [balance for name in names for balance in pages.book.all_balances(name)]

    def spends(self, dataset: str | None = None) -> list[Spend]:
        """Every spend, of one dataset or of all, in the order in which they were paid.

        Parameters:
            dataset: Only this one; all by default.
        """
        with read(self.path, self.timeout) as pages:
            return pages.book.spends(dataset)

    def history(self, dataset: str | None = None) -> list[Begun | Limit | Spend]:
        """The beginning, limits and spends, of one dataset or of all, in the order of writing,
        whatever the clocks said.

        Parameters:
            dataset: Only this one; all by default.
        """
        with read(self.path, self.timeout) as pages:
            entries = pages.book.history.values()
        return [
            entry
            for entry in entries
            if dataset is None or (not isinstance(entry, Begun) and entry.dataset == dataset)
        ]

    def composed_epsilon(self, dataset: str, *, delta: Any) -> Fraction:
        """An epsilon, at most what is spent, such that all releases of a dataset together are
        (epsilon, delta)-private for every row; see `holdfast.privacy.composition`.

        Parameters:
            dataset: Its name in the ledger.
            delta: With which probability the smaller epsilon may fail.
        """
        spends = [replace(spend, period=None) for spend in self.spends(check_name(dataset))]
        return composed_epsilon(worst_charges(spends), delta=delta, sums=charged(spends))

    def prints(self, content: Content) -> Prints:
        """Digests by which this ledger knows a release again."""
        with read(self.path, self.timeout) as pages:
            return Prints.of(content, pages.key)

    def paid_for(self, receipt: Receipt) -> Spend | None:
        """The spend that a release remembers; None where this ledger knows of none."""
        return next((spend for spend in self.spends() if spend.receipt == receipt), None)

    def folder(self, spend: Spend) -> Path:
        """Where the release of a spend is stored."""
        return releases_of(self.path) / spend.receipt.folder

    @property
    def name(self) -> str:
        """The random name by which releases remember this ledger."""
        with read(self.path, self.timeout) as pages:
            return pages.name


def open_ledger(ledger: Any) -> Ledger:
    """A ledger from a path or from itself; raises where there is none, or a damaged one."""
    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    with read(opened.path, opened.timeout):
        return opened


def balances_of(request: Request) -> list[Balance]:
    """What a release must fit: what its period has left, and what is left for all time."""
    if request.ledger is None or request.simulated:
        return []
    return open_ledger(request.ledger).must_fit(
        request.dataset or "", subset=request.subset, period=request.period
    )


def check_name(dataset: Any) -> str:
    """The name of a dataset; raises if it is not one."""
    if not isinstance(dataset, str) or not 0 < len(dataset.strip()) == len(dataset) <= LONGEST_NAME:
        raise HoldfastError(
            f"`dataset` must be a name of 1 to {LONGEST_NAME} characters, got {dataset!r:.40}. "
            "Hint: the same name for all releases of the same people's data."
        )
    return dataset


def _charge(epsilon: Any, delta: Any) -> Charge:
    amount, beyond = exact_fraction(epsilon, "epsilon"), exact_delta(delta, least=0)
    if amount <= 0:
        raise HoldfastError(f"`epsilon` must be positive, got {epsilon!s:.40}.")
    return Charge(epsilon=amount, delta=beyond)
