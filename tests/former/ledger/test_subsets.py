"""Disjoint subsets of a dataset are charged side by side; whatever overlaps is charged in full."""

import json
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from command_line import table
from holdfast.errors import BudgetError, HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.former.ledger.book import Book
from holdfast.former.ledger.entries import Spend
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.ledger.subsets import charged
from holdfast.former.tables.subset import Subset, read_subset

NE, CA, URBAN = {"state": "NE"}, {"state": "CA"}, {"urban": "yes"}
USUAL = {"epsilon": "0.5", "max_count": 5, "constructor": Heuristic(selector="min")}
LABELS = {"state": ["NE", "CA", "TX"], "urban": ["yes", "no"], "year": ["1", "2"]}


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=1, delta="0.25")
    return ledger


def counties(rows=60):
    chance = np.random.default_rng(5)
    states = np.array(["NE", "CA", "TX"])[np.arange(rows) % 3]
    urban = np.where(chance.random(rows) < 0.5, "yes", "no")
    counts = chance.poisson(1.5, rows)
    return pd.DataFrame({"place": range(rows), "state": states, "urban": urban, "n": counts})


def release(ledger, frame=None, **changes):
    frame = counties() if frame is None else frame
    roles = {"count": "n", "category": "place", "ledger": ledger, "dataset": "crime"}
    return holdfast.privatize(frame, **(USUAL | roles | changes))


def spent(ledger, **options):
    return ledger.balance("crime", **options).epsilon_spent


def test_other_labels_of_a_column_are_charged_once_for_all(ledger):
    for subset in (NE, CA, {"state": "TX"}):
        release(ledger, subset=subset)
    assert spent(ledger) == Fraction(1, 2)


def test_overlaps_are_charged_in_full(ledger):
    release(ledger, subset=NE)
    release(ledger, subset=URBAN)
    assert spent(ledger) == 1
    with pytest.raises(BudgetError, match=r"spent 1, requested 0\.5, limit 1"):
        release(ledger)
    with pytest.raises(BudgetError, match=r"spent 1, requested 0\.5, limit 1"):
        release(ledger, subset=NE, max_count=4)


def test_a_subset_that_has_spent_less_has_more_left(ledger):
    ledger.spend("crime", epsilon="0.75", delta="0.125", subset=NE)
    assert ledger.balance("crime", subset=CA).epsilon_left == 1
    assert ledger.balance("crime", subset=NE).epsilon_left == Fraction(1, 4)
    assert ledger.balance("crime", subset=URBAN).delta_left == Fraction(1, 8)
    ledger.spend("crime", epsilon=1, delta="0.25", subset=CA)
    assert (spent(ledger), ledger.balance("crime").delta_spent) == (1, Fraction(1, 4))
    with pytest.raises(BudgetError):
        ledger.spend("crime", epsilon="0.001")


def test_a_limit_below_what_some_rows_have_spent_grants_nothing_to_any(ledger):
    ledger.spend("crime", epsilon="0.75", subset=NE)
    ledger.set_limit("crime", epsilon="0.7")
    with pytest.raises(BudgetError):
        ledger.spend("crime", epsilon="0.1", subset=CA)


def drawn_spends(chance):
    for _ in range(chance.randrange(1, 9)):
        column = chance.choice([None, *LABELS])
        subset = column and Subset(column, chance.choice(LABELS[column]))
        yield subset, Fraction(chance.randrange(1, 50), chance.randrange(1, 50))


def paid_by(row, spends):
    return sum((e for s, e in spends if s is None or row[s.column] == s.label), Fraction(0))


EVERY_ROW = [dict(zip(LABELS, labels, strict=True)) for labels in product(*LABELS.values())]


def test_what_is_charged_is_what_the_worst_row_has_paid():
    chance = random.Random(1)
    for _ in range(300):
        spends = list(drawn_spends(chance))
        assert charged(spends) == max(paid_by(row, spends) for row in EVERY_ROW)
        for column, label in [(name, each) for name in LABELS for each in LABELS[name]]:
            worst = max(paid_by(row, spends) for row in EVERY_ROW if row[column] == label)
            assert charged(spends, Subset(column, label)) == worst


def test_no_row_pays_more_than_the_limit_and_nothing_that_fits_is_refused(ledger):
    ledger.set_limit("crime", epsilon=30)
    spends, chance = [], random.Random(2)
    for subset, epsilon in [each for _ in range(8) for each in drawn_spends(chance)]:
        fits = max(paid_by(row, [*spends, (subset, epsilon)]) for row in EVERY_ROW) <= 30
        try:
            ledger.spend("crime", epsilon=epsilon, subset=subset)
        except BudgetError:
            assert not fits
        else:
            assert fits
            spends.append((subset, epsilon))
    assert len(spends) > 10 and spent(ledger) == max(paid_by(row, spends) for row in EVERY_ROW)


def test_the_release_has_the_rows_of_the_subset_alone_and_says_so(ledger):
    made = release(ledger, subset=NE, keep=["urban"])
    assert made.rows == 20 and list(made.table["state"].unique()) == ["NE"]
    assert list(made.table["place"]) == list(range(0, 60, 3))
    assert "these are the rows whose state is NE" in made.notes


def test_the_other_rows_have_no_say_in_the_release(ledger):
    release(ledger, subset=NE)
    changed = counties()
    changed.loc[changed["state"] == "CA", "n"] += 1
    assert release(ledger, changed, subset=NE).repeated
    changed.loc[changed["state"] == "NE", "n"] += 1
    assert not release(ledger, changed, subset=NE).repeated


def test_the_subset_is_part_of_what_a_release_is(ledger):
    frame = counties()[["place", "state", "n"]].query("state == 'NE'")
    release(ledger, frame, subset=NE)
    again = release(ledger, frame, subset={"state": "ne "})
    whole = release(ledger, frame, keep=["state"])
    assert again.repeated and not whole.repeated
    assert spent(ledger) == 1


def test_structural_zeros_and_missing_counts_go_with_their_rows(ledger):
    frame = counties()
    frame.loc[[0, 1], "n"] = [0, 0]
    frame["n"] = frame["n"].astype(object)
    frame.loc[[3, 4], "n"] = -999
    made = release(ledger, frame, subset=NE, structural_zero=[0, 1], missing=[-999])
    assert (made.rows, made.structural_zeros) == (18, 1)


@pytest.mark.parametrize(
    "one, other",
    [
        ("01", 1),
        ("1e3", 1000),
        ("1.0", 1),
        (" NE", "ne"),
        (True, "TRUE"),
        (2.0, "2"),
        ("\uff11", "1"),
    ],
)
def test_spellings_of_one_label_are_one_subset(one, other):
    first, second = (read_subset({"state": label}) for label in (one, other))
    assert charged([(first, Fraction(1)), (second, Fraction(1))]) == 2


@pytest.mark.parametrize(
    "subset, words",
    [
        ({"state": "ZZ"}, "no row has the label 'ZZ'"),
        ({"nowhere": "NE"}, "nowhere"),
        ({"n": 1}, "must not name the column of counts"),
        ({"state": ""}, "label of 1 to 200"),
        ({"state": None}, "label of 1 to 200"),
        ({"state": 0.5}, "text or whole numbers"),
        ({}, "one column and one label"),
        (NE | URBAN, "one column and one label"),
        ("state=NE", "one column and one label"),
    ],
)
def test_what_is_no_subset_is_refused_and_costs_nothing(ledger, subset, words):
    with pytest.raises(HoldfastError, match=words):
        release(ledger, subset=subset)
    assert spent(ledger) == 0


def test_a_plain_list_has_no_subsets(ledger):
    with pytest.raises(HoldfastError, match="subset"):
        release(ledger, [1, 2, 3], count=None, category=None, subset=NE)


def test_a_column_that_follows_from_the_counts_makes_no_subset(ledger):
    frame = counties()
    frame["high"] = np.where(frame["n"] > 1, "high", "low")
    with pytest.raises(HoldfastError, match="high"):
        release(ledger, frame, subset={"high": "low"})
    assert spent(ledger) == 0


def test_entries_without_a_subset_are_of_the_whole_table():
    body = {"kind": "spend", "spend": 1, "dataset": "crime", "epsilon": "1", "delta": "0"}
    body |= {"charges": [["1", "0", 1]], "time": "", "what": "", "fingerprint": ""}
    book = Book()
    book.add(body)
    assert book.spends[1].subset is None


CALL = ("--keep-none", "--count", "n", "--category", "place", "--max-count", "5")
CALL = (*CALL, "--epsilon", "0.5", "--constructor", "min", "--ledger", "b", "--dataset", "crime")


def test_the_command_line_releases_subsets_and_its_history_shows_them(cli):
    name = table(counties().drop(columns="urban").to_csv(index=False))
    cli("ledger", "set-limit", "b", "crime", "--epsilon", "0.5")
    for state in ("NE", "CA"):
        call = (name, *CALL, "--subset", f"state={state}")
        code, out, err = cli("privatize", *call, "--dry-run")
        assert code == 0 and "not enough" not in out and "20 rows" in out, err
        code, out, err = cli("privatize", *call, "--out", state)
        assert code == 0 and "has spent epsilon 0.5 of 0.5" in out, err
    code, _, err = cli("privatize", name, *CALL, "--out", "whole")
    assert code == 2 and "spent 0.5, requested 0.5" in err
    _, out, _ = cli("ledger", "history", "b", "--json")
    spends = [entry for entry in json.loads(out) if entry["kind"] == "spend"]
    assert [entry["subset"] for entry in spends] == ["state=NE", "state=CA"]
    assert cli("ledger", "history", "b")[1].count("only") == 2  # the rest may be folded
    _, out, _ = cli("ledger", "show", "b", "--delta", "0", "--json")
    assert json.loads(out)[0]["composed"]["epsilon"] == 0.5


def test_the_command_line_streams_subsets_and_charges_them_side_by_side(cli):
    name = table(counties().drop(columns="urban").to_csv(index=False))
    cli("ledger", "set-limit", "b", "crime", "--epsilon", "0.5")
    for state in ("NE", "CA"):
        call = (name, *CALL, "--subset", f"state={state}", "--stream")
        code, out, err = cli("privatize", *call, "--dry-run")
        assert code == 0 and "not enough" not in out and "20 rows" in out, err
        code, _, err = cli("privatize", *call, "--out", state)
        assert code == 0, err
    assert Ledger("b").balance("crime").epsilon_spent == Fraction(1, 2)
    assert holdfast.load("NE").rows == 20
    code, _, err = cli("privatize", name, *CALL, "--subset", "state=Ohio", "--stream", "--out", "x")
    assert code == 2 and "no row has the label 'Ohio'" in err


def test_a_spend_remembers_its_subset(ledger):
    ledger.spend("crime", epsilon="0.5", subset=NE)
    (found,) = ledger.spends("crime")
    assert isinstance(found, Spend) and found.subset == Subset("state", "NE")
