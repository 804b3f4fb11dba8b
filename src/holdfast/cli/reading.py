"""What a reader does with a release: `holdfast ask`, `regroup`, `report` and `verify`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from holdfast.cli.options import Text, Texts, check_new, explained
from holdfast.cli.screen import aside, show, tabled, watched, working
from holdfast.cli.stopping import End
from holdfast.errors import HoldfastError
from holdfast.request import FIELDS

if TYPE_CHECKING:
    from holdfast.verify.report import Verification


@explained
def ask(
    directory: Path,
    question: list[str],
    level: float = 0.9,
    against: Path | None = None,
    sort: bool = False,
    out: Path | None = None,
    as_json: bool = False,
    **said: Any,
) -> None:
    """Ask a release a question; the answer says how sure it is.

    Questions: {questions} · top 10 · row A (what it may truly have) · compare A with B · total of
    A, B, C · mean of A; of two columns of counts correlation of A and B, ratio of A and B;
    homicides ~ log(population); with --against also changes.

    Examples:

        holdfast ask release "share zero"

        holdfast ask release "mean" --where "population < 5000" --by state

        holdfast ask release "mean" --where "state == AL" --less "state == CA"

        holdfast ask release-2026 "share zero" --against release-2025

    Options:

    DIR
    QUESTION: Such as "share zero", "mean", "top 10".
    --where CONDITION: Which rows, such as "state == AL and population < 5000".
    --by COLUMN…: A column: an answer for each group.
    --less CONDITION: Other rows: the answer about those of --where, less that about these.
    --against DIR: Folder of an earlier release of the same table: what changed since.
    --of COLUMN…: The column of counts that is meant, where there are several.
    --count COLUMN…: The same as --of.
    --label COLUMN: Column that names the rows; default: the category.
    --level SHARE
    --sort: With --by: the highest answer first.
    --out FILE: Also write the answers as a new CSV file.
    --json
    """
    import holdfast

    if out is not None:
        check_new(out)
    said["of"] = [*(said["of"] or []), *(said.pop("count") or [])]
    how: dict[str, Any] = {name: _plain(value) for name, value in said.items() if value}
    with working("Reading …", quiet=as_json) as say:
        release = holdfast.load(directory)
        if against is not None:
            how["against"] = holdfast.load(against)
        say("Answering …")
        answer = release.ask(" ".join(question), level=level, **how)
    if sort and "by" in how:
        answer = answer.sorted()
    if out is not None:
        _write(answer, out)
    if as_json:
        simulated = {"simulated": release.promise.simulated}
        typer.echo(json.dumps(answer.to_dict() | simulated, default=str))
        return
    typer.echo(str(answer))
    if out is not None:
        typer.echo(f"The answers are in {out}.")


@explained
def regroup(directory: Path, out: Path, within: Texts = None, relations: bool = False) -> None:
    """Match a release again: within other groups of public columns, or with relations between its
    columns of counts. Costs nothing.

    Each group then has a distribution of its own in the table. It is computed from what was
    measured, so nothing is read of the true counts and nothing is spent.

    Example:

        holdfast regroup release --within region --out release-by-region

    Options:

    DIR
    --out
    --within
    --relations
    """
    import holdfast

    with working("Reading …") as say:
        release = holdfast.load(directory)
        say("Matching …")
        again = release if within is None else release.by(FIELDS["within"].read(within))
        folder = (again.related() if relations else again).save(out)
    show(f"The release, matched again, is in {folder}; nothing was spent.")


def _plain(said: str | list[str]) -> str | list[str]:
    """A name by itself where there is only one."""
    return said[0] if isinstance(said, list) and len(said) == 1 else said


def _write(answer: Any, out: Path) -> None:
    """The columns of an answer as a CSV file."""
    from holdfast.tables.csv import CsvTable
    from holdfast.tables.formats import write_file
    from holdfast.tables.source import ListRows

    columns: dict[str, list[Any]] = answer.columns()
    cells = [["" if cell is None else str(cell) for cell in column] for column in columns.values()]
    write_file(CsvTable(ListRows(tuple(columns), cells)), out)


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
    from holdfast.tables.formats import write_whole

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


@explained
def verify(directory: Path, as_json: bool = False) -> None:
    """Recompute all that follows from the measurement of a release.

    Exit code 0: all of it holds. 1: the release is damaged. 2: there is no folder to look at. 3:
    all of it holds, but the release is a simulation and protects nobody. 4: it could not be
    checked here.

    It has code of its own, apart from the code that makes releases, and runs nothing that is in
    the folder. It cannot tell who made the release, nor whether the true table went into it.

    Examples:

        holdfast verify release

        holdfast verify release --json | jq .passed

    Options:

    DIR
    --json
    """
    import holdfast
    from holdfast.verify.report import Failure

    if not directory.is_dir():
        raise HoldfastError(f"there is no folder `{directory}`. Hint: name that of a release.")
    with working("Verifying …", quiet=as_json):
        report = holdfast.verify(directory)
    if as_json:
        typer.echo(json.dumps(report.to_dict()))
    else:
        _show(report)
    if report.failure is None:
        raise typer.Exit(End.SIMULATED if report.simulated else End.DONE)
    damaged = report.failure in (Failure.DAMAGE, Failure.BESIDE)
    raise typer.Exit(End.FALSE if damaged else End.NOT_CHECKED)


def _show(report: "Verification") -> None:
    warning = "SIMULATION: a seed was given, so this release protects nobody. "
    show(warning * bool(report.simulated) + report.verdict, style="bold")
    for warning in report.warnings:
        show(f"Warning: {warning}")
    results = {True: "holds", False: "DOES NOT HOLD", None: "not checked"}
    rows = [(check.name, results[check.passed], check.detail) for check in report.checks]
    headings, title = ("check", "result", "what was found"), f"Checks of {report.folder}"
    show(tabled(headings, rows, title=title, left=headings, overflow="fold"))
