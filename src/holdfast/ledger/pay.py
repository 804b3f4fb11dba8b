"""The one way to a release: paid for first, then measured and stored; or shown again if stored."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from holdfast.errors import HoldfastError, Spent, mark_spent, spending
from holdfast.ledger.chain import releases_of
from holdfast.ledger.entries import Labels, Payment, Spend, SpendState
from holdfast.ledger.ledger import Ledger, open_ledger
from holdfast.ledger.recognition import Content, Prints
from holdfast.ledger.recorder import check_name
from holdfast.ledger.stored import alone, check_store_room, find_stored, foreseen, refuse_other

CORRECTED = (
    "labels or columns beside the counts were corrected; the counts are those of the release that "
    "was paid for on {}"
)
UNTOUCHED = "a simulation spends nothing: the ledger was not touched"
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")


class PaidRun(Protocol[R_co]):
    """What an engine is about to measure, as a ledger sees it."""

    def prepare(self) -> None:
        """Whatever can fail on this machine before anything is measured: it must fail unpaid."""

    def content(self, words: str) -> Content | None:
        """What tells this release from any other, including the words of its payment; None where it
        cannot be recognized."""

    def labels(self) -> Labels | None:
        """The labels of the rows in the order in which they are published; None where they do not
        tell every row from every other."""

    def measure(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> R_co:
        """Measure and release, with these notes more. `store` is a new folder for all that showing
        it again needs, which must be there whole or not at all; both copies remember the
        `receipt`."""

    def show_again(
        self, folder: Path, *, check: Callable[[str | None], None], notes: tuple[str, ...] = ()
    ) -> R_co:
        """The release in a folder of the ledger, once what it remembers of its spend has passed
        `check`, with these notes more."""


def pay_and_measure(run: PaidRun[R], payment: Payment, ledger: Any, dataset: str | None) -> R:
    """The release of a run: stored by an earlier one, or paid for, measured and stored.

    The spend is on disk before anything is measured. A run that is killed before has spent nothing;
    one that is killed after it has: if its release was stored, the same request shows it unpaid,
    otherwise it pays again.
    Of equal requests at one time, one pays and the others wait and are shown its release. `ledger`
    is a `Ledger` or its path; None, as `dataset`, where nobody is to pay.
    """
    if (ledger is None) != (dataset is None):
        raise HoldfastError("`ledger` and `dataset` go together: give both, or neither.")
    if payment.corrects is not None and (ledger is None or payment.simulated):
        raise HoldfastError(
            "`corrects` needs the ledger that paid for the release, and no seed. Hint: give "
            "`ledger` and `dataset`."
        )
    if ledger is None:
        with spending(Spent.NO if payment.simulated else Spent.UNCOUNTED):
            return run.measure()
    if payment.simulated:
        return run.measure(notes=(UNTOUCHED,))
    return _pay_and_measure(run, payment, open_ledger(ledger), check_name(dataset))


def _pay_and_measure(run: PaidRun[R], payment: Payment, ledger: Ledger, dataset: str) -> R:
    content = run.content(payment.words)
    prints, stored, _ = foreseen(ledger, dataset, payment, content, run.labels)
    if stored is not None:
        notes = () if payment.corrects is None else (CORRECTED.format(stored.time[:10]),)
        return _show_again(run, ledger, stored, notes)
    run.prepare()
    if prints is None:
        return _measure(run, ledger, _pay(payment, ledger, dataset, None), store=None)
    with alone(releases_of(ledger.path) / f"{prints.table[:2]}.lock"):
        stored = find_stored(ledger, dataset, prints)
        if stored is not None:
            return _show_again(run, ledger, stored)
        check_store_room(ledger, payment.stored_bytes)
        spend = _pay(payment, ledger, dataset, prints)
        return _measure(run, ledger, spend, store=ledger.folder(spend))


def _show_again(run: PaidRun[R], ledger: Ledger, spend: Spend, notes: tuple[str, ...] = ()) -> R:
    release = run.show_again(
        ledger.folder(spend), check=partial(refuse_other, ledger, spend), notes=notes
    )
    if spend.state is not SpendState.DONE:  # its run was killed before it was marked
        with suppress(HoldfastError):
            ledger.finish(spend.id, SpendState.DONE)
    return release


def _pay(payment: Payment, ledger: Ledger, dataset: str, prints: Prints | None) -> Spend:
    """Record what a release will spend."""
    try:
        return ledger.record(dataset, payment, prints)
    except KeyboardInterrupt as error:  # before it was on disk, or just after
        mark_spent(error, Spent.MAYBE)
        raise


def _measure(run: PaidRun[R], ledger: Ledger, spend: Spend, store: Path | None) -> R:
    try:
        release = run.measure(store=store, receipt=str(spend.receipt))
    except BaseException as error:
        mark_spent(error, Spent.YES)
        stored = store is not None and store.is_dir()
        with suppress(HoldfastError):  # if even this fails it stays open, and counts as well
            ledger.finish(spend.id, SpendState.DONE if stored else SpendState.ABANDONED)
        raise
    with spending(Spent.YES), suppress(HoldfastError):
        ledger.finish(spend.id, SpendState.DONE)  # unmarked it counts, and is shown again if stored
    return release
