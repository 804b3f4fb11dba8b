"""The releases that a ledger stores: found again, and never taken for another; of equal requests at
one time one pays, the others wait for it."""

import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import zip_longest
from pathlib import Path

from holdfast.errors import BudgetError, HoldfastError, listed_names
from holdfast.ledger.chain import Receipt, releases_of
from holdfast.ledger.entries import Correction, Labels, Payment, Spend, SpendState
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.recognition import Content, Prints
from holdfast.tables.leaks.search import SAME_COUNTS
from holdfast.tables.subset import Period, label_key

ROOM = 1 << 20  # bytes beside those of the rows that a disk must have left
PAUSE = 0.05  # seconds between two tries for a lock


def find_stored(ledger: Ledger, dataset: str, prints: Prints) -> Spend | None:
    """The spend whose release is stored, with the same words: of the same table, or of one that had
    some of its columns."""
    standing = [
        (spend, spend.known_by)
        for spend in reversed(ledger.spends(dataset))
        if spend.state is not SpendState.ABANDONED and spend.known_by is not None
    ]
    same = [spend for spend, earlier in standing if earlier.table == prints.table]
    fewer = [spend for spend, earlier in standing if prints.add_columns_to(earlier)]
    for spend in same or fewer:
        if ledger.folder(spend).is_dir():
            return spend
        if spend.state is SpendState.DONE:
            raise _lost(ledger, spend)
    return None


def find_corrected(
    ledger: Ledger,
    dataset: str,
    prints: Prints | None,
    labels: Labels | None,
    corrects: Correction,
) -> Spend:
    """The spend of a release whose counts are to be shown again beside other labels or columns;
    raises unless they are the same counts in the same order, released with the same words, and no
    earlier label is now on another row."""
    receipt = None if corrects.receipt is None else Receipt.from_text(corrects.receipt)
    spend = None if receipt is None else ledger.paid_for(receipt)
    if spend is None or spend.dataset != dataset:
        raise HoldfastError(
            f"`corrects` must be a release that this ledger paid for as {dataset!r}. Nothing was "
            "spent. Hint: `holdfast ledger check` tells whether it did."
        )
    if prints is None or spend.known_by is None or prints.counts != spend.known_by.counts:
        raise HoldfastError(
            "`corrects`: this is another release. What was counted, the counts, their order, the "
            "groups or a parameter are not those of the release that it should correct, or that "
            "cannot be known. Nothing was spent. Hint: leave `corrects` out to measure and pay for "
            "it; to correct labels alone keep the order of the rows."
        )
    before = corrects.labels
    moved = [] if before is None or labels is None else moved_labels(before, labels)
    if moved:
        raise HoldfastError(
            "`corrects`: labels of the release stand in other rows here: "
            f"{listed_names(moved, shown=4)}. That corrects nothing: the same measurements would "
            "be published of other rows. Nothing was spent. Hint: put the rows into their earlier "
            "order; rows that are not the same are measured and paid for without `corrects`."
        )
    if not ledger.folder(spend).is_dir():
        raise _lost(ledger, spend)
    return spend


def moved_labels(before: Labels, now: Labels) -> list[str]:
    """Labels of an earlier release that are now on other rows. Where every row has a label of its
    own, one that changed its row is among the changed ones of before and of now.

    How they are spelt as numbers or with spaces does not matter.

    >>> moved_labels(["Abott", "01", "Cole"], ["Abbott", "1", "Cole"]), moved_labels("ABC", "BXC")
    ([], ['B'])
    """
    pairs = [(label_key(old), new) for old, new in zip_longest(before, now, fillvalue="")]
    changed = [(old, new) for old, new in pairs if old != label_key(new)]
    earlier = {old for old, _ in changed}
    return [new for _, new in changed if label_key(new) in earlier]


def refuse_same_counts(ledger: Ledger, dataset: str, prints: Prints, period: Period | None) -> None:
    """Raise if these counts were released, row by row, as those of another period: mostly that is
    the wrong file. The message comes from the true counts: for the steward alone."""
    for spend in reversed(ledger.spends(dataset)):
        if period is None or spend.period in (None, period) or spend.known_by is None:
            continue
        before = set(spend.known_by.alone.values())
        columns = [name for name, counts in prints.alone.items() if counts in before]
        if columns:
            named = f" of {listed_names(columns)}" if len(prints.alone) > 1 else ""
            raise HoldfastError(
                f"`period`: the counts{named} for {period} are, row by row, those that were "
                f"released for {spend.period}. Nothing was spent. Hint: is this the right file? If "
                f"nothing has changed, say so: publish_anyway=[{SAME_COUNTS!r}], "
                f"--publish-anyway {SAME_COUNTS!r}."
            )


def foreseen(
    ledger: Ledger,
    dataset: str,
    payment: Payment,
    content: Content | None,
    labels: Callable[[], Labels | None],
) -> tuple[Prints | None, Spend | None, str]:
    """By what a run is known again, the spend whose release it is shown, and what to say where it
    pays for counts that were released with the same words beside other labels or columns; raises
    what is refused. Nothing is spent."""
    prints, twin = None if content is None else ledger.prints(content), ""
    if payment.corrects is not None:
        return prints, find_corrected(ledger, dataset, prints, labels(), payment.corrects), twin
    if prints is not None:
        stored = find_stored(ledger, dataset, prints)
        if stored is not None:
            return prints, stored, twin
        twin = same_but_for_labels(ledger, dataset, prints)
    for balance in ledger.must_fit(dataset, subset=payment.subset, period=payment.period):
        try:
            balance.check(payment.epsilon, payment.delta)  # first what no count decides
        except BudgetError as error:
            raise (BudgetError(f"{error} Besides, {twin}.") if twin else error) from None
    if prints is not None and not payment.same_counts:
        refuse_same_counts(ledger, dataset, prints, payment.period)
    check_store_room(ledger, payment.stored_bytes)
    return prints, None, twin


def same_but_for_labels(ledger: Ledger, dataset: str, prints: Prints) -> str:
    """What to say of counts that were released with the same words, beside other labels or columns;
    nothing where they were not. It comes from the true counts: for the steward alone."""
    for spend in reversed(ledger.spends(dataset)):
        known = spend.known_by
        if known is None or spend.state is SpendState.ABANDONED:
            continue
        if known.counts == prints.counts and known.table != prints.table:  # not this very request
            return (
                f"the counts are, row by row, those of entry {spend.id}, released on "
                f"{spend.time[:10]}: if only labels or columns changed, `corrects`, --corrects and "
                "the folder of that release, writes them again, unpaid"
            )
    return ""


def refuse_other(ledger: Ledger, spend: Spend, receipt: str | None) -> None:
    """Raise unless the receipt that a stored release remembers is that of its spend."""
    if receipt != str(spend.receipt):
        raise HoldfastError(
            f"`{ledger.folder(spend)}` holds another release than the one that was made. "
            "Nothing was measured. Hint: put the right folder back."
        )


def check_store_room(ledger: Ledger, size: int) -> None:
    """Raise, while nothing is spent, if a new release of about so many bytes could not be stored,
    or if one is stored that the ledger paid for and has forgotten."""
    folder, name = releases_of(ledger.path), re.escape(ledger.name[:16])
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        entries = [path.name for path in folder.iterdir()]
        trial = folder / f".trial-{secrets.token_hex(8)}"
        trial.mkdir()
        trial.rmdir()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise HoldfastError(f"`{folder}` cannot be used: {error.strerror}.") from None
    paid = {spend.receipt.folder for spend in ledger.spends()}  # always there before its folder
    for entry in sorted(entries):
        match = re.search(rf"{name}-[0-9]+-[0-9a-f]+", entry)  # of a killed run: in another name
        if match is not None and match[0] not in paid:
            raise HoldfastError(
                f"`{folder / entry}` holds a release that `{ledger.path}` paid for and does not "
                "know of. Nothing was spent. Hint: was an older copy of the ledger put back? Put "
                "back the newest one."
            )
    if free < size + ROOM:
        raise HoldfastError(
            f"`{folder}` has no room: about {(size + ROOM) / 1e6:,.1f} MB are needed and "
            f"{free / 1e6:,.1f} are free. Nothing was spent. Hint: make room, or choose another "
            "folder."
        )


def _lost(ledger: Ledger, spend: Spend) -> HoldfastError:
    return HoldfastError(
        f"this release was made on {spend.time[:10]}, but `{ledger.folder(spend)}`, where it "
        "was stored, is gone. Nothing was measured. Hint: put the folder back; to measure and pay "
        "again, change a parameter."
    )


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Be the only one, among processes and threads, that holds this file; wait as long as it
    takes. The lock is SQLite's on an empty file, which stays: it ends with its process, however
    that ends."""
    try:
        file.touch(mode=0o600)
    except OSError as error:
        raise _unusable(file, error.strerror) from None
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as db:
        while not _is_held(db, file):
            time.sleep(PAUSE)
        yield


def _is_held(db: sqlite3.Connection, file: Path) -> bool:
    """Whether the file is now this connection's; not while another holds it."""
    try:
        db.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if vars(error).get("sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            raise _unusable(file, str(error)) from None
        return False
    return True


def _unusable(file: Path, why: str | None) -> HoldfastError:
    return HoldfastError(
        f"`{file}` cannot be used ({why}). Nothing was spent. Hint: can its folder be written to?"
    )
