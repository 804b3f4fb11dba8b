"""The text table in a sheet of an Excel workbook; what cannot be read for certain is an error.

Every cell becomes the text that a CSV file of the sheet would hold. Of a formula that is the value
Excel computed last.
"""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, listed_names, needed
from holdfast.tables.cell_text import reads_as_number
from holdfast.tables.csv_part import ALL, Lines, check_left_out
from holdfast.tables.excel_parts import Marks, cell_name, read_marks

_EXACT = 10**15  # digits that Excel keeps
_COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1")  # how a locked workbook begins
_RANGE = tuple[tuple[int, int], tuple[int, int]]


def numbered_rows(
    data: bytes, sheet: str | None = None, lines: Lines = ALL
) -> tuple[tuple[str, ...], list[tuple[int, list[str]]]]:
    """The names of the columns of the table in a workbook, whose sheet is named where several hold
    something, and the rows with the numbers that Excel shows. By default lines above the table,
    with a single cell each, are passed over."""
    cells, merged, marks = _open(data, sheet)
    rows = _padded(cells, merged, marks)
    lines.check(list(map(any, rows)))
    if lines.last_row is not None:
        rows, merged = _above(lines.last_row, rows, merged)
    top = _header(rows) if lines.header_row is None else lines.header_row - 1
    _fill_merged(rows, merged, top)
    columns = _columns(rows, top)
    last = max(at for at, row in enumerate(rows) if any(row[c] for c in columns))
    _check_rows(rows, top, last, columns)
    marks.refuse(range(top, last + 1), columns)
    header = tuple(" ".join(rows[top][c].split()) for c in columns)
    check_left_out(lines.leave_out, top + 1, last + 1)
    kept = (at for at in range(top + 1, last + 1) if at + 1 not in lines.leave_out)
    return header, [(at + 1, [rows[at][c] for c in columns]) for at in kept]


def _open(data: bytes, sheet: str | None) -> tuple[list[list[Any]], list[_RANGE], Marks]:
    with _readable(data) as (book, marks):
        name = _chosen(sheet, list(book.sheet_names), book)
        page = book.get_sheet_by_name(name)
        cells = page.to_python(skip_empty_area=False)
        return cells, page.merged_cell_ranges or [], marks[name]


@contextmanager
def _readable(data: bytes) -> Iterator[tuple[Any, dict[str, Marks]]]:
    """A workbook and the marks of its sheets; what fails meanwhile means that it is none."""
    with needed("Excel files need python-calamine", "excel"):
        import python_calamine as calamine
    if data.startswith(_COMPOUND) and "EncryptedPackage".encode("utf-16-le") in data:
        raise HoldfastError(
            "the workbook is locked with a password. Hint: save a copy without one."
        )
    try:
        marks = read_marks(data)
        yield calamine.load_workbook(io.BytesIO(data)), marks
    except HoldfastError:
        raise
    except Exception:
        raise HoldfastError(
            "the file cannot be read as an Excel workbook. Hint: is it whole? Open it in Excel and "
            "save it as .xlsx or CSV."
        ) from None


def sheet_rows(data: bytes, sheet: str | None) -> list[list[str]]:
    """All rows of a sheet as text, whatever they hold."""
    return _padded(*_open(data, sheet))


def sheet_names(path: Path) -> tuple[str, ...]:
    """The sheets of a workbook that hold something and are not hidden."""
    with _readable(path.read_bytes()) as (book, _):
        return tuple(_filled(book))


def _filled(book: Any) -> list[str]:
    import python_calamine as calamine

    seen = calamine.SheetVisibleEnum.Visible
    shown = [about.name for about in book.sheets_metadata if about.visible == seen]
    return [name for name in shown if book.get_sheet_by_name(name).height]


def _chosen(sheet: str | None, names: list[str], book: Any) -> str:
    if sheet is not None:
        if sheet in names:
            return sheet
        raise HoldfastError(
            f"`sheet` must be a sheet of the workbook, got {sheet!r:.60}. "
            f"Hint: it has {listed_names(names)}."
        )
    filled = _filled(book)
    if not filled:
        raise HoldfastError("the workbook has no sheet with cells that is not hidden.")
    if len(filled) > 1:
        raise HoldfastError(
            f"the workbook has several sheets: {listed_names(filled)}. "
            f"Hint: name one with `sheet`, --sheet."
        )
    return filled[0]


def _padded(cells: list[list[Any]], merged: Sequence[_RANGE], marks: Marks) -> list[list[str]]:
    """The cells as text, errors among them, with room for all that is merged."""
    corners = [*marks.errors, *(end for _, end in merged)]
    width = max([len(row) for row in cells] + [column + 1 for _, column in corners], default=0)
    height = max([len(cells)] + [at + 1 for at, _ in corners])
    rows = [[*map(_text, row), *[""] * (width - len(row))] for row in cells]
    rows += [[""] * width for _ in range(height - len(rows))]
    for (at, column), text in marks.errors.items():
        rows[at][column] = text
    return rows


def _text(cell: Any) -> str:
    """A cell as text.

    >>> [_text(cell) for cell in (3.0, 0.5, True, datetime(2024, 1, 3), "007 ")]
    ['3', '0.5', 'TRUE', '2024-01-03', '007 ']
    """
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < _EXACT else repr(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    text = str(cell)
    return text if text.strip() else ""


def _header(rows: list[list[str]]) -> int:
    """The first row with two cells or more, or where no row has them, with one."""
    filled = [sum(map(bool, row)) for row in rows]
    wanted = min(2, max(filled, default=0))
    if not wanted:
        raise HoldfastError("the sheet is empty. Hint: name another with `sheet`, --sheet.")
    return next(at for at, cells in enumerate(filled) if cells >= wanted)


def _above(
    last: int, rows: list[list[str]], merged: Sequence[_RANGE]
) -> tuple[list[list[str]], list[_RANGE]]:
    """The rows down to the last one, and what is merged among them."""
    kept = [(first, end) for first, end in merged if first[0] < last]
    return rows[:last], [(first, (min(end[0], last - 1), end[1])) for first, end in kept]


def _columns(rows: list[list[str]], top: int) -> list[int]:
    """The columns that have a name; nothing may stand under a blank one."""
    for column in range(len(rows[top])):
        below = (at for at in range(top + 1, len(rows)) if rows[at][column])
        at = next(below, None)
        if at is not None and not rows[top][column]:
            raise HoldfastError(
                f"cell {cell_name(at, column)} stands under no column name. Hint: row {top + 1} "
                "was read as the one with the names; name another with `header_row`, "
                "--header-row, or take notes beside the table out."
            )
    return [column for column, name in enumerate(rows[top]) if name]


def _check_rows(rows: list[list[str]], top: int, last: int, columns: list[int]) -> None:
    for at in range(top + 1, last):
        if not any(rows[at][c] for c in columns):
            raise HoldfastError(
                f"row {at + 1} of the sheet is blank, and more follows. Hint: take the row out; "
                "if a note follows, name the table's last row with `last_row`, --last-row; if "
                "another table follows, move it to another sheet."
            )


def _fill_merged(rows: list[list[str]], merged: Sequence[_RANGE], top: int) -> None:
    """Give a label that several rows share to each of them; refuse other merged cells."""
    for (first, left), (last, right) in merged:
        if last < top:
            continue
        name = f"{cell_name(first, left)}:{cell_name(last, right)}"
        if first <= top:
            raise HoldfastError(
                f"cells {name} in the row of column names are merged. Hint: give each column one "
                "name in one row, or name that row with `header_row`, --header-row."
            )
        label = rows[first][left]
        if label and (left != right or reads_as_number(label)):
            raise HoldfastError(
                f"cells {name} are merged, so it cannot be told which row or column they belong "
                "to. Hint: unmerge them, and fill in each."
            )
        for at in range(first, last + 1):
            rows[at][left] = label
