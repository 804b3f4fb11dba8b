"""Tables in files: CSV; Parquet and Excel where what reads them is installed."""

import io
import itertools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.former.tables.csv import CsvTable, parse_csv
from holdfast.former.tables.csv_part import Lines, find_lines, parse_part, row_numbers
from holdfast.former.tables.csv_text import find_encoding
from holdfast.former.tables.excel import numbered_rows, parse_excel
from holdfast.former.tables.formats import STREAMED, Format, endings, format_of
from holdfast.former.tables.frames import (
    Frame,
    as_list,
    check_flat,
    index_as_columns,
    no_pyarrow,
    open_frame,
)
from holdfast.former.tables.parquet_groups import ParquetGroups, cell_bytes, rows_in_group

_DATA_ROW = re.compile(r"\bdata row ([1-9][0-9]*)\b")
_TEXT_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def read_file(path: str | os.PathLike[str]) -> Any:
    """The table in a file: a `CsvTable`, or from .parquet and .pq a pyarrow Table."""
    path = Path(path)
    if format_of(path) is Format.EXCEL:
        return read_excel(path)
    return _parsed(path, _parse_parquet if _is_parquet(path) else parse_csv)


def read_excel(
    path: str | os.PathLike[str],
    *,
    sheet: str | None = None,
    header_row: int | None = None,
    last_row: int | None = None,
    leave_out: Sequence[int] = (),
) -> CsvTable:
    """The table in a sheet of an Excel workbook, every cell as text, for `holdfast.privatize`.

    Parameters:
        sheet: The name of the sheet; needed where several hold something.
        header_row: The number of the row that holds the column names. By default lines above the
            table, with a single cell each, are passed over.
        last_row: The number of the table's last row; totals and notes below are left out.
        leave_out: Numbers of rows of the table that are left out, such as those of totals.
    """
    path = Path(path)
    if format_of(path) is not Format.EXCEL:
        raise HoldfastError(
            f"`{path}` must end in {' or '.join(Format.EXCEL.value)}: `sheet` is for workbooks."
        )
    lines = Lines(header_row, last_row, tuple(leave_out))
    table: CsvTable = _parsed(path, lambda data: parse_excel(data, sheet, lines))
    return table


def read_csv(
    path: str | os.PathLike[str],
    *,
    header_row: int | None = None,
    last_row: int | None = None,
    leave_out: Sequence[int] = (),
    thousands: str | None = None,
    decimal: str | None = None,
) -> CsvTable:
    """The table in a CSV file with more in it, every cell as text, for `holdfast.privatize`.

    Parameters:
        header_row: The number of the line that holds the column names; lines above are left out.
        last_row: The number of the table's last line; totals and notes below are left out.
        leave_out: Numbers of lines of the table that are left out, such as those of totals.
        thousands: The mark between thousands, a comma, point, apostrophe or space: "1,204" is then
            read as 1204 in a column of counts, or of numbers that make classes.
        decimal: "," where numbers have a decimal comma, which is read as a point; "." where they
            have a point, and counts are written with three decimals, which may be taken for
            thousands. Cells of other columns stay as they are, with either.
    """
    path = Path(path)
    if format_of(path) is not Format.TEXT:
        raise HoldfastError(
            f"`{path}` must end in {' or '.join(Format.TEXT.value)}: `thousands` and `decimal` are "
            "for CSV files."
        )
    lines = Lines(header_row, last_row, tuple(leave_out))
    table: CsvTable = _parsed(path, lambda data: parse_part(data, lines, thousands, decimal))
    return table


def read_part(path: str | os.PathLike[str], part: Mapping[str, Any]) -> Any:
    """The table in a file, of which a part may be named: `sheet`, `header_row`, `last_row`,
    `leave_out`, `thousands` and `decimal` of `read_excel` and `read_csv`."""
    if not part:
        return read_file(path)
    excel = "sheet" in part or format_of(path) is Format.EXCEL
    refused = {"thousands", "decimal"} & part.keys() if excel else ()
    if refused:
        raise HoldfastError(f"`{min(refused)}` is for CSV files; Excel's numbers have no marks.")
    return read_excel(path, **part) if excel else read_csv(path, **part)


def numbers_in_file(path: str | os.PathLike[str], part: Mapping[str, Any]) -> Iterator[int]:
    """The number of each row of such a table as an editor or Excel shows it; none for Parquet."""
    path, kind, names = Path(path), format_of(path), ("header_row", "last_row", "leave_out")
    given = {name: part[name] for name in names if name in part}
    lines = Lines(**given | {"leave_out": tuple(given.get("leave_out", ()))})
    if kind is Format.EXCEL:
        sheet = part.get("sheet")
        _, rows = _parsed(path, lambda data: numbered_rows(data, sheet, lines))
        yield from (number for number, _ in rows)
    elif kind is Format.TEXT:
        encoding = find_encoding(lambda: _pieces(path))
        with path.open(encoding=encoding.name, newline="") as text:
            yield from row_numbers(text, lines)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            yield piece


def rows_as_in_file(
    message: str, path: str | os.PathLike[str], part: Mapping[str, Any], called: str
) -> str:
    """A message that counts the rows below the header, with their numbers as an editor or Excel
    shows them, which `leave_out` takes; as it is where rows have none there.

    Parameters:
        called: What a row is called, such as "row {}".
    """
    wanted = set(map(int, _DATA_ROW.findall(message)))
    with suppress(HoldfastError, OSError):
        rows = itertools.islice(numbers_in_file(path, part), max(wanted, default=0))
        for row, number in enumerate(rows, 1):
            if row in wanted:
                message = re.sub(rf"\bdata row {row}\b", called.format(number), message)
    return message


def find_part(path: str | os.PathLike[str]) -> dict[str, int]:
    """Which lines of a CSV file seem to be its table: `header_row` and `last_row`, where there is
    more in it."""
    if format_of(path) is not Format.TEXT:
        return {}
    found: Lines = _parsed(Path(path), find_lines)
    return {name: number for name, number in vars(found).items() if number}


def _parsed(path: Path, parse: Callable[[bytes], Any]) -> Any:
    refuse_special(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error.strerror) from None
    except ValueError:
        raise unreadable(path, "not a path") from None
    try:
        return parse(data)
    except HoldfastError as error:
        raise HoldfastError(f"`{path}`: {error}") from None


def refuse_special(path: Path) -> None:
    """Raise for a pipe or a device, which could be waited for without end, or read but once."""
    try:
        special = path.exists() and not path.is_file() and not path.is_dir()
    except (OSError, ValueError):  # no such path: reading it says so
        return
    if special:
        raise unreadable(path, "it is a pipe or a device, not a file")


def unreadable(path: str | os.PathLike[str], reason: object) -> HoldfastError:
    """The error for a file that cannot be opened."""
    return HoldfastError(f"`{path}` cannot be read: {reason}. Hint: check the path.")


def write_file(table: Any, path: str | os.PathLike[str]) -> None:
    """Writes a `CsvTable`, a data frame or an array of counts, as the suffix of `path` says.

    Text columns of a `CsvTable` become integers in Parquet where nothing is lost by it.
    """
    path = Path(path)
    data = _parquet_bytes(table) if _is_parquet(path) else _text_bytes(table, path.suffix.lower())
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise HoldfastError(f"`{path}` exists already. Hint: remove it or name another.") from None
    except OSError as error:
        raise HoldfastError(f"`{path}` cannot be written: {error.strerror}.") from None


def write_whole(path: Path, data: bytes) -> Path:
    """Write a file beside its place and rename it, so that it is there whole or not at all."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise HoldfastError(f"`{path}` cannot be written ({error.strerror}).") from None
    return path


def column_names(table: Any) -> list[str]:
    """The names of the columns that `write_file` writes for this table, in order.

    >>> column_names([3, 0, 1])
    ['count']
    """
    return [str(name) for name in _with_columns(table).columns]


def is_table_file(path: str | os.PathLike[str]) -> bool:
    """Whether a path ends like one of a table.

    >>> is_table_file("counts.csv"), is_table_file("Kent")
    (True, False)
    """
    return format_of(path) is not None


def _is_parquet(path: Path) -> bool:
    if format_of(path) not in STREAMED:
        raise HoldfastError(
            f"`{path}` must end in one of {endings(*STREAMED)}. "
            "Hint: save the table as CSV or Parquet; of Excel's files, .xlsx can be read."
        )
    return format_of(path) is Format.PARQUET


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise no_pyarrow("Parquet files need") from None
    return pyarrow.parquet


def _parse_parquet(data: bytes) -> Any:
    parquet = _parquet()
    try:
        return parquet.ParquetFile(io.BytesIO(data)).read()
    except Exception:
        raise HoldfastError(
            "the file cannot be read as Parquet. Hint: is it whole, and is the suffix right?"
        ) from None


def _parquet_bytes(table: Any) -> bytes:
    _parquet()
    sink = io.BytesIO()
    try:
        rows = _arrow(_with_columns(table))
        group = rows_in_group(len(rows), cell_bytes(rows.columns))
        with ParquetGroups(sink, rows.schema, group) as file:
            file.write(rows)
    except HoldfastError:
        raise
    except Exception:
        raise HoldfastError("`table` has a column that Parquet cannot hold.") from None
    return sink.getvalue()


def _text_bytes(table: Any, suffix: str) -> bytes:
    table = _with_columns(table)
    if isinstance(table, CsvTable):
        return table.to_bytes()
    try:
        data = _frame_csv(table.data)
    except Exception:
        raise HoldfastError("`table` has a column that CSV cannot hold.") from None
    return replace(parse_csv(data), delimiter="\t").to_bytes() if suffix == ".tsv" else data


def _frame_csv(frame: Any) -> bytes:
    import narwhals.stable.v2 as nw

    data: bytes = frame.write_csv().encode()
    if b"\r" not in data or not nw.dependencies.is_pandas_dataframe(frame.to_native()):
        return data
    # pandas quotes its own end of a line alone, and another would be taken for one
    quoted = frame.to_native().to_csv(index=False, lineterminator="\r\n").encode()
    return replace(parse_csv(quoted), newline="\n").to_bytes()


def _with_columns(table: Any) -> CsvTable | Frame:
    if isinstance(table, CsvTable):
        return table
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_pandas_like_series(table) or nw.dependencies.is_polars_series(table):
        table = table.to_frame(table.name or "count")
    frame = open_frame(index_as_columns(table))
    if frame is not None:
        return frame
    counts = as_list(table, "table")
    check_flat(counts)
    return CsvTable(("count",), [[str(count)] for count in counts])


def _arrow(table: CsvTable | Frame) -> Any:
    import pyarrow as pa

    if isinstance(table, Frame):
        return table.data.to_arrow()
    columns = [list(column) for column in zip(*table.rows, strict=True)]
    lossless = [all(map(_TEXT_INTEGER.fullmatch, cells)) for cells in columns]
    pairs = zip(columns, lossless, strict=True)
    arrays = [pa.array(map(int, cells) if whole else cells) for cells, whole in pairs]
    return pa.Table.from_arrays(arrays, names=table.columns)
