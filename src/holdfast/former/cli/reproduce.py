"""`holdfast reproduce`: the paper's experiments again, its numbers beside ours."""

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.errors import HoldfastError
from holdfast.former.cli.options import Jobs, says, whole
from holdfast.former.cli.screen import asides, screen, tabled

if TYPE_CHECKING:
    from holdfast.former.studies.reproduce import Outcome

SHOWN = 90  # characters of what was found, in the terminal


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments; default: all. --list shows them.")
    ] = None,
    data: Annotated[
        Path | None, says("Folder of the data; what is not there is made or left out.")
    ] = None,
    out: Annotated[Path, says("Folder for results, figures, report.")] = Path("results"),
    full: Annotated[bool, says("The paper's replications.", "--full")] = False,
    quick: Annotated[bool, says("Fewer; the default.", "--quick")] = False,
    jobs: Jobs = None,
    resume: Annotated[bool, says("Go on with the results that are in --out.", "--resume")] = False,
    listed: Annotated[bool, says("List the experiments and stop.", "--list")] = False,
) -> None:
    """Run the paper's experiments again and set its numbers beside ours.

    Results grow in --out as they come: a killed run goes on with --resume, and ends with the
    same bytes (times excepted).

    Examples:

    [bold]holdfast reproduce --data data --out results[/bold]

    [bold]holdfast reproduce accuracy runtime --full --data data --out results --resume[/bold]
    """
    from holdfast.former.studies.plots import require_matplotlib
    from holdfast.former.studies.reproduce import EXPERIMENTS, FULL, QUICK
    from holdfast.former.studies.reproduce import reproduce as run_all

    if listed:
        for experiment in EXPERIMENTS.values():
            screen.print(f"{experiment.name:<18} {experiment.title}")
        return
    if full and quick:
        raise HoldfastError("give --full or --quick, not both.")
    if resume and not any(out.glob("*.jsonl")):
        asides.print(f"There is nothing in `{out}` to resume: this run starts over.")
    require_matplotlib()  # before the work, not after it
    try:
        outcome = run_all(
            names or (),
            out=out,
            data=data,
            effort=FULL if full else QUICK,
            jobs=None if jobs is None else whole(jobs, "jobs"),
            resume=resume,
            progress=asides.is_terminal,
        )
    except KeyboardInterrupt:
        raise HoldfastError("stopped; the same command with --resume goes on from here.") from None
    _show(outcome)


def _show(outcome: "Outcome") -> None:
    from holdfast.former.studies.reproduce import Verdict

    differ = [claim for claim in outcome.claims if claim.counts_as is Verdict.DIFFERS]
    if differ:
        headings, title = ("what", "paper", "here"), "Where the paper and this run differ"
        rows = [(c.what, c.paper, shorten(c.here, SHOWN, placeholder=" …")) for c in differ]
        screen.print(tabled(headings, rows, title=title, left=headings))
        screen.print("The reasons, and whatever was cut short here, are in the report.")
    agree = sum(claim.counts_as is Verdict.AGREES for claim in outcome.claims)
    screen.print(f"{agree} of {len(outcome.claims)} numbers and statements of the paper agree.")
    if outcome.left_out:
        screen.print(f"Left out, no data: {', '.join(outcome.left_out)}. Hint: name their --data.")
    screen.print(f"The report is {outcome.report}.")
