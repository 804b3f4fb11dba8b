"""The rows of a text table, kept by column: a cell takes its text and one place in a list."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, overload

from holdfast.errors import HoldfastError
from holdfast.former.tables.csv_text import LONGEST_CELL, LONGEST_RECORD, too_long

CHUNK = 1 << 12
POOL = 1 << 17  # texts that are kept once however often they come, in each column


class TextRows(Sequence[list[str]]):
    """Rows as lists of cells, made when they are asked for.

    >>> rows = TextRows([["Kent", "Ely"], ["3", "0"]])
    >>> rows[1], rows == [["Kent", "3"], ["Ely", "0"]]
    (['Ely', '0'], True)
    """

    def __init__(self, columns: Sequence[list[str]]) -> None:
        self.columns = tuple(columns)

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, at: int) -> list[str]: ...
    @overload
    def __getitem__(self, at: slice) -> list[list[str]]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [list(row) for row in zip(*(cells[at] for cells in self.columns), strict=True)]
        return [cells[at] for cells in self.columns]

    def __iter__(self) -> Iterator[list[str]]:
        return map(list, zip(*self.columns, strict=True))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TextRows):
            return self.columns == other.columns
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def pooled(cells: Iterable[str], pool: dict[str, str]) -> list[str]:
    """The same cells, of which equal ones are one object as far as the pool goes."""
    if len(pool) < POOL:
        return [pool.setdefault(cell, cell) for cell in cells]
    return [pool.get(cell, cell) for cell in cells]


def rectangular(records: Iterator[list[str]], width: int) -> TextRows:
    """Records as rows of so many cells; blank ones at the end are none."""
    columns: list[list[str]] = [[] for _ in range(width)]
    pools: list[dict[str, str]] = [{} for _ in range(width)]
    held = 0
    while chunk := list(islice(records, CHUNK)):
        rows = chunk
        if held or width == 1 or set(map(len, chunk)) != {width}:
            rows, held = _checked(chunk, width, held, len(columns[0]))
        _check_lengths(rows, len(columns[0]))
        for at, part in enumerate(zip(*rows, strict=True)):
            columns[at] += pooled(part, pools[at])
    return TextRows(columns)


def _check_lengths(rows: list[list[str]], before: int) -> None:
    for at, row in enumerate(rows):
        size = sum(map(len, row))
        if size > LONGEST_CELL and (too_long(row) or size > LONGEST_RECORD):
            raise HoldfastError(
                f"data row {before + at + 1} has a cell above {LONGEST_CELL:,} characters, or is "
                "above 16 MiB."
            )


def _checked(
    chunk: list[list[str]], width: int, held: int, before: int
) -> tuple[list[list[str]], int]:
    """The records that are rows, and how many blank lines came last."""
    rows: list[list[str]] = []
    for record in chunk:
        if _is_blank(record, width):
            held += 1
            continue
        if held and width > 1:
            raise _ragged(before + len(rows) + 1, 0, width)
        rows += [[""]] * held
        held = 0
        if len(record) != width:
            raise _ragged(before + len(rows) + 1, len(record), width)
        rows.append(record)
    return rows, held


def _ragged(row: int, cells: int, width: int) -> HoldfastError:
    if not cells:
        return empty_line(row - 1)
    return HoldfastError(
        f"data row {row} has {cells} cells, the header has {width}. "
        "Hint: quote cells that contain the delimiter, and fill up short rows; lines above and "
        "below the table are left out with `header_row`, --header-row and `last_row`, --last-row."
    )


def empty_line(row: int, where: str = "") -> HoldfastError:
    """The error for an empty line below a row, counted from 1."""
    above = f"data row {row}" if row else "the names of the columns"
    return HoldfastError(
        f"{where}below {above} is an empty line. Hint: take the line out; if notes follow, name "
        "the table's last line with `last_row`, --last-row."
    )


def _is_blank(row: list[str], width: int) -> bool:
    return not row or (width > 1 and len(row) == 1 and not row[0].strip(" \t"))
