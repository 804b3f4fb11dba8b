"""`holdfast ledger`: what each dataset may spend, has spent and has left."""

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from holdfast.cli.options import Text, explained
from holdfast.cli.screen import show as print_
from holdfast.cli.screen import tabled
from holdfast.cli.stopping import End
from holdfast.errors import HoldfastError, one_line

if TYPE_CHECKING:
    from holdfast.ledger.book import Balance
    from holdfast.ledger.chain import Receipt
    from holdfast.ledger.entries import Begun, Limit, Spend
    from holdfast.ledger.ledger import Ledger
    from holdfast.tables.subset import Subset

SPENT, AMOUNTS = ("epsilon", "delta"), ("limit", "spent", "left")
EPSILON, PERIOD, ROWS, COUNTS = "epsilon", "the period", "the rows that were chosen", "the counts"
"""What a release says of itself that its ledger knows too."""
app = typer.Typer(
    no_args_is_help=True,
    help="Keep the budget of each dataset: limits, spends, what is left.",
)


@app.command("set-limit")
@explained
def set_limit(
    file: Path,
    dataset: str,
    epsilon: str,
    delta: str = "0",
    per_period: bool = False,
    as_json: bool = False,
) -> None:
    """Set what a dataset may spend; starts the ledger if there is none.

    A dataset without a limit cannot be released through the ledger. A new limit replaces the old
    one of its kind, for all time or for each period; all stay in the history, and where there are
    both a release must fit both.

        holdfast ledger set-limit budget.ledger --dataset homicides --epsilon 2

    With --per-period, `holdfast privatize … --period 2026` may spend as much for that year, and the
    next for the next.

    Options:

    FILE: The ledger.
    --dataset NAME: Name of the dataset.
    --epsilon NUMBER: What all its releases may spend together.
    --delta NUMBER: The same for delta.
    --per-period: What the releases of each period may spend together.
    --json
    """
    from holdfast.ledger.ledger import Ledger

    ledger = Ledger(file)
    ledger.set_limit(dataset, epsilon=epsilon, delta=delta, per_period=per_period)
    balances = ledger.must_fit(dataset)
    balance = balances[0] if per_period else balances[-1]
    if as_json:
        typer.echo(json.dumps(as_dict(balance)))
        return
    print_(sentence(balance))
    if per_period and len(balances) == 1:
        print_(
            "There is no limit for all time: whoever is counted in several periods spends in each."
        )


@app.command()
@explained
def show(file: Path, dataset: Text = None, delta: Text = None, as_json: bool = False) -> None:
    """Show limit, spent and left of each dataset, and of each period that has a limit.

        holdfast ledger show budget.ledger --delta 1e-6

    Options:

    FILE: The ledger.
    --dataset NAME: One dataset; default: all.
    --delta NUMBER: Also state epsilon at this delta, such as 1e-6.
    --json
    """
    from holdfast.ledger.ledger import Ledger

    ledger = Ledger(file)
    balances = ledger.balances(dataset)
    names = {balance.dataset for balance in balances} if delta else set()
    composed = {name: ledger.composed_epsilon(name, delta=delta) for name in names}
    if as_json:
        stated = {
            name: {"composed": {"epsilon": float(epsilon), "delta": delta}}
            for name, epsilon in composed.items()
        }
        shown = [as_dict(each) | stated.get(each.dataset, {}) for each in balances]
        typer.echo(json.dumps(shown))
    else:
        _print_balances(balances, composed, delta)


@app.command()
@explained
def check(file: Path, releases: list[Path] | None = None, as_json: bool = False) -> None:
    """Check a ledger, and that it knows of releases which were paid from it.

    All of a ledger is checked whenever it is opened. A release that it paid for and does not know
    of means that an older copy of the ledger was put back: exit code 1. So does one that names
    another period, other rows or another budget than was paid for, or has other noisy counts than
    the one that the ledger stored: it was changed.

        holdfast ledger check budget.ledger release-2025 release-2026

    Options:

    FILE: The ledger.
    [DIR …]: Folders of releases that it paid for.
    --json
    """
    from holdfast.ledger.ledger import open_ledger

    ledger = open_ledger(file)
    paid, differ = dict[str, bool](), dict[str, list[str]]()
    for folder in releases or ():
        paid[str(folder)], differ[str(folder)] = _look_up(ledger, folder)
    if as_json:
        typer.echo(json.dumps({"whole": True, "releases": paid, "differ": differ}))
    else:
        print_("The ledger is whole: every entry is as it was written.")
        for name in paid:
            print_(f"{one_line(name)}: {_standing(paid[name], differ[name])}.")
    if not all(paid.values()) or any(differ.values()):
        raise typer.Exit(End.FALSE)


@app.command()
@explained
def history(file: Path, dataset: Text = None, as_json: bool = False) -> None:
    """List every spend and every limit in the order of payment: who, what, why.

        holdfast ledger history budget.ledger --dataset homicides

    Options:

    FILE: The ledger.
    --dataset NAME: One dataset; default: all.
    --json
    """
    from holdfast.ledger.ledger import Ledger

    ledger = Ledger(file)
    if dataset is not None:
        ledger.balance(dataset)  # raises if there is no such dataset
    entries = [_entry(entry) for entry in ledger.history(dataset)]
    if as_json:
        typer.echo(json.dumps(entries))
    else:
        _print_history(entries)


def sentence(balance: "Balance") -> str:
    """A balance in one line."""
    from holdfast.errors import plainly

    def amounts(name: str) -> str:
        """What was spent of a limit, and what is left."""
        limit, spent, left = (plainly(getattr(balance, f"{name}_{what}")) for what in AMOUNTS)
        return f"spent {name} {spent} of {limit}{balance.in_words}; {left} is left."

    sentence = f"Ledger: dataset {one_line(balance.dataset)} has {amounts('epsilon')}"
    with_delta = balance.delta_limit or balance.delta_spent
    return f"{sentence} It has {amounts('delta')}" if with_delta else sentence


def as_dict(balance: "Balance") -> dict[str, Any]:
    """A balance as plain values; exact numbers as fractions in text."""
    names = [f"{spent}_{what}" for spent in SPENT for what in AMOUNTS]
    amounts = {name: str(getattr(balance, name)) for name in names}
    return (
        {"dataset": balance.dataset, "period": balance.when} | amounts | {"spends": balance.states}
    )


def _look_up(ledger: "Ledger", folder: Path) -> tuple[bool, list[str]]:
    """Whether a ledger knows of a release, and in what that is not as it was paid for."""
    receipt, claims = _claims(folder)
    if receipt is None or receipt.ledger != ledger.name:
        why = "names no ledger" if receipt is None else "was paid from another ledger"
        raise HoldfastError(f"`{folder}` {why}. Hint: name a release that this ledger paid for.")
    spend = ledger.paid_for(receipt)
    if spend is None:
        return False, []
    paid = {EPSILON: spend.epsilon, PERIOD: spend.period, ROWS: _label(spend.subset)}
    stored = ledger.folder(spend)
    if stored.is_dir():
        paid[COUNTS] = _claims(stored)[1][COUNTS]
    return True, [name for name, value in paid.items() if claims[name] != value]


def _claims(folder: Path) -> tuple["Receipt | None", dict[str, Any]]:
    """By what the release in a folder knows its spend, and what it says of itself, once nothing in
    it is damaged."""
    from holdfast import load
    from holdfast.ledger.chain import Receipt
    from holdfast.tables.subset import read_period, read_subset

    release = load(folder)
    tallies = [column.measurement.tally.whole() for column in release.columns]
    return None if release.receipt is None else Receipt.from_text(release.receipt), {
        EPSILON: release.promise.epsilon,
        PERIOD: read_period(release.period),
        ROWS: _label(read_subset((release.request or {}).get("subset"))),
        COUNTS: [(tally.value.tolist(), tally.rows.tolist()) for tally in tallies],
    }


def _label(subset: "Subset | None") -> tuple[str, str] | None:
    """The column of a subset, and its label however it is spelled."""
    return None if subset is None else (subset.column, subset.key)


def _standing(paid: bool, differ: list[str]) -> str:
    """What a ledger knows of a release."""
    if not paid:
        return "its spend is NOT in it: this is an older copy of the ledger"
    if differ:
        return f"its spend is in it, but NOT as the release says: {', '.join(differ)}"
    return "its spend is in it"


def _print_balances(
    balances: "list[Balance]", composed: dict[str, Fraction], delta: str | None
) -> None:
    from holdfast.errors import plainly

    timed = any(balance.in_words for balance in balances)
    names = ["dataset", *["period"] * timed]
    headings = [*names, "epsilon spent", "limit", "left", "done", "abandoned", "open"]
    headings += [f"epsilon at delta {delta}"] * bool(composed)
    rows: list[list[str]] = []
    for balance in balances:
        amounts = (balance.epsilon_spent, balance.epsilon_limit, balance.epsilon_left)
        states = (str(balance.states[state]) for state in ("done", "abandoned", "open"))
        also = [f"{float(composed[balance.dataset]):.6g}"] if composed else []
        named = [one_line(balance.dataset), *[balance.when] * timed]
        rows.append([*named, *map(plainly, amounts), *states, *also])
    count = "Abandoned and open spends count: something may have been measured."
    print_(tabled(headings, rows, title="Budget of each dataset", left=names, caption=count))
    for balance in balances:
        if balance.delta_limit or balance.delta_spent:
            print_(sentence(balance))


def _entry(entry: "Begun | Limit | Spend") -> dict[str, Any]:
    """An entry as plain values."""
    from holdfast.ledger.entries import Begun, Limit

    about: dict[str, Any] = {"time": entry.time, "user": entry.user}
    if isinstance(entry, Begun):
        return {"kind": "begun"} | about
    about |= {"dataset": entry.dataset, "epsilon": str(entry.epsilon), "delta": str(entry.delta)}
    if isinstance(entry, Limit):
        return {"kind": "limit"} | about | {"per_period": entry.per_period}
    return (
        {"kind": "spend"}
        | about
        | {"id": entry.id, "entry": entry.receipt.entry}
        | {"state": entry.state, "ended": entry.ended}
        | vars(entry.purpose)
        | {"subset": None if entry.subset is None else str(entry.subset)}
        | {"period": None if entry.period is None else str(entry.period)}
        | {"parameters": json.loads(entry.words or "null")}
    )


def _print_history(entries: list[dict[str, Any]]) -> None:
    from holdfast.errors import plainly

    rows: list[list[str]] = []
    for entry in entries:
        amounts = [plainly(Fraction(entry[name])) if name in entry else "" for name in SPENT]
        who = [entry["time"][:19].replace("T", " "), entry["user"], entry.get("dataset", "")]
        rows.append([*map(one_line, who), _kind(entry), *amounts, _of_what(entry)])
    left, last = ("time (UTC)", "who", "dataset", "what"), "of what, and why"
    title = "Limits and spends, in the order of payment"
    print_(tabled((*left, *SPENT, last), rows, title=title, left=(*left, last), overflow="fold"))


def _kind(entry: dict[str, Any]) -> str:
    if entry["kind"] == "spend":
        return f"spend {entry['id']}, {entry['state']}"
    period = " of each period" * entry.get("per_period", False)
    return f"limit{period} set" if entry["kind"] == "limit" else "chain begun"


def _of_what(spend: dict[str, Any]) -> str:
    """Of what, to where and why, as far as it is known."""
    words = {"column": "", "file": "of ", "period": "of ", "subset": "only ", "folder": "to ",
             "purpose": "for: "}  # fmt: skip
    about = {name: spend.get(name) for name in words} | {"file": Path(spend.get("file", "")).name}
    return "\n".join(f"{words[name]}{one_line(said)}" for name, said in about.items() if said)
