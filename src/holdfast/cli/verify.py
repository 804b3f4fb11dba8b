"""`holdfast verify`: a bundle in, a table of checks and an exit code out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from holdfast.cli.options import explained
from holdfast.cli.screen import show, tabled, working
from holdfast.cli.stopping import End
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.verify.report import Verification


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
