"""The command line and a ledger: pays, shows again, refuses, tells."""

import json
import os
import shutil
from pathlib import Path

import pytest
from test_spending import fail, release

import holdfast.former as holdfast
from command_line import table
from holdfast.errors import HoldfastError
from holdfast.former.ledger.ledger import Ledger

PAID = (
    "--keep-none",
    "--count",
    "n",
    "--max-count",
    "5",
    "--epsilon",
    "0.5",
    "--constructor",
    "min",
)
PAID = (*PAID, "--ledger", "b.ledger", "--dataset", "crime")


def test_the_command_line_pays_shows_again_and_refuses(cli):
    name = table()
    assert cli("ledger", "set-limit", "b.ledger", "crime", "--epsilon", "0.8")[0] == 0
    code, out, _ = cli("privatize", name, *PAID, "--out", "one")
    assert code == 0 and "has spent epsilon 0.5 of 0.8; 0.3 is left" in out
    code, out, _ = cli("privatize", name, *PAID, "--out", "two")
    assert code == 0 and "made before" in out
    assert "published again learns that the table has not changed" in out
    for path in Path("one").iterdir():
        assert path.read_bytes() == (Path("two") / path.name).read_bytes()
    code, _, err = cli("privatize", name, *PAID, "--split", "0.4", "--out", "three")
    assert code == 2 and "spent 0.5, requested 0.5, limit 0.8" in err
    assert not os.path.exists("three")
    code, out, _ = cli("privatize", name, *PAID, "--out", "four", "--json")
    assert json.loads(out)["repeated"] and json.loads(out)["ledger"]["epsilon_left"] == "3/10"


def test_the_command_line_says_that_a_failed_run_counts(cli, monkeypatch):
    name = table()
    cli("ledger", "set-limit", "b.ledger", "crime", "--epsilon", "0.8")
    broken = lambda *_: fail(RuntimeError("secret"))  # noqa: E731
    monkeypatch.setattr("holdfast.former.engines.memory.five_steps", broken)
    code, _, err = cli("privatize", name, *PAID, "--out", "one")
    assert code == 5 and "The ledger has counted this run" in err and "secret" not in err
    code, _, err = cli("privatize", name, *PAID, "--out", "one")
    assert code == 2 and "cannot afford" in err and "counted" not in err


def test_a_dry_run_shows_what_is_left_and_spends_nothing(cli):
    name = table()
    cli("ledger", "set-limit", "b.ledger", "crime", "--epsilon", "0.4")
    code, out, _ = cli("privatize", name, *PAID, "--dry-run")
    assert code == 0 and "0.4 is left" in out and "not enough" in out
    out = cli("privatize", name, *PAID, "--dry-run", "--json")[1]
    assert json.loads(out)["ledger"]["epsilon_spent"] == "0"
    code, _, err = cli("privatize", name, *PAID[:-2], "--dry-run")
    assert code == 2 and "go together" in err


def test_a_dry_run_compares_delta_too(cli):
    name, gaussian = table(), ("--constructor", "discrete-gaussian", "--delta", "1e-4", "--dry-run")
    for delta, enough in (("1e-5", False), ("1e-4", True)):
        cli("ledger", "set-limit", "b.ledger", "crime", "--epsilon", "4", "--delta", delta)
        code, out, _ = cli("privatize", name, *PAID, *gaussian)
        assert code == 0 and ("not enough" not in out) is enough


def test_the_ledger_commands_show_limits_spends_and_history(cli):
    Ledger("b.ledger").set_limit("crime", epsilon=2, delta="1e-5")
    for _ in range(3):
        Ledger("b.ledger").spend("crime", epsilon="1/3")
    code, out, _ = cli("ledger", "show", "b.ledger", "--delta", "1e-3")
    assert code == 0 and "crime" in out and "epsilon at" in out and "0.00001" in out
    (shown,) = json.loads(cli("ledger", "show", "b.ledger", "crime", "--json")[1])
    assert shown["epsilon_spent"] == "1" and shown["spends"]["open"] == 3
    (shown,) = json.loads(cli("ledger", "show", "b.ledger", "--delta", "0.01", "--json")[1])
    assert 0.9 < shown["composed"]["epsilon"] < 1
    code, out, _ = cli("ledger", "history", "b.ledger")
    assert code == 0 and out.count("open") == 3 and "limit set" in out
    entries = json.loads(cli("ledger", "history", "b.ledger", "--json")[1])
    assert [entry["kind"] for entry in entries] == ["begun", "limit", "spend", "spend", "spend"]
    for words in (("show", "b.ledger", "typo"), ("history", "b.ledger", "typo"), ("show", "no")):
        code, _, err = cli("ledger", *words)
        assert code == 2 and err.startswith("Error: ")


def test_the_history_tells_who_what_and_why(cli):
    name = table()
    cli("ledger", "set-limit", "b.ledger", "crime", "--epsilon", "2")
    cli("privatize", name, *PAID, "--out", "one", "--purpose", "yearly report")
    *_, spend = json.loads(cli("ledger", "history", "b.ledger", "--json")[1])
    assert spend["purpose"] == "yearly report" and spend["column"] == "n" and spend["user"]
    assert spend["file"] == os.path.abspath(name) and spend["folder"] == os.path.abspath("one")
    out = " ".join(cli("ledger", "history", "b.ledger")[1].split())
    assert "n of in.csv" in out and "yearly" in out and "chain begun" in out
    code, _, err = cli("privatize", name, *PAID[:-4], "--out", "two", "--purpose", "x")
    assert code == 2 and "goes with `--ledger`" in err


def test_a_ledger_can_be_checked_against_what_was_published(cli):
    name = table()
    cli("ledger", "set-limit", "b.ledger", "crime", "--epsilon", "2")
    older = Path("b.ledger").read_bytes()
    cli("privatize", name, *PAID, "--out", "one")
    code, out, _ = cli("ledger", "check", "b.ledger", "one")
    assert code == 0 and "is whole" in out and "one: its spend is in it." in out
    shutil.rmtree("b.ledger.releases")
    Path("b.ledger").write_bytes(older)
    code, out, _ = cli("ledger", "check", "b.ledger", "one")
    assert code == 1 and "older copy" in out
    assert json.loads(cli("ledger", "check", "b.ledger", "one", "--json")[1])["releases"] == {
        "one": False
    }
    cli("privatize", name, *PAID[:-4], "--out", "unpaid")
    code, _, err = cli("ledger", "check", "b.ledger", "unpaid")
    assert code == 2 and "names no ledger" in err


def test_a_full_disk_is_found_before_anything_is_paid(cli, monkeypatch):
    name = table()
    cli("ledger", "set-limit", "b.ledger", "crime", "--epsilon", "2")
    usage = shutil.disk_usage(".")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage._replace(free=1000))
    code, _, err = cli("privatize", name, *PAID, "--out", "one")
    assert code == 2 and "has no room" in err and "Nothing was drawn or spent" in err
    with pytest.raises(HoldfastError, match="has no room"):
        release(Ledger("b.ledger"))
    assert Ledger("b.ledger").spends("crime") == []


def test_a_paid_release_that_could_not_be_written_is_kept_and_says_so(cli, monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device")

    name = table()
    cli("ledger", "set-limit", "b.ledger", "crime", "--epsilon", "2")
    with monkeypatch.context() as broken:
        real = holdfast.Release.save
        broken.setattr(
            holdfast.Release, "save", lambda *a, **k: full() if a[1] == Path("one") else real(*a)
        )
        code, _, err = cli("privatize", name, *PAID, "--out", "one")
    assert code == 2 and "No space left" in err and "The ledger keeps this release" in err
    code, out, _ = cli("privatize", name, *PAID, "--out", "one")
    assert code == 0 and "made before" in out
