"""A large file in the order of public columns: these are sorted by DuckDB, on disk if need be, and
the counts of all rows are held in memory, for true counts lie nowhere but in the file itself."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Integers, narrowed
from holdfast.errors import HoldfastError
from holdfast.tables.arrow_cells import without_dictionary
from holdfast.tables.checks import Reading
from holdfast.tables.frames import FrameRows, arrow_rows
from holdfast.tables.options import Roles
from holdfast.tables.partition import sort_key
from holdfast.tables.source import Batch, Kept, Rows, Source

LISTED = 1 << 20  # bytes of files that are put in order as lists
_MEMORY = "128MB"
_AT_A_TIME = 1 << 17  # rows


def uses_sorter(source: Source) -> bool:
    """Whether a table is put in order here: one that is not held in memory, nor so small that lists
    are as quick. Raises where that is needed and cannot be."""
    lacking = find_spec("duckdb") is None or find_spec("pyarrow") is None
    few = sum(size for size, _ in source.state) <= LISTED
    if source.in_memory or (source.is_small and (few or lacking)):
        return False
    if lacking:
        raise HoldfastError(
            "`order_by` needs duckdb and pyarrow for a file of this size. "
            'Hint: pip install "holdfast[duckdb]", or put the file in order before.'
        )
    return True


class Sorted:
    """Published cells of rows in their order, in a file that lives as long as this object."""

    def __init__(self, cells: Path, columns: Sequence[str]) -> None:
        self._cells, self._columns = cells, columns

    def again(self, names: Sequence[str], kept: Kept) -> Iterator[Batch]:
        """The rows that are kept, in this order, with the cells of these columns."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        start, wanted = 0, [name for name in self._columns if name in names]
        with parquet.ParquetFile(self._cells) as file:
            for batch in file.iter_batches(_AT_A_TIME, columns=wanted or self._columns[:1]):
                some = slice(start, start + len(batch))
                yield kept.batch(some, arrow_rows(pa.Table.from_batches([batch])))
                start = some.stop


def in_order(reading: Reading, kept: Kept, as_text: Sequence[bool]) -> tuple[Sorted, Kept]:
    """The same rows in the order of columns, of which some are compared as text; rows that are the
    same in all of them stay in the order in which they come."""
    roles, folder = reading.roles, tempfile.mkdtemp(prefix="holdfast-")
    problems: list[BaseException] = []

    def tables() -> Iterator[Any]:
        """The cells and keys of all rows."""
        try:
            for batch in reading.again(roles.others, kept):
                yield _table(batch.rows, batch.start, roles, as_text)
        except HoldfastError as error:  # which DuckDB puts into words of its own
            problems.append(error)
            raise

    try:
        path = Path(folder) / "cells.parquet"
        order = _sort(tables(), len(as_text), path)
        source = Sorted(path, roles.others)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise [*problems, error][0] from None
    weakref.finalize(source, shutil.rmtree, folder, ignore_errors=True)
    return source, kept.take(order)


def _table(rows: Rows, start: int, roles: Roles, as_text: Sequence[bool]) -> Any:
    """The published cells of some rows and the keys of their order, as an Arrow table."""
    import pyarrow as pa

    columns = {f"cell {name}": _cells(rows, name) for name in roles.others}
    for k, (name, text) in enumerate(zip(roles.ordering, as_text, strict=True)):
        columns |= _keys(k, rows, name, columns[f"cell {name}"], as_text=text)
    return pa.table(columns | {"row": np.arange(start, start + len(rows))})


def _keys(k: int, rows: Rows, name: str, cells: Any, *, as_text: bool) -> dict[str, Any]:
    """By what rows are put in order: whether there is a cell, and the cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
    if as_text and texts and rows.unmarked is None:  # the cells themselves, and quicker
        known = pc.fill_null(cells, "").cast(pa.large_string())
        return {f"gap{k}": pc.equal(known, ""), f"key{k}": known}
    codes, different = rows.order_codes(name)
    keys = [sort_key(cell, as_text) for cell in different]
    gaps = np.array([gap for gap, _ in keys], dtype=np.bool_)
    values = pa.array([key for _, key in keys], pa.large_string() if as_text else pa.float64())
    return {f"gap{k}": pa.array(gaps[codes]), f"key{k}": values.take(pa.array(codes))}


def _cells(rows: Rows, name: str) -> Any:
    import pyarrow as pa

    if isinstance(rows, FrameRows):
        return without_dictionary(rows.series(name).to_arrow())
    return pa.array(rows.cells(name), pa.string())


def _sort(tables: Iterator[Any], keys: int, path: Path) -> Integers:
    """Write the cells to a file, in the order of the keys; the numbers of the rows in it."""
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as parquet

    first = next(tables)
    parts = (batch for table in chain([first], tables) for batch in table.to_batches())
    reader = pa.RecordBatchReader.from_batches(first.schema, parts)
    order = ", ".join([*(f"gap{k}, key{k}" for k in range(keys)), "row"])
    kept = [name for name in first.column_names if name.startswith("cell ")]
    names = [name.removeprefix("cell ") for name in kept]
    quoted = ['"' + name.replace('"', '""') + '"' for name in (*kept, "row")]
    numbers = list[Integers]()
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{_MEMORY}'; SET threads = 1")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(
            f"SET temp_directory = '{str(path.parent).replace(chr(39), chr(39) * 2)}'"
        )
        rows = connection.from_arrow(reader).order(order).project(", ".join(quoted))
        written = pa.schema([first.schema.field(f"cell {name}").with_name(name) for name in names])
        with parquet.ParquetWriter(path, written, use_dictionary=False, compression="lz4") as file:
            for part in rows.to_arrow_reader(_AT_A_TIME):
                table = pa.Table.from_batches([part]).select(kept).rename_columns(names)
                file.write_table(table.cast(written))
                numbers.append(narrowed(part.column("row").to_numpy()))
    return np.concatenate(numbers)
