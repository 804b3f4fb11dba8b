"""Limits are set and spends recorded, or refused, in one transaction each."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.ledger.entries import EntryKind, Payment, Purpose, Spend, SpendState, written_charges
from holdfast.ledger.recognition import Prints
from holdfast.ledger.sqlite_file import change, create, now, user
from holdfast.privacy.budget import exact_delta
from holdfast.privacy.promise import Charge
from holdfast.privacy.rational import exact_fraction
from holdfast.tables.subset import read_period, read_subset

LONGEST_NAME = 200
NOTHING = Purpose()


@dataclass(frozen=True)
class Recorder:
    """All that writes in a ledger: check and record are one transaction, on disk once it ends."""

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


def check_name(dataset: Any) -> str:
    """The name of a dataset; raises if it is not one."""
    fits = isinstance(dataset, str) and 0 < len(dataset.strip()) == len(dataset) <= LONGEST_NAME
    if not fits or not str(dataset).isprintable():  # two that look alike would have a limit each
        raise HoldfastError(
            f"`dataset` must be a name of 1 to {LONGEST_NAME} characters that can be seen, got "
            f"{dataset!r:.40}. Hint: the same name for all releases of the same people's data."
        )
    return str(dataset)


def _charge(epsilon: Any, delta: Any) -> Charge:
    amount, beyond = exact_fraction(epsilon, "epsilon"), exact_delta(delta, least=0)
    if amount <= 0:
        raise HoldfastError(f"`epsilon` must be positive, got {epsilon!s:.40}.")
    return Charge(epsilon=amount, delta=beyond)
