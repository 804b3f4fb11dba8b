"""The report as an Excel workbook: about, the table with its intervals, distribution, answers.

A copy for people who work in Excel. The bundle stays what is published and what `holdfast verify`
checks. The same release gives the same bytes.
"""

import io
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from holdfast.answers.answer import percent
from holdfast.answers.conditions import as_numbers, cell_texts
from holdfast.answers.report.content import OF_GROUPS, Content, Cover, content_of
from holdfast.engine.measuring import Progress, silent
from holdfast.errors import HoldfastError, needed
from holdfast.release.common import known_digits
from holdfast.release.release import Release
from holdfast.release.row_intervals import likely_intervals
from holdfast.request.questions import Unit

SHEET_ROWS, CELL_LENGTH = 1_048_575, 32_767  # what a sheet and a cell of Excel can hold
EXACT = 2**53  # whole numbers that a cell keeps
ALWAYS = datetime(2000, 1, 1)
WIDE, NARROW = 44, 14
Rows = Sequence[Sequence[Any]]


def workbook(
    release: Release,
    level: float = 0.9,
    cover: Cover | None = None,
    progress: Progress = silent,
) -> bytes:
    """The bytes of the workbook."""
    if release.rows > SHEET_ROWS:
        raise HoldfastError(
            f"a sheet of Excel holds {SHEET_ROWS:,} rows. Hint: use the table of the bundle."
        )
    content = content_of(release, level, cover, progress)
    with _Book() as book:
        book.sheet("About", [], _about(content), widths=(28, 110))
        book.sheet("Table", *_table(release, level))
        header, rows = _distribution(content)
        book.sheet("Distribution", header, rows)
        book.chart("Distribution", content)
        book.sheet("Answers", *_answers(content), widths=(NARROW, WIDE))
        if any(column["groups"] for column in content["columns"]):
            book.sheet("Groups", *_groups(content), widths=(NARROW, WIDE))
    return book.data


def _about(content: Content) -> Rows:
    """What a reader must know before the numbers."""
    promise, facts = content["promise"], content["facts"]
    rows = [
        ("What this is", content["title"]),
        ("Published", content["cover"]),
        ("Promise", promise["words"]),
        ("epsilon", promise["epsilon"]),
        ("Neighbours", promise["neighbours"]),
        ("Randomness", promise["randomness"]),
        ("Published unchanged", ", ".join(facts["published"]) or "none"),
        *(("Note", note) for note in content["notes"]),
        *(("Do not", words.removeprefix("Do not ")) for words in content["do_not"]),
        ("How to cite", content["cite"]),
        ("This file", "A copy. The folder of the release is what can be verified."),
    ]
    alarm = [("Warning", "SIMULATION: a seed made this release. It protects nobody.")]
    return [*(alarm * content["simulated"]), *(row for row in rows if row[1])]


def _table(release: Release, level: float) -> tuple[list[str], Rows]:
    """Every row: what was published of it, released and noisy counts, and the likely interval."""
    header, columns = list(release.published), [_typed(release.cells[n]) for n in release.published]
    ends = f"{percent(level)} interval"
    for column in release.columns:
        low, high = (np.zeros(release.rows, dtype=np.int64) for _ in range(2))
        some = column.measured
        likely = likely_intervals(column.estimate, level)
        low[some], high[some] = likely(column.noisy[some], column.group[some])
        header += [
            column.name, f"{column.name}, noisy", f"{column.name}, likely {ends}, from", "to",
        ]  # fmt: skip
        counted = ~column.missing
        columns.append(_where(column.counts, counted))
        columns.append(_where(column.noisy, some))
        columns += [_where(low, counted), _where(high, counted)]
    return header, list(zip(*columns, strict=True))


def _where(values: Any, marks: Any) -> list[Any]:
    cells = values.astype(object)
    cells[~marks] = None
    return list(cells.tolist())


def _typed(cells: Sequence[Any]) -> list[Any]:
    """Numbers where all cells are numbers that Excel keeps; codes such as 01001 stay texts."""
    texts = cell_texts(cells)
    numbers = as_numbers(texts)
    if numbers is None or (np.abs(np.nan_to_num(numbers)) >= EXACT).any():
        return texts
    return [None if x != x else int(x) if x.is_integer() else x for x in numbers.tolist()]


def _distribution(content: Content) -> tuple[list[str], Rows]:
    rows = [
        (column["name"], bar["counts"], *_shares(bar["share"], bar["low"], bar["high"]))
        for column in content["columns"]
        for bar in column["distribution"]
    ]
    return ["column", "counts", "share of rows", *_ends(content)], rows


def _answers(content: Content) -> tuple[list[str], Rows]:
    rows = [
        (column["name"], answer["question"], *_numbers(answer))
        for column in content["columns"]
        for answer in column["answers"]
    ]
    return ["column", "question", "answer", *_ends(content)], rows


def _groups(content: Content) -> tuple[list[str], Rows]:
    header = ["column", "group", "rows"]
    for question in OF_GROUPS:
        header += [question, *_ends(content)]
    rows = [
        (column["name"], group["name"], group["rows"],
         *(cell for answer in group["answers"] for cell in _numbers(answer)))
        for column in content["columns"]
        for group in column["groups"]
    ]  # fmt: skip
    return header, rows


def _ends(content: Content) -> list[str]:
    return [f"{percent(content['level'])} interval, from", "to"]


class Digits(float):
    """A number whose cell has the 15 digits that Excel keeps: with more, 0.072 has a tail."""

    def __format__(self, _form: str) -> str:
        return format(float(self), ".15g")


class Share(Digits):
    """A share, which Excel shows in percent."""


def _numbers(answer: Content) -> list[Any]:
    """Answer and ends with as many digits as are known."""
    low, high = answer["interval"]
    if answer["unit"] is Unit.SHARE:
        return _shares(answer["estimate"], low, high)
    return _known(answer["estimate"], low, high)


def _shares(*numbers: float) -> list[Any]:
    return [x if x is None else Share(x) for x in _known(*numbers)]


def _known(estimate: float, low: float | None, high: float | None) -> list[Any]:
    width = (high or 0.0) - (low or 0.0)
    every = (estimate, low, high)
    return [x if x is None else Digits(known_digits(x, 0.0, width)) for x in every]


class _Book:
    """A workbook in memory: text stays text, and nothing in it can be taken for a formula."""

    def __init__(self) -> None:
        with needed("Excel files need xlsxwriter", "excel"):
            import xlsxwriter
        self._sink = io.BytesIO()
        self._book = xlsxwriter.Workbook(self._sink, {"in_memory": True})
        self._book.set_properties({"title": "holdfast release", "created": ALWAYS})
        bold = {"bold": True, "text_wrap": True, "valign": "top", "bottom": 1}
        self._bold = self._book.add_format(bold)
        self._wrap = self._book.add_format({"text_wrap": True, "valign": "top"})
        self._percent = self._book.add_format({"num_format": "0.0##%"})
        self._whole = self._book.add_format({"num_format": "#,##0"})
        self._decimal = self._book.add_format({"num_format": "#,##0.0###"})

    def __enter__(self) -> "_Book":
        return self

    def __exit__(self, *_: object) -> None:
        self._book.close()

    @property
    def data(self) -> bytes:
        """The file, once it is complete."""
        return self._sink.getvalue()

    def sheet(
        self, name: str, header: Sequence[str], rows: Rows, widths: Sequence[int] = ()
    ) -> None:
        """One sheet with a table that starts in its first row."""
        page, start = self._book.add_worksheet(name), int(bool(header))
        for column in range(max(len(header), len(widths))):
            width = widths[column] if column < len(widths) else NARROW
            page.set_column(column, column, width, None if header else self._wrap)
        for column, words in enumerate(header):
            page.write_string(0, column, words, self._bold)
        page.freeze_panes(start, 0)
        if header:
            page.autofilter(0, 0, len(rows), len(header) - 1)
        for at, row in enumerate(rows, start):
            for column, cell in enumerate(row):
                self._write(page, at, column, cell, plain=not header or name == "Table")

    def _write(self, page: Any, row: int, column: int, cell: Any, *, plain: bool) -> None:
        if cell is None or cell == "":
            return
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            form = None if plain else self._format(cell)
            page.write_number(row, column, cell, form)
        elif page.write_string(row, column, str(cell)):
            raise HoldfastError(
                f"data row {row} has a cell of more than {CELL_LENGTH:,} characters, which Excel "
                "cannot hold. Hint: use the table of the bundle."
            )

    def _format(self, cell: float) -> Any:
        if isinstance(cell, Share):
            return self._percent
        return self._whole if float(cell).is_integer() else self._decimal

    def chart(self, name: str, content: Content) -> None:
        """Bars of the distribution of the first column of counts beside its sheet."""
        bars = len(content["columns"][0]["distribution"])
        chart = self._book.add_chart({"type": "column"})
        chart.add_series({
            "name": "share of rows",
            "categories": [name, 1, 1, bars, 1],
            "values": [name, 1, 2, bars, 2],
            "gap": 30,
        })  # fmt: skip
        title = f"{content['columns'][0]['name']}: share of rows with each count"
        chart.set_title({"name": title[:250], "name_font": {"size": 12}})
        chart.set_legend({"none": True})
        chart.set_y_axis({"num_format": "0%"})
        chart.set_size({"width": 720, "height": 360})
        self._book.get_worksheet_by_name(name).insert_chart(1, 7, chart)
