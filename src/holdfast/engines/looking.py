"""What is to be known of a table before a run: is it in order, how large, is it read in batches."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.engines.stages import Parameters
    from holdfast.tables.groups import Partition

LARGE = 1 << 26
"""Files from here on, in bytes, are streamed unless somebody says otherwise."""


def is_large(file: Path) -> bool:
    """Whether a file is better read in batches."""
    return file.is_file() and file.stat().st_size >= LARGE


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What a dry run has to know of a table."""

    rows: int
    others: tuple[str, ...]
    withheld: tuple[str, ...]
    notes: tuple[str, ...] = ()
    groups: "Partition | None" = None


def look_at_file(file: Any, names: dict[str, Any], parameters: "Parameters") -> Looked:
    """Read a table into memory and check it."""
    from holdfast.tables.table import read_table

    table = read_table(file, **names)
    table.check_publication()
    rows = int(table.drawn.sum())
    within = parameters.within_for(rows)
    return Looked(
        rows=rows,
        others=table.others,
        withheld=table.withheld,
        notes=table.notes,
        groups=None if within is None else table.groups(within)[0],
    )


def look_at_stream(source: Any, names: dict[str, Any]) -> Looked:
    """Read a table in batches and check it."""
    from holdfast.engines.stream.passes import tally
    from holdfast.tables.columns import Wanted
    from holdfast.tables.histogram import LARGEST_MAX_COUNT
    from holdfast.tables.stream.open import open_source

    table = open_source(source, Wanted(**names))
    # in order whatever max_count will be
    seen, roles = tally(table, LARGEST_MAX_COUNT, lambda _done: None), table.roles
    return Looked(rows=seen.rows, others=roles.others, withheld=roles.withheld, notes=seen.notes)
