"""What every column of every file of a bundle holds: codebook.md."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from holdfast.errors import code_span, numbered

ROWS = "rows"
Line = tuple[str, str]


def codebook(record: dict[str, Any], table: str, mechanism_csv: bool) -> str:
    """codebook.md, from the record and the names of the files."""
    simulated = record["privacy"]["simulated"]
    heading = "SIMULATION, protects nobody: a seed was used.\n\n" * simulated
    parts = [(f"`{table}`", _table(record)), ("`intervals.csv`", _intervals(record, table))]
    if mechanism_csv:
        parts.append(("`mechanism.csv`", _mechanism(record)))
    if "within" in record:
        parts.append(("`groups.csv`", _groups(record)))
    sections = "\n".join(_section(name, lines) for name, lines in parts)
    return f"# Codebook\n\n{heading}{sections}"


def _section(name: str, lines: Iterator[Line]) -> str:
    rows = "".join(f"| {column} | {words} |\n" for column, words in lines)
    return f"## {name}\n\n| column | what it holds |\n| --- | --- |\n{rows}"


def _cell(name: str) -> str:
    """A name as code in a cell of a table, where a bar would end it."""
    return code_span(name).replace("|", "\\|")


def _table(record: dict[str, Any]) -> Iterator[Line]:
    count, top = record["count_column"] or "count", record["max_count"]
    grouped = record["within"]["columns"] if "within" in record else ()
    for column in record["columns"]:
        if column == count:
            missing = "; empty where it was not known" if "missing" in record else ""
            words = f"released count, a whole number from 0 to {top}: not the true one"
            yield _cell(column), f"{words}; {top} means {top} or more{missing}"
        elif column == record.get("category"):
            yield _cell(column), "whose row it is, published unchanged"
        elif column in record.get("other_counts", ()):
            yield _cell(column), "released count of another column: not the true one"
        elif column in grouped:
            yield _cell(column), "published unchanged; says which group a row is in"
        else:
            yield _cell(column), "published unchanged"


def _intervals(record: dict[str, Any], table: str) -> Iterator[Line]:
    top, stated = record["max_count"], record["intervals"]
    level = f"{float(Fraction(stated['level'])):.0%}"
    if stated["lines"] == ROWS and "category" in record and table.endswith(".csv"):
        yield "`label`", f"the row's {_cell(record['category'])}; rows stand as in the table"
    elif stated["lines"] == ROWS:
        yield "`row`", "number of the row in the table, from 1"
    if "within" in record:
        yield "`group`", "the group of the row; empty where it is in none"
    yield "`released`", f"the released count, 0 to {top}"
    yield "`expected`", f"the true count to expect, with counts above {top} taken as {top}"
    kind = (
        "whatever the true count is"
        if stated["every"]
        else "on average over the rows; less often for rows whose true count is rare"
    )
    yield "`low`", f"lower end: the interval holds the true count with probability {level}, {kind}"
    yield "`high`", f"upper end; {top} means {top} or more{_left_out(stated)}"


def _left_out(stated: dict[str, Any]) -> str:
    """How a released count may lie outside of its interval; of bundles that say so."""
    if "words" not in stated:
        return ""
    return (
        ". `low` to `high` may leave the released count out: where few rows have that many, it was "
        "more probably drawn for a row that has another"
    )


def _mechanism(record: dict[str, Any]) -> Iterator[Line]:
    top = record["max_count"]
    if "within" in record:
        yield "`group`", "the group whose mechanism it is"
    yield "`true`", f"a true count, 0 to {top}; {top} stands for {top} or more"
    yield "`prior`", "how probable it is for a row before its released count is looked at"
    yield f"`0` to `{top}`", "the probability that it is released as this count"


def _groups(record: dict[str, Any]) -> Iterator[Line]:
    for column, classes in zip(
        record["within"]["columns"], record["within"]["classes"], strict=True
    ):
        words = "label" if classes is None else f"class, of {numbered(classes, 'class', 'classes')}"
        yield _cell(column), f"the group's {words}"
    yield "`rows`", "how many rows went through the mechanism"
    if "totals" in record:
        yield (
            "`total`",
            "of the true counts, not capped, measured privately; totals add up",
        )
        yield "`total_low`, `total_high`", "90% interval of the total"
        yield "`total_measured`", "what was measured, before totals were made to add up"
