"""`holdfast plan`, `compare` and `explain`: before a release."""

import json
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from holdfast.cli.options import Json, Questions, Text, Texts, argument, listed, says
from holdfast.cli.screen import aside, show, watched
from holdfast.errors import HoldfastError
from holdfast.request import FIELDS

Number = Annotated[Text, says("Simulated releases at each epsilon.", takes="NUMBER")]


def _of_run(name: str) -> Any:
    """An option that means here what it means for a run."""
    about = FIELDS[name]
    return says(about.help, about.option, takes=about.takes)


Within = Annotated[Texts, _of_run("within")]
Missing = Annotated[Texts, _of_run("missing")]
Totals = Annotated[Text, _of_run("totals")]
Contributions = Annotated[Text, _of_run("contributions")]


def plan(
    prior: Annotated[
        str,
        argument(
            "PUBLIC: last year's table or release, another region's, or a shape: geometric:MEAN, "
            "poisson:MEAN, uniform:TOP, powerlaw:EXPONENT:TOP, zeros:SHARE+SHAPE.",
            "PRIOR",
        ),
    ],
    rows: Annotated[
        Text, says("Rows that the table will have; default: as the prior.", takes="NUMBER")
    ] = None,
    target: Annotated[
        Text,
        says("Find the smallest epsilon that keeps 'QUESTION within AMOUNT, K in L'."),
    ] = None,
    epsilon: Annotated[
        Text, says("Budgets, such as 0.1,0.5,1; default: six from 0.1 to 5.", takes="NUMBERS")
    ] = None,
    questions: Questions = None,
    count: Annotated[Text, says("The prior's column of counts.", takes="COLUMN")] = None,
    within: Within = None,
    missing: Missing = None,
    totals: Totals = None,
    contributions: Contributions = None,
    repetitions: Number = None,
    as_json: Json = False,
) -> None:
    """Say what each epsilon would buy, before the private table is touched.

    It reads the public prior only, and says how far off answers of a release of a table like it
    would be.

    Examples:

        holdfast plan zeros:0.4+geometric:3 --rows 3100 --target "zeros within 1 point, 9 in 10"

        holdfast plan last_year.csv --count homicides --within state --totals yes
    """
    from holdfast.plan.plan import EPSILONS
    from holdfast.plan.plan import plan as run

    options = _run_options(totals=totals, contributions=contributions)
    options |= _repeated(repetitions)
    if not as_json:
        aside("Nothing private is read: releases of the prior are simulated.")
    with watched(quiet=as_json) as progress:
        found = run(
            prior,
            rows=_number("rows", rows),
            target=target,
            epsilons=listed(epsilon) or EPSILONS,
            questions=listed(questions),
            progress=progress,
            **_table_options(count, within, missing),
            **options,
        )
    typer.echo(json.dumps(found.to_dict()) if as_json else str(found))


def compare(
    table: Annotated[
        str,
        argument(
            "CSV, Parquet or Excel file, or the folder of a release; or the word demo.", "FILE"
        ),
    ],
    count: Annotated[Text, says("Column of counts.", takes="COLUMN")] = None,
    epsilon: Annotated[
        Text, says("Budgets, such as 0.1,0.5,1; default: 0.1, 0.5, 1, 2.", takes="NUMBERS")
    ] = None,
    methods: Annotated[
        Text,
        says(
            "Such as holdfast,paper,truncated-geometric,plain-noise (the default); the paper's "
            "others; suppression, rounding, random-rounding, cell-key, cell-key:PTABLE.csv.",
            takes="NAMES",
        ),
    ] = None,
    questions: Questions = None,
    within: Within = None,
    missing: Missing = None,
    totals: Totals = None,
    repetitions: Number = None,
    as_json: Json = False,
) -> None:
    """Release a table many times by every method and show how far off each is. NOT PRIVATE.

    It reads the true counts: for public or synthetic tables, or on the trusted side. For a private
    table: holdfast plan.

    Examples:

        holdfast compare demo

        holdfast compare demo --epsilon 1 --methods holdfast,suppression,rounding,cell-key
    """
    from holdfast.plan.compare import EPSILONS, WARNING
    from holdfast.plan.compare import compare as run

    if as_json:
        aside(WARNING, style="bold")
    with ExitStack() as stack:
        source: Any = table
        if table == "demo":
            from holdfast.cli.demo import COUNT, demo_table

            source, count = stack.enter_context(demo_table()), count or COUNT
        with watched(quiet=as_json) as progress:
            found = run(
                source,
                epsilons=listed(epsilon) or EPSILONS,
                methods=listed(methods),
                questions=listed(questions),
                progress=progress,
                **_table_options(count, within, missing),
                **_run_options(totals=totals),
                **_repeated(repetitions),
            )
    typer.echo(json.dumps(found.to_dict()) if as_json else str(found))


def explain(
    number: Annotated[Text, argument("The same as --epsilon.", "EPSILON")] = None,
    epsilon: Annotated[Text, says("The whole budget, such as 1 or 1/2.", takes="NUMBER")] = None,
    as_json: Json = False,
) -> None:
    """Say in words and odds what an epsilon promises to one person, and who uses which.

    Example:

        holdfast explain --epsilon 1
    """
    from holdfast.plan.explain import explain as run

    if (number is None) == (epsilon is None):
        raise HoldfastError("`epsilon` must be given once. Hint: holdfast explain --epsilon 1.")
    found = run(number or epsilon)
    if as_json:
        typer.echo(json.dumps(found.to_dict()))
    else:
        show(str(found))


def _table_options(count: str | None, within: Any, missing: Any) -> dict[str, Any]:
    """What says where the counts are, as Python takes it."""
    grouped = None if within is None else FIELDS["within"].read(within)
    return {"count": count, "within": grouped, "missing": tuple(missing or ())}


def _run_options(**words: str | None) -> dict[str, Any]:
    """Options of a run, as Python takes them."""
    return {name: FIELDS[name].read([word]) for name, word in words.items() if word is not None}


def _repeated(repetitions: str | None) -> dict[str, Any]:
    number = _number("repetitions", repetitions)
    return {} if number is None else {"repetitions": number}


def _number(name: str, word: str | None) -> int | None:
    from holdfast.request.parameter import whole

    return None if word is None else whole(word, name)
