"""`holdfast plan`: what a budget would buy, from a public prior and no private data."""

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.errors import numbered, roughly
from holdfast.former.cli.choices import by_column, within_of
from holdfast.former.cli.options import Jobs, Questions, Results, Text, Texts, listed, says, whole
from holdfast.former.cli.screen import asides, marked, screen, tabled
from holdfast.former.cli.several import compare_both_ways
from holdfast.former.cli.stopping import AGAIN, RESUMES, Stopped

if TYPE_CHECKING:
    from holdfast.former.studies.plan.plan import Plan
    from holdfast.former.studies.questions import Question

Column = tuple[str, list[str]]


def plan(
    categories: Annotated[str, says("Number of rows of the table to be published.")],
    max_counts: Annotated[
        list[str],
        says(
            "Highest count that will be published; COLUMN=NUMBER for each of several counts.",
            "--max-count",
        ),
    ],
    prior: Annotated[
        str,
        says(
            "PUBLIC: a CSV or Parquet file (last year's release, another region), a release's "
            "folder, or a shape: uniform, poisson:MEAN, geometric:MEAN, powerlaw:EXPONENT, "
            "zeros:SHARE+SHAPE."
        ),
    ],
    counts: Annotated[
        Texts,
        says(
            "Name of the prior's count column; more than once to see the price of --joint for "
            "several counts, with a file as prior.",
            "--count",
        ),
    ] = None,
    epsilon: Annotated[
        Text, says("Budgets, such as 0.1,0.5,1; default: six from 0.1 to 5.")
    ] = None,
    split: Annotated[
        Text,
        says(
            "Stage 1's shares to look at, such as default,0.1,0.3; default: that of the default "
            "rule alone."
        ),
    ] = None,
    target: Annotated[
        Text,
        says(
            "Find the smallest budget for 'QUESTION within AMOUNT, K in L'. Shares are within "
            "points, the mean within counts."
        ),
    ] = None,
    questions: Questions = None,
    method: Annotated[str, says("A name from holdfast compare, or module:NAME.")] = "default",
    within: Annotated[
        Texts, says("Show what groups gain: a column of the prior, or population:8.")
    ] = None,
    totals: Annotated[bool, says("Measure totals in releases by group.", "--totals")] = False,
    repetitions: Annotated[str, says("Simulated releases per cell.")] = "40",
    folder: Results = None,
    jobs: Jobs = None,
    as_json: Annotated[bool, says("Print one JSON object.", "--json")] = False,
) -> None:
    """Show what each budget would buy, before the private table is touched.

    Reads the public prior only. Errors are those expected of a release of a table like it.

    Examples:

    [bold]holdfast plan --categories 3100 --max-count 50 --prior zeros:0.4+geometric:3[/bold]

    [bold]holdfast plan --categories 3100 --max-count 50 --prior last_year.csv --count homicides
    --target "zeros within 1 point, 9 in 10"[/bold]
    """
    import holdfast.former as holdfast

    if counts is not None and len(counts) > 1:
        tops = by_column(max_counts, "max_count", lambda text: whole(text, "max_count"))
        size, number = whole(categories, "categories"), whole(repetitions, "repetitions")
        compare_both_ways(Path(prior), counts, tops, epsilon, min(number, 10), as_json, size)
        return
    options: dict[str, Any] = {
        "categories": whole(categories, "categories"),
        "max_count": whole(max_counts[-1], "max_count"),
        "prior": prior,
        "count": counts[0] if counts else None,
        "target": target,
        "questions": listed(questions),
        "method": method,
        "within": within_of(within),
        "totals": totals,
        "repetitions": whole(repetitions, "repetitions"),
        "folder": folder,
        "jobs": None if jobs is None else whole(jobs, "jobs"),
        "progress": not as_json and asides.is_terminal,
        "splits": [None] if split is None else listed(split),
    }
    if epsilon is not None:
        options["epsilons"] = listed(epsilon)
    if not as_json:
        asides.print(f"Simulating releases of the prior, {repetitions} for each epsilon …")
    try:
        found = holdfast.plan(**options)
    except KeyboardInterrupt:
        raise Stopped(AGAIN if folder is None else RESUMES) from None
    if as_json:
        by_group = {} if found.by_group is None else {"by_group": found.by_group}
        best = {"target": None if found.target is None else str(found.target)}
        best["smallest_epsilon"] = found.smallest_epsilon  # type: ignore[assignment]
        typer.echo(json.dumps({"prior": found.prior, "rows": found.rows} | by_group | best))
        return
    asides.print(f"Prior: {found.prior}. It must be public: no private data were read or needed.")
    _show(found)


def _show(found: "Plan") -> None:
    keys = [("epsilon", _once(row["epsilon"] for row in found.rows))]
    keys.append(("stage 1", [_share(row) for row in found.rows]))
    columns = [("W1", [roughly(row["w1"]) for row in found.rows])]
    columns.append(("count", [roughly(row["absolute"]) for row in found.rows]))
    columns += [(marked(q.name), [_errors(row, q) for row in found.rows]) for q in found.questions]
    size = numbered(found.categories, "row")
    screen.print(f"Expected of a release of {size}, counts 0 to {found.max_count:,}:")
    for part in _parts(columns, screen.width - _width(keys) - 1):
        names, cells = zip(*keys, *part, strict=True)
        screen.print(tabled(names, zip(*cells, strict=True), no_wrap=True))
    screen.print(
        "Stage 1: its share of the budget, * the default. W1: expected distance of the released "
        "distribution from the true one. Count: how far a released count is off on average. "
        "Questions: expected absolute error / what the error stays within nine times in ten; "
        "shares in points (hundredths of the rows), the mean in counts."
    )
    _show_sizes(found)
    if found.by_group is not None:
        _show_groups(found.by_group)
    if found.target is not None:
        _show_target(found)


def _show_groups(rows: list[dict[str, Any]]) -> None:
    """The release with groups beside the one without, at the default split."""
    shown = {"W1": "w1", "count": "absolute", "W1 within": "w1 within", "totals": "totals within"}
    lines = [
        (row["epsilon"], row["method"], *(roughly(row[measure], 3) for measure in shown.values()))
        for row in sorted(rows, key=lambda row: Fraction(row["epsilon"]))
    ]
    headings, title = ("epsilon", "method", *shown), "With and without groups"
    screen.print(tabled(headings, lines, title=title, no_wrap=True))
    screen.print(
        "W1 within: of the distributions within groups. Totals: how far a group's total is off; "
        "without measured totals it is the sum of the released counts."
    )


def _show_sizes(found: "Plan") -> None:
    """Error by size of count, at the default split: large counts are told as sharply as small."""
    from holdfast.former.studies.plan.plan import SIZE

    rows = [row for row in found.rows if row["split"] == "default"]
    sizes = [name for name in rows[0] if name.startswith(SIZE)] if rows else []
    if len(sizes) < 2:
        return
    lines = [(row["epsilon"], *(roughly(row[size]) for size in sizes)) for row in rows]
    headings = ("epsilon", *(marked(size.removeprefix(SIZE)) for size in sizes))
    title = "How far a count is off, by its size"
    screen.print(tabled(headings, lines, title=title, no_wrap=True))


def _once(texts: Iterable[str]) -> list[str]:
    return [text for same in groupby(texts) for text in (same[0], *[""] * (len([*same[1]]) - 1))]


def _share(row: dict[str, Any]) -> str:
    return f"{row['stage 1']:.3g}" + ("*" if row["split"] == "default" else " ")


def _errors(row: dict[str, Any], question: "Question") -> str:
    factor = 100 if question.is_share else 1
    error, bound = (row[f"{kind} of {question.name}"] for kind in ("error", "9 in 10"))
    return f"{roughly(factor * error)}/{roughly(factor * bound)}"


def _width(columns: Iterable[Column]) -> int:
    return sum(max(map(len, (name, *cells))) + 3 for name, cells in columns)


def _parts(columns: Sequence[Column], width: int) -> list[list[Column]]:
    """The columns in as many tables as fit into `width` each: no number is cut off."""
    parts: list[list[Column]] = [[]]
    for column in columns:
        if parts[-1] and _width([*parts[-1], column]) > width:
            parts.append([])
        parts[-1].append(column)
    return parts


def _show_target(found: "Plan") -> None:
    screen.print(f"\nTarget: {found.target}.")
    if found.best is None:
        screen.print("No budget looked at meets it. Larger ones can be asked for with --epsilon.")
        return
    for split, epsilon in (found.smallest_epsilon or {}).items():
        reached = "not met" if epsilon is None else f"epsilon = {epsilon:g}"
        screen.print(f"  stage 1's share {split}: {reached}")
    split, epsilon = found.best
    option = "" if split == "default" else f" with --split {split}"
    screen.print(f"The smallest budget found is epsilon = {epsilon:g}{option}.", style="bold")
