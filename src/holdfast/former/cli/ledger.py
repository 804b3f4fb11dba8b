"""`holdfast ledger`: what each dataset may spend, has spent and has left."""

import json
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.errors import HoldfastError, one_line
from holdfast.former.cli.options import Text, says
from holdfast.former.cli.screen import screen, tabled
from holdfast.former.cli.stopping import End

if TYPE_CHECKING:
    from holdfast.former.ledger.book import Balance
    from holdfast.former.ledger.entries import Begun, Limit, Spend

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Keep the budget of each dataset: limits, spends, what is left.",
)

File = Annotated[Path, typer.Argument(help="The ledger file.")]
Name = Annotated[str | None, typer.Argument(help="One dataset; default: all.")]
Json = Annotated[bool, says("Print JSON.", "--json")]


@app.command("set-limit")
def set_limit(
    file: File,
    dataset: Annotated[str, typer.Argument(help="Name of the dataset.")],
    epsilon: Annotated[str, says("What all its releases may spend together.")],
    delta: Annotated[str, says("The same for delta.")] = "0",
    per_period: Annotated[
        bool, says("What the releases of each period may spend together.", "--per-period")
    ] = False,
    as_json: Json = False,
) -> None:
    """Set what a dataset may spend; starts the ledger if there is none.

    A dataset without a limit cannot be released through the ledger. A new limit replaces the
    old one of its kind, for all time or for each period; all stay in the history, and where there
    are both a release must fit both.

    Example: [bold]holdfast ledger set-limit budget.ledger homicides --epsilon 2[/bold]

    [bold]holdfast ledger set-limit budget.ledger homicides --epsilon 1 --per-period[/bold] lets
    [bold]holdfast privatize … --period 2026[/bold] spend 1 for that year, and the next for the
    next.
    """
    from holdfast.former.ledger.ledger import Ledger

    ledger = Ledger(file)
    ledger.set_limit(dataset, epsilon=epsilon, delta=delta, per_period=per_period)
    balances = ledger.must_fit(dataset)
    balance = balances[0] if per_period else balances[-1]
    if as_json:
        typer.echo(json.dumps(as_dict(balance)))
        return
    screen.print(sentence(balance))
    if per_period and len(balances) == 1:
        screen.print(
            "There is no limit for all time: whoever is counted in several periods spends in each."
        )


@app.command()
def show(
    file: File,
    dataset: Name = None,
    delta: Annotated[
        Text, says("Also state epsilon at this delta, such as 1e-6 (extra `accounting`).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show limit, spent and left of each dataset, and of each period that has a limit.

    Example: [bold]holdfast ledger show budget.ledger --delta 1e-6[/bold]
    """
    from holdfast.former.ledger.ledger import Ledger

    ledger = Ledger(file)
    balances = ledger.balances(dataset)
    tighter = {b.dataset: _together(ledger, b.dataset, delta) for b in balances} if delta else {}
    if as_json:
        shown = [as_dict(b) | _stated(tighter.get(b.dataset), delta) for b in balances]
        typer.echo(json.dumps(shown))
    else:
        _print_balances(balances, tighter, delta)


@app.command()
def check(
    file: File,
    releases: Annotated[
        list[Path] | None, typer.Argument(help="Folders of releases that it paid for.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a ledger, and that it knows of releases which were paid from it.

    All of a ledger is checked whenever it is opened. A release that it paid for and does not know
    of means that an older copy of the ledger was put back: exit code 1. So does one that names
    another period, other rows or another budget than was paid for, or has other counts than the
    one that the ledger stored: it was changed.

    Example: [bold]holdfast ledger check budget.ledger release-2025 release-2026[/bold]
    """
    from holdfast.former.ledger.ledger import open_ledger
    from holdfast.former.ledger.receipts import disagreements, read_receipt

    ledger = open_ledger(file)
    found, other = dict[str, bool](), dict[str, list[str]]()
    for folder in releases or ():
        receipt = read_receipt(folder)
        if receipt is None or receipt.ledger != ledger.name:
            why = "names no ledger" if receipt is None else "was paid from another ledger"
            raise HoldfastError(
                f"`{folder}` {why}. Hint: name a release that this ledger paid for."
            )
        found[str(folder)] = ledger.knows(receipt)
        other[str(folder)] = disagreements(ledger, folder) if ledger.knows(receipt) else []
    if as_json:
        typer.echo(json.dumps({"whole": True, "releases": found, "differ": other}))
    else:
        screen.print("The ledger is whole: every entry is as it was written.")
        for name, known in found.items():
            screen.print(f"{one_line(name)}: {_standing(known, other[name])}.")
    if not all(found.values()) or any(other.values()):
        raise typer.Exit(End.FALSE)


def _standing(known: bool, other: list[str]) -> str:
    """What a ledger knows of a release."""
    if not known:
        return "its spend is NOT in it: this is an older copy of the ledger"
    if other:
        return f"its spend is in it, but NOT as the release says: {', '.join(other)}"
    return "its spend is in it"


@app.command()
def history(file: File, dataset: Name = None, as_json: Json = False) -> None:
    """List every spend and every limit in the order of payment: who, what, why.

    Example: [bold]holdfast ledger history budget.ledger homicides[/bold]
    """
    from holdfast.former.ledger.ledger import Ledger

    ledger = Ledger(file)
    if dataset is not None:
        ledger.balance(dataset)  # raises if there is no such dataset
    entries = ledger.history(dataset)
    if as_json:
        typer.echo(json.dumps([_entry(entry) for entry in entries]))
    else:
        _print_history(entries)


def sentence(balance: "Balance") -> str:
    """A balance in one line."""
    from holdfast.former.ledger.entries import plainly

    spent = (
        f"Ledger: dataset {balance.dataset} has spent epsilon {plainly(balance.epsilon_spent)} of "
        f"{plainly(balance.epsilon_limit)}{balance.in_words}; {plainly(balance.epsilon_left)} is "
        "left."
    )
    if not balance.delta_limit and not balance.delta_spent:
        return spent
    return (
        f"{spent} It has spent delta {plainly(balance.delta_spent)} of "
        f"{plainly(balance.delta_limit)}; {plainly(balance.delta_left)} is left."
    )


def _together(ledger: Any, dataset: str, delta: str) -> Fraction:
    from holdfast.former.ledger.composition import composed_epsilon
    from holdfast.former.ledger.subsets import by_row

    paid = [(spend.subset, spend.charges) for spend in ledger.spends(dataset)]
    rows = {tuple(sorted(chain.from_iterable(row), key=str)) for row in by_row(paid)}
    return max(composed_epsilon(charges, delta=delta) for charges in rows)


def as_dict(balance: "Balance") -> dict[str, Any]:
    """A balance as plain values; exact numbers as fractions in text."""
    return {
        "dataset": balance.dataset,
        "period": balance.when,
        "epsilon_limit": str(balance.epsilon_limit),
        "epsilon_spent": str(balance.epsilon_spent),
        "epsilon_left": str(balance.epsilon_left),
        "delta_limit": str(balance.delta_limit),
        "delta_spent": str(balance.delta_spent),
        "delta_left": str(balance.delta_left),
        "spends": balance.states,
    }


def account_dict(balances: "list[Balance]") -> dict[str, Any]:
    """What a release must fit, as plain values; nothing where no ledger pays."""
    names = ("ledger", "ledger_for_all_time")
    return {name: as_dict(each) for name, each in zip(names, balances, strict=False)}


def _stated(epsilon: Fraction | None, delta: str | None) -> dict[str, Any]:
    if epsilon is None:
        return {}
    return {"composed": {"epsilon": float(epsilon), "delta": delta}}


def _print_balances(
    balances: "list[Balance]", tighter: dict[str, Fraction], delta: str | None
) -> None:
    from holdfast.former.ledger.entries import plainly

    rows: list[list[str]] = []
    timed = any(balance.in_words for balance in balances)
    names = ["dataset", *["period"] * timed]
    headings = [*names, "epsilon spent", "limit", "left", "done", "abandoned", "open"]
    headings += [f"epsilon at delta {delta}"] * bool(tighter)
    for balance in balances:
        amounts = (balance.epsilon_spent, balance.epsilon_limit, balance.epsilon_left)
        states = (str(balance.states[state]) for state in ("done", "abandoned", "open"))
        also = [f"{float(tighter[balance.dataset]):.6g}"] if tighter else []
        named = [balance.dataset, *[balance.when] * timed]
        rows.append([*named, *map(plainly, amounts), *states, *also])
    count = "Abandoned and open spends count: something may have been drawn."
    title = "Budget of each dataset"
    screen.print(tabled(headings, rows, title=title, left=names, caption=count))
    for balance in balances:
        if balance.delta_limit or balance.delta_spent:
            screen.print(
                f"{balance.dataset}: delta {plainly(balance.delta_spent)} spent of "
                f"{plainly(balance.delta_limit)}{balance.in_words}."
            )


def _entry(entry: "Begun | Limit | Spend") -> dict[str, Any]:
    from holdfast.former.ledger.entries import Begun, Spend

    known: dict[str, Any] = {"time": entry.time, "user": entry.user}
    if isinstance(entry, Begun):
        return {"kind": "begun"} | known | {"earlier": entry.earlier}
    known |= {"dataset": entry.dataset, "epsilon": str(entry.epsilon), "delta": str(entry.delta)}
    if not isinstance(entry, Spend):
        return {"kind": "limit"} | known | {"per_period": entry.per_period}
    return (
        {"kind": "spend"}
        | known
        | {"id": entry.id, "entry": entry.entry, "state": entry.state, "ended": entry.ended}
        | {name: vars(entry)[name] for name in ("file", "column", "folder", "purpose")}
        | {"subset": str(entry.subset) if entry.subset is not None else None}
        | {"period": str(entry.period) if entry.period is not None else None}
        | {"parameters": json.loads(entry.what or "null")}
    )


def _print_history(entries: "list[Begun | Limit | Spend]") -> None:
    from holdfast.former.ledger.entries import Begun, Spend, plainly

    rows: list[tuple[str, ...]] = []
    for entry in entries:
        row = entry.time[:19].replace("T", " "), one_line(entry.user)
        if isinstance(entry, Spend):
            kind, told = f"spend {entry.id}, {entry.state}", _told(entry)
        elif isinstance(entry, Begun):
            over = f" over {entry.earlier} entries of an older ledger" if entry.earlier else ""
            rows.append((*row, "", f"chain begun{over}", "", "", ""))
            continue
        else:
            kind, told = f"limit{' of each period' * entry.per_period} set", ""
        amounts = plainly(entry.epsilon), plainly(entry.delta)
        rows.append((*row, one_line(entry.dataset), kind, *amounts, told))
    left, last = ("time (UTC)", "who", "dataset", "what"), "of what, and why"
    title = "Limits and spends, in the order of payment"
    headings = (*left, "epsilon", "delta", last)
    screen.print(tabled(headings, rows, title=title, left=(*left, last), overflow="fold"))


def _told(spend: "Spend") -> str:
    """Of what, to where and why, as far as it is known."""
    column = f"{one_line(spend.column)} of " if spend.column else ""
    parts = [
        column + (one_line(Path(spend.file).name) if spend.file else "a table"),
        f"of {spend.period}" if spend.period is not None else "",
        f"only {one_line(str(spend.subset))}" if spend.subset is not None else "",
        f"to {one_line(spend.folder)}" if spend.folder else "",
        f"for: {one_line(spend.purpose)}" if spend.purpose else "",
    ]
    told = spend.column, spend.file, spend.folder, spend.purpose, spend.subset, spend.period
    known = any(told)
    return "\n".join(part for part in parts if part) if known else ""
