"""`holdfast derive`: sums of counts, and rates with a public number, from a release."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.former.cli.options import Text, says
from holdfast.former.cli.releases import open_release, verifying
from holdfast.former.cli.screen import asides, working

if TYPE_CHECKING:
    from holdfast.former.analysis.derived.derive import Derived


def derive(
    directory: Annotated[Path, typer.Argument(help="Folder of a release.", metavar="DIR")],
    formula: Annotated[
        str, typer.Argument(help='Such as "rate = homicides per 100,000 of population".')
    ],
    by: Annotated[Text, says("A column: an answer for each group.")] = None,
    where: Annotated[
        str | None, typer.Option(help='Which rows, such as "state == AL"; for the answer.')
    ] = None,
    level: Annotated[float, says("Of the intervals.")] = 0.9,
    out: Annotated[Path | None, says("New CSV file for the table with the derived column.")] = None,
    as_json: Annotated[bool, says("Print one JSON object.", "--json")] = False,
) -> None:
    """Derive a column from a release, with intervals: a sum of counts, or a rate.

    What it prints is the sum, or the rate, of all rows or of groups; --out writes it for every
    row. It is computed from the release alone, so it spends nothing.

    Examples:

    [bold]holdfast derive release "rate = homicides per 100,000 of population" --by state[/bold]

    [bold]holdfast derive release "violent = murder + rape" --out violent.csv[/bold]
    """
    with working(verifying(directory), quiet=as_json) as say:
        release = open_release(directory)
        say("Deriving …")
        found = release.derive(formula, level=level)
        answer = found.ask(where=where, by=by)
        if out is not None:
            _write(found, out)
    if as_json:
        typer.echo(json.dumps(answer.to_dict() | {"rows_notes": list(found.notes)}, default=str))
        return
    typer.echo(str(answer))
    if out is not None:
        for note in found.notes:
            asides.print(f"Note: {note}.")
        typer.echo(f"The table with {', '.join(found.columns())} is in {out}.")


def _write(found: "Derived", out: Path) -> None:
    from holdfast.former.tables.csv import CsvTable
    from holdfast.former.tables.files import write_file

    columns: dict[str, list[Any]] = found.table_columns()
    cells = [["" if cell is None else str(cell) for cell in column] for column in columns.values()]
    write_file(CsvTable(tuple(columns), [list(row) for row in zip(*cells, strict=True)]), out)
