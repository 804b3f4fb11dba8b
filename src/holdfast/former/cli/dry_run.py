"""`holdfast privatize --dry-run`: what a run would do; nothing is drawn."""

import json
from typing import TYPE_CHECKING, Any

import typer

from holdfast.errors import numbered, one_line
from holdfast.former.cli.ledger import account_dict, sentence
from holdfast.former.cli.screen import asides, screen
from holdfast.former.privacy.delta import rounded_up
from holdfast.former.privacy.persons import protected

if TYPE_CHECKING:
    from holdfast.former.engines.looking import Looked
    from holdfast.former.engines.stages import Stages
    from holdfast.former.ledger.book import Balance
    from holdfast.former.privacy.budget import Budget


def warn(note: str) -> None:
    """Say what the steward should know, beside the output."""
    asides.print(f"Note: {one_line(note)}.")


def say_plan(
    table: "Looked", stages: "Stages", account: "list[Balance]", as_json: bool, whom: str
) -> None:
    """Say what a run would do, and what each balance that it must fit has left; draws nothing.
    `whom` is what to ask of who is protected."""
    from holdfast.former.release.usefulness import small_group_notes

    rows, highest, budget, delta = stages.rows, stages.highest, stages.budget, stages.delta
    groups = table.groups
    small = () if groups is None else small_group_notes(groups, budget, highest + 1)
    notes = (*table.notes, *small)
    if as_json:
        plan: dict[str, Any] = {"rows": rows, "structural_zeros": table.known_zeros}
        plan |= {"missing": table.missing} if table.missing else {}
        plan |= {"max_count": highest, "notes": list(notes)}
        plan |= {"unchanged_columns": list(table.others), "withheld": list(table.withheld)}
        if groups is not None:
            sizes = {"rows_of_groups": groups.sizes.tolist()}
            plan["within"] = groups.within.to_dict() | {"groups": len(groups)} | sizes
        plan |= account_dict(account)
        spent = {"epsilon": str(budget.epsilon), "delta": str(delta), "bound": str(budget.quantile)}
        spent |= {"totals": str(budget.totals)} if budget.totals else {}
        spent |= {"stage_1": str(budget.stage_1), "stage_2": str(budget.stage_2)}
        typer.echo(json.dumps({"dry_run": True} | spent | plan))
        return
    for note in notes:
        warn(note)
    search = f"{float(budget.quantile):g} on max_count, " if budget.quantile else ""
    search += f"{float(budget.totals):g} on totals, " if budget.totals else ""
    extra = f" and delta {rounded_up(delta, 3)}" if delta else ""
    top = f"max_count, {highest:,} at the most" if budget.quantile else f"{highest:,}"
    screen.print(
        f"The table is in order: {numbered(rows, 'row')}{_beside(table)}. A run would spend "
        f"epsilon {float(budget.epsilon):g}{extra}: {search}"
        f"{float(budget.stage_1):g} on the distribution of counts, {float(budget.stage_2):g} on "
        f"the counts, and publish counts from 0 to {top}. "
        "Nothing was drawn, nothing was written.\n"
        f"Published unchanged: {_names(table.others)}, and the order of the rows. "
        f"Withheld: {_names(table.withheld)}.\n"
        + f"Protected would be {protected(_record(budget))}. {whom}".rstrip()
    )
    if groups is not None:
        least, most = int(groups.sizes.min()), int(groups.sizes.max())
        screen.print(
            f"The distribution would hold within each of {numbered(len(groups), 'group')} "
            f"({one_line(str(groups.within))}), of {least:,} to {most:,} rows; each has the whole "
            f"budget. Which rows are in which group is published: {_names(groups.within.columns)}."
        )
    elif budget.stage_1:
        screen.print(
            "The noise on the distribution of counts would have a standard deviation of "
            f"{_in_words(min(stages.share_uncertainty, 1.0))} of the rows."
        )
    for balance in account:
        screen.print(sentence(balance))
    if any(budget.epsilon > each.epsilon_left or delta > each.delta_left for each in account):
        screen.print("That is not enough, unless this very release was made before.")


def _beside(table: "Looked") -> str:
    """The rows that no count is drawn for: both are published as what they are."""
    words = ""
    if table.known_zeros:
        words += f", and {numbered(table.known_zeros, 'structural zero')} passed through"
    if table.missing:
        words += f", beside {numbered(table.missing, 'row')} without a count, published as missing"
    return words


def _record(budget: "Budget") -> dict[str, Any]:
    """Who is protected, as a release states it."""
    whom: dict[str, Any] = {"contributions": budget.contributions}
    if budget.person_rows == 1 and budget.unit == "person":
        return whom
    return whom | {"person_rows": budget.person_rows, "unit": budget.unit}


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(map(one_line, columns)) or "no column"


def _in_words(share: float) -> str:
    return "less than 1%" if share < 0.01 else f"up to {share:.0%}"
