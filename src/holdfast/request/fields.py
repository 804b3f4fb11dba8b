"""Everything a run can be asked, declared once.

Python's signature and docstring, the command line, the page's forms, the recipe, the ledger's words
and the record in a release are derived from these fields.
"""

from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.request import checks
from holdfast.request.asked import Asked, Form, Panel, asked

if TYPE_CHECKING:
    from holdfast.tables.groups import Within
    from holdfast.tables.periods import Period
    from holdfast.tables.subset import Subset


@dataclass(frozen=True, kw_only=True)
class Declared:
    """The fields of a request, each with what it is called, means and takes."""

    count: tuple[str, ...] = asked(
        *(Form.TEXTS, Panel.FIRST, "COLUMN"),
        "Column of counts; several are released together, in one promise.",
        "homicides",
        check=checks.counts,
        default=None,
        decides=True,
    )
    category: str | None = asked(
        *(Form.TEXT, Panel.FIRST, "COLUMN"),
        "Column that says whose count it is; published as it is.",
        "county",
        check=checks.column,
        default=None,
    )
    keep: tuple[str, ...] = asked(
        *(Form.TEXTS, Panel.FIRST, "COLUMN"),
        "Another public column to publish as it is; all others are withheld.",
        "state",
        check=checks.columns,
        default=(),
    )
    epsilon: Fraction = asked(
        *(Form.NUMBER, Panel.FIRST, "NUMBER"),
        "The whole privacy budget: smaller protects more, 0.1 to 5 is usual.",
        "1",
        check=checks.epsilon,
        decides=True,
    )
    within: "Within | None" = asked(
        *(Form.GROUPS, Panel.FIRST, "COLUMN[:CLASSES]"),
        "Public column whose groups each keep their distribution, or classes of a public number; "
        "several are crossed.",
        *("state", "population:8"),
        check=checks.within,
        default=None,
        decides=True,
    )
    missing: tuple[Any, ...] = asked(
        *(Form.CODES, Panel.FIRST, "CODE"),
        "Code for a count that is not known, such as -999, or '' for an empty cell; such rows are "
        "published as missing.",
        *("-999", ""),
        check=checks.codes,
        default=(),
    )
    header_row: int | None = asked(
        *(Form.WHOLE, Panel.FIRST, "ROW"),
        "Row of the file that holds the names of the columns.",
        "3",
        check=checks.at_least_1,
        default=None,
        recorded=False,
    )
    out: Path | None = asked(
        *(Form.PATH, Panel.FIRST, "FOLDER"),
        "New folder for the release.",
        "release",
        check=checks.path,
        default=None,
        recorded=False,
    )
    seed: int | None = asked(
        *(Form.WHOLE, Panel.FIRST, "NUMBER"),
        "For a rehearsal: repeatable noise, which protects nobody.",
        "1",
        check=checks.at_least_0,
        default=None,
        recorded=False,
    )
    contributions: "int | dict[str, int]" = asked(
        *(Form.WHOLE_BY_COLUMN, Panel.PROTECTED, "[COLUMN=]NUMBER"),
        "How much one person may add to one row, at the most: one number for all columns of "
        "counts, or one for each.",
        "5",
        check=checks.anything,
        default=1,
        decides=True,
    )
    rows: int = asked(
        *(Form.WHOLE, Panel.PROTECTED, "NUMBER"),
        "In how many rows one person may be, at the most.",
        "3",
        check=checks.person_rows,
        default=1,
        decides=True,
    )
    unit: str = asked(
        *(Form.TEXT, Panel.PROTECTED, "WORD"),
        "Who is protected, in a word: person, household, establishment.",
        "household",
        check=checks.unit,
        default="person",
        decides=True,
    )
    person_in: str = asked(
        *(Form.TEXT, Panel.PROTECTED, "WORDS"),
        "Where a row of one person may be counted: 'all columns' of counts, which share epsilon, "
        "or 'one column', and each has all of it.",
        "one column",
        check=checks.anything,
        default="all columns",
        decides=True,
    )
    weights: dict[str, str] | None = asked(
        *(Form.NUMBER_BY_COLUMN, Panel.PROTECTED, "COLUMN=NUMBER"),
        "By what epsilon is divided between columns of counts; evenly without.",
        *("murder=2", "rape=1"),
        check=checks.anything,
        default=None,
        decides=True,
    )
    totals: bool | str = asked(
        *(Form.SHARE, Panel.MEASURED, "yes|SHARE"),
        "Measure totals too, of the table and of each group, for a tenth of epsilon or another "
        "share.",
        "0.2",
        check=checks.totals,
        default=False,
        decides=True,
    )
    split: Fraction | None = asked(
        *(Form.NUMBER, Panel.MEASURED, "SHARE"),
        "What the distribution of counts takes of epsilon, the rest being for single counts; by "
        "default it follows from epsilon and the number of rows.",
        "0.1",
        check=checks.split,
        default=None,
        decides=True,
    )
    structural_zero: Any = asked(
        *(Form.ROWS, Panel.PUBLISHED, "COLUMN"),
        "Column that marks rows publicly known to be zero.",
        "no_school",
        check=checks.rows_known,
        default=None,
    )
    top: int | None = asked(
        *(Form.WHOLE, Panel.PUBLISHED, "NUMBER"),
        "Show higher counts as this number or more; it does not change what is protected.",
        "50",
        check=checks.at_least_1,
        default=None,
    )
    relations: bool = asked(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        "Keep correlations between columns of counts in the table, at a price in single counts of "
        "all but the first; can be chosen later too.",
        check=checks.flag,
        default=False,
    )
    subset: "Subset | None" = asked(
        *(Form.LABEL, Panel.PUBLISHED, "COLUMN=LABEL"),
        "Release only the rows with one label in a public column; a ledger charges other labels "
        "side by side.",
        "state=NE",
        check=checks.subset,
        default=None,
        decides=True,
    )
    order_by: str | None = asked(
        *(Form.TEXT, Panel.PUBLISHED, "COLUMN"),
        "Publish in the order of this public column.",
        "county",
        check=checks.column,
        default=None,
    )
    repeated_categories: bool = asked(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        "A category may have several rows.",
        check=checks.flag,
        default=False,
    )
    keep_none: bool = asked(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        "Withhold every column but the category, on purpose.",
        check=checks.flag,
        default=False,
        recorded=False,
    )
    publish_anyway: tuple[str, ...] = asked(
        *(Form.TEXTS, Panel.PUBLISHED, "NAME"),
        "A column that gives the counts away, 'row order', 'totals', or 'same counts' as those of "
        "another period: publish it all the same.",
        "row order",
        check=checks.columns,
        default=(),
        recorded=False,
    )
    table_format: str | None = asked(
        *(Form.TEXT, Panel.PUBLISHED, "FORMAT"),
        "Write the table as csv or parquet; by default as the file that came in.",
        "csv",
        check=checks.table_format,
        default=None,
        recorded=False,
    )
    ledger: Any = asked(
        *(Form.PATH, Panel.LEDGER, "FILE"),
        "Ledger that pays before anything is measured, and shows an equal release again.",
        "budget.ledger",
        check=checks.anything,
        default=None,
        recorded=False,
    )
    dataset: str | None = asked(
        *(Form.TEXT, Panel.LEDGER, "NAME"),
        "Name of these data in the ledger.",
        "homicides",
        check=checks.text,
        default=None,
        recorded=False,
    )
    purpose: str | None = asked(
        *(Form.TEXT, Panel.LEDGER, "TEXT"),
        "Why this is released, for the ledger's history.",
        "annual report",
        check=checks.text,
        default=None,
        recorded=False,
    )
    period: "Period | None" = asked(
        *(Form.TEXT, Panel.LEDGER, "PERIOD"),
        "The time that the counts are of: 2026, 2026-Q1, 2026-07 or 2025-09..2026-08.",
        "2026",
        check=checks.period,
        default=None,
        decides=True,
    )
    corrects: Any = asked(
        *(Form.PATH, Panel.LEDGER, "RELEASE"),
        "Release whose rows these are with labels corrected or columns added: its counts are "
        "written again, unpaid.",
        "release-1",
        check=checks.anything,
        default=None,
        recorded=False,
    )
    sheet: str | None = asked(
        *(Form.TEXT, Panel.FILE, "NAME"),
        "Sheet of an Excel workbook that has several.",
        "Table 1",
        check=checks.text,
        default=None,
        recorded=False,
    )
    last_row: int | None = asked(
        *(Form.WHOLE, Panel.FILE, "ROW"),
        "Last row of the table; totals and notes below are left out.",
        "103",
        check=checks.at_least_1,
        default=None,
        recorded=False,
    )
    leave_out: tuple[int, ...] = asked(
        *(Form.WHOLES, Panel.FILE, "ROW"),
        "Row of the file to leave out, such as that of a total.",
        "54",
        check=checks.file_rows,
        default=(),
        recorded=False,
    )
    thousands: str | None = asked(
        *(Form.TEXT, Panel.FILE, "MARK"),
        "Mark between thousands in a CSV file: a comma, point, apostrophe or space.",
        ",",
        check=checks.column,
        default=None,
        recorded=False,
    )
    decimal: str | None = asked(
        *(Form.TEXT, Panel.FILE, "MARK"),
        "Mark before decimals in a CSV file: a comma or a point.",
        ",",
        check=checks.column,
        default=None,
        recorded=False,
    )
    query: str | None = asked(
        *(Form.TEXT, Panel.FILE, "SQL"),
        "SELECT whose result is the table, for a DuckDB database.",
        "FROM visits",
        check=checks.text,
        default=None,
        recorded=False,
    )
    from_people: bool = asked(
        *(Form.FLAG, Panel.PEOPLE, ""),
        "Rows are persons: count them first.",
        check=checks.flag,
        default=False,
        recorded=False,
    )
    by: tuple[str, ...] = asked(
        *(Form.TEXTS, Panel.PEOPLE, "COLUMN"),
        "Column of categories to count by; several make one category together.",
        "county",
        check=checks.columns,
        default=(),
        recorded=False,
    )
    categories: Any = asked(
        *(Form.PATH, Panel.PEOPLE, "FILE"),
        "File that lists every category there is, those with nobody too.",
        "counties.csv",
        check=checks.anything,
        default=None,
        recorded=False,
    )
    per: str | None = asked(
        *(Form.TEXT, Panel.PEOPLE, "COLUMN"),
        "Column that says whose row it is: each person counts once.",
        "person_id",
        check=checks.column,
        default=None,
        recorded=False,
    )


FIELDS: dict[str, Asked] = {
    each.name: replace(
        each.metadata["asked"],
        name=each.name,
        default=None if each.default is MISSING else each.default,
        required=each.default is MISSING,
    )
    for each in fields(Declared)
}
"""Everything a run can be asked, in the order in which it is shown."""
