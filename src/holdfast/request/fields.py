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
    from holdfast.tables.subset import Period, Subset


@dataclass(frozen=True, kw_only=True)
class Declared:
    """The fields of a request, each with what it is called, means and takes."""

    count: tuple[str, ...] = parameter(
        *(Form.TEXTS, Panel.FIRST, "COLUMN", "homicides"),
        help="Column of counts; several are released together, in one promise.",
        default=None,
        decides=True,
    )
    category: str | None = parameter(
        *(Form.COLUMN, Panel.FIRST, "COLUMN", "county"),
        help="Column that says whose count it is; published as it is.",
    )
    keep: tuple[str, ...] = parameter(
        *(Form.TEXTS, Panel.FIRST, "COLUMN", "state"),
        help="Another public column to publish as it is; all others are withheld.",
    )
    epsilon: Fraction = parameter(
        *(Form.NUMBER, Panel.FIRST, "NUMBER", "1"),
        help="The whole privacy budget: smaller protects more, 0.1 to 5 is usual.",
        required=True,
        decides=True,
    )
    within: "Within | None" = parameter(
        *(Form.GROUPS, Panel.FIRST, "COLUMN[:CLASSES]", "state", "population:8"),
        help="Public column whose groups each keep their distribution, or classes of a public "
        "number; several are crossed.",
        decides=True,
    )
    missing: tuple[Any, ...] = parameter(
        *(Form.CODES, Panel.FIRST, "CODE", "-999", ""),
        help="Code for a count that is not known, such as -999, or '' for an empty cell; such rows "
        "are published as missing.",
    )
    header_row: int | None = parameter(
        *(Form.WHOLE, Panel.FIRST, "ROW", "3"),
        help="Row of the file that holds the names of the columns.",
        recorded=False,
    )
    out: Path | None = parameter(
        *(Form.PATH, Panel.FIRST, "FOLDER", "release"),
        help="New folder for the release.",
        recorded=False,
    )
    seed: int | None = parameter(
        *(Form.WHOLE, Panel.FIRST, "NUMBER", "1"),
        help="For a rehearsal: repeatable noise, which protects nobody.",
        recorded=False,
    )
    contributions: "int | dict[str, int]" = parameter(
        *(Form.WHOLE_BY_COLUMN, Panel.PROTECTED, "[COLUMN=]NUMBER", "5"),
        help="How much one person may add to one row, at the most: one number for all columns of "
        "counts, or one for each.",
        default=1,
        decides=True,
    )
    rows: int = parameter(
        *(Form.WHOLE, Panel.PROTECTED, "NUMBER", "3"),
        help="In how many rows one person may be, at the most.",
        default=1,
        decides=True,
    )
    unit: str = parameter(
        *(Form.TEXT, Panel.PROTECTED, "WORD", "household"),
        help="Who is protected, in a word: person, household, establishment.",
        default="person",
        decides=True,
    )
    person_in: str = parameter(
        *(Form.TEXT, Panel.PROTECTED, "WORDS", "one column"),
        help="Where a row of one person may be counted: 'all columns' of counts, which share "
        "epsilon, or 'one column', and each has all of it.",
        default="all columns",
        decides=True,
    )
    weights: dict[str, str] | None = parameter(
        *(Form.NUMBER_BY_COLUMN, Panel.PROTECTED, "COLUMN=NUMBER", "murder=2", "rape=1"),
        help="Weights by which epsilon is divided between columns of counts; evenly by default.",
        decides=True,
    )
    totals: bool | str = parameter(
        *(Form.SHARE, Panel.MEASURED, "yes|SHARE", "0.2"),
        help="Measure totals too, of the table and of each group, for a tenth of epsilon or "
        "another share.",
        default=False,
        decides=True,
    )
    split: Fraction | None = parameter(
        *(Form.NUMBER, Panel.MEASURED, "SHARE", "0.1"),
        help="Share of epsilon for the distribution of counts, the rest being for single counts; "
        "by default it follows from epsilon and the number of rows.",
        decides=True,
    )
    structural_zero: Any = parameter(
        *(Form.ROWS, Panel.PUBLISHED, "COLUMN", "no_school"),
        help="Column that marks rows publicly known to be zero.",
    )
    top: int | None = parameter(
        *(Form.WHOLE, Panel.PUBLISHED, "NUMBER", "50"),
        help="Show higher counts as this number or more; it does not change what is protected.",
    )
    relations: bool = parameter(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        help="Keep correlations between columns of counts in the table, at a price in single "
        "counts of all but the first; can be chosen later too.",
    )
    subset: "Subset | None" = parameter(
        *(Form.LABEL, Panel.PUBLISHED, "COLUMN=LABEL", "state=NE"),
        help="Release only the rows with one label in a public column; a ledger charges other "
        "labels side by side.",
        decides=True,
    )
    order_by: str | None = parameter(
        *(Form.COLUMN, Panel.PUBLISHED, "COLUMN", "county"),
        help="Publish in the order of this public column.",
    )
    repeated_categories: bool = parameter(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        help="A category may have several rows.",
    )
    keep_none: bool = parameter(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        help="Withhold every column but the category, on purpose.",
        recorded=False,
    )
    publish_anyway: tuple[str, ...] = parameter(
        *(Form.TEXTS, Panel.PUBLISHED, "NAME", "row order"),
        help="A column that gives the counts away, 'row order', 'totals', or 'same counts' as "
        "those of another period: publish it all the same.",
        recorded=False,
    )
    table_format: str | None = parameter(
        *(Form.TEXT, Panel.PUBLISHED, "FORMAT", "csv"),
        help="Write the table as csv or parquet; by default as the file that came in.",
        recorded=False,
    )
    ledger: Any = parameter(
        *(Form.PATH, Panel.LEDGER, "FILE", "budget.ledger"),
        help="Ledger that pays before anything is measured, and shows an equal release again.",
    )
    dataset: str | None = parameter(
        *(Form.TEXT, Panel.LEDGER, "NAME", "homicides"),
        help="Name of these data in the ledger.",
    )
    purpose: str | None = parameter(
        *(Form.TEXT, Panel.LEDGER, "TEXT", "annual report"),
        help="Why this is released, for the ledger's history.",
    )
    period: "Period | None" = parameter(
        *(Form.TEXT, Panel.LEDGER, "PERIOD", "2026"),
        help="The time that the counts are of: 2026, 2026-Q1, 2026-07 or 2025-09..2026-08.",
        decides=True,
        recorded=True,
    )
    corrects: Any = parameter(
        *(Form.PATH, Panel.LEDGER, "RELEASE", "release-1"),
        help="Release whose rows these are with labels corrected or columns added: its counts are "
        "written again, unpaid.",
    )
    sheet: str | None = parameter(
        *(Form.TEXT, Panel.FILE, "NAME", "Table 1"),
        help="Sheet of an Excel workbook that has several.",
    )
    last_row: int | None = parameter(
        *(Form.WHOLE, Panel.FILE, "ROW", "103"),
        help="Last row of the table; totals and notes below are left out.",
    )
    leave_out: tuple[int, ...] = parameter(
        *(Form.WHOLES, Panel.FILE, "ROW", "54"),
        help="Row of the file to leave out, such as that of a total.",
    )
    thousands: str | None = parameter(
        *(Form.TEXT, Panel.FILE, "MARK", ","),
        help="Mark between thousands in a CSV file: a comma, point, apostrophe or space.",
        recorded=True,
    )
    decimal: str | None = parameter(
        *(Form.TEXT, Panel.FILE, "MARK", ","),
        help="Mark before decimals in a CSV file: a comma or a point.",
        recorded=True,
    )
    query: str | None = parameter(
        *(Form.TEXT, Panel.FILE, "SQL", "FROM visits"),
        help="SELECT whose result is the table, for a DuckDB database.",
    )
    from_people: bool = parameter(
        *(Form.FLAG, Panel.PEOPLE, ""),
        help="Rows are persons: count them first.",
    )
    by: tuple[str, ...] = parameter(
        *(Form.TEXTS, Panel.PEOPLE, "COLUMN", "county"),
        help="Column of categories to count by; several make one category together.",
    )
    categories: Any = parameter(
        *(Form.PATH, Panel.PEOPLE, "FILE", "counties.csv"),
        help="File that lists every category there is, those with nobody too.",
    )
    per: str | None = parameter(
        *(Form.COLUMN, Panel.PEOPLE, "COLUMN", "person_id"),
        help="Column that says whose row it is: each person counts once.",
    )


FIELDS: dict[str, Parameter] = {
    each.name: replace(each.metadata["parameter"], name=each.name) for each in fields(Declared)
}
"""Everything a run can be asked, in the order in which it is shown."""
