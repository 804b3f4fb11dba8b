"""`holdfast verify`: a bundle in, a table of checks and an exit code out."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.errors import HoldfastError
from holdfast.former.cli.options import says
from holdfast.former.cli.releases import verifying
from holdfast.former.cli.screen import screen, tabled, working
from holdfast.former.cli.stopping import End

if TYPE_CHECKING:
    from holdfast.former.verify.report import Verification


def verify(
    folder: Annotated[Path, typer.Argument(help="Folder of a release.")],
    as_json: Annotated[bool, says("Print one JSON object.", "--json")] = False,
) -> None:
    """Recompute everything that a release claims.

    Exit code 0: all of it holds. 1: the release is damaged. 2: there is no folder to look at. 3:
    all of it holds, but the release is a simulation and protects nobody. 4: it could not be
    checked here, because another holdfast made it or something is missing on this machine, or
    because its privacy is partly its author's word: a stage 1 that is not holdfast's, or a column
    of other counts beside its own.

    Uses code of its own, apart from the code that makes releases, and runs nothing that is in
    the folder. It cannot tell who made the release, nor whether the true table went into it.

    Examples:

    [bold]holdfast verify release[/bold]

    [bold]holdfast verify release --json | jq .passed[/bold]
    """
    from holdfast.former.verify import verify as run

    _check_readable(folder)
    with working(verifying(folder), quiet=as_json):
        report = run(folder)
    if as_json:
        typer.echo(json.dumps(report.to_dict()))
    else:
        _show(report)
    raise typer.Exit(_exit_code(report))


def _show(report: "Verification") -> None:
    screen.print(_verdict(report), style="bold")
    for warning in report.warnings:
        screen.print(f"Warning: {warning}")
    results = {True: "passed", False: "FAILED", None: "-"}
    rows = [
        (check.name, "claimed" if check.claimed else results[check.passed], check.detail)
        for check in report.checks
    ]
    headings, title = ("check", "result", "what was found"), f"Checks of {report.folder}"
    screen.print(tabled(headings, rows, title=title, left=headings, overflow="fold"))


def _exit_code(report: "Verification") -> int:
    from holdfast.former.verify.report import Failure

    if report.failure is None:
        done = End.NOT_CHECKED if report.claimed else End.DONE
        return End.SIMULATED if report.simulated else done
    return End.FALSE if report.failure is Failure.DAMAGE else End.NOT_CHECKED


def _check_readable(folder: Path) -> None:
    if not folder.is_dir():
        raise HoldfastError(f"there is no folder `{folder}`. Hint: name the folder of a release.")
    try:
        os.listdir(folder)
    except OSError as error:
        raise HoldfastError(f"`{folder}` cannot be read ({error.strerror}).") from None


def _verdict(report: "Verification") -> str:
    from holdfast.former.verify.report import Failure

    words = {
        None: "Everything that this release claims was recomputed and holds.",
        Failure.DAMAGE: "This release is damaged. Get it again from its maker.",
        Failure.OTHER_SCHEMA: "Another version of holdfast made this release; it was not checked.",
        Failure.MACHINE: "This release could not be checked on this machine.",
    }[report.failure]
    if report.failure is None and report.warnings:
        words = "What was recomputed holds, with a warning."
    if report.failure is None and report.claimed:
        words = (
            "What can be recomputed holds; what is marked as claimed is its author's word alone."
        )
    if report.simulated:
        return f"SIMULATION: a seed was given, so this release protects nobody. {words}"
    return words
