"""What a release in a folder says of its spend, beside what the ledger wrote down."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.former.ledger.chain import Receipt
from holdfast.former.ledger.entries import Spend
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.ledger.periods import period_in, read_period
from holdfast.former.verify.folder import RECORD, read_small
from holdfast.former.verify.strict_json import parse_json
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.stream.open import open_source
from holdfast.former.tables.subset import is_subset_note

Record = dict[str, Any]


def record_in(folder: Path) -> Record:
    """What a release says of itself; nothing where that cannot be read, or is no plain file of
    bounded size: a folder may be anybody's."""
    try:
        return parse_json(read_small(folder, RECORD), RECORD)
    except (HoldfastError, OSError):
        return {}


def read_receipt(folder: Path) -> Receipt | None:
    """What a release remembers of its spend; None where it does not say."""
    text = record_in(folder).get("receipt")
    return Receipt.from_text(text) if isinstance(text, str) else None


def columns_in(folder: Path) -> list[tuple[Path, Record]]:
    """The folders of a release and what they say: of several counts one for each."""
    record = record_in(folder)
    places = [folder / each["folder"] for each in record.get("counts", ())] or [folder]
    return [(place, record_in(place)) for place in places]


def table_in(folder: Path) -> Path:
    """The file with the table of a release."""
    found = sorted(folder.glob("table.csv*")) + sorted(folder.glob("table.parquet"))
    if not found:
        raise HoldfastError(f"`{folder}` has no table. Hint: name the folder of a release.")
    return found[0]


def disagreements(ledger: Ledger, folder: Path) -> list[str]:
    """What a release claims that is not so by the entry that paid for it and by the release that
    the ledger stored; nothing where all is as it was paid for."""
    receipt = read_receipt(folder)
    spend = None if receipt is None else ledger.paid_for(receipt)
    if spend is None:
        return ["its spend"]
    try:
        return list(dict.fromkeys(_claims(ledger, spend, folder)))
    except (LookupError, TypeError, ValueError, ZeroDivisionError):
        raise HoldfastError(
            f"`{folder}` cannot be compared with the ledger: it is damaged. "
            "Hint: `holdfast verify` says what is wrong with it."
        ) from None


def _claims(ledger: Ledger, spend: Spend, folder: Path) -> Iterator[str]:
    record = record_in(folder)
    if Fraction(record["privacy"]["epsilon"]) != spend.epsilon:
        yield "epsilon"
    if Fraction(record["privacy"].get("delta", 0)) > spend.delta:
        yield "delta"
    for notes in (record["notes"], *(own["notes"] for _, own in columns_in(folder))):
        if read_period(period_in(notes)) != spend.period:
            yield "the period"
        named = [note for note in notes if is_subset_note(note)]
        if named != ([] if spend.subset is None else [spend.subset.note]):
            yield "the rows that were chosen"
    stored = ledger.folder(spend.id, spend.fingerprint)
    if spend.fingerprint and stored.is_dir() and not _same_counts(folder, stored):
        yield "the counts"


def _same_counts(folder: Path, stored: Path) -> bool:
    """Whether two releases have the same counts, in their order or, where rows were sorted as they
    were written, in any."""
    pairs = zip(_counts_in(folder), _counts_in(stored), strict=True)
    return all(len(a) == len(b) and (np.sort(a) == np.sort(b)).all() for a, b in pairs)


def _counts_in(folder: Path) -> Iterator[Integers]:
    table = table_in(folder)
    for _, record in columns_in(folder):
        source = open_source(table, Wanted(count=record["count_column"], missing=("",)))
        yield np.concatenate([part.counts for part in source.read()])
