"""Everything a run can be asked, declared once.

Python's signature and docstring, the command line, the page's forms, the recipe, the ledger's words
and the record in a release are derived from these fields.
"""

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.request.parameter import Form, Panel, Parameter, parameter

if TYPE_CHECKING:
    from holdfast.tables.groups import Within
    from holdfast.tables.periods import Period
    from holdfast.tables.subset import Subset


@dataclass(frozen=True, kw_only=True)
class Declared:
    """The fields of a request, each with what it is called, means and takes."""

    count: tuple[str, ...] = parameter(
        *(Form.TEXTS, Panel.FIRST, "COLUMN"),
        "Column of counts; several are released together, in one promise.",
        "homicides",
        default=None,
        decides=True,
    )
    category: str | None = parameter(
        *(Form.COLUMN, Panel.FIRST, "COLUMN"),
        "Column that says whose count it is; published as it is.",
        "county",
    )
    keep: tuple[str, ...] = parameter(
        *(Form.TEXTS, Panel.FIRST, "COLUMN"),
        "Another public column to publish as it is; all others are withheld.",
        "state",
    )
    epsilon: Fraction = parameter(
        *(Form.NUMBER, Panel.FIRST, "NUMBER"),
        "The whole privacy budget: smaller protects more, 0.1 to 5 is usual.",
        "1",
        required=True,
        decides=True,
    )
    within: "Within | None" = parameter(
        *(Form.GROUPS, Panel.FIRST, "COLUMN[:CLASSES]"),
        "Public column whose groups each keep their distribution, or classes of a public number; "
        "several are crossed.",
        *("state", "population:8"),
        decides=True,
    )
    missing: tuple[Any, ...] = parameter(
        *(Form.CODES, Panel.FIRST, "CODE"),
        "Code for a count that is not known, such as -999, or '' for an empty cell; such rows are "
        "published as missing.",
        *("-999", ""),
    )
    header_row: int | None = parameter(
        *(Form.WHOLE, Panel.FIRST, "ROW"),
        "Row of the file that holds the names of the columns.",
        "3",
        recorded=False,
    )
    out: Path | None = parameter(
        *(Form.PATH, Panel.FIRST, "FOLDER"),
        "New folder for the release.",
        "release",
        recorded=False,
    )
    seed: int | None = parameter(
        *(Form.WHOLE, Panel.FIRST, "NUMBER"),
        "For a rehearsal: repeatable noise, which protects nobody.",
        "1",
        recorded=False,
    )
    contributions: "int | dict[str, int]" = parameter(
        *(Form.WHOLE_BY_COLUMN, Panel.PROTECTED, "[COLUMN=]NUMBER"),
        "How much one person may add to one row, at the most: one number for all columns of "
        "counts, or one for each.",
        "5",
        default=1,
        decides=True,
    )
    rows: int = parameter(
        *(Form.WHOLE, Panel.PROTECTED, "NUMBER"),
        "In how many rows one person may be, at the most.",
        "3",
        default=1,
        decides=True,
    )
    unit: str = parameter(
        *(Form.TEXT, Panel.PROTECTED, "WORD"),
        "Who is protected, in a word: person, household, establishment.",
        "household",
        default="person",
        decides=True,
    )
    person_in: str = parameter(
        *(Form.TEXT, Panel.PROTECTED, "WORDS"),
        "Where a row of one person may be counted: 'all columns' of counts, which share epsilon, "
        "or 'one column', and each has all of it.",
        "one column",
        default="all columns",
        decides=True,
    )
    weights: dict[str, str] | None = parameter(
        *(Form.NUMBER_BY_COLUMN, Panel.PROTECTED, "COLUMN=NUMBER"),
        "By what epsilon is divided between columns of counts; evenly without.",
        *("murder=2", "rape=1"),
        decides=True,
    )
    totals: bool | str = parameter(
        *(Form.SHARE, Panel.MEASURED, "yes|SHARE"),
        "Measure totals too, of the table and of each group, for a tenth of epsilon or another "
        "share.",
        "0.2",
        default=False,
        decides=True,
    )
    split: Fraction | None = parameter(
        *(Form.NUMBER, Panel.MEASURED, "SHARE"),
        "What the distribution of counts takes of epsilon, the rest being for single counts; by "
        "default it follows from epsilon and the number of rows.",
        "0.1",
        decides=True,
    )
    structural_zero: Any = parameter(
        *(Form.ROWS, Panel.PUBLISHED, "COLUMN"),
        "Column that marks rows publicly known to be zero.",
        "no_school",
    )
    top: int | None = parameter(
        *(Form.WHOLE, Panel.PUBLISHED, "NUMBER"),
        "Show higher counts as this number or more; it does not change what is protected.",
        "50",
    )
    relations: bool = parameter(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        "Keep correlations between columns of counts in the table, at a price in single counts of "
        "all but the first; can be chosen later too.",
    )
    subset: "Subset | None" = parameter(
        *(Form.LABEL, Panel.PUBLISHED, "COLUMN=LABEL"),
        "Release only the rows with one label in a public column; a ledger charges other labels "
        "side by side.",
        "state=NE",
        decides=True,
    )
    order_by: str | None = parameter(
        *(Form.COLUMN, Panel.PUBLISHED, "COLUMN"),
        "Publish in the order of this public column.",
        "county",
    )
    repeated_categories: bool = parameter(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        "A category may have several rows.",
    )
    keep_none: bool = parameter(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        "Withhold every column but the category, on purpose.",
        recorded=False,
    )
    publish_anyway: tuple[str, ...] = parameter(
        *(Form.TEXTS, Panel.PUBLISHED, "NAME"),
        "A column that gives the counts away, 'row order', 'totals', or 'same counts' as those of "
        "another period: publish it all the same.",
        "row order",
        recorded=False,
    )
    table_format: str | None = parameter(
        *(Form.TEXT, Panel.PUBLISHED, "FORMAT"),
        "Write the table as csv or parquet; by default as the file that came in.",
        "csv",
        recorded=False,
    )
    ledger: Any = parameter(
        *(Form.PATH, Panel.LEDGER, "FILE"),
        "Ledger that pays before anything is measured, and shows an equal release again.",
        "budget.ledger",
    )
    dataset: str | None = parameter(
        *(Form.TEXT, Panel.LEDGER, "NAME"),
        "Name of these data in the ledger.",
        "homicides",
    )
    purpose: str | None = parameter(
        *(Form.TEXT, Panel.LEDGER, "TEXT"),
        "Why this is released, for the ledger's history.",
        "annual report",
    )
    period: "Period | None" = parameter(
        *(Form.TEXT, Panel.LEDGER, "PERIOD"),
        "The time that the counts are of: 2026, 2026-Q1, 2026-07 or 2025-09..2026-08.",
        "2026",
        decides=True,
        recorded=True,
    )
    corrects: Any = parameter(
        *(Form.PATH, Panel.LEDGER, "RELEASE"),
        "Release whose rows these are with labels corrected or columns added: its counts are "
        "written again, unpaid.",
        "release-1",
    )
    sheet: str | None = parameter(
        *(Form.TEXT, Panel.FILE, "NAME"),
        "Sheet of an Excel workbook that has several.",
        "Table 1",
    )
    last_row: int | None = parameter(
        *(Form.WHOLE, Panel.FILE, "ROW"),
        "Last row of the table; totals and notes below are left out.",
        "103",
    )
    leave_out: tuple[int, ...] = parameter(
        *(Form.WHOLES, Panel.FILE, "ROW"),
        "Row of the file to leave out, such as that of a total.",
        "54",
    )
    thousands: str | None = parameter(
        *(Form.TEXT, Panel.FILE, "MARK"),
        "Mark between thousands in a CSV file: a comma, point, apostrophe or space.",
        ",",
    )
    decimal: str | None = parameter(
        *(Form.TEXT, Panel.FILE, "MARK"),
        "Mark before decimals in a CSV file: a comma or a point.",
        ",",
    )
    query: str | None = parameter(
        *(Form.TEXT, Panel.FILE, "SQL"),
        "SELECT whose result is the table, for a DuckDB database.",
        "FROM visits",
    )
    from_people: bool = parameter(
        *(Form.FLAG, Panel.PEOPLE, ""),
        "Rows are persons: count them first.",
    )
    by: tuple[str, ...] = parameter(
        *(Form.TEXTS, Panel.PEOPLE, "COLUMN"),
        "Column of categories to count by; several make one category together.",
        "county",
    )
    categories: Any = parameter(
        *(Form.PATH, Panel.PEOPLE, "FILE"),
        "File that lists every category there is, those with nobody too.",
        "counties.csv",
    )
    per: str | None = parameter(
        *(Form.COLUMN, Panel.PEOPLE, "COLUMN"),
        "Column that says whose row it is: each person counts once.",
        "person_id",
    )


FIELDS: dict[str, Parameter] = {
    each.name: replace(each.metadata["parameter"], name=each.name) for each in fields(Declared)
}
"""Everything a run can be asked, in the order in which it is shown."""
