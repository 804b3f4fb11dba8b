"""`holdfast count`: a row per person in, a row per category out."""

from pathlib import Path

from holdfast.cli.options import Text, explained
from holdfast.cli.screen import aside, working
from holdfast.errors import numbered


@explained
def count(file: Path, by: list[str], categories: Path, out: Path, per: Text = None) -> None:
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

    Options:

    FILE: CSV, Parquet or Excel file, one row per person.
    --by COLUMN: Column of categories; more than once for several.
    --categories FILE: File that lists every category there is, including those with nobody.
    --out FILE: New CSV file for the counts: PRIVATE, not to publish.
    --per
    """
    import holdfast
    from holdfast.plan.simulation import read_known
    from holdfast.tables.formats import write_file

    with working("Counting …"):
        counted = holdfast.count_by(file, by=by, categories=categories, per=per)
    write_file(counted, out)
    rows = numbered(len(read_known(counted, count="count").counts), "row")
    aside(f"{rows}, column `count`: true counts in {out}. Do not publish them.")
