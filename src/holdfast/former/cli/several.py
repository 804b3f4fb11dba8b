"""What `holdfast privatize` says of several columns of counts."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from holdfast.errors import numbered, one_line, roughly
from holdfast.former.cli.screen import screen, tabled

if TYPE_CHECKING:
    from holdfast.former.engines.several import SeveralStages


def plan_several(
    source: Any,
    count: Sequence[str],
    names: dict[str, Any],
    options: dict[str, Any],
    accounts: Any,
    as_json: bool,
    whom: str,
) -> dict[str, bytes]:
    """Check everything, and say what a run would spend on each column; draws nothing. The counts
    of each, condensed. `whom` is what to ask of who is protected."""
    from holdfast.former.engines.looking import alone_of
    from holdfast.former.engines.several import check_several
    from holdfast.former.engines.several_memory import read_several, settle

    within = names.get("within")
    parameters = check_several(count, **options, within=within)
    own = {name: value for name, value in names.items() if name not in ("count", "other_counts")}
    tables = read_several(source, count, own, parameters)
    stages, _ = settle(tables, parameters)
    persons, missing = parameters.persons, [int(table.missing.sum()) for table in tables]
    if as_json:
        plan = {"dry_run": True, "epsilon": str(parameters.epsilon), "joint": parameters.joint}
        plan |= {"neighbours": persons.neighbours, "columns": _parts(stages, missing)}
        plan |= {"rows": stages.columns[0].rows, "unchanged_columns": list(tables[0].others)}
        typer.echo(json.dumps(plan | {"withheld": list(tables[0].withheld)}))
        return alone_of(tables)
    screen.print(
        f"The table is in order: {numbered(len(tables[0].counts), 'row')}. A run would spend "
        f"epsilon {float(parameters.epsilon):g} on {len(count)} columns of counts, "
        f"{'each given those before it' if parameters.joint else 'each by itself'}. "
        "Nothing was drawn, nothing was written."
    )
    screen.print(_table_of(stages, missing))
    screen.print(f"{one_line(persons.neighbours)} {whom}".rstrip())
    for account in accounts or ():
        from holdfast.former.cli.ledger import sentence

        screen.print(sentence(account))
    return alone_of(tables)


def _parts(stages: "SeveralStages", missing: Sequence[int]) -> dict[str, Any]:
    return {
        name: {
            "epsilon": str(one.budget.epsilon),
            "stage_1": str(one.budget.stage_1),
            "stage_2": str(one.budget.stage_2),
            "max_count": one.highest,
            "rows": one.rows,
            **({"missing": gaps} if gaps else {}),
        }
        for name, one, gaps in zip(stages.names, stages.columns, missing, strict=True)
    }


def _table_of(stages: "SeveralStages", missing: Sequence[int]) -> Table:
    rows, gaps = [], any(missing)
    for name, one, number in zip(stages.names, stages.columns, missing, strict=True):
        parts = one.budget.epsilon, one.budget.stage_1, one.budget.stage_2
        row = [one_line(name), *(f"{float(part):.4g}" for part in parts), f"{one.highest:,}"]
        rows.append([*row, *[f"{number:,}"][:gaps]])
    headings = ("column", "epsilon", "distribution", "counts", "highest", *["missing"][:gaps])
    return tabled(headings, rows, left=("column",))


def compare_both_ways(
    table: Any,
    count: Sequence[str],
    max_count: Any,
    epsilon: str | None,
    repetitions: int,
    as_json: bool,
    rows: int | None = None,
) -> None:
    """What joint and separate releases of several counts keep, and what single counts pay."""
    from holdfast.former.cli.screen import working
    from holdfast.former.studies.compare.several import compare_several

    budgets = [part.strip() for part in (epsilon or "0.5,1,2").split(",")]
    with working("Releasing jointly and apart …", quiet=as_json):
        found = compare_several(
            table,
            count=count,
            max_count=max_count,
            epsilons=budgets,
            repetitions=repetitions,
            rows=rows,
        )
    if as_json:
        typer.echo(json.dumps({"several": found}))
        return
    told = {"correlation": "correlation", "change": "change of", "w1": "W1 of"}
    names = [one_line(f"{words} {name}") for what, words in told.items() for name in found[0][what]]
    lines = []
    for line in found:
        numbers = [roughly(number, 3) for what in told for number in line[what].values()]
        lines.append([line["epsilon"] or "", line["way"], *numbers])
    screen.print(tabled(("epsilon", "drawn", *names), lines))
    screen.print(
        "The change is how far a released count is from the true one, on average, and W1 how far "
        "its distribution is, both in counts: the price of --joint beside drawing apart."
    )
