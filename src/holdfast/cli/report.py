"""`holdfast report`: what a release says, for people."""

from pathlib import Path

import typer

from holdfast.cli.options import Text, check_new, explained
from holdfast.cli.screen import aside, watched
from holdfast.errors import HoldfastError

FORMATS = ("html", "md", "json", "xlsx")


@explained
def report(
    directory: Path, out: Path | None = None, form: Text = None, level: float = 0.9, **said: Text
) -> None:
    """Write a report of a release: what was promised, what it says, how sure, what not to do.

    The report comes from the folder alone; the HTML is one file that asks the network for
    nothing. The Excel workbook is a copy with the table, its intervals, the distribution and
    answers; the folder stays what is published.

    Examples:

        holdfast report release --title "Homicides by county" --by "Department of Health"

        holdfast report release --format xlsx

    Options:

    DIR
    --out FILE: File to write; default: DIR-report.html or .xlsx, or the screen for md and json.
    --format FORMAT: html, md, json or xlsx; default: as --out ends, or html.
    --level SHARE
    --title TEXT: What the table is, for the heading.
    --by TEXT: Who publishes it.
    --date TEXT: When, as it is to be printed.
    --purpose TEXT: What the release is for.
    """
    import holdfast
    from holdfast.answers.report import Cover, written
    from holdfast.tables.sources import write_whole

    ending = "" if out is None else out.suffix.removeprefix(".").lower()
    form = form or ending or "html"
    if form not in FORMATS:
        raise HoldfastError(
            f"`--format`, or the ending of `--out`, must be html, md, json or xlsx, got "
            f"{form!r:.40}."
        )
    name = directory.resolve().name
    place = out or (Path(f"{name}-report.{form}") if form in ("html", "xlsx") else None)
    if place is not None:
        check_new(place)
    with watched(quiet=place is None) as progress:
        made = written(holdfast.load(directory), form, level, Cover(**said), progress)
    if place is None:
        typer.echo(made, nl=False)
        return
    write_whole(place, made if isinstance(made, bytes) else made.encode())
    aside(f"Report: {place}")
