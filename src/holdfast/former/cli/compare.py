"""`holdfast compare`: methods side by side on a table whose true counts may be read."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from holdfast.errors import HoldfastError, numbered, roughly
from holdfast.former.cli.choices import by_column, within_of
from holdfast.former.cli.options import Jobs, Questions, Results, Text, Texts, listed, says, whole
from holdfast.former.cli.screen import asides, marked, screen
from holdfast.former.cli.several import compare_both_ways
from holdfast.former.cli.stopping import AGAIN, RESUMES, Stopped

if TYPE_CHECKING:
    from holdfast.former.studies.compare.comparison import Comparison

WARNING = (
    "NOT PRIVATE: everything here is computed from the true counts. Use it on public or synthetic "
    "tables, or keep it with those who may see the counts. For a private table: holdfast plan."
)
SHOWN_BUDGETS = 6


def compare(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet file; or the word demo.")],
    max_counts: Annotated[
        Texts,
        says("Highest count published; COLUMN=NUMBER for each of several counts.", "--max-count"),
    ] = None,
    counts: Annotated[
        Texts,
        says(
            "Name of the count column; more than once to see what joint and separate releases of "
            "several counts keep.",
            "--count",
        ),
    ] = None,
    epsilon: Annotated[Text, says("Budgets, such as 0.1,0.5,1; default: 11 from 0.1 to 5.")] = None,
    methods: Annotated[
        Text,
        says(
            "Names, or module:NAME for one of your own; default: all nine. Agencies' methods: "
            "suppression, rounding, random-rounding, cell-key, cell-key:PTABLE.csv."
        ),
    ] = None,
    questions: Questions = None,
    within: Annotated[
        Texts, says("Compare by group too: a column, population:8, population:auto.")
    ] = None,
    totals: Annotated[bool, says("Measure totals in the release by group.", "--totals")] = False,
    repetitions: Annotated[str, says("Releases per method and budget.")] = "10",
    folder: Results = None,
    pictures: Annotated[
        bool, says("Also draw PNG and SVG pictures into --folder.", "--pictures")
    ] = False,
    jobs: Jobs = None,
    as_json: Annotated[bool, says("Print one JSON object.", "--json")] = False,
) -> None:
    """Release a table many times by every method and show how far off each is. NOT PRIVATE.

    It reads the true counts: for public or synthetic tables, or on the trusted side.

    Examples:

    [bold]holdfast compare demo[/bold]

    [bold]holdfast compare homicides.csv --count homicides --max-count 50
    --epsilon 0.1,0.5,1 --methods default,truncated-geometric --folder study --pictures[/bold]

    [bold]holdfast compare demo --epsilon 0.5,1 --methods default --within population:8
    --totals[/bold]

    [bold]holdfast compare demo --epsilon 1 --methods default,suppression,rounding,cell-key[/bold]
    """
    import holdfast.former as holdfast
    from holdfast.former.studies.methods import METHODS

    if pictures and folder is None:
        raise HoldfastError("`--pictures` needs `--folder`. Hint: name a folder for them.")
    if pictures:
        from holdfast.former.studies.plots import require_matplotlib

        require_matplotlib()  # before the work, not after it
    options: dict[str, Any] = {
        "repetitions": whole(repetitions, "repetitions"),
        "jobs": None if jobs is None else whole(jobs, "jobs"),
        "methods": listed(methods),
        "questions": listed(questions),
        "within": within_of(within),
        "totals": totals,
        "folder": folder,
        "progress": not as_json and asides.is_terminal,
    }
    if epsilon is not None:
        options["epsilons"] = listed(epsilon)
    asides.print(WARNING, style="bold")
    if counts is not None and len(counts) > 1:
        tops = by_column(max_counts or [], "max_count", lambda text: whole(text, "max_count"))
        compare_both_ways(file, counts, tops, epsilon, options["repetitions"], as_json)
        return
    count, max_count = (one[-1] if one else None for one in (counts, max_counts))
    with ExitStack() as stack:
        if str(file) == "demo" and not file.exists():
            file = stack.enter_context(
                as_file(files("holdfast") / "data" / "county_homicides_1996.csv")
            )
            count, max_count = count or "homicides", max_count or "30"
        if max_count is None:
            raise HoldfastError("`--max-count` is missing. Hint: the highest count published.")
        try:
            found = holdfast.compare(
                file, count=count, max_count=whole(max_count, "max_count"), **options
            )
        except KeyboardInterrupt:
            raise Stopped(AGAIN if folder is None else RESUMES) from None
    if folder is not None and pictures:
        found.non_private_pictures(folder, name=file.stem)
    if as_json:
        typer.echo(json.dumps({"non_private_summary": found.non_private_summary()}))
        return
    _show(found)
    top = len(found.non_private_histogram) - 1
    if methods is None and not all(one.reaches(top) for one in METHODS.values()):
        screen.print(
            "Left out are methods that make a matrix of all counts by all counts, which is too "
            "large for so high a max_count."
        )
    if folder is not None:
        screen.print(f"Every repetition is in {folder / 'non_private_comparison.csv'}.")


def _show(found: "Comparison") -> None:
    summary = {(row["method"], row["epsilon"]): row for row in found.non_private_summary()}
    step = -(-len(found.epsilons) // SHOWN_BUDGETS)
    budgets = [*found.epsilons[: len(found.epsilons) - 1 : step], found.epsilons[-1]]
    views: list[tuple[str, str, Callable[..., str]]] = [
        ("w1", "Distance of distributions (W1)", _mean),
        ("absolute", "Expected change of a count", _mean),
    ]
    if found.non_private_groups is not None:
        number = numbered(len(found.non_private_groups.partition), "group")
        views += [
            ("w1 within", f"Distance of distributions (W1) within {number}", _mean),
            ("total", "Error of the total, not capped", _mean),
            ("totals within", "Error of a group's total, not capped", _mean),
        ]
    for question in found.questions:
        unit = "points" if question.is_share else "counts"
        factor = 100 if question.is_share else 1
        views.append(
            (
                f"error of {question.name}",
                f"Bias of the question {marked(question.name)!r}, in {unit}",
                partial(_bias, factor),
            )
        )
    views.append(("seconds", "Seconds per release", lambda mean, spread: roughly(mean)))
    for measure, title, shown in views:
        table = Table(title=f"{title} (NOT PRIVATE)", title_justify="left")
        table.add_column("epsilon", min_width=max(len(method.name) for method in found.methods))
        for budget in budgets:
            table.add_column(budget, justify="right")
        for method in found.methods:
            rows = (summary[method.name, budget] for budget in budgets)
            cells = (shown(row[measure], row[f"spread of {measure}"]) for row in rows)
            table.add_row(method.name, *cells)
        screen.print(table)
    for line in _promises(found):
        screen.print(line)
    spread = " The bias ± one standard deviation over them." if found.repetitions > 1 else ""
    screen.print(f"Means over {numbered(found.repetitions, 'release')} each.{spread}")


def _promises(found: "Comparison") -> list[str]:
    """What the agencies' methods promise for one count, at the last budget."""
    from holdfast.former.studies.agencies import promise_of
    from holdfast.former.studies.methods import AgencyMethod

    top = len(found.non_private_histogram) - 1
    return [
        f"{method.name} promises {promise_of(method.published, budget, max_count=top)}."
        for method in found.methods
        if isinstance(method, AgencyMethod)
        for budget in found.epsilons[-1:]
    ]


def _mean(mean: float, spread: float | None) -> str:
    return roughly(mean, 3)


def _bias(factor: int, mean: float, spread: float | None) -> str:
    bias = round(factor * mean, 3)
    shown = f"{'+' if bias > 0 else ''}{roughly(bias or 0)}"
    return shown if spread is None else f"{shown}\n±{roughly(round(factor * spread, 3))}"
