"""What is to be known of a table before a run: is it in order, how large, is it read in batches."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.former.tables.formats import STREAMED, Format, format_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.former.engines.stages import Parameters
    from holdfast.former.tables.groups import Partition
    from holdfast.former.tables.table import CountTable

LARGE = 1 << 24
"""Files from here on are streamed unless somebody says otherwise: of a CSV file the bytes that no
count is written with, of a Parquet file eight bytes per cell and its text."""
_OF_COUNTS = b'0123456789+-. \t"\0'


def is_large(file: Path) -> bool:
    """Whether a table is better read in batches, by what does not depend on its counts: whoever
    sees that it was learns nothing of them."""
    kind = format_of(file)
    if kind not in STREAMED or not file.is_file():
        return False
    try:
        return (_arrow_size if kind is Format.PARQUET else _text_size)(file) >= LARGE
    except Exception:  # whoever reads it next says what is wrong with it
        return False


def _text_size(file: Path) -> int:
    size = 0
    with file.open("rb") as data:
        while size < LARGE and (piece := data.read(1 << 22)):
            size += len(piece.translate(None, _OF_COUNTS))
    return size


def _arrow_size(file: Path) -> int:
    import pyarrow.parquet as parquet

    data = parquet.ParquetFile(file).metadata
    groups = [data.row_group(at) for at in range(data.num_row_groups)]
    columns = [group.column(at) for group in groups for at in range(group.num_columns)]
    text = sum(c.total_uncompressed_size for c in columns if c.physical_type == "BYTE_ARRAY")
    return int(8 * data.num_rows * data.num_columns + text)


def check_room(file: Path, out: Path | None, max_count: Any) -> None:
    """Raise if a release of this file plainly has no room where it is to be written."""
    from holdfast.former.release.bundle import bundle_size, check_free

    size = file.stat().st_size if file.is_file() else 0
    highest = max_count if isinstance(max_count, int) else 0
    check_free((out or Path()).parent, bundle_size(size // 4, highest))  # columns may be withheld


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What a dry run has to know of a table."""

    rows: int
    """Those that go through the mechanism."""
    others: tuple[str, ...]
    withheld: tuple[str, ...]
    missing: int = 0
    """Rows beside them that are published without a count."""
    known_zeros: int = 0
    """Rows beside them that are publicly known to be zero."""
    notes: tuple[str, ...] = ()
    groups: "Partition | None" = None
    alone: dict[str, bytes] = field(default_factory=dict, repr=False)
    """The counts of each column condensed, by which a ledger knows those of another period."""


def look_at_file(file: Any, names: dict[str, Any], parameters: "Parameters") -> Looked:
    """Read a table into memory and check it."""
    from holdfast.former.tables.count_values import check_codes
    from holdfast.former.tables.table import read_table

    check_codes(names.get("missing", ()), parameters.highest)
    return looked_at(read_table(file, **names).checked(), parameters)


def looked_at(table: "CountTable", parameters: "Parameters") -> Looked:
    """What is to be known of a table that is in order."""
    rows = int(table.drawn.sum())
    return Looked(
        rows=rows,
        missing=int(table.missing.sum()),
        known_zeros=int(table.structural_zero.sum()),
        others=table.others,
        withheld=table.withheld,
        notes=table.notes,
        groups=parameters.groups_for(rows, table.groups)[0],
        alone=alone_of([table]),
    )


def alone_of(tables: "Sequence[CountTable]") -> dict[str, bytes]:
    """The counts of each column condensed."""
    from holdfast.former.ledger.request import TableDigest

    found = dict[str, bytes]()
    for table in tables:
        digest = TableDigest()
        digest.add(table.counts, table.structural_zero)
        found |= digest.alone(table.of_what)
    return found


def look_at_stream(source: Any, names: dict[str, Any], parameters: "Parameters") -> Looked:
    """Read a table in batches and check it."""
    from holdfast.former.engines.stream.passes import tally
    from holdfast.former.tables.columns import Wanted
    from holdfast.former.tables.count_values import check_codes
    from holdfast.former.tables.histogram import LARGEST_MAX_COUNT
    from holdfast.former.tables.stream.open import open_source

    check_codes(names.get("missing", ()), parameters.highest)
    table = open_source(source, Wanted(**names))
    # in order whatever max_count will be
    seen = tally(table, LARGEST_MAX_COUNT, lambda _done: None, condense=True)
    roles = table.roles
    return Looked(
        rows=seen.rows,
        missing=seen.missing,
        known_zeros=seen.structural_zeros,
        others=roles.others,
        withheld=roles.withheld,
        notes=seen.notes,
        groups=parameters.groups_for(seen.rows, seen.settle)[0],
        alone={} if seen.digest is None else seen.digest.alone(roles.count),
    )
