"""`holdfast ledger`: sets limits, shows balances and history, checks releases."""

import json
import re
import shutil
from fractions import Fraction

import pytest
from typer.testing import CliRunner

import holdfast
from holdfast.cli import ledger as commands
from holdfast.errors import HoldfastError
from holdfast.ledger.chain import Receipt
from holdfast.ledger.ledger import Ledger
from holdfast.tables.subset import read_period
from small_engine import release


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words):
    """Exit code and output; an error of ours is raised."""
    done = CliRunner().invoke(commands.app, list(words))
    if isinstance(done.exception, HoldfastError):
        raise done.exception
    return done.exit_code, done.output


def test_a_limit_is_set_and_said():
    limit = ("set-limit", "b.ledger", "--dataset", "nc", "--epsilon")
    assert run(*limit, "2") == (0, "Ledger: dataset nc has spent epsilon 0 of 2; 2 is left.\n")
    code, out = run(*limit, "1", "--per-period")
    assert code == 0 and "of 1 in any one period" in out and "no limit for all time" not in out
    _, out = run("set-limit", "c.ledger", "--dataset", "x", "--epsilon", "1", "--per-period")
    assert "There is no limit for all time" in out
    _, out = run(*limit, "3", "--delta", "1e-6", "--json")
    assert json.loads(out)["delta_limit"] == "1/1000000"


@pytest.mark.parametrize("command", ["set-limit", "show", "history"])
def test_every_command_names_a_dataset_as_a_release_does(command):
    """`holdfast privatize … --dataset nc`, and `holdfast ledger show FILE --dataset nc`."""
    code, out = run(command, "--help")
    assert code == 0 and re.search("--dataset +NAME", out) and "FILE" in out
    assert CliRunner().invoke(commands.app, [command, "b.ledger", "nc"]).exit_code == 2


def test_limits_spends_and_history_are_shown():
    ledger = Ledger("b.ledger")
    ledger.set_limit("crime", epsilon=2, delta="1e-5")
    for _ in range(3):
        ledger.spend("crime", epsilon="1/3")
    code, out = run("show", "b.ledger", "--delta", "1e-3")
    assert code == 0 and "crime" in out and "delta 1e-3" in out and "0.00001" in out
    (shown,) = json.loads(run("show", "b.ledger", "--dataset", "crime", "--json")[1])
    assert shown["epsilon_spent"] == "1" and shown["spends"]["open"] == 3
    (shown,) = json.loads(run("show", "b.ledger", "--delta", "0.01", "--json")[1])
    assert 0.9 < shown["composed"]["epsilon"] < 1 and shown["composed"]["delta"] == "0.01"
    code, out = run("history", "b.ledger")
    assert code == 0 and out.count("open") == 3 and "limit set" in out
    entries = json.loads(run("history", "b.ledger", "--json")[1])
    assert [entry["kind"] for entry in entries] == ["begun", "limit", "spend", "spend", "spend"]
    for words in (("show", "b.ledger"), ("history", "b.ledger")):
        with pytest.raises(HoldfastError, match="'typo' has no limit"):
            run(*words, "--dataset", "typo")
    with pytest.raises(HoldfastError, match="is not there"):
        run("show", "no.ledger")


def test_each_period_has_a_line_and_subsets_are_said():
    ledger = Ledger("b.ledger")
    ledger.set_limit("crime", epsilon=1, per_period=True)
    for year, state in ((2025, "NE"), (2026, "CA")):
        ledger.spend("crime", epsilon=1, period=year, subset={"state": state})
    shown = json.loads(run("show", "b.ledger", "--json")[1])
    assert [(each["period"], each["epsilon_spent"]) for each in shown] == [
        ("2025", "1"),
        ("2026", "1"),
    ]
    spends = json.loads(run("history", "b.ledger", "--json")[1])[2:]
    assert [(each["period"], each["subset"]) for each in spends] == [
        ("2025", "state=NE"),
        ("2026", "state=CA"),
    ]
    out = " ".join(run("history", "b.ledger")[1].split())
    assert "limit of" in out and out.count("only") == 2


def test_the_history_tells_who_what_and_why():
    ledger = Ledger("b.ledger")
    ledger.set_limit("crime", epsilon=1)
    told = ledger.telling(purpose="yearly report", file="/data/in.csv", column="n", folder="out")
    release(told)
    *_, spend = json.loads(run("history", "b.ledger", "--json")[1])
    assert spend["purpose"] == "yearly report" and spend["column"] == "n" and spend["user"]
    assert (spend["file"], spend["folder"], spend["entry"]) == ("/data/in.csv", "out", spend["id"])
    assert spend["parameters"]["epsilon"] == "1/2"
    out = " ".join(run("history", "b.ledger")[1].split())
    assert "in.csv" in out and "yearly" in out and "chain begun" in out


def test_names_of_others_move_nothing_on_the_screen():
    ledger = Ledger("b.ledger")
    with pytest.raises(HoldfastError, match="characters that can be seen"):
        ledger.set_limit("a\x1b[2Jb", epsilon=1)
    ledger.set_limit("a[red]b", epsilon=1)
    ledger.telling(purpose="x\x1b[2Jy", column="[red]z").spend("a[red]b", epsilon=1)
    for command in ("show", "history"):
        out = run(command, "b.ledger")[1]
        assert "\x1b[2J" not in out
    assert "[red]" in out


def claims(spend, receipt=None, **changes):
    said = {"epsilon": spend.epsilon, "the period": spend.period, "the counts": [1, 2]}
    rows = {"the rows that were chosen": ("state", "ne")}
    return receipt or spend.receipt, said | rows | changes


@pytest.fixture
def spend():
    ledger = Ledger("b.ledger")
    ledger.set_limit("crime", epsilon=1)
    release(ledger, period=2025, subset={"state": "NE"})
    return ledger.spends()[0]


def test_a_release_can_be_checked_against_what_was_paid(spend, monkeypatch):
    monkeypatch.setattr(commands, "_claims", lambda folder: claims(spend))
    code, out = run("check", "b.ledger", "one")
    assert code == 0 and "is whole" in out and "one: its spend is in it." in out
    unknown = Receipt(spend.receipt.ledger, 3, "f" * 64)
    monkeypatch.setattr(commands, "_claims", lambda folder: claims(spend, unknown))
    code, out = run("check", "b.ledger", "one")
    assert code == 1 and "older copy" in out
    assert json.loads(run("check", "b.ledger", "one", "--json")[1])["releases"] == {"one": False}


@pytest.mark.parametrize("receipt", [None, Receipt("a" * 32, 3, "f" * 64)])
def test_a_release_that_this_ledger_did_not_pay_for_is_said_to_be_none(spend, monkeypatch, receipt):
    monkeypatch.setattr(commands, "_claims", lambda folder: (receipt, {}))
    with pytest.raises(HoldfastError, match=r"names no ledger|paid from another ledger"):
        run("check", "b.ledger", "one")


OTHER = {
    "epsilon": Fraction(1),
    "the period": read_period(2031),
    "the rows that were chosen": ("state", "ca"),
    "the counts": [1, 3],
}


@pytest.mark.parametrize("what", OTHER)
def test_a_release_that_says_other_than_was_paid_for_fails_the_check(spend, monkeypatch, what):
    stored = Ledger("b.ledger").folder(spend)
    published = claims(spend, **{what: OTHER[what]})
    monkeypatch.setattr(
        commands, "_claims", lambda folder: claims(spend) if folder == stored else published
    )
    code, out = run("check", "b.ledger", "one")
    assert code == 1 and f"NOT as the release says: {what}." in " ".join(out.split())


def test_a_real_release_is_as_it_was_paid_for(tmp_path):
    Ledger("b.ledger").set_limit("crime", epsilon=2)
    table = {"place": list("abcdef"), "state": ["NE", "CA"] * 3, "n": [0, 3, 1, 0, 2, 7]}
    (tmp_path / "a.csv").write_text(
        "\n".join(map(",".join, [table, *zip(*[map(str, c) for c in table.values()], strict=True)]))
    )
    how = {"count": "n", "category": "place", "keep": "state", "ledger": "b.ledger"}
    how |= {"dataset": "crime", "period": 2025, "subset": {"state": " ne"}}
    holdfast.privatize("a.csv", epsilon=1, **how, out="one")
    assert run("check", "b.ledger", "one")[0] == 0
    holdfast.privatize(
        "a.csv", epsilon=1, **how | {"period": 2026, "publish_anyway": "same counts"}, out="other"
    )
    first, second = (Ledger("b.ledger").folder(each) for each in Ledger("b.ledger").spends())
    shutil.rmtree(first)
    shutil.copytree(second, first)
    code, out = run("check", "b.ledger", "one", "other")
    assert code == 1 and "one: its spend is in it, but NOT as the release says: the counts." in out
    assert "other: its spend is in it." in out
