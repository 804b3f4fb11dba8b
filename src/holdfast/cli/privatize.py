"""`holdfast privatize`: a file of counts in, a release bundle out."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.choices import NAMES, find_privatizer
from holdfast.cli.ledger import as_dict, sentence
from holdfast.cli.screen import asides, bars, promise, screen, working
from holdfast.cli.streams import Looked, asked_source, is_streamed, look_at, watched
from holdfast.delta import rounded_up
from holdfast.errors import COUNTED, HoldfastError
from holdfast.wording import numbered

if TYPE_CHECKING:
    from holdfast.budget import Budget
    from holdfast.ledger import Balance
    from holdfast.release import Release

BASELINES = {
    "truncated-geometric": "TruncatedGeometric",
    "staircase": "Staircase",
    "discrete-gaussian": "DiscreteGaussian",
}
CONSTRUCTORS = (
    *("automatic", "optimal", "windowed", "best", "max", "min", "sandwich", "unfixed"),
    *BASELINES,
)


def privatize(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV or Parquet file, one row a category; a folder of Parquet files; or, with "
            "--query, a DuckDB database."
        ),
    ],
    epsilon: Annotated[str, typer.Option(help="The whole privacy budget, such as 1.0 or 1/2.")],
    max_count: Annotated[
        str,
        typer.Option(
            help="Highest count published: a number chosen without looking at the data, or "
            "quantile:0.99 to find it privately for a part of the budget."
        ),
    ],
    count: Annotated[str | None, typer.Option(help="Name of the count column.")] = None,
    category: Annotated[
        str | None,
        typer.Option(
            help="Name of the category column: a warning says if a label repeats. It is published "
            "as it is, and each row stays a category of its own."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="New folder for the release.")] = None,
    structural_zero: Annotated[
        str | None, typer.Option(help="Column that marks rows publicly known to be zero.")
    ] = None,
    contributions: Annotated[
        str, typer.Option(help="How much one person may add to one row, at the most.")
    ] = "1",
    bound_epsilon: Annotated[
        str | None, typer.Option(help="What a quantile as --max-count takes of the budget.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Stage 1's share of the budget, or 'paper' for its rule.")
    ] = None,
    privatizer: Annotated[
        str | None,
        typer.Option(help=f"Stage 1: {', '.join(NAMES)}; default: the first."),
    ] = None,
    constructor: Annotated[
        str, typer.Option(help=f"Stage 2: {', '.join(CONSTRUCTORS)}.")
    ] = "automatic",
    delta: Annotated[
        str | None, typer.Option(help="For discrete-gaussian; default: 1 / (rows + 1).")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Ledger that pays for the release; with --dataset.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="Name of these data in the ledger.")] = None,
    stream: Annotated[
        bool | None,
        typer.Option(help="Read and write in batches, never the whole table."),
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="SQL whose result is the table, for a DuckDB database.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything; draw and write nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="SIMULATION ONLY: repeatable draws that protect nobody.")
    ] = None,
) -> None:
    """Turn a table of counts into a private one, with its certificate, in a new folder.

    Examples:

    [bold]holdfast privatize homicides.csv --count homicides --category county
    --max-count 50 --epsilon 1.0 --out release[/bold]

    [bold]holdfast privatize teachers.parquet --count teachers --max-count 80
    --epsilon 0.5 --dry-run[/bold]

    [bold]holdfast privatize visits.csv --count visits --max-count quantile:0.99
    --epsilon 1.0 --bound-epsilon 0.05 --out release[/bold]

    [bold]holdfast privatize visits/ --count visits --max-count 100 --epsilon 1 --out release[/bold]
    streams a folder of Parquet files; so does [bold]warehouse.duckdb --query "FROM visits"[/bold].

    With [bold]--ledger budget.ledger --dataset homicides[/bold] the release is paid for before
    anything is drawn, and one that was made before is written again instead of drawn again.
    """
    import holdfast
    from holdfast.bundle import new_folder

    if out is None and not dry_run:
        raise HoldfastError("`--out` is missing. Hint: name a new folder, or use --dry-run.")
    if out is not None:
        new_folder(out)
    options: dict[str, Any] = {
        "epsilon": epsilon,
        "max_count": _max_count(max_count, bound_epsilon),
        "contributions": _whole(contributions, "contributions"),
        "split": split,
    }
    one_stage = privatizer is None and split is None and constructor in BASELINES
    stage_1 = None if privatizer is None else find_privatizer(privatizer)
    stages = (stage_1, _constructor(constructor, None, delta))
    names: dict[str, Any] = {
        "count": count,
        "category": category,
        "structural_zero": structural_zero,
    }
    if (ledger is None) != (dataset is None):
        raise HoldfastError("`--ledger` and `--dataset` go together: give both, or neither.")
    streamed = is_streamed(file, stream, query)
    if dry_run:
        account = None if ledger is None else _account(ledger, dataset)
        options["one_stage"] = one_stage
        with asked_source(file, query) if streamed else nullcontext(file) as source:
            table = look_at(source, names) if streamed else _look_at(file, names)
        _plan(table, options, stages, account, as_json)
        return
    paid: dict[str, Any] = {"seed": seed, "ledger": ledger, "dataset": dataset}
    chosen = names | options | paid | {"privatizer": stage_1}
    with _saying_if_it_counted():
        if streamed:
            stage_2 = _constructor(constructor, None, delta)
            with asked_source(file, query) as source, watched(quiet=as_json) as progress:
                chosen |= {"constructor": stage_2, "progress": progress}
                release: Any = holdfast.privatize_stream(source, out or "", **chosen)
            folder = release.folder
        else:
            release = _in_memory(file, (constructor, delta), chosen, as_json)
            suffix = "parquet" if file.suffix.lower() in (".parquet", ".pq") else "csv"
            with working("Writing …", quiet=as_json):
                folder = release.save(out or "", table_format=suffix)
    if as_json:
        extra: dict[str, Any] = {"folder": str(folder)}
        if ledger is not None:
            extra["repeated"] = release.repeated
            extra["ledger"] = as_dict(_account(ledger, dataset))
        typer.echo(json.dumps(release.summary() | extra))
        return
    for note in release.notes:
        _warn(note)
    try:
        _show(release, folder)
        if ledger is not None and not release.privacy.simulated:
            _say_what_was_spent(release, _account(ledger, dataset))
    except (OSError, UnicodeError):  # the screen failed, the release did not
        sys.stderr.write(f"The release is in {folder}.\n")


def _in_memory(
    file: Path, constructor: tuple[str, Any], chosen: dict[str, Any], quiet: bool
) -> "Release":
    import holdfast
    from holdfast.constructors.dual_bound import above_the_optimum

    with working("Privatizing (the first run compiles the kernels) …", quiet=quiet) as say:
        stage_2 = _constructor(
            constructor[0],
            lambda step, gap: say(f"Step {step}: {above_the_optimum(gap)} …"),
            constructor[1],
        )
        return holdfast.privatize(file, **chosen, constructor=stage_2)


def _show(release: "Release", folder: Path) -> None:
    from holdfast.release_text import change_in_words

    simulated = release.privacy.simulated
    name = "SIMULATION" if simulated else "released (private)"
    screen.print(promise(release))
    screen.print()
    screen.print(bars([(name, release.distribution)], "Share of rows with each count", width=40))
    screen.print()
    zeros = release.structural_zeros
    extra = f", and {numbered(zeros, 'structural zero')} passed through" if zeros else ""
    screen.print(
        f"Released {numbered(release.rows, 'row')}{extra}. If counts are distributed as the "
        f"release says, one is off by {change_in_words(release.expected_change)} on average.\n"
        f"Published unchanged: {', '.join(release.unchanged_columns) or 'no other column'}.\n"
        f"The release is in {folder}; start with its README.md."
    )
    if simulated:
        screen.print("SIMULATION: a seed was given: this release protects nobody.", style="bold")


@contextmanager
def _saying_if_it_counted() -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if COUNTED in getattr(error, "__notes__", ()):
            asides.print(COUNTED)
        raise


def _account(file: Path, dataset: str | None) -> "Balance":
    from holdfast.ledger import Ledger

    return Ledger(file).balance(dataset or "")


def _say_what_was_spent(release: "Release", balance: "Balance") -> None:
    if release.repeated:
        screen.print(
            "This release was made before: it is the same one, nothing was drawn or spent.",
            style="bold",
        )
        screen.print("Whoever sees it published again learns that the table has not changed.")
    screen.print(sentence(balance))


def _look_at(file: Path, names: dict[str, Any]) -> Looked:
    from holdfast.copies import refuse_copies
    from holdfast.table import read_table

    table = read_table(file, **names)
    refuse_copies(table)
    rows = int((~table.structural_zero).sum())
    return Looked(rows=rows, others=table.others, notes=table.notes)


def _warn(note: str) -> None:
    asides.print(f"{'Warning' if 'repeated values' in note else 'Note'}: {note}.")


def _plan(
    table: Looked,
    options: dict[str, Any],
    stages: tuple[Any, Any],
    account: "Balance | None",
    as_json: bool,
) -> None:
    """Say what a run would do; draws nothing."""
    from holdfast.bound import plan as plan_bound

    rows = table.rows
    highest, budget = plan_bound(options.pop("max_count"), rows, **options)
    delta = _promised_delta(budget, *stages, rows)
    if as_json:
        plan: dict[str, Any] = {"rows": rows, "max_count": highest, "notes": list(table.notes)}
        plan["unchanged_columns"] = list(table.others)
        if account is not None:
            plan["ledger"] = as_dict(account)
        spent = {"epsilon": str(budget.epsilon), "delta": str(delta), "bound": str(budget.bound)}
        spent |= {"stage_1": str(budget.stage_1), "stage_2": str(budget.stage_2)}
        typer.echo(json.dumps({"dry_run": True} | spent | plan))
        return
    for note in table.notes:
        _warn(note)
    search = f"{float(budget.bound):g} on max_count, " if budget.bound else ""
    extra = f" and delta {rounded_up(delta, 3)}" if delta else ""
    top = f"max_count, {highest} at the most" if budget.bound else highest
    screen.print(
        f"The table is in order: {numbered(rows, 'row')}. A run would spend epsilon "
        f"{float(budget.epsilon):g}{extra}: {search}"
        f"{float(budget.stage_1):g} on the distribution of counts, {float(budget.stage_2):g} on "
        f"the counts, and publish counts from 0 to {top}. "
        "Nothing was drawn, nothing was written.\n"
        + (
            f"Published unchanged: {', '.join(table.others)}. Make sure that they do not tell the "
            "counts."
            if table.others
            else "There is no other column to publish."
        )
    )
    if budget.stage_1:
        screen.print(
            "The noise on the distribution of counts would have a standard deviation of "
            f"{_uncertainty(stages[0], budget, rows, highest + 1)} of the rows."
        )
    if account is not None:
        screen.print(sentence(account))
        if budget.epsilon > account.epsilon_left or delta > account.delta_left:
            screen.print("That is not enough, unless this very release was made before.")


def _promised_delta(budget: "Budget", privatizer: Any, constructor: Any, rows: int) -> Fraction:
    """What the ledger would count: delta for one person, before anything is drawn."""
    from holdfast.composition import parts_of

    if hasattr(constructor, "for_release"):
        constructor = constructor.for_release(rows=rows, steps=budget.steps)
    parts = parts_of(budget, privatizer, constructor)
    return sum((part.delta * part.times for part in parts), Fraction(0))


def _uncertainty(privatizer: Any, budget: "Budget", rows: int, bins: int) -> str:
    from holdfast.usefulness import share_uncertainty

    share = min(share_uncertainty(privatizer, budget, rows, bins), 1.0)
    return "less than 1%" if share < 0.01 else f"up to {share:.0%}"


def _constructor(
    name: str, progress: Callable[[int, float], None] | None, delta: str | None
) -> Any:
    from holdfast import constructors

    if name not in CONSTRUCTORS:
        raise HoldfastError(f"`constructor` must be {', '.join(CONSTRUCTORS)}, got {name!r:.40}.")
    if delta is not None and name != "discrete-gaussian":
        raise HoldfastError(
            f"`delta` has no use for {name}. Hint: it belongs to --constructor discrete-gaussian."
        )
    if name in BASELINES:
        from holdfast import baselines

        if delta is not None:
            return baselines.DiscreteGaussian(delta=delta)
        return getattr(baselines, BASELINES[name])()
    if name == "unfixed":
        return constructors.UnfixedOptimum()
    if name == "automatic":
        return constructors.Automatic(progress=progress)
    if name == "optimal":
        return constructors.Optimal(progress=progress, interruptible=False)
    if name == "windowed":
        return constructors.Windowed()
    return constructors.Heuristic(selector=name)


def _max_count(text: str, epsilon: str | None) -> Any:
    from holdfast.private_quantile import PrivateQuantile

    kind, colon, share = text.partition(":")
    if colon and kind.strip() == "quantile":
        return PrivateQuantile(share, epsilon=epsilon)
    if epsilon is not None:
        raise HoldfastError("`bound_epsilon` needs a quantile as max_count, such as quantile:0.99.")
    try:
        return int(text)
    except ValueError:
        raise HoldfastError(
            f"`max_count` must be a whole number or a quantile, got {text!r:.40}. "
            "Hint: digits only, such as 50, or quantile:0.99."
        ) from None


def _whole(text: str, name: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise HoldfastError(
            f"`{name}` must be a whole number, got {text!r:.40}. Hint: digits only, such as 50."
        ) from None
