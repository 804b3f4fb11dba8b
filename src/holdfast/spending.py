"""A release through a ledger: recorded first, then drawn and kept; or shown again if kept."""

import hashlib
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.bundle import load, new_folder
from holdfast.errors import COUNTED, HoldfastError
from holdfast.ledger import ABANDONED, DONE, Ledger, Part, Spend, check_name, open_ledger
from holdfast.release import Release
from holdfast.table import CountTable
from holdfast.verify import verify

UNTOUCHED = "a simulation spends nothing: the ledger was not touched"
_FOR_THE_SCREEN = ("progress", "interruptible")  # fields that do not change what is drawn


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """A release that is about to be drawn: everything that decides its law."""

    rows: CountTable
    """The checked table."""
    parts: tuple[Part, ...]
    """What it will spend."""
    parameters: dict[str, Any]
    """The public parameters by name: plain values, privatizers, constructors."""

    @property
    def epsilon(self) -> Fraction:
        """What it will spend in all."""
        return sum((part.epsilon * part.times for part in self.parts), Fraction(0))

    @property
    def delta(self) -> Fraction:
        """What it will spend of delta in all."""
        return sum((part.delta * part.times for part in self.parts), Fraction(0))

    @property
    def words(self) -> str:
        """The parameters as JSON, the same in every process."""
        return words_of(self.parameters, len(self.rows.counts))

    def content(self, words: str) -> bytes:
        """Parameters, structural zeros and true counts in row order. Never leaves the process."""
        digest = TableDigest()
        digest.add(self.rows.counts, self.rows.structural_zero)
        return digest.content(words)


class TableDigest:
    """Structural zeros and true counts in row order, condensed; however they came in batches."""

    def __init__(self) -> None:
        self._zeros, self._counts = hashlib.sha256(), hashlib.sha256()

    def add(self, counts: NDArray[np.int64], zeros: NDArray[np.bool_] | None) -> None:
        """Take in the next rows."""
        marks = np.zeros(len(counts), np.bool_) if zeros is None else zeros
        self._zeros.update(marks.astype(np.uint8).data)
        self._counts.update(np.ascontiguousarray(counts.astype("<i8", copy=False)).data)

    def content(self, words: str) -> bytes:
        """What identifies a release: parameters and table. Never leaves the process."""
        return words.encode() + b"\n" + self._zeros.digest() + self._counts.digest()


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
    words = request.words
    fingerprint = book.fingerprint(request.content(words))
    kept = kept_folder(book, name, fingerprint)
    if kept is not None:
        return _as_asked(load(kept), request.rows)
    check_room(book)
    spend = book.spend(
        name,
        epsilon=request.epsilon,
        delta=request.delta,
        parts=request.parts,
        fingerprint=fingerprint,
        what=words,
    )
    return _draw_and_keep(book, spend, request, draw)


def _draw_and_keep(
    ledger: Ledger, spend: int, request: Request, draw: Callable[[], Release]
) -> Release:
    try:
        release = draw()
        if release.privacy.epsilon > request.epsilon or release.privacy.delta > request.delta:
            raise HoldfastError("the release needs more than was declared for it, and is withheld.")
        bare = replace(release, table=release.counts, count_column=None, unchanged_columns=())
        bare.save(ledger.folder(spend))
    except BaseException as error:
        error.add_note(COUNTED)
        with suppress(HoldfastError):  # if even this fails it stays open, and counts as well
            ledger.finish(spend, ABANDONED)
        raise
    ledger.finish(spend, DONE)
    return release


def check_room(ledger: Ledger) -> None:
    """Raise where a release could not be kept."""
    folder = ledger.folder(0)
    try:
        folder.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise HoldfastError(f"`{folder.parent}` cannot be made: {error.strerror}.") from None
    new_folder(folder)


def kept_folder(ledger: Ledger, dataset: str, fingerprint: str) -> Path | None:
    """Where the release of the same table with the same parameters is kept, if there is one."""
    for spend in ledger.made(dataset, fingerprint):
        if ledger.folder(spend.id).is_dir():
            verify(ledger.folder(spend.id)).require()
            if spend.state != DONE:  # killed after the release was whole, before it was marked
                with suppress(HoldfastError):
                    ledger.finish(spend.id, DONE)
            return ledger.folder(spend.id)
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


def words_of(parameters: dict[str, Any], rows: int) -> str:
    """Parameters of a release as JSON, the same in every process."""
    named = {name: identity(value) for name, value in parameters.items()}
    return json.dumps(named | {"rows": rows}, sort_keys=True)


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
    if isinstance(part, Fraction):
        return str(part)
    if isinstance(part, np.ndarray):
        sum_ = hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest()
        return f"array({part.shape}, {part.dtype}, {sum_})"
    name = getattr(part, "__qualname__", None)
    if callable(part) and name is not None and "<" not in name:
        return f"{part.__module__}.{name}"
    # a lambda or an object without a text of its own: who knows what it is next time
    anonymous = name is not None or " at 0x" in repr(part)
    return f"{name}#{secrets.token_hex(16)}" if anonymous else repr(part)
