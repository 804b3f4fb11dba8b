"""`holdfast count`: a row per person in, a row per category out."""

from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.errors import HoldfastError, numbered
from holdfast.former.cli.options import Text, says
from holdfast.former.cli.screen import asides

By = Annotated[list[str], says("Column of categories; more than once for several.")]
Categories = Annotated[
    Path, says("File that lists every category there is, including those with nobody.")
]
Per = Annotated[Text, says("Column that identifies the person: each then counts once.")]


def count(
    file: Annotated[Path, typer.Argument(help="CSV, Parquet or Excel file, one row per person.")],
    by: By,
    categories: Categories,
    out: Annotated[Path, says("New file for the counts: PRIVATE, not to publish.")],
    per: Per = None,
) -> None:
    """Count people by category. The counts are the true ones: privatize them before publishing.

    The categories are listed, not found in the data: a category that appears only because one
    person is in it gives that person away. Their order is the order of the counts.

    Examples:

    [bold]holdfast count people.csv --by county --categories counties.csv --out counts.csv[/bold]

    [bold]holdfast count visits.csv --by county --categories counties.csv --per person_id
    --out counts.csv[/bold]

    Without a file of true counts: [bold]holdfast privatize people.csv --from-people --by county
    --categories counties.csv --max-count 50 --epsilon 1 --out release[/bold]
    """
    import holdfast.former as holdfast
    from holdfast.former.tables.table import read_table, write_file

    counted = holdfast.count_by(file, by=by, categories=categories, per=per)
    write_file(counted, out)
    rows = numbered(len(read_table(counted, count="count").counts), "row")
    asides.print(f"{rows}, column `count`: true counts in {out}. Do not publish them.")


def counted(
    file: Any, by: list[str] | None, categories: Path | None, per: str | None
) -> tuple[Any, dict[str, Any]]:
    """People as a table of counts, and what its columns are."""
    import holdfast.former as holdfast

    if not by or categories is None:
        raise HoldfastError(
            "`--from-people` needs `--by` and `--categories`. Hint: the column of categories, and "
            "a file that lists all of them."
        )
    table = holdfast.count_by(file, by=by, categories=categories, per=per)
    names = {"count": "count", "category": by[0], "keep": by[1:]}
    return table, names | {"repeated_categories": len(by) > 1}
