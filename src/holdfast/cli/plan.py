"""`holdfast plan`, `compare` and `explain`: before a release."""

import json
from contextlib import nullcontext
from typing import Any

import typer

from holdfast.cli.options import explained
from holdfast.cli.screen import aside, show, watched
from holdfast.request import FIELDS
from holdfast.request.parameter import whole

LISTS = {"epsilon": "epsilons", "questions": "questions", "methods": "methods"}
"""Options that are lists with commas, and what Python calls them."""
NUMBERS = ("rows", "repetitions")
OF_A_RUN = ("within", "missing", "totals", "contributions")


@explained
def plan(prior: str, as_json: bool = False, **said: Any) -> None:
    """Say what each epsilon would buy, before the private table is touched.

    It reads the public prior only, and says how far off answers of a release of a table like it
    would be.

    Examples:

        holdfast plan zeros:0.4+geometric:3 --rows 3100 --target "zeros within 1 point, 9 in 10"

        holdfast plan last_year.csv --count homicides --within state --totals yes

    Options:

    PRIOR: PUBLIC: last year's table or release, another region's, or a shape: geometric:MEAN,
        uniform:TOP, powerlaw:EXPONENT:TOP, zeros:SHARE+SHAPE.
    --rows NUMBER: Rows that the table will have; default: as the prior.
    --target TEXT: Find the smallest epsilon that keeps 'QUESTION within AMOUNT, K in L'.
    --epsilon NUMBERS: Budgets, such as 0.1,0.5,1; default: six from 0.1 to 5.
    --questions QUESTIONS
    --count COLUMN: The prior's column of counts.
    --within
    --missing
    --totals
    --contributions
    --repetitions NUMBER: Simulated releases at each epsilon.
    --json
    """
    from holdfast.plan.plan import plan as run

    if not as_json:
        aside("Nothing private is read: releases of the prior are simulated.")
    with watched(quiet=as_json) as progress:
        result = run(prior, progress=progress, **_as_python(said))
    typer.echo(json.dumps(result.to_dict()) if as_json else str(result))


@explained
def compare(table: str, as_json: bool = False, **said: Any) -> None:
    """Release a table many times by every method and show how far off each is. NOT PRIVATE.

    It reads the true counts: for public or synthetic tables, or on the trusted side. For a private
    table: holdfast plan.

    Examples:

        holdfast compare demo

        holdfast compare demo --epsilon 1 --methods holdfast,suppression,rounding,cell-key

    Options:

    FILE: CSV, Parquet or Excel file, or the folder of a release; or the word demo.
    --count COLUMN: Column of counts.
    --epsilon NUMBERS: Budgets, such as 0.1,0.5,1; default: 0.1, 0.5, 1, 2.
    --methods NAMES: Such as holdfast,paper,truncated-geometric,plain-noise (the default); the
        paper's others; suppression, rounding, random-rounding, cell-key, cell-key:PTABLE.csv.
    --questions QUESTIONS
    --within
    --missing
    --totals
    --repetitions NUMBER: Simulated releases at each epsilon.
    --json
    """
    from holdfast.cli.demo import COUNT, demo_table
    from holdfast.plan.compare import WARNING
    from holdfast.plan.compare import compare as run

    if as_json:
        aside(WARNING, style="bold")
    if table == "demo":
        said["count"] = said["count"] or COUNT
    place: Any = demo_table() if table == "demo" else nullcontext(table)
    with place as source, watched(quiet=as_json) as progress:
        result = run(source, progress=progress, **_as_python(said))
    typer.echo(json.dumps(result.to_dict()) if as_json else str(result))


@explained
def explain(epsilon: str, as_json: bool = False) -> None:
    """Say in words and odds what an epsilon promises to one person, and who uses which.

    Example:

        holdfast explain --epsilon 1

    Options:

    --epsilon NUMBER: The whole budget, such as 1 or 1/2.
    --json
    """
    from holdfast.plan.explain import explain as run

    result = run(epsilon)
    if as_json:
        typer.echo(json.dumps(result.to_dict()))
    else:
        show(str(result))


def _as_python(said: dict[str, Any]) -> dict[str, Any]:
    """Options as Python takes them, without those that were left out."""
    options: dict[str, Any] = {}
    for name, value in said.items():
        if value in (None, []):
            continue
        if name in OF_A_RUN:
            options[name] = FIELDS[name].read(value if isinstance(value, list) else [value])
        elif name in NUMBERS:
            options[name] = whole(value, name)
        elif name in LISTS:
            words = [word.strip() for word in value.split(",")]
            options[LISTS[name]] = [word for word in words if word]
        else:
            options[name] = value
    return options
