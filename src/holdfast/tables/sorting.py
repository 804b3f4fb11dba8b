"""Released rows of a large file in the order of public columns: sorted by DuckDB, on disk if need
be. What it is given will be published; true counts are not in it."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks
from holdfast.errors import HoldfastError
from holdfast.tables.batch import Batch, Numbers
from holdfast.tables.frames import FrameRows
from holdfast.tables.options import Roles
from holdfast.tables.order import order_codes, sort_key
from holdfast.tables.writers import arrow_cells

_MEMORY = "256MB"
_AT_A_TIME = 1 << 17  # rows


def check_sorter() -> None:
    """Raise where large tables cannot be put in order."""
    if find_spec("duckdb") is None or find_spec("pyarrow") is None:
        raise HoldfastError(
            "`order_by` needs duckdb and pyarrow for a file of this size. "
            'Hint: pip install "holdfast[duckdb]", or put the file in order before.'
        )


def sorted_batches(
    batches: Iterable[tuple[Batch, Numbers]], roles: Roles, as_text: Sequence[bool]
) -> Iterator[tuple[Batch, Numbers]]:
    """The rows of batches in the order of columns, of which some are compared as text; rows that
    are the same in all of them stay in the order in which they came."""
    import duckdb
    import pyarrow as pa

    tables = (_table(batch, numbers, roles, as_text) for batch, numbers in batches)
    first = next(tables, None)
    if first is None:
        return
    parts = (batch for table in chain([first], tables) for batch in table.to_batches())
    reader = pa.RecordBatchReader.from_batches(first.schema, parts)
    keys = [name for k in range(len(as_text)) for name in (f"gap{k}", f"key{k}")]
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{_MEMORY}'; SET preserve_insertion_order = false")
        connection.execute(f"SET temp_directory = '{folder.replace(chr(39), chr(39) * 2)}'")
        rows = connection.from_arrow(reader).order(", ".join([*keys, "row"]))
        start = 0
        for part in rows.to_arrow_reader(_AT_A_TIME):
            table = pa.Table.from_batches([part])
            yield _batch(table.cast(first.schema), start, roles)
            start += len(table)


def _table(batch: Batch, numbers: Numbers, roles: Roles, as_text: Sequence[bool]) -> Any:
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for k, (name, text) in enumerate(zip(roles.ordering, as_text, strict=True)):
        codes, cells = order_codes(batch.rows, name)
        keys = [sort_key(cell, text) for cell in cells]
        kind = pa.string() if text else pa.float64()
        columns[f"gap{k}"] = pa.array(np.array([gap for gap, _ in keys], dtype=np.bool_)[codes])
        columns[f"key{k}"] = pa.array([key for _, key in keys], kind).take(pa.array(codes))
    columns["row"] = pa.array(np.arange(batch.start, batch.start + len(batch)))
    columns |= {"zero": pa.array(batch.structural_zero), "group": pa.array(batch.group)}
    for at, name in enumerate(roles.counts):
        columns[f"missing{at}"] = pa.array(batch.missing[name])
    columns |= {f"number {name}": pa.array(own) for name, own in numbers.items()}
    columns |= {f"cell {name}": arrow_cells(batch.rows, name) for name in roles.others}
    return pa.table(columns)


def _batch(table: Any, start: int, roles: Roles) -> tuple[Batch, Numbers]:
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    names = {name: name.split(" ", 1) for name in table.column_names}
    cells = [name for name, parts in names.items() if parts[0] == "cell"]
    data = pa.table({names[name][1]: table.column(name) for name in cells} or {"": table["row"]})
    batch = Batch(
        start=start,
        counts={},
        missing={name: _marks(table, f"missing{at}") for at, name in enumerate(roles.counts)},
        structural_zero=_marks(table, "zero"),
        group=_numbers(table, "group"),
        rows=FrameRows(nw.from_native(data, eager_only=True)),
    )
    numbers = {
        parts[1]: _numbers(table, name) for name, parts in names.items() if parts[0] == "number"
    }
    return batch, numbers


def _marks(table: Any, name: str) -> Marks:
    return np.asarray(table.column(name).to_numpy(), dtype=np.bool_)


def _numbers(table: Any, name: str) -> Integers:
    return np.asarray(table.column(name).to_numpy(), dtype=np.int64)
