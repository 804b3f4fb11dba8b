"""A ledger: what each dataset may spend, and what every release of it has spent."""

import hmac
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.former.ledger.book import Balance
from holdfast.former.ledger.chain import Receipt
from holdfast.former.ledger.entries import (
    Begun,
    Charge,
    Kind,
    Limit,
    Purpose,
    Spend,
    State,
    sums_of,
    written_charges,
)
from holdfast.former.ledger.head import knows, releases_of
from holdfast.former.ledger.periods import Period, read_period
from holdfast.former.ledger.recognition import Content, RowPrints
from holdfast.former.ledger.sqlite_file import change, create, now, read, user
from holdfast.former.privacy.approximate import exact_delta
from holdfast.former.privacy.budget import exact_fraction
from holdfast.former.tables.subset import read_subset

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
    told: Purpose = NOTHING
    """What is written beside every spend; see `telling`."""

    def __init__(
        self, path: str | os.PathLike[str], timeout: float = 60.0, told: Purpose | None = None
    ) -> None:
        object.__setattr__(self, "path", Path(path))
        object.__setattr__(self, "timeout", timeout)
        object.__setattr__(self, "told", told or NOTHING)

    def telling(
        self, *, purpose: str = "", file: Any = "", column: str = "", folder: Any = ""
    ) -> "Ledger":
        """The same ledger, which writes beside its spends why, of what and to where they are."""
        given = {"purpose": purpose, "file": file, "column": column, "folder": folder}
        words = {name: os.fsdecode(value) for name, value in given.items() if value}
        return replace(self, told=replace(self.told, **words))

    def set_limit(
        self, dataset: str, *, epsilon: Any, delta: Any = 0, per_period: bool = False
    ) -> None:
        """Set what a dataset may spend in all, or in each period; it replaces an earlier limit of
        this kind and stays on record. Where both are set, a release must fit both."""
        name, (limit, beyond) = check_name(dataset), _amounts(epsilon, delta)
        create(self.path, self.timeout)
        with change(self.path, self.timeout) as pages:
            pages.append(
                {
                    "kind": Kind.PERIOD_LIMIT if per_period else Kind.LIMIT,
                    "dataset": name,
                    "epsilon": str(limit),
                    "delta": str(beyond),
                    "time": now(),
                    "user": user(),
                }
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
        subset: Any = None,
        period: Any = None,
        known_by: RowPrints | None = None,
    ) -> int:
        """Record a spend, or raise `BudgetError`. Draw only after it has returned; its number is
        what `finish` takes. `subset` says that only rows with one label are touched, such as
        {"state": "NE"}: other labels of that column do not pay for it. `period` says of which
        time the counts are, such as 2026: other times do not pay for it."""
        amount = _amounts(epsilon, delta)
        steps = tuple(charges) or (Charge(epsilon=amount[0], delta=amount[1]),)
        _check_sum(steps, amount)
        part, time = read_subset(subset), read_period(period)
        with change(self.path, self.timeout) as pages:
            for balance in pages.book.balances(check_name(dataset), part, time):
                balance.check(*amount)
            number = max(pages.book.spends, default=0) + 1
            body = {
                "kind": Kind.SPEND,
                "spend": number,
                "dataset": dataset,
                "epsilon": str(amount[0]),
                "delta": str(amount[1]),
                "charges": written_charges(steps),
                "fingerprint": fingerprint,
                "what": what,
                "time": now(),
                "user": user(),
            }
            body |= {} if part is None else {"subset": [part.column, part.label]}
            body |= {} if time is None else {"period": time.days}
            body |= {} if known_by is None else {"known_by": known_by.to_body()}
            pages.append(body | {name: text for name, text in asdict(self.told).items() if text})
        return number

    def finish(self, spend: int, state: State | str) -> None:
        """Mark an open spend "done" or "abandoned". It counts either way."""
        if state not in (State.DONE, State.ABANDONED):
            raise HoldfastError(f"`state` must be done or abandoned, got {state!r:.40}.")
        with change(self.path, self.timeout) as pages:
            found = pages.book.spends.get(spend)
            if found is not None and found.state == state:
                return  # a process that shows the release again was first
            if found is None or found.state is not State.OPEN:
                raise HoldfastError(f"`spend` {spend} is not open in `{self.path}`.")
            end = {"kind": Kind.END, "spend": spend, "state": str(state), "time": now()}
            pages.append(end)

    def balance(self, dataset: str, *, subset: Any = None, period: Any = None) -> Balance:
        """Limit, spent and left of one dataset, or of a subset of it such as {"state": "NE"}; of a
        period where one is named and each has a limit."""
        found = self.must_fit(dataset, subset=subset, period=period)
        return found[-1] if period is None else found[0]

    def must_fit(self, dataset: str, *, subset: Any = None, period: Any = None) -> list[Balance]:
        """Every balance that a release must fit: of its period, for all time."""
        part, time = read_subset(subset), read_period(period)
        with read(self.path, self.timeout) as pages:
            return pages.book.balances(check_name(dataset), part, time)

    def balances(self, dataset: str | None = None) -> list[Balance]:
        """The balances of every dataset, by name: for all time, and of each period that has spent
        anything where each has a limit."""
        with read(self.path, self.timeout) as pages:
            names = pages.book.datasets if dataset is None else [check_name(dataset)]
            return [balance for name in names for balance in pages.book.all_balances(name)]

    def spends(self, dataset: str) -> list[Spend]:
        """Every spend of a dataset, in the order in which they were paid."""
        with read(self.path, self.timeout) as pages:
            return pages.book.spends_of(check_name(dataset))

    def history(self, dataset: str | None = None) -> list[Begun | Limit | Spend]:
        """The beginning, limits and spends, of one dataset or of all, in the order of writing,
        whatever the clocks said."""
        with read(self.path, self.timeout) as pages:
            entries = pages.book.history()
        return [
            entry
            for entry in entries
            if dataset is None or (not isinstance(entry, Begun) and entry.dataset == dataset)
        ]

    def fingerprint(self, content: bytes) -> str:
        """A digest under this ledger's own random key. It tells nothing without the ledger;
        whoever has the ledger can test a guess at the content with it."""
        with read(self.path, self.timeout) as pages:
            return hmac.digest(pages.key, content, "sha256").hex()

    def known_by(self, content: Content) -> tuple[str, RowPrints]:
        """The fingerprints of a release: of its table, and of its rows."""
        with read(self.path, self.timeout) as pages:
            category, labels = content.category, content.labels
            rows = RowPrints(
                counts=_print(pages.key, "counts", content.counts),
                category=None if category is None else _print(pages.key, "category", category),
                labels=None if labels is None else _print(pages.key, "labels", labels),
                columns=tuple(sorted(_print(pages.key, "column", c) for c in content.columns)),
                alone=_prints_alone(pages.key, content.alone),
            )
            return hmac.digest(pages.key, content.table, "sha256").hex(), rows

    def made(self, dataset: str, fingerprint: str) -> list[Spend]:
        """Spends on this very release that were not abandoned, the latest first."""
        return [each for each in self._standing(dataset) if each.fingerprint == fingerprint]

    def made_with_fewer_columns(self, dataset: str, rows: RowPrints) -> list[Spend]:
        """Spends on the same counts of the same rows that were not abandoned, the latest first."""
        known = [(each, each.known_by) for each in self._standing(dataset)]
        return [each for each, prints in known if prints and rows.add_columns_to(prints)]

    def same_in_another_period(
        self, dataset: str, alone: Mapping[str, bytes], period: Period
    ) -> list[tuple[Spend, list[str]]]:
        """Spends on another period that had some of these counts row by row, the latest first, and
        the columns that have them here. It comes from the true counts: for the steward alone."""
        with read(self.path, self.timeout) as pages:
            prints, found = _prints_alone(pages.key, alone), list[tuple[Spend, list[str]]]()
            for spend in reversed(pages.book.spends_of(dataset)):
                if spend.period not in (None, period) and spend.known_by is not None:
                    before = set(spend.known_by.alone.values())
                    columns = [name for name, counts in prints.items() if counts in before]
                    found += [(spend, columns)] if columns else []
            return found

    def paid_for(self, receipt: Receipt) -> Spend | None:
        """The spend that a release remembers; None where this ledger knows of none."""
        if not self.knows(receipt):
            return None
        return next((each for each in self._spends() if each.entry == receipt.entry), None)

    def folders(self) -> set[str]:
        """The names of the folders in which the releases of all spends are stored."""
        return {self.folder(spend.id, spend.fingerprint).name for spend in self._spends()}

    def folder(self, spend: int, fingerprint: str) -> Path:
        """Where the release of a spend is stored; numbers alone begin anew in another ledger."""
        return releases_of(self.path) / f"{spend:06d}-{fingerprint[:32]}"

    def receipt(self, spend: int) -> Receipt:
        """What a release remembers of its spend; it tells nothing without the ledger."""
        with read(self.path, self.timeout) as pages:
            entry = pages.book.spends[spend].entry
            return Receipt(pages.name, entry, pages.hashes[entry - 1])

    def knows(self, receipt: Receipt) -> bool:
        """Whether the spend that a release remembers stands in this ledger."""
        with read(self.path, self.timeout) as pages:
            return knows(receipt, pages.name, pages.hashes)

    @property
    def name(self) -> str:
        """The random name by which releases remember this ledger; none before it has a chain."""
        with read(self.path, self.timeout) as pages:
            return pages.name

    def _standing(self, dataset: str) -> list[Spend]:
        """The spends of a dataset that were not abandoned, the latest first."""
        found = [spend for spend in self._spends() if spend.dataset == dataset]
        return [spend for spend in reversed(found) if spend.state is not State.ABANDONED]

    def _spends(self) -> list[Spend]:
        with read(self.path, self.timeout) as pages:
            return list(pages.book.spends.values())


def _print(key: bytes, what: str, part: bytes) -> str:
    return hmac.digest(key, f"{what}\n".encode() + part, "sha256").hex()


def _prints_alone(key: bytes, alone: Mapping[str, bytes]) -> dict[str, str]:
    return {name: _print(key, "counts alone", counts) for name, counts in alone.items()}


def open_ledger(ledger: Any) -> Ledger:
    """A ledger from a path or from itself; raises where there is none, or a damaged one."""
    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    with read(opened.path, opened.timeout):
        return opened


def check_name(dataset: Any) -> str:
    """The name of a dataset; raises if it is not one."""
    if not isinstance(dataset, str) or not 0 < len(dataset.strip()) == len(dataset) <= LONGEST_NAME:
        raise HoldfastError(
            f"`dataset` must be a name of 1 to {LONGEST_NAME} characters, got {dataset!r:.40}. "
            "Hint: the same name for all releases of the same people's data."
        )
    return dataset


def _amounts(epsilon: Any, delta: Any) -> tuple[Fraction, Fraction]:
    amounts = exact_fraction(epsilon, "epsilon"), exact_delta(delta, least=0)
    if amounts[0] <= 0:
        raise HoldfastError(f"`epsilon` must be positive, got {epsilon!s:.40}.")
    return amounts


def _check_sum(charges: Sequence[Charge], amount: tuple[Fraction, Fraction]) -> None:
    negative = any(c.epsilon < 0 or c.delta < 0 or c.times < 0 for c in charges)
    if sums_of(charges) != amount or negative:
        raise HoldfastError("`charges` must be 0 or more and add up to `epsilon` and `delta`.")
