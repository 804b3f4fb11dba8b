"""A release through a ledger: recorded first, then drawn and kept; or shown again if kept."""

import hashlib
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.budget import Budget
from holdfast.bundle import load, new_folder
from holdfast.composition import parts_of
from holdfast.errors import HoldfastError
from holdfast.ledger import ABANDONED, DONE, Ledger, Spend, check_name, open_ledger
from holdfast.release import Release
from holdfast.table import CountTable

UNTOUCHED = "a simulation spends nothing: the ledger was not touched"
_FOR_THE_SCREEN = ("progress", "interruptible")  # fields that do not change what is drawn


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """A release that is about to be drawn: everything that decides its law."""

    rows: CountTable
    max_count: int
    budget: Budget
    privatizer: Any
    constructor: Any

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters, as plain values."""
        budget = self.budget
        return {
            "epsilon": str(budget.epsilon),
            "stage_1": str(budget.stage_1),
            "stage_2": str(budget.stage_2),
            "contributions": budget.contributions,
            "max_count": self.max_count,
            "rows": len(self.rows.counts),
            "privatizer": identity(self.privatizer),
            "constructor": identity(self.constructor),
        }

    @property
    def delta(self) -> Fraction:
        """What the two stages need of delta."""
        parts = parts_of(self.budget, self.privatizer, self.constructor)
        return sum((part.delta * part.times for part in parts), Fraction(0))

    def content(self) -> bytes:
        """Parameters, structural zeros and true counts in row order. Never leaves the process."""
        words = json.dumps(self.parameters, sort_keys=True).encode()
        zeros = np.packbits(self.rows.structural_zero).tobytes()
        return words + b"\n" + zeros + self.rows.counts.astype("<i8").tobytes()


def release_once(
    ledger: Any, dataset: Any, request: Request, draw: Callable[[], Release], *, simulated: bool
) -> Release:
    """The release of a request: kept from an earlier run, or paid for, drawn and kept.

    The spend is on disk before `draw` is called and counts from then on, also if the run fails.
    """
    if ledger is None or dataset is None:
        raise HoldfastError("`ledger` and `dataset` go together: give both, or neither.")
    name = check_name(dataset)
    if simulated:
        release = draw()
        return replace(release, notes=(*release.notes, UNTOUCHED))
    book = open_ledger(ledger)
    fingerprint = book.fingerprint(request.content())
    kept = _kept(book, name, fingerprint)
    if kept is not None:
        return _as_asked(kept, request.rows)
    return _pay_and_draw(book, name, fingerprint, request, draw)


def _pay_and_draw(
    ledger: Ledger, dataset: str, fingerprint: str, request: Request, draw: Callable[[], Release]
) -> Release:
    ledger.balance(dataset).check(request.budget.epsilon, request.delta)
    _check_room(ledger)
    spend = ledger.spend(
        dataset,
        epsilon=request.budget.epsilon,
        delta=request.delta,
        parts=parts_of(request.budget, request.privatizer, request.constructor),
        fingerprint=fingerprint,
        what=json.dumps(request.parameters),
    )
    try:
        release = draw()
        bare = replace(release, table=release.counts, count_column=None, unchanged_columns=())
        bare.save(ledger.folder(spend))
    except BaseException:
        with suppress(HoldfastError):  # if even this fails it stays open, and counts as well
            ledger.finish(spend, ABANDONED)
        raise
    ledger.finish(spend, DONE)
    return release


def _check_room(ledger: Ledger) -> None:
    folder = ledger.folder(0)
    try:
        folder.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise HoldfastError(f"`{folder.parent}` cannot be made: {error.strerror}.") from None
    new_folder(folder)


def _kept(ledger: Ledger, dataset: str, fingerprint: str) -> Release | None:
    """The release that was made of the same table with the same parameters, if there is one."""
    for spend in ledger.made(dataset, fingerprint):
        if ledger.folder(spend.id).is_dir():
            release = load(ledger.folder(spend.id))
            if spend.state != DONE:  # killed after the release was whole, before it was marked
                with suppress(HoldfastError):
                    ledger.finish(spend.id, DONE)
            return release
        if spend.state == DONE:
            raise _lost(ledger, spend)
    return None


def _lost(ledger: Ledger, spend: Spend) -> HoldfastError:
    return HoldfastError(
        f"this release was made on {spend.time[:10]}, but `{ledger.folder(spend.id)}`, where it "
        "was kept, is gone. Nothing was drawn. Hint: put the folder back; to draw and pay again, "
        "change a parameter."
    )


def _as_asked(kept: Release, rows: CountTable) -> Release:
    return replace(
        kept,
        table=rows.replace(kept.counts),
        count_column=rows.column,
        unchanged_columns=rows.others,
        repeated=True,
    )


def identity(part: Any) -> str:
    """A privatizer or constructor as text that is the same in every process.

    What cannot be recognised, such as a lambda, gets a new text every time: its release is drawn
    and paid for anew rather than mistaken for another.

    >>> from holdfast.constructors import Automatic
    >>> identity(Automatic(progress=print))
    "Automatic(error='absolute')"
    """
    if is_dataclass(part) and not isinstance(part, type):
        shown = (f for f in fields(part) if f.name not in _FOR_THE_SCREEN)
        inside = ", ".join(f"{f.name}={identity(getattr(part, f.name))}" for f in shown)
        return f"{type(part).__qualname__}({inside})"
    if isinstance(part, np.ndarray):
        sum_ = hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest()
        return f"array({part.shape}, {part.dtype}, {sum_})"
    name = getattr(part, "__qualname__", None)
    if callable(part) and name is not None and "<" not in name:
        return f"{part.__module__}.{name}"
    # a lambda or an object without a text of its own: who knows what it is next time
    anonymous = name is not None or " at 0x" in repr(part)
    return f"{name}#{secrets.token_hex(16)}" if anonymous else repr(part)
