"""`holdfast paper`: the framework on a file, its second reader, the paper's experiments."""

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.paper.experiments import Outcome
    from holdfast.paper.framework import Result

SHOWN = 90  # characters of a result, in the terminal
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback can show counts
    help="The paper's framework: privatize, verify, reproduce.",
)


def _says(words: str, *names: str, takes: str = "TEXT") -> Any:
    return typer.Option(*names, help=words, metavar=takes)


def _argument(words: str, name: str) -> Any:
    return typer.Argument(help=words, metavar=name, show_default=False)


@app.command()
def privatize(
    file: Annotated[Path, _argument("A table: CSV, Parquet or Excel.", "FILE")],
    epsilon: Annotated[str, _says("The whole budget.", takes="NUMBER")],
    n: Annotated[
        str,
        _says("Counts of n - 1 or more become n - 1; or a share such as q0.99, found privately."),
    ],
    out: Annotated[Path, _says("Folder for the table, z, weights, record.", takes="FOLDER")],
    count: Annotated[str | None, _says("Column of counts.", takes="COLUMN")] = None,
    category: Annotated[str | None, _says("Column of names, published.", takes="COLUMN")] = None,
    privatizer: Annotated[
        str | None,
        _says("Such as Privelet; default: CyclicLaplace where one is needed; or module:NAME."),
    ] = None,
    constructor: Annotated[
        str, _says("Such as Optimal or Heuristic(selector='sandwich'); your own is module:NAME.")
    ] = "Optimal",
    split: Annotated[
        str | None, _says("Stage 1's share; default: the rule of thumb.", takes="SHARE")
    ] = None,
    publish_anyway: Annotated[
        list[str] | None, _says("What gives counts away and is published all the same.")
    ] = None,
    seed: Annotated[
        int | None, _says("Makes a simulation, which protects nobody.", takes="NUMBER")
    ] = None,
    ledger: Annotated[Path | None, _says("Ledger that pays first.", takes="FILE")] = None,
    dataset: Annotated[str | None, _says("What it calls these people's data.")] = None,
) -> None:
    """Privatize a table by the paper's five steps.

    For one person who adds 1 to one row. This is not the noise-first release: holdfast privatize
    is the command for that.

        holdfast paper privatize deaths.csv --count deaths --epsilon 1 --n 51 --out result
    """
    from holdfast.ledger.ledger import Ledger
    from holdfast.paper import framework, naming
    from holdfast.paper.constructors.construction import as_constructor
    from holdfast.release.bundle import check_place

    check_place(out)
    column, counts, names = _read(file, count, category, publish_anyway or [])
    build = naming.find_part(constructor, naming.CONSTRUCTORS, "constructor")
    if privatizer is None and not as_constructor(build).one_stage:
        privatizer = "CyclicLaplace"
    stage_1 = privatizer and naming.find_part(privatizer, naming.PRIVATIZERS, "privatizer")
    result = framework.privatize(
        counts,
        epsilon,
        _bound(n),
        stage_1,
        build,
        split=split,
        seed=seed,
        ledger=ledger and Ledger(ledger).telling(file=file, column=count or "", folder=out),
        dataset=dataset,
    )
    result.save(out, {column: names} if names else None)
    _show_result(result, out)


@app.command()
def verify(
    folder: Annotated[Path, _argument("Folder of a result.", "FOLDER")],
) -> None:
    """Check the table, z, the weights and their certificate, in exact arithmetic.

    Exit code 0: all of it holds. 1: something does not. 3: all of it holds, but it is a simulation
    and protects nobody. The reader has code of its own.

        holdfast paper verify result
    """
    from holdfast.paper.second_reader import verify as check_folder

    report = check_folder(folder)
    for check in report.checks:
        typer.echo(f"{'holds' if check.passed else 'DOES NOT HOLD':<14}{check.name}")
        for words in filter(None, (check.detail, check.warning)):
            typer.echo(f"{'':<14}{words}")
    if not report.passed:
        raise typer.Exit(1)
    if report.simulated:
        typer.echo("SIMULATION: a seed made it repeatable, so it protects nobody.")
        raise typer.Exit(3)


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, _argument("Experiments; default: all. --list shows them.", "[NAME …]")
    ] = None,
    data: Annotated[
        Path | None,
        _says("Folder of the data; what is not there is made or left out.", takes="FOLDER"),
    ] = None,
    out: Annotated[Path, _says("Folder for results, figures, report.", takes="FOLDER")] = Path(
        "results"
    ),
    full: Annotated[bool, _says("The paper's replications, or fewer.", "--full/--quick")] = False,
    jobs: Annotated[int | None, _says("Processes; default: all cores.", takes="NUMBER")] = None,
    resume: Annotated[bool, _says("Go on with the results that are in --out.", "--resume")] = False,
    listed: Annotated[bool, _says("List the experiments and stop.", "--list")] = False,
) -> None:
    """Run the paper's experiments again and set its numbers beside ours.

    Results grow in --out as they come: a killed run goes on with --resume, and ends with the same
    bytes (times excepted).

        holdfast paper reproduce --data data --out results

        holdfast paper reproduce frontier --data data --out results --resume
    """
    from holdfast.paper.experiments import EXPERIMENTS, FULL, QUICK
    from holdfast.paper.experiments import reproduce as run_all
    from holdfast.paper.experiments.drawing import require_matplotlib

    if listed:
        for experiment in EXPERIMENTS.values():
            typer.echo(f"{experiment.name:<18} {experiment.title}")
        return
    require_matplotlib()  # before the work, not after it
    try:
        outcome = run_all(
            names or (),
            out=out,
            data=data,
            effort=FULL if full else QUICK,
            jobs=jobs,
            resume=resume,
            progress=True,
        )
    except KeyboardInterrupt:
        raise HoldfastError("stopped; the same command with --resume goes on from here.") from None
    _show_outcome(outcome)


def _read(
    file: Path, count: str | None, category: str | None, anyway: list[str]
) -> tuple[str, list[int], list[Any]]:
    """The name of the category, the counts, and the names of the rows."""
    from holdfast.tables.table import open_table

    table = open_table(
        file, count=(count,) if count else (), category=category, publish_anyway=anyway
    )
    (column,) = table.counts
    if table.missing[column]:
        raise HoldfastError(
            f"column `{column}` has cells without a count. Hint: the paper's framework takes a "
            "count for every row; holdfast privatize takes missing ones."
        )
    counts, names = list[int](), list[Any]()
    for batch in table.batches(published=True):
        counts += batch.counts[column].tolist()
        names += [] if category is None else batch.rows.cells(category)
    return category or "", counts, names


def _bound(text: str) -> Any:
    """n: a number, or a quantile to be found privately.

    >>> _bound("51"), str(_bound("q0.9").q)
    (51, '9/10')
    """
    if text.startswith("q"):
        from holdfast.paper.privatizers import PrivateQuantile

        return PrivateQuantile(text[1:])
    try:
        return int(text)
    except ValueError:
        raise HoldfastError(
            f"`n` must be a whole number or such as q0.99, got {text!r:.40}."
        ) from None


def _show_result(result: "Result", out: Path) -> None:
    budget = f"epsilon {result.epsilon} = {result.epsilon_1} + {result.epsilon_2}"
    for_n = f" + {result.epsilon_n} for n" if result.epsilon_n else ""
    delta = f", delta {float(result.delta):.3g}" if result.delta else ""
    if result.simulated:
        typer.echo("SIMULATION: a seed was given, so this protects nobody.")
    typer.echo(f"{len(result.counts):,} rows, n = {result.n}, {budget}{for_n}{delta}")
    typer.echo(f"privatizer:  {result.privatizer}\nconstructor: {result.constructor}")
    proved = float(result.certificate.epsilon)
    typer.echo(f"certified:   epsilon_2 <= {proved:.9g} by the integer weights")
    typer.echo(f"The table, z, the weights and their certificate are in {out}.")


def _show_outcome(outcome: "Outcome") -> None:
    from holdfast.paper.experiments import Verdict

    differ = [claim for claim in outcome.claims if claim.counts_as is Verdict.DIFFERS]
    for claim in differ:
        here = shorten(claim.here, SHOWN, placeholder=" …")
        typer.echo(f"differs: {claim.what}: paper {claim.paper}, here {here}")
    agree = sum(claim.counts_as is Verdict.AGREES for claim in outcome.claims)
    typer.echo(f"{agree} of {len(outcome.claims)} numbers and statements of the paper agree.")
    if outcome.left_out:
        typer.echo(f"Left out, no data: {', '.join(outcome.left_out)}. Hint: name their --data.")
    typer.echo(f"The report is {outcome.report}; it has the reasons for what differs.")
