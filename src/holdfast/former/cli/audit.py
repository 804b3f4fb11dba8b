"""`holdfast audit`: test a privacy claim."""

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.errors import CertificateError, HoldfastError
from holdfast.former.cli.choices import find_privatizer
from holdfast.former.cli.options import Text, says
from holdfast.former.cli.screen import asides, screen
from holdfast.former.cli.stopping import End

if TYPE_CHECKING:
    from holdfast.former.studies.audit import Audit

TABLE, NEIGHBOUR, MAX_COUNT = "[0, 1, 2]", "[1, 1, 2]", 4


def audit(
    what: Annotated[
        str | None, typer.Argument(help="Folder of a release, module:function, or a ptable.csv.")
    ] = None,
    pipeline: Annotated[
        bool, says("Audit holdfast's own release, both stages.", "--pipeline")
    ] = False,
    epsilon: Annotated[Text, says("The claim.")] = None,
    delta: Annotated[str, says("The claim; 0 for pure privacy.")] = "0",
    table: Annotated[Text, says("What the mechanism takes, as JSON.")] = None,
    neighbour: Annotated[Text, says("The same with one person more or less, as JSON.")] = None,
    draws: Annotated[int, says("Draws from each of the two tables.")] = 100_000,
    confidence: Annotated[float, says("Probability that the bound holds.")] = 0.99,
    batched: Annotated[bool, says("The function takes (table, size).", "--batched")] = False,
    max_count: Annotated[int, says("With --pipeline.")] = MAX_COUNT,
    split: Annotated[Text, says("With --pipeline: stage 1's share of the budget.")] = None,
    privatizer: Annotated[
        Text, says("With --pipeline: stage 1; cumulative-isotonic, the fastest, by default.")
    ] = None,
    within: Annotated[Text, says("With --pipeline: the group of each row, as JSON.")] = None,
    as_json: Annotated[bool, says("Print one JSON object.", "--json")] = False,
) -> None:
    """Test a privacy claim: exactly on a release's matrix, with draws on anything else.

    Exit code 1 if the claim is refuted. A claim that is not refuted is not proved.

    Examples:

    [bold]holdfast audit release[/bold]

    [bold]holdfast audit --pipeline --epsilon 1 --draws 20000[/bold]

    [bold]holdfast audit --pipeline --epsilon 1 --within '["a", "a", "b"]' --max-count 2[/bold]

    [bold]holdfast audit mymodule:noisy --table 5 --neighbour 6 --epsilon 1[/bold]

    [bold]holdfast audit ptable.csv --epsilon 1[/bold] (a perturbation table of the cell-key method)
    """
    options = {"epsilon": epsilon, "delta": delta, "draws": draws, "confidence": confidence}
    if (what is None) != pipeline:
        raise HoldfastError(
            "name one thing to audit. Hint: the folder of a release, module:function, "
            "or --pipeline."
        )
    if pipeline:
        if epsilon is None:
            raise HoldfastError("`--epsilon` is missing. Hint: the budget of the release.")
        tables = _tables(table or TABLE, neighbour or NEIGHBOUR)
        stages = {"max_count": max_count, "split": split}
        found = _pipeline(tables, options, stages, privatizer, within, as_json)
    elif Path(str(what)).is_file():
        found = _ptable(Path(str(what)), epsilon, delta)
    elif ":" in str(what) and not Path(str(what)).is_dir():
        function, tables = _function(str(what)), _tables(table, neighbour)
        found = _drawn(function, tables, options, as_json, batched=batched)
    else:
        found = _release(Path(str(what)))
    _show(found, as_json)
    if found.violation:
        raise typer.Exit(End.FALSE)


def _ptable(file: Path, epsilon: str | None, delta: str) -> "Audit":
    from holdfast.former.studies.agencies.audit import audit_ptable

    return audit_ptable(file, epsilon=epsilon, delta=delta)


def _release(folder: Path) -> "Audit":
    import holdfast.former as holdfast
    from holdfast.former.mechanism.grouped import GroupedMechanism
    from holdfast.former.studies.audit import Audit, audit_matrix
    from holdfast.former.privacy.budget import LARGEST
    from holdfast.former.privacy.delta import group_delta

    try:
        release = holdfast.load(folder)
    except CertificateError as error:
        infinite = float("inf")
        return Audit(
            lower_bound=infinite,
            estimate=infinite,
            epsilon=LARGEST,
            event="the certificate of the mechanism fails",
            direction="",
            frequencies=(0.0, 0.0),
            findings=(str(error),),
        )
    budget, drawn_with = release.privacy.budget, release.drawn_with
    parts = drawn_with.parts if isinstance(drawn_with, GroupedMechanism) else (drawn_with,)
    found = [
        audit_matrix(
            mechanism.weights,
            epsilon=budget.stage_2,
            delta=group_delta(mechanism.delta, budget.unit_2, budget.steps),
            steps=budget.steps,
        )
        for mechanism in parts
    ]
    return max(found, key=lambda one: (one.violation, one.lower_bound))


def _pipeline(
    tables: tuple[Any, Any],
    options: dict[str, Any],
    stages: dict[str, Any],
    privatizer: str | None,
    within: str | None,
    as_json: bool,
) -> "Audit":
    from holdfast.former.studies.audit import RepeatedGroups, RepeatedRelease

    stages["epsilon"] = options["epsilon"]
    pipeline: RepeatedGroups | RepeatedRelease
    if within is None:
        stage_1 = find_privatizer(privatizer or "cumulative-isotonic")
        pipeline = RepeatedRelease(rows=len(tables[0]), privatizer=stage_1, **stages)
    else:
        pipeline = RepeatedGroups(labels=_labels(within, privatizer, len(tables[0])), **stages)
    features = pipeline.stage_2_loss(*tables)
    return _drawn(pipeline, tables, options, as_json, batched=True, features=features)


def _labels(within: str, privatizer: str | None, rows: int) -> list[Any]:
    if privatizer is not None:
        raise HoldfastError("`--within` goes with the default stages: leave --privatizer out.")
    try:
        labels = json.loads(within)
    except json.JSONDecodeError:
        labels = None
    if not isinstance(labels, list) or len(labels) != rows:
        raise HoldfastError(
            "`--within` must be a JSON list with a label for each row of the table. "
            """Hint: '["a", "a", "b"]'."""
        )
    return labels


def _drawn(
    mechanism: Callable[..., Any],
    tables: tuple[Any, Any],
    options: dict[str, Any],
    quiet: bool,
    *,
    batched: bool,
    features: Any = None,
) -> "Audit":
    import holdfast.former as holdfast

    with _progress(2 * options["draws"], quiet) as progress:
        return holdfast.audit(
            mechanism,
            tables[0],
            tables[1],
            **options,
            batched=batched,
            features=features,
            progress=progress,
        )


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    if quiet or not asides.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=asides, transient=True) as bar:
        task = bar.add_task("Drawing …", total=total)
        yield lambda done: bar.update(task, completed=done)


def _function(name: str) -> Callable[..., Any]:
    """The function; what it raises becomes one sentence, as any error of the command line."""
    module, _, attribute = name.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise HoldfastError(f"`{name}` cannot be imported: {error}.") from None
    finally:
        sys.path.pop(0)
    if not callable(found):
        raise HoldfastError(f"`{name}` is not a function.")

    def mechanism(*arguments: Any) -> Any:
        try:
            return found(*arguments)
        except Exception as error:
            if os.environ.get("HOLDFAST_DEBUG"):
                raise
            raise HoldfastError(
                f"`{name}` failed ({type(error).__name__}). Hint: HOLDFAST_DEBUG=1 shows where; "
                "--batched is for functions of (table, size)."
            ) from None

    return mechanism


def _tables(table: str | None, neighbour: str | None) -> tuple[Any, Any]:
    if table is None or neighbour is None:
        raise HoldfastError("`--table` and `--neighbour` are missing. Hint: such as 5 and 6.")
    try:
        tables = json.loads(table), json.loads(neighbour)
    except json.JSONDecodeError:
        raise HoldfastError(
            "`--table` and `--neighbour` must be JSON. Hint: 5, or '[0, 1, 2]'."
        ) from None
    if tables[0] == tables[1]:
        raise HoldfastError(
            "`--table` and `--neighbour` are the same, so there is nothing to tell apart. "
            "Hint: add one person to one of them."
        )
    return tables


def _show(found: "Audit", as_json: bool) -> None:
    from rich.table import Table

    if as_json:
        typer.echo(json.dumps(found.to_dict()))
        return
    table = Table(title="Audit", title_justify="left", show_header=False)
    kind = "exact" if found.exact else f"at least, with confidence {found.confidence:g}"
    claim = "nothing" if found.epsilon is None else f"epsilon {float(found.epsilon):g}"
    rows = [
        ("claimed", claim + (f", delta {float(found.delta):g}" if found.delta else "")),
        ("found", f"epsilon {found.lower_bound:.6g} ({kind})"),
        ("event", found.event),
        ("direction", found.direction),
        ("frequencies", f"{found.frequencies[0]:.6g} and {found.frequencies[1]:.6g}"),
        ("draws", "none: the matrix itself" if found.exact else f"{found.draws:,} per table"),
        *(("finding", finding) for finding in found.findings),
    ]
    for name, text in rows:
        table.add_row(name, text)
    screen.print(table)
    if found.violation:
        screen.print("VIOLATION: the claim is refuted.", style="bold")
    elif found.epsilon is not None:
        passed = "The claim holds for the matrix." if found.exact else "Not refuted."
        screen.print(passed + ("" if found.exact else " That is no proof."))
