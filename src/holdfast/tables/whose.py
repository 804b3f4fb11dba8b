"""What tells whose each row of a table is: by this a ledger knows the table again."""

import hashlib
from dataclasses import dataclass

from holdfast.tables.frames import CountsLine
from holdfast.tables.table import Table


@dataclass(frozen=True, kw_only=True)
class Whose:
    """All of a table but its counts, condensed."""

    rows: bytes
    """Every cell in row order, withheld ones too; of a large file all of its bytes."""
    columns: dict[str, bytes]
    """Each column by itself; none of a large file."""


def whose(table: Table) -> Whose | None:
    """What tells whose each row is; None where rows may come in another order the next time.

    >>> from holdfast.tables.csv import CsvTable
    >>> from holdfast.tables.table import open_table
    >>> tables = [CsvTable(("place", "n"), [[place, "3"]]) for place in ("Kent", "Kent", "Ely")]
    >>> same, again, other = (whose(open_table(table, count="n")) for table in tables)
    >>> same == again, same == other
    (True, False)
    """
    source = table.source
    if not source.is_small:
        stored = source.digest()
        return None if stored is None else Whose(rows=stored, columns={})
    line = source if isinstance(source, CountsLine) else None
    names = (*table.others, *table.withheld) if line is None else tuple(line.body.names)
    hashed = {name: hashlib.sha256(repr(name).encode()) for name in names}
    for batch in table.batches(published=True, withheld=True):
        for name, column in hashed.items():
            cells = "\n".join(map(repr, batch.cells(name)))
            column.update(f"{cells}\n".encode(errors="surrogatepass"))
    columns = {name: column.digest() for name, column in hashed.items()}
    called = repr(line and line.title).encode()
    return Whose(rows=hashlib.sha256(called + b"".join(columns.values())).digest(), columns=columns)
