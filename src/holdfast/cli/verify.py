"""`holdfast verify`: a bundle in, a table of checks and an exit code out."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from holdfast.cli.screen import screen, working
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.verify.report import Verification


def verify(
    folder: Annotated[Path, typer.Argument(help="Folder of a release.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Recompute everything that a release claims; exit code 0 if all of it holds, 1 if not.

    Exit code 2 if there is no folder to look at.

    Uses code of its own, apart from the code that makes releases, and runs nothing that is in
    the folder. It cannot tell who made the release, nor whether the true table went into it.

    Examples:

    [bold]holdfast verify release[/bold]

    [bold]holdfast verify release --json | jq .passed[/bold]
    """
    from holdfast.verify import verify as run

    _check_readable(folder)
    with working("Verifying …", quiet=as_json):
        report = run(folder)
    if as_json:
        typer.echo(json.dumps(report.to_dict()))
    else:
        table = Table(title=f"Checks of {folder}", title_justify="left")
        for heading in ("check", "result", "what was found"):
            table.add_column(heading, overflow="fold")
        for check in report.checks:
            result = {True: "passed", False: "FAILED", None: "-"}[check.passed]
            table.add_row(check.name, result, check.detail)
        screen.print(table)
        screen.print(_verdict(report))
        if report.simulated:
            screen.print(
                "SIMULATION: a seed was given: this release protects nobody.", style="bold"
            )
    raise typer.Exit(0 if report else 1)


def _check_readable(folder: Path) -> None:
    if not folder.is_dir():
        raise HoldfastError(f"there is no folder `{folder}`. Hint: name the folder of a release.")
    try:
        os.listdir(folder)
    except OSError as error:
        raise HoldfastError(f"`{folder}` cannot be read ({error.strerror}).") from None


def _verdict(report: "Verification") -> str:
    if report:
        return "Everything that this release claims was recomputed and holds."
    if any(check.name == "schema" and "newer holdfast" in check.detail for check in report.checks):
        return "This release was made by a newer holdfast and was not checked. Upgrade holdfast."
    return "This release is damaged. Get it again from its maker."
