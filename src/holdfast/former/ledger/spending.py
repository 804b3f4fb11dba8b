"""The one way to pay: recorded first, then drawn and stored; or shown again if stored before."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from holdfast.errors import HoldfastError, Spent, mark_spent
from holdfast.former.ledger.corrections import Labels
from holdfast.former.ledger.entries import Spend, State
from holdfast.former.ledger.ledger import Ledger, check_name, open_ledger
from holdfast.former.ledger.recognition import Content, RowPrints
from holdfast.former.ledger.request import Request
from holdfast.former.ledger.stored import (
    check_asked_for,
    check_room,
    find_corrected,
    find_stored,
    mark_done,
    refuse_same_counts,
)
from holdfast.former.ledger.waiting import alone
from holdfast.former.release.facts import ReleaseFacts
from holdfast.former.release.several import SeveralFacts

CORRECTED = (
    "labels or columns beside the counts were corrected; the counts are those that were published "
    "before"
)
UNTOUCHED = "a simulation spends nothing: the ledger was not touched"
Made = ReleaseFacts | SeveralFacts[Any]
R = TypeVar("R", bound=Made)


class Run(ABC, Generic[R]):
    """What an engine is about to draw, as a ledger sees it."""

    @abstractmethod
    def draw(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> R:
        """Draw the release; `store` is a new folder for a second bundle, of the counts alone, and
        `receipt` is what it is to remember of its spend."""

    def prepare(self) -> None:
        """Whatever can fail on this machine before anything is drawn: it must fail unpaid."""

    def content(self, words: str) -> Content | None:
        """What tells this release from any other, the request in words among it; None where it
        cannot be known again."""
        return None

    def labels(self) -> Labels | None:
        """The labels of the rows in the order in which they are published; None where they do not
        tell every row from every other."""
        return None

    def show_again(
        self, folder: Path, check: Callable[[Made], None], notes: tuple[str, ...] = ()
    ) -> R:
        """The release in a folder of the ledger, once it has passed `check`, with more notes."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Account:
    """A dataset in a ledger, which is to pay."""

    ledger: Any
    """A `Ledger` or its path; not opened before there is something to pay."""
    dataset: str
    told: dict[str, Any]
    """What the engine knows of what is released: file, column, folder."""

    def open(self) -> Ledger:
        """The ledger; what it was told before goes first."""
        ledger = open_ledger(self.ledger)
        before = {name: text for name, text in vars(ledger.told).items() if text}
        return ledger.telling(**self.told | before)


def find_account(
    ledger: Any = None,
    dataset: Any = None,
    *,
    source: Any = None,
    column: Any = None,
    folder: Any = None,
) -> Account | None:
    """Who is to pay for a release; None where nobody is named. The rest is for its history."""
    if ledger is None and dataset is None:
        return None
    if ledger is None or dataset is None:
        raise HoldfastError("`ledger` and `dataset` go together: give both, or neither.")
    told = {
        "file": os.path.abspath(source) if isinstance(source, str | os.PathLike) else "",
        "column": column if isinstance(column, str) else ", ".join(map(str, column or ())),
        "folder": os.path.abspath(folder) if folder is not None else "",
    }
    return Account(ledger=ledger, dataset=check_name(dataset), told=told)


def pay_and_draw(run: Run[R], request: Request, account: Account | None) -> R:
    """The release of a run: stored by an earlier one, or paid for, drawn and stored.

    The spend is on disk before anything is drawn and counts from then on, also if the run fails.
    Of equal requests at one time, one pays and the others wait and are shown its release.
    """
    if request.corrects is not None and (account is None or request.simulated):
        raise HoldfastError(
            "`corrects` needs the ledger that paid for the release, and no seed. Hint: give "
            "`ledger` and `dataset`."
        )
    if account is None:
        return run.draw()
    if request.simulated:
        return run.draw(notes=(UNTOUCHED,))
    ledger, dataset = account.open(), account.dataset
    words = request.in_words()
    content = run.content(words)
    if request.corrects is not None:
        rows = None if content is None else ledger.known_by(content)[1]
        found = find_corrected(ledger, dataset, rows, run.labels(), request.corrects)
        return _show(run, request, ledger, found)
    if content is None:
        check_room(ledger, request)
        run.prepare()
        return _draw(run, ledger, _pay(request, ledger, dataset, words), None)
    fingerprint, rows = ledger.known_by(content)
    stored = find_stored(ledger, dataset, fingerprint, rows)
    if stored is not None:
        return _show(run, request, ledger, stored)
    for balance in ledger.must_fit(dataset, subset=request.subset, period=request.period):
        balance.check(request.epsilon, request.delta)  # first what no count decides
    refuse_same_counts(ledger, dataset, content.alone, request)
    check_room(ledger, request, fingerprint)
    run.prepare()
    with alone(ledger.folder(0, fingerprint).with_suffix(".lock")):
        stored = find_stored(ledger, dataset, fingerprint, rows)
        if stored is not None:
            return _show(run, request, ledger, stored)
        check_room(ledger, request, fingerprint)
        spend = _pay(request, ledger, dataset, words, fingerprint, rows)
        return _draw(run, ledger, spend, ledger.folder(spend, fingerprint))


def _show(run: Run[R], request: Request, ledger: Ledger, stored: Spend) -> R:
    folder = ledger.folder(stored.id, stored.fingerprint)
    check = partial(check_asked_for, folder=folder, request=request)
    release = run.show_again(folder, check, () if request.corrects is None else (CORRECTED,))
    mark_done(ledger, stored)
    return release


def _pay(
    request: Request,
    ledger: Ledger,
    dataset: str,
    words: str,
    fingerprint: str = "",
    rows: RowPrints | None = None,
) -> int:
    """Record what a release will spend; the number of the spend."""
    try:
        return ledger.spend(
            dataset,
            epsilon=request.epsilon,
            delta=request.delta,
            charges=request.charges,
            fingerprint=fingerprint,
            what=words,
            subset=request.subset,
            period=request.period,
            known_by=rows,
        )
    except KeyboardInterrupt as error:  # before it was on disk, or just after
        mark_spent(error, Spent.MAYBE)
        raise


def _draw(run: Run[R], ledger: Ledger, spend: int, store: Path | None) -> R:
    try:
        release = run.draw(store=store, receipt=str(ledger.receipt(spend)))
    except BaseException as error:
        mark_spent(error, Spent.YES)
        stored = store is not None and store.is_dir()
        with suppress(HoldfastError):  # if even this fails it stays open, and counts as well
            ledger.finish(spend, State.DONE if stored else State.ABANDONED)
        raise
    try:
        ledger.finish(spend, State.DONE)
    except HoldfastError:
        pass  # it is paid; without the mark it is open and counts, and is shown again if stored
    except BaseException as error:
        mark_spent(error, Spent.YES)
        raise
    return release
