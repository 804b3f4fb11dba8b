"""A first look at a table that may not be ready: shared by command line and page.

NOT PRIVATE: what is shown are true cells, and some of it follows from counts (`non_private_...`).
It is for the steward's own screen; nothing of it goes into a release.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError, listed_names, numbered
from holdfast.tables.cell_text import cell_text
from holdfast.tables.csv_part import find_lines, unexplained
from holdfast.tables.formats import TEXT, as_in_file, format_of, open_source
from holdfast.tables.look_columns import (
    ColumnKind,
    LookedColumn,
    codes_among,
    looked_column,
    may_be_count,
    names_persons,
    persons_by,
    text_of,
    two_headings,
)
from holdfast.tables.options import TableOptions

LOOKED_AT = 100_000  # rows whose cells are looked at; all are counted
FIRST, LAST = 6, 4  # rows that are shown


@dataclass(frozen=True)
class ShownRow:
    """A row as it is shown: its number in the file, where it has one, and its cells as text."""

    number: int | None
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Hint:
    """What to do about a table that is not ready: a sentence, and what a request says for it, in
    words by the name of the field."""

    text: str
    words: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Look:
    """NOT PRIVATE. What a table looks like before it is opened."""

    name: str
    sheets: tuple[str, ...] = ()
    """The sheets of a workbook that hold something, where one has to be chosen."""
    part: dict[str, int] = field(default_factory=dict)
    """`header_row` and `last_row` that the table seems to have in its file."""
    total_rows: tuple[int, ...] = ()
    """The numbers of rows in the file that are named like totals of others."""
    two_headings: bool = False
    """Whether the names of columns seem to go over two rows."""
    rows: int = 0
    rows_left: int = 0
    """Rows without those named like totals, by which columns are judged."""
    columns: tuple[LookedColumn, ...] = ()
    first: tuple[ShownRow, ...] = ()
    last: tuple[ShownRow, ...] = ()
    """The last rows, as far as they are not among the first."""
    problem: str = ""
    """What keeps it from being read."""
    non_private_counts: tuple[str, ...] = ()
    """Columns that may be counts, by what their cells hold."""
    unexplained: dict[str, str] = field(default_factory=dict)
    """By column a number whose point may stand between thousands or before decimals."""
    non_private_codes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By column what may stand for a count that is not known."""
    persons_by: tuple[str, ...] = ()
    """Columns by which persons would be counted, where every row seems to be one."""
    person: str = ""
    """The column that says whose row it is, where persons have several."""

    @property
    def category_like(self) -> tuple[str, ...]:
        """Columns in which every row, or nearly every one, has a label of its own: of text, or
        others where there are none of text."""
        likely = [
            column
            for column in self.columns
            if column.name not in self.non_private_counts
            and (column.repeated or (self.rows > 1 and column.different == self.rows_left))
        ]
        text = [column.name for column in likely if column.kind is ColumnKind.TEXT]
        return () if self.persons_by else tuple(text or (column.name for column in likely))

    @property
    def suggested(self) -> dict[str, list[str]]:
        """What a request for this table may say, in words by the name of the field."""
        words: dict[str, list[str]] = {}
        for hint in self.hints:
            for name, values in hint.words.items():
                words[name] = list(dict.fromkeys([*words.get(name, []), *values]))
        counts, labels = self.non_private_counts, self.category_like
        words |= {"count": list(counts)} if len(counts) == 1 else {}
        return words | ({"category": [labels[0]]} if labels else {})

    @property
    def hints(self) -> list[Hint]:
        """What to do about it; for the steward alone."""
        return list(_hints(self))


def look(path: Path, options: TableOptions | None = None) -> Look:
    """A first look at the table in a file; what cannot be read is told, not raised."""
    asked, name = TableOptions() if options is None else options, path.name
    kind = format_of(path)
    try:
        sheets = kind.sheets(path) if asked.sheet is None else ()
        if len(sheets) > 1:
            return Look(name=name, sheets=sheets)
        part = kind.part(kind.records(path, asked))
        part = {line: number for line, number in part.items() if getattr(asked, line) is None}
        located: dict[str, Any] = dict(part)
        return _look(path, replace(asked, **located), part)
    except HoldfastError as error:
        said = str(error) if name in str(error) else f"`{name}`: {error}"
        return _as_it_lies(path, asked, Look(name=name, problem=said))
    except OSError as error:
        return Look(name=name, problem=f"`{path}` cannot be read: {error.strerror}.")


def _as_it_lies(path: Path, asked: TableOptions, table: Look) -> Look:
    """The first and the last rows of a file that cannot be read as a table."""
    try:
        every = format_of(path).records(path, asked)
        records = [record for record in every if any(record[2])]
    except (HoldfastError, OSError):
        return table
    rows = [ShownRow(number, tuple(cells)) for number, _, cells in records]
    header = asked.header_row or find_lines(records).header_row or 1
    below = [cells for number, _, cells in records if number > header]
    width = max(map(len, below), default=0)
    columns = [[cells[at] for cells in below if at < len(cells)] for at in range(width)]
    return replace(
        table,
        first=tuple(rows[:FIRST]),
        last=tuple(rows[FIRST:][-LAST:]),
        two_headings=two_headings(columns),
    )


def _look(path: Path, asked: TableOptions, part: dict[str, int]) -> Look:
    opened = open_source(path, asked)
    names = [name for name in opened.columns if list(opened.columns).count(name) == 1]
    opened.settle(names, ())
    cells: dict[str, list[Any]] = {name: [] for name in names}
    rows, problem, tail = 0, "", {name: list[Any]() for name in names}
    try:
        for piece in opened.read(names):
            few = np.arange(min(len(piece.rows), max(0, LOOKED_AT - rows)))
            end = np.arange(max(0, len(piece.rows) - LAST), len(piece.rows))
            for column in names:
                cells[column] += piece.rows.cells(column, few)
                tail[column] = (tail[column] + piece.rows.cells(column, end))[-LAST:]
            rows += len(piece.rows)
    except HoldfastError as error:
        problem = as_in_file(str(error), asked, path)
    unsaid = asked.thousands is asked.decimal is None and format_of(path) is TEXT
    looked, codes = _looked(cells, asked)
    totals = {
        at
        for column in looked.values()
        for at, cell in enumerate(cells[column.name] if column.totals else ())
        if text_of(cell) in column.totals
    }
    numbers: list[int] = []
    if rows <= LOOKED_AT:
        numbers = list(format_of(path).row_numbers(path, asked))[:rows]
    left = [at for at in range(min(rows, LOOKED_AT)) if not numbers or at not in totals]
    last = rows
    while last - 1 in totals:  # totals at the end are no rows of the table
        last -= 1
    if numbers and 0 < last < rows and asked.last_row in (None, part.get("last_row")):
        part, totals = part | {"last_row": numbers[last - 1]}, {at for at in totals if at < last}
    if 0 < len(left) < rows <= LOOKED_AT:  # columns are judged without the totals
        named = looked
        looked, codes = _looked({c: [cells[c][at] for at in left] for c in names}, asked)
        looked = {c: replace(looked[c], totals=named[c].totals) for c in names}
    counts = tuple(c for c in names if may_be_count(c, cells[c], looked[c]))
    people = persons_by(list(looked.values()), rows, counts)
    counts = () if people else counts
    return Look(
        name=path.name,
        part=part,
        two_headings=two_headings(list(cells.values())),
        rows=rows,
        rows_left=len(left) if rows <= LOOKED_AT else rows,
        columns=tuple(looked.values()),
        first=_shown(cells, range(min(FIRST, rows)), numbers),
        last=_shown(tail, range(-max(0, min(LAST, rows - FIRST)), 0), numbers),
        problem=problem,
        non_private_counts=counts,
        unexplained={c: x for c in names if unsaid and (x := unexplained(cells[c]))},
        non_private_codes={c: codes[c] for c in counts if codes[c]},
        total_rows=tuple(numbers[at] for at in sorted(totals) if at < len(numbers)),
        persons_by=people,
        person=next((c for c in names if names_persons(c) and looked[c].different < rows), ""),
    )


def _looked(
    cells: dict[str, list[Any]], asked: TableOptions
) -> tuple[dict[str, LookedColumn], dict[str, tuple[str, ...]]]:
    """What is to be said of each column, and what in it may stand for a count that is not known."""
    codes = {column: codes_among(cells[column], asked.missing) for column in cells}
    return {name: looked_column(name, cells[name], codes[name]) for name in cells}, codes


def _shown(
    cells: dict[str, list[Any]], places: range, numbers: Sequence[int]
) -> tuple[ShownRow, ...]:
    """Rows at these places, counted from the end where they are below 0."""
    columns = [cells[name] for name in cells]
    return tuple(
        ShownRow(
            numbers[at] if -len(numbers) <= at < len(numbers) else None,
            tuple(cell_text(column[at]) for column in columns),
        )
        for at in places
    )


def _hints(table: Look) -> Iterator[Hint]:
    if table.sheets:
        yield Hint(f"The workbook has several sheets: {listed_names(table.sheets)}. Name one.")
    if table.part:
        part = {name: [str(number)] for name, number in table.part.items()}
        yield Hint("The file has more in it than its table. Name its rows.", part)
    if table.two_headings:
        yield Hint("The names of columns seem to go over two rows. Put each name into one cell.")
    if table.columns and not table.rows and not table.problem:
        yield Hint("There are no rows below the names of the columns.")
    rows = list(map(str, table.total_rows))
    for column in table.columns:
        if column.totals:
            yield Hint(
                f"{column.name!r} has rows named like totals of others: "
                f"{listed_names(column.totals)}. Leave them out.",
                {"leave_out": rows} if rows else {},
            )
    for name, number in table.unexplained.items():
        yield Hint(
            f"{name!r} has numbers such as {number}: thousands to some, decimals to others. Say "
            "what the point means: `thousands`, --thousands . or `decimal`, --decimal ."
        )
    for name, codes in table.non_private_codes.items():
        listed = ", ".join(repr(code) if code else "blank cells" for code in codes)
        yield Hint(
            f"{name!r} holds what may mean that a count is not known: {listed}.",
            {"missing": list(codes)},
        )
    for column in table.columns:
        if column.repeated and column.name not in table.non_private_counts:
            yield Hint(
                f"{column.name!r} has labels that come twice: {listed_names(column.repeated)}."
            )
        if column.near:
            pairs = "; ".join(f"{label!r} and {usual!r}" for label, usual in column.near)
            yield Hint(f"{column.name!r} has labels that may be two spellings of one: {pairs}.")
    if table.persons_by:
        by = table.persons_by[0]
        person = {"per": [table.person]} if table.person else {}
        persons = sum(c.different for c in table.columns if c.name == table.person)
        least = "at least " * (table.rows > LOOKED_AT)
        whom = f"one of {least}{persons:,} in {table.person!r}" if persons else "a person"
        yield Hint(
            f"Every one of {numbered(table.rows, 'row')} seems to be about {whom}. Persons are "
            f"counted first, with a file that lists every {by!r}, those with nobody too.",
            {"from_people": ["yes"], "by": [by]} | person,
        )
