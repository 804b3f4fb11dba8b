"""The report as an Excel workbook: about, the table with its intervals, the distribution, answers.

A copy for people who work in Excel. The bundle stays what is published and what `holdfast verify`
checks. The same release gives the same bytes.
"""

import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.former.analysis.answer import percent
from holdfast.former.analysis.report.content import (
    DO_NOT,
    FAR,
    Cover,
    opening,
    report,
    run_name,
    runs,
)
from holdfast.former.analysis.report.several_table import several_with_intervals
from holdfast.former.analysis.report.table import as_text, table_for_people
from holdfast.former.tables.csv import CsvTable

if TYPE_CHECKING:
    from holdfast.former.release.release import Release
    from holdfast.former.release.several import TableRelease

MOST_ROWS, LONGEST = 1_048_575, 32_767  # what a sheet and a cell of Excel can hold
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,14}")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_ALWAYS = datetime(2000, 1, 1)
Rows = Sequence[Sequence[Any]]
TOTALS_HEADER = ("rows", "total", "90% interval, from", "to")


def workbook(release: "Release", level: float = 0.9, cover: Cover | None = None) -> bytes:
    """The bytes of the workbook."""
    content = _content(release, level, cover or Cover())
    table, notes = table_for_people(release, level)
    return _written(_about(content, notes), table, {"": release}, {"": content}, level)


def workbook_of_several(
    release: "TableRelease", level: float = 0.9, cover: Cover | None = None
) -> bytes:
    """The bytes of a workbook of several counts: one table with all of them, their intervals beside
    them, and sheets in which the first column says of which count a line is."""
    columns = release.columns
    said = {name: _content(one, level, cover or Cover()) for name, one in columns.items()}
    table, notes = several_with_intervals(release, level)
    about = _about_several(release, said, notes)
    return _written(about, as_text(table), columns, said, level, named=("counts of",))


def _written(
    about: Rows,
    table: CsvTable,
    columns: "dict[str, Release]",
    said: dict[str, dict[str, Any]],
    level: float,
    named: tuple[str, ...] = (),
) -> bytes:
    """All sheets; where their first column is `named`, it says of which count a line is."""

    def lines(sheet: Callable[["Release", dict[str, Any]], Rows]) -> Rows:
        every = [(name, row) for name, one in columns.items() for row in sheet(one, said[name])]
        return [(name, *row) if named else row for name, row in every]

    longest = max(columns.values(), key=lambda one: len(one.target))
    with _Book() as book:
        book.sheet("About", ("", ""), about, widths=(28, 110))
        book.sheet("Table", table.columns, table.rows)
        book.sheet("Distribution", (*named, *_shares_header(level)), lines(_shares))
        if answers := lines(_answers):
            widths = (16, 44) if named else (44,)
            book.sheet("Answers", (*named, *_answers_header(level)), answers, widths=widths)
        if totals := lines(totals_sheet):
            book.sheet("Totals", (*named, *TOTALS_HEADER), totals)
        if groups := lines(partial(groups_sheet, counts=len(longest.target))):
            book.sheet("Groups", (*named, *_groups_header(longest, level)), groups)
    return book.data


def _about_several(
    release: "TableRelease", said: dict[str, dict[str, Any]], notes: Iterable[str]
) -> Rows:
    """What a reader must know of all columns, and of each."""
    privacy, first = release.privacy, next(iter(said.values()))
    whole = first["promise"] | {
        "words": privacy.promise,
        "epsilon": str(privacy.epsilon),
        "certified": float(privacy.certified_epsilon),
        "neighbours": privacy.neighbours,
    }
    facts = first["facts"]
    told = {name: content["facts"]["top_code"] for name, content in said.items()}
    tops = "; ".join(f"{name}: {words}" for name, words in told.items())
    digests = [content["facts"]["mechanism_digest"] for content in said.values()]
    shared = [note for note in first["notes"] if all(note in c["notes"] for c in said.values())]
    named = [(name, note) for name, content in said.items() for note in content["notes"]]
    own = [f"{name}: {note}" for name, note in named if note not in shared]
    doubts = dict.fromkeys(n for content in said.values() for n in content["distribution_notes"])
    return _about(
        first
        | {
            "promise": whole,
            "facts": facts | {"top_code": tops, "mechanism_digest": ", ".join(digests)},
            "notes": [*release.notes, *shared, *own],
            "distribution_notes": list(doubts),
        },
        notes,
    )


def _content(release: "Release", level: float, cover: Cover) -> dict[str, Any]:
    """What the report says; without estimates, where the noise cannot be stated."""
    if len(release.counts) > MOST_ROWS:
        raise HoldfastError(
            f"a sheet of Excel holds {MOST_ROWS:,} rows. Hint: use the table of the bundle."
        )
    try:
        return report(release, level, cover)
    except HoldfastError as error:
        shares = enumerate(release.distribution.tolist())
        nothing = {"estimate": None, "interval": None}
        return opening(release, level, cover) | {
            "notes": [*release.notes, f"No estimates: {error}"],
            "distribution": [{"first": i, "last": i, "released": s} | nothing for i, s in shares],
            "distribution_notes": [],
            "questions": [],
            "groups": [],
            "do_not": DO_NOT,
        }


def totals_sheet(release: "Release", content: dict[str, Any]) -> Rows:
    """The measured totals, of the table and of each group; none where there are none."""
    if release.totals is None:
        return []
    whole = release.totals.whole
    rows: list[Any] = [("all rows", whole.value, whole.low, whole.high)]
    for name, group in (release.groups or {}).items():
        if group.total is not None:
            rows.append((name, group.total.value, group.total.low, group.total.high))
    return rows


def groups_sheet(release: "Release", content: dict[str, Any], counts: int | None = None) -> Rows:
    """For every group its rows, what `ask` says of its mean and of its zeros, where the report asks
    so many groups, and its z, by the runs of so many counts."""
    if release.groups is None:
        return []
    n = len(release.target)
    answers = {
        group["name"]: (*group["numbers"], group["mean_counts"]) for group in content["groups"]
    }
    starts = [first for first, _ in runs(counts or n, FAR) if first < n]
    return [
        (
            name,
            group.rows,
            *answers.get(name, (None,) * 7),
            *np.add.reduceat(group.target, starts).tolist(),
        )
        for name, group in release.groups.items()
    ]


def _groups_header(release: "Release", level: float) -> tuple[str, ...]:
    ends = (f"{percent(level)} interval, from", "to")
    places = runs(len(release.target), FAR)  # a sheet holds 16,384 columns
    named = [f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in places]
    shares = [f"share of {counts}, by the private distribution" for counts in named]
    answers = ("mean count", *ends, "share of zeros", *ends, "counts in the mean")
    return ("group", "rows", *answers, *shares)


def _about(content: dict[str, Any], notes: Iterable[str]) -> Rows:
    """What a reader must know before the numbers."""
    alarm = "SIMULATION: a seed made this release. It protects nobody."
    facts, said = content["facts"], content["promise"]
    kept = ", ".join(facts["unchanged_columns"]) or "none"
    return [
        *([("Warning", alarm)] if content["simulated"] else []),
        ("What this is", content["title"]),
        *([("Published", content["cover"])] if content["cover"] else []),
        ("Promise", said["words"]),
        ("epsilon promised", said["epsilon"]),
        ("epsilon certified", said["certified"]),
        ("Neighbours", said["neighbours"]),
        ("Randomness", said["randomness"]),
        ("Highest count", facts["top_code"]),
        ("Published unchanged", kept),
        ("Methods", ", ".join(facts["methods"])),
        ("Mechanism", facts["mechanism_digest"]),
        *(("Note", note) for note in dict.fromkeys([*content["notes"], *notes])),
        *(("Note on the shares", note) for note in content["distribution_notes"]),
        *(("Do not", words.removeprefix("Do not ")) for words in content["do_not"]),
        *([("How to cite", content["cite"])] if "cite" in content else []),
        ("This file", "A copy. The folder of the release is what can be verified."),
    ]


def _shares_header(level: float) -> tuple[str, ...]:
    name = f"{percent(level)} interval"
    return ("count", "share released", "best estimate", f"{name}, from", f"{name}, to")


def _shares(release: "Release", content: dict[str, Any]) -> Rows:
    return [
        (run_name(bar), bar["released"], bar["estimate"], *(bar["interval"] or (None, None)))
        for bar in content["distribution"]
    ]


def _answers_header(level: float) -> tuple[str, ...]:
    name = f"{percent(level)} interval"
    ends = (f"{name}, from", f"{name}, to", f"{name} in words")
    return ("question", "estimate", *ends, "released table")


def _answers(release: "Release", content: dict[str, Any]) -> Rows:
    return [
        (
            answer["question"],
            answer["estimate"],
            *answer["interval"],
            answer["interval_words"],
            answer["released"],
        )
        for answer in content["questions"]
    ]


class _Book:
    """A workbook in memory: text stays text, and nothing in it can be taken for a formula."""

    def __init__(self) -> None:
        try:
            import xlsxwriter
        except ImportError:
            raise HoldfastError(
                'Excel files need xlsxwriter. Hint: pip install "holdfast[excel]".'
            ) from None
        self._sink = io.BytesIO()
        self._book = xlsxwriter.Workbook(self._sink, {"in_memory": True})
        self._book.set_properties({"title": "holdfast release", "created": _ALWAYS})
        self._bold = self._book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        self._wrap = self._book.add_format({"text_wrap": True, "valign": "top"})

    def __enter__(self) -> "_Book":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._book.close()

    @property
    def data(self) -> bytes:
        """The file, once it is complete."""
        return self._sink.getvalue()

    def sheet(
        self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]],
        widths: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """One sheet with a table that starts in its first row."""
        page = self._book.add_worksheet(name)
        start = 1 if any(header) else 0
        for column in range(len(header)):
            width = widths[column] if column < len(widths) else 16
            page.set_column(column, column, width, self._wrap if widths else None)
            if start:
                page.write_string(0, column, header[column], self._bold)
        page.freeze_panes(start, 0)
        for at, row in enumerate(rows, start):
            for column, cell in enumerate(row):
                _write(page, at, column, cell)


def _write(page: Any, row: int, column: int, cell: Any) -> None:
    number = _number(cell)
    if number is not None:
        page.write_number(row, column, number)
    elif cell is not None and cell != "" and page.write_string(row, column, str(cell)):
        raise HoldfastError(
            f"data row {row} has a cell of more than {LONGEST:,} characters, which Excel cannot "
            "hold. Hint: use the table of the bundle."
        )


def _number(cell: Any) -> Any:
    """The number that a cell holds, where its text would be the same again.

    >>> [_number(cell) for cell in (3, "3", "0.25", "5.0", "007", "2.50", "=1+1", True, None)]
    [3, 3, 0.25, 5.0, None, None, None, None, None]
    """
    if isinstance(cell, str):
        if _INTEGER.fullmatch(cell):
            return int(cell)
        return float(cell) if _DECIMAL.fullmatch(cell) and repr(float(cell)) == cell else None
    real = isinstance(cell, Real) and not isinstance(cell, bool) and math.isfinite(cell)
    return cell if real else None
