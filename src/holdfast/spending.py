"""A release through a ledger: recorded first, then drawn and kept; or shown again if kept."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import COUNTED, HoldfastError
from holdfast.identity import identity
from holdfast.kept import check_room, kept_release
from holdfast.ledger import ABANDONED, DONE, Ledger, Part, check_name, open_ledger
from holdfast.release import Release
from holdfast.table import CountTable

UNTOUCHED = "a simulation spends nothing: the ledger was not touched"


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
        named = {name: identity(value) for name, value in self.parameters.items()}
        return json.dumps(named | {"rows": len(self.rows.counts)}, sort_keys=True)

    def content(self, words: str) -> bytes:
        """Parameters, structural zeros and true counts in row order. Never leaves the process."""
        zeros = np.packbits(self.rows.structural_zero).tobytes()
        return words.encode() + b"\n" + zeros + self.rows.counts.astype("<i8").tobytes()


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
    kept = kept_release(book, name, fingerprint, request)
    if kept is not None:
        return _as_asked(kept, request.rows)
    check_room(book, fingerprint)
    spend = book.spend(
        name,
        epsilon=request.epsilon,
        delta=request.delta,
        parts=request.parts,
        fingerprint=fingerprint,
        what=words,
    )
    return _draw_and_keep(book, spend, book.folder(spend, fingerprint), request, draw)


def _draw_and_keep(
    ledger: Ledger, spend: int, folder: Path, request: Request, draw: Callable[[], Release]
) -> Release:
    try:
        release = draw()
        if release.privacy.epsilon > request.epsilon or release.privacy.delta > request.delta:
            raise HoldfastError("the release needs more than was declared for it, and is withheld.")
        bare = replace(release, table=release.counts, count_column=None, unchanged_columns=())
        bare.save(folder)
    except BaseException as error:
        error.add_note(COUNTED)
        with suppress(HoldfastError):  # if even this fails it stays open, and counts as well
            ledger.finish(spend, ABANDONED)
        raise
    try:
        ledger.finish(spend, DONE)
    except HoldfastError:
        pass  # it is paid and kept; without the mark it is open, counts, and is shown again
    except BaseException as error:
        error.add_note(COUNTED)
        raise
    return release


def _as_asked(kept: Release, rows: CountTable) -> Release:
    return replace(
        kept,
        table=rows.replace(kept.counts),
        count_column=rows.column,
        unchanged_columns=rows.others,
        repeated=True,
    )
