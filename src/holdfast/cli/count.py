"""`holdfast count`: a row per person in, a row per category out."""

from pathlib import Path
from typing import Annotated

from holdfast.cli.options import Text, argument, says
from holdfast.cli.screen import aside, working
from holdfast.errors import numbered

Persons = Annotated[Path, argument("CSV, Parquet or Excel file, one row per person.", "FILE")]
By = Annotated[list[str], says("Column of categories; more than once for several.", takes="COLUMN")]
Categories = Annotated[
    Path,
    says("File that lists every category there is, including those with nobody.", takes="FILE"),
]
Out = Annotated[Path, says("New file for the counts: PRIVATE, not to publish.", takes="FILE")]
Per = Annotated[
    Text, says("Column that says whose row it is: each person counts once.", takes="COLUMN")
]


def count(file: Persons, by: By, categories: Categories, out: Out, per: Per = None) -> None:
    """Count people by category. The counts are the true ones: privatize them before publishing.

    The categories are listed, not found in the data: a category that appears only because one
    person is in it gives that person away. Their order is the order of the counts.

    Examples:

        holdfast count people.csv --by county --categories counties.csv --out counts.csv

        holdfast count visits.csv --by county --categories counties.csv --per person_id
        --out counts.csv

    Without a file of true counts:

        holdfast privatize people.csv --from-people --by county --categories counties.csv
        --epsilon 1 --out release
    """
    import holdfast
    from holdfast.plan.known import read_known
    from holdfast.tables.files import write_file

    with working("Counting …"):
        counted = holdfast.count_by(file, by=by, categories=categories, per=per)
    write_file(counted, out)
    rows = numbered(len(read_known(counted, count="count").counts), "row")
    aside(f"{rows}, column `count`: true counts in {out}. Do not publish them.")
