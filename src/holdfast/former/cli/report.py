"""`holdfast report`: what a release says, for people."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.errors import HoldfastError
from holdfast.former.cli.options import Text, says
from holdfast.former.cli.releases import has_several, verifying
from holdfast.former.cli.screen import asides, working

if TYPE_CHECKING:
    from holdfast.former.analysis.report.content import Cover

FORMATS = ("html", "md", "json", "xlsx")


def report(
    directory: Annotated[Path, typer.Argument(help="Folder of a release.", metavar="DIR")],
    out: Annotated[
        Path | None,
        says("File to write; default DIR-report.html or .xlsx, or the screen for md and json."),
    ] = None,
    form: Annotated[
        Text, says("html, md, json or xlsx; default: as --out ends, or html.", "--format")
    ] = None,
    with_intervals: Annotated[
        bool, says("Also write the table with an interval per row.", "--with-intervals")
    ] = False,
    level: Annotated[float, says("Of the intervals.")] = 0.9,
    title: Annotated[Text, says("What the table is, for the heading.")] = None,
    by: Annotated[Text, says("Who publishes it.")] = None,
    date: Annotated[Text, says("When, as it is to be printed.")] = None,
    purpose: Annotated[Text, says("What the release is for.")] = None,
) -> None:
    """Write a report of a release: what was promised, what it says, how sure, what not to do.

    The report comes from the folder alone; the HTML is one file that asks the network for
    nothing. The Excel workbook is a copy with the table, its intervals, the distribution and
    answers; the folder stays what is published.

    Examples:

    [bold]holdfast report release[/bold]

    [bold]holdfast report release --with-intervals --out report.html[/bold]

    [bold]holdfast report release --title "Homicides by county" --by "Department of Health"[/bold]

    [bold]holdfast report release --format md[/bold]

    [bold]holdfast report release --format xlsx[/bold]
    """
    import holdfast.former as holdfast
    from holdfast.former.analysis.report.content import Cover
    from holdfast.former.analysis.report.several_table import several_with_intervals
    from holdfast.former.analysis.report.table import as_text, table_with_intervals
    from holdfast.former.tables.files import write_file, write_whole

    ending = "" if out is None else out.suffix.removeprefix(".").lower()
    form = form or (ending if ending in FORMATS else "html")
    if form not in FORMATS:
        raise HoldfastError(f"`--format` must be html, md, json or xlsx, got {form!r:.40}.")
    name = directory.resolve().name
    place = out or (Path(f"{name}-report.{form}") if form in ("html", "xlsx") else None)
    stem = place or Path(f"{name}-report")
    table = stem.with_name(f"{stem.stem}-intervals.csv") if with_intervals else None
    for path in (place, table):
        if path is not None:
            _check_new(path)
    cover = Cover(title=title, by=by, date=date, purpose=purpose)
    several = has_several(directory)
    with working(verifying(directory), quiet=form == "json") as say:
        release: Any = (holdfast.load_table if several else holdfast.load)(directory)
        say("Answering …")
        made = _dress(release, several, level, form, cover)
    if table is not None:
        make_table = several_with_intervals if several else table_with_intervals
        columns, notes = make_table(release, level)
        write_file(as_text(columns), table)
        for note in notes:
            asides.print(f"Note: {note}.")
        asides.print(f"Table with intervals: {table}")
    if place is None:
        typer.echo(made, nl=False)
        return
    write_whole(place, made)
    typer.echo(f"Report: {place}")


def _dress(release: Any, several: bool, level: float, form: str, cover: "Cover") -> bytes:
    from holdfast.former.analysis.report import blocks, content, workbook

    if form == "xlsx":
        make_book = workbook.workbook_of_several if several else workbook.workbook
        return make_book(release, level, cover)
    said = (content.report_of_several if several else content.report)(release, level, cover)
    if form == "json":
        return (json.dumps(said, indent=1, default=str) + "\n").encode()
    return (blocks.markdown if form == "md" else blocks.html)(said).encode()


def _check_new(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise HoldfastError(f"`{path}` exists already. Hint: name another with --out.")
    if not path.parent.is_dir():
        raise HoldfastError(f"the folder `{path.parent}` does not exist. Hint: make it first.")
