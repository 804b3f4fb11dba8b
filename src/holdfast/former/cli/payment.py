"""What `holdfast privatize` tells a ledger, and says of what it paid."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, Spent, one_line, spent_by
from holdfast.former.cli.ledger import sentence
from holdfast.former.cli.screen import asides, screen

if TYPE_CHECKING:
    from holdfast.former.ledger.book import Balance
    from holdfast.former.ledger.ledger import Ledger
    from holdfast.former.release.release import Release


def check_paid_for(
    ledger: Path | None, dataset: str | None, purpose: str | None, corrects: Path | None
) -> None:
    """Refuse what goes with a ledger where there is none."""
    if purpose is not None and ledger is None:
        raise HoldfastError("`--purpose` goes with `--ledger`, whose history it is for.")
    if (ledger is None) != (dataset is None):
        raise HoldfastError("`--ledger` and `--dataset` go together: give both, or neither.")
    if corrects is not None and ledger is None:
        raise HoldfastError("`--corrects` goes with `--ledger`, which paid for the release.")


def told(
    ledger: Path, file: Path, count: list[str] | None, out: Path | None, purpose: str | None
) -> "Ledger":
    """The ledger that is to pay, which writes down of what, to where and why."""
    from holdfast.former.ledger.ledger import Ledger

    return Ledger(ledger).telling(
        purpose=purpose or "",
        file=os.path.abspath(file),
        column=", ".join(count or ()),
        folder=os.path.abspath(out) if out is not None else "",
    )


@contextmanager
def saying_if_it_is_kept(ledger: Path | None, seed: int | None) -> Iterator[None]:
    """Say that a release which could not be written is not lost."""
    try:
        yield
    except BaseException:
        if ledger is not None and seed is None:
            asides.print("The ledger keeps this release: the same command writes it, unpaid.")
        raise


@contextmanager
def saying_if_it_counted() -> Iterator[None]:
    """Say whether a run that failed was counted."""
    try:
        yield
    except BaseException as error:
        if spent_by(error) is not Spent.NO:
            asides.print(spent_by(error).in_words)
        raise


def accounts(
    file: Path | None, dataset: str | None, period: str | None, subset: Any = None
) -> "list[Balance]":
    """What a release must fit: what its period has left, and what is left for all time."""
    from holdfast.former.ledger.ledger import Ledger

    if file is None:
        return []
    return Ledger(file).must_fit(dataset or "", subset=subset, period=period)


def warn_of_same_counts(
    file: Path | None, dataset: str | None, period: str | None, alone: dict[str, bytes]
) -> None:
    """Say, on the steward's screen alone, that these counts were those of another period."""
    from holdfast.former.ledger.ledger import Ledger
    from holdfast.former.ledger.periods import read_period
    from holdfast.former.ledger.stored import same_counts

    words = file and same_counts(Ledger(file), dataset or "", alone, read_period(period))
    if words:
        asides.print(f"Note: {one_line(words)}. A run would ask whether that is meant.")


def say_corrected(corrects: Path | None, folder: Path) -> None:
    """Name the labels that a correction changed: for these it is the steward's word alone that
    every row is the one that it was."""
    from holdfast.former.ledger.corrections import published_labels, relabelled

    before = None if corrects is None else published_labels(corrects)
    now = None if before is None else published_labels(folder)
    if before is not None and now is not None:
        changed = str(relabelled(before, now)) or "No label changed"
        screen.print(f"{changed}. All others stand where they stood.")


def say_what_was_spent(release: "Release", balances: "list[Balance]") -> None:
    """What a release took, and what that leaves."""
    if release.repeated:
        screen.print(
            "This release was made before: it is the same one, nothing was drawn or spent.",
            style="bold",
        )
        screen.print("Whoever sees it published again learns that the table has not changed.")
    for balance in balances:
        screen.print(sentence(balance))
