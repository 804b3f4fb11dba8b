"""A release through a ledger: recorded first, then drawn and kept; or shown again if kept."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import COUNTED, HoldfastError
from holdfast.ledger.identity import identity
from holdfast.ledger.kept import check_room, kept_release
from holdfast.ledger.ledger import ABANDONED, DONE, Ledger, Part, check_name, open_ledger
from holdfast.release.bundle import load
from holdfast.release.release import Release
from holdfast.tables.table import CountTable

UNTOUCHED = "a simulation spends nothing: the ledger was not touched"


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """A release that is about to be drawn: everything but the counts that decides its law."""

    rows: int
    """Rows that go through the mechanism."""
    structural_zeros: int
    """Rows that pass through."""
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
        named = {name: identity(value) for name, value in self.parameters.items()}
        return json.dumps(named | {"rows": self.rows + self.structural_zeros}, sort_keys=True)


class TableDigest:
    """Structural zeros, true counts and their rows in order, condensed."""

    def __init__(self) -> None:
        self._zeros, self._counts = hashlib.sha256(), hashlib.sha256()

    def add(self, counts: NDArray[np.int64], zeros: NDArray[np.bool_] | None) -> None:
        """Take in the next rows."""
        marks = np.zeros(len(counts), np.bool_) if zeros is None else zeros
        self._zeros.update(marks.astype(np.uint8).data)
        self._counts.update(np.ascontiguousarray(counts.astype("<i8", copy=False)).data)

    def content(self, words: str, rows: bytes) -> bytes:
        """What identifies a release: parameters and table. Never leaves the process.

        `rows` condenses what tells whose a count is: without it, rows of equal counts that
        changed places would be shown each other's draws, and so two draws of one count.
        """
        return words.encode() + b"\n" + self._zeros.digest() + self._counts.digest() + rows


def release_once(
    ledger: Any,
    dataset: Any,
    table: CountTable,
    request: Request,
    draw: Callable[[], Release],
    *,
    simulated: bool,
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
    words, digest = request.words, TableDigest()
    digest.add(table.counts, table.structural_zero)
    fingerprint = book.fingerprint(digest.content(words, table.digest()))
    kept = kept_release(book, name, fingerprint, request, load)
    if kept is not None:
        return _as_asked(kept, table)
    check_room(book, fingerprint)
    spend = pay(book, name, request, words, fingerprint)
    return _draw_and_keep(book, spend, book.folder(spend, fingerprint), request, draw)


def pay(ledger: Ledger, dataset: str, request: Request, words: str, fingerprint: str = "") -> int:
    """Record what a release will spend; the number of the spend."""
    return ledger.spend(
        dataset,
        epsilon=request.epsilon,
        delta=request.delta,
        parts=request.parts,
        fingerprint=fingerprint,
        what=words,
    )


def mark_done(ledger: Ledger, spend: int) -> None:
    """Mark a release that is there as done, which must not keep it from whoever paid for it."""
    try:
        ledger.finish(spend, DONE)
    except HoldfastError:
        pass  # it is paid; without the mark it is open and counts, and is shown again if kept
    except BaseException as error:
        error.add_note(COUNTED)
        raise


def _draw_and_keep(
    ledger: Ledger, spend: int, folder: Path, request: Request, draw: Callable[[], Release]
) -> Release:
    try:
        release = draw()
        bare = replace(release, table=release.counts, count_column=None, unchanged_columns=())
        bare.save(folder)
    except BaseException as error:
        error.add_note(COUNTED)
        with suppress(HoldfastError):  # if even this fails it stays open, and counts as well
            ledger.finish(spend, ABANDONED)
        raise
    mark_done(ledger, spend)
    return release


def _as_asked(kept: Release, rows: CountTable) -> Release:
    return replace(
        kept,
        table=rows.replace(kept.counts),
        count_column=rows.column,
        unchanged_columns=rows.others,
        repeated=True,
    )
