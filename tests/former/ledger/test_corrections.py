"""A table that changed beside its counts: shown again where its rows are surely the same."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.former.ledger.corrections import relabelled
from holdfast.former.ledger.ledger import Ledger

ROWS = 40
FRAME = pd.DataFrame(
    {
        "county": [f"county {k}" for k in range(ROWS)],
        "state": ["NE", "CA"] * (ROWS // 2),
        "n": np.random.default_rng(3).poisson(1.5, ROWS),
    }
)
LABELLED = {"count": "n", "category": "county", "keep": ["state"]}
USUAL = {"epsilon": "0.5", "max_count": 5, "constructor": Heuristic(selector="min")}


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=5)
    return ledger


@pytest.fixture
def first(ledger):
    return release(ledger)


def release(ledger, frame=FRAME, **changes):
    return holdfast.privatize(frame, **(USUAL | LABELLED | changes), ledger=ledger, dataset="crime")


def spends(ledger):
    return len(ledger.spends("crime"))


def renamed(column, changes):
    return FRAME.assign(**{column: FRAME[column].replace(changes)})


def swapped():
    """Two rows of equal counts in each other's place."""
    one, other = FRAME.index[FRAME.n == 1][:2]
    order = FRAME.index.to_numpy().copy()
    order[[one, other]] = other, one
    return FRAME.iloc[order].reset_index(drop=True)


ADDED = {
    "at the end": lambda: FRAME.assign(region="west"),
    "at the front": lambda: FRAME.assign(region="west")[["region", "county", "state", "n"]],
    "none, in another order": lambda: FRAME[["n", "state", "county"]],
}


@pytest.mark.parametrize("how", ADDED)
def test_an_added_column_is_no_second_payment(ledger, first, how):
    frame = ADDED[how]()
    keep = ["state", "region"] if "region" in frame else ["state"]
    again = release(ledger, frame, keep=keep)
    assert again.repeated and spends(ledger) == 1
    assert (again.counts == first.counts).all() and set(again.table.columns) == set(frame.columns)
    assert again.receipt == first.receipt


PAID = {
    "a label": lambda: renamed("county", {"county 7": "County Seven"}),
    "a withheld or kept cell": lambda: renamed("state", {"CA": "California"}),
    "a column taken away": lambda: FRAME[["county", "n"]],
    "rows of equal counts in each other's place": swapped,
    "a count": lambda: FRAME.assign(n=FRAME.n.where(FRAME.index != 3, FRAME.n + 1)),
    "the name of the column": lambda: FRAME.rename(columns={"n": "deaths"}),
}


@pytest.mark.parametrize("what", PAID)
def test_whatever_else_changed_is_drawn_and_paid_unless_somebody_vouches(ledger, first, what):
    frame = PAID[what]()
    keep = [name for name in ("state",) if name in frame]
    again = release(ledger, frame, count=frame.columns[-1], keep=keep)
    assert not again.repeated and spends(ledger) == 2


def test_rows_without_labels_of_their_own_are_never_the_same_by_columns_alone(ledger):
    bare = FRAME[["state", "n"]]
    release(ledger, bare, category=None)
    for order in (list(FRAME.county), list(FRAME.county[::-1])):
        named = bare.assign(county=order)
        assert not release(ledger, named, category="county").repeated
    assert spends(ledger) == 3


CORRECTED = ["a label", "a withheld or kept cell", "a column taken away"]


@pytest.mark.parametrize("what", CORRECTED)
def test_a_correction_shows_the_same_draws_beside_what_is_right(ledger, first, what):
    frame = PAID[what]()
    keep = [name for name in ("state",) if name in frame]
    again = release(ledger, frame, keep=keep, corrects=first)
    assert again.repeated and spends(ledger) == 1
    assert (again.counts == first.counts).all()
    assert list(again.table.county) == list(frame.county)
    assert "the counts are those that were published before" in again.notes[-1]


OTHER = {
    "a count": {"frame": PAID["a count"]},
    "the name of the column": {"frame": PAID["the name of the column"], "count": "deaths"},
    "an epsilon": {"epsilon": "0.25"},
    "a highest count": {"max_count": 6},
    "a method": {"constructor": Heuristic(selector="max")},
    "the period": {"period": 2026},
    "the groups": {"within": "state", "constructor": None},
    "a structural zero": {"structural_zero": FRAME.n.to_numpy() == 0},
    "the order of the rows": {"frame": lambda: FRAME.iloc[::-1]},
}


@pytest.mark.parametrize("what", OTHER)
def test_nothing_but_labels_and_columns_can_be_corrected(ledger, first, what):
    changes = dict(OTHER[what])
    frame = changes.pop("frame", lambda: FRAME)()
    with pytest.raises(HoldfastError, match="this is another release"):
        release(ledger, frame, corrects=first, **changes)
    assert spends(ledger) == 1


def test_the_same_labels_in_other_rows_are_no_correction(ledger, first):
    moved = FRAME.assign(county=FRAME.county.to_numpy()[::-1])
    with pytest.raises(HoldfastError, match="stand in other rows"):
        release(ledger, moved, corrects=first)
    assert spends(ledger) == 1


def test_a_label_that_moved_is_found_among_labels_that_are_new(ledger, first, tmp_path):
    labels = FRAME.county.to_list()
    labels[3], labels[4], labels[9] = labels[4], "County Three", "County Nine"
    moved, folder = FRAME.assign(county=labels), first.save(tmp_path / "first")
    for corrects in (first, folder):
        with pytest.raises(HoldfastError, match="stand in other rows here: 'county 4'"):
            release(ledger, moved, corrects=corrects)
    assert spends(ledger) == 1


def test_a_row_that_took_the_place_of_another_is_found_by_the_rows_behind_it(ledger, first):
    labels = [*FRAME.county[1:], "county 40"]
    with pytest.raises(HoldfastError, match="stand in other rows here"):
        release(ledger, FRAME.assign(county=labels), corrects=first)


def test_numbers_written_in_another_way_are_the_same_labels():
    assert not relabelled([1, 2.0, "03"], ["01", "2", 3]).now
    assert str(relabelled(["a", "b"], ["a", "c"])) == "1 label changed: 'b → c'"


def test_other_groups_of_the_same_rows_are_another_release(ledger):
    by_state = {"within": "state", "constructor": None, "max_count": 2}
    first = release(ledger, **by_state)
    moved = renamed("state", {"CA": "OR"})
    with pytest.raises(HoldfastError, match="the groups"):
        release(ledger, moved, **by_state, corrects=first)
    county = renamed("county", {"county 7": "County Seven"})
    assert release(ledger, county, **by_state, corrects=first).repeated


def test_a_correction_names_a_release_that_this_dataset_of_the_ledger_paid_for(ledger, quick):
    ledger.set_limit("other", epsilon=1)
    bare = {**USUAL, **LABELLED}
    foreign = holdfast.privatize(FRAME, **bare, ledger=ledger, dataset="other")
    unpaid = holdfast.privatize(FRAME, **bare, seed=1)
    for wrong in (foreign, unpaid, quick / "nothing"):
        with pytest.raises(HoldfastError, match="must be a release that this ledger paid for"):
            release(ledger, corrects=wrong)
    with pytest.raises(HoldfastError, match="must be a release or the folder"):
        release(ledger, corrects=7)
    with pytest.raises(HoldfastError, match="needs the ledger"):
        holdfast.privatize(FRAME, **bare, corrects=foreign)
    assert spends(ledger) == 0


def test_a_correction_of_a_correction_is_one_as_well(ledger, first, tmp_path):
    second = release(ledger, PAID["a label"](), corrects=first)
    folder = second.save(tmp_path / "second")
    third = release(ledger, renamed("county", {"county 7": "Seven"}), corrects=folder)
    assert (third.counts == first.counts).all() and spends(ledger) == 1


def test_a_stream_is_corrected_too_from_the_command_line(cli):
    run = "privatize {} --stream --count n --category place --keep-none --max-count 5 --epsilon 1 "
    run += "--ledger l.ledger --dataset crime --out {}"
    rows = [f"place {k},{k % 4}" for k in range(30)]
    for name, text in (("a.csv", rows), ("b.csv", [row.replace("e 7,", "e 8a,") for row in rows])):
        with open(name, "w") as file:
            file.write("\n".join(["place,n", *text, ""]))
    cli("ledger", "set-limit", "l.ledger", "crime", "--epsilon", "1")
    assert cli(*run.format("a.csv", "first").split())[0] == 0
    code, out, err = cli(*run.format("b.csv", "second").split(), "--corrects", "first")
    assert code == 0 and "nothing was drawn or spent" in out, err
    assert "1 label changed: 'place 7 → place 8a'" in " ".join(out.split())
    one, two = (holdfast.load(name) for name in ("first", "second"))
    assert (one.counts == two.counts).all() and "place 8a" in two.cells.column("place", "place")
    assert cli("verify", "second")[0] == 0


@pytest.mark.parametrize("order", [(), ("--order-by", "place")])
def test_labels_of_a_stream_are_compared_row_by_row_as_well(cli, order):
    run = "privatize {} --stream --count n --category place --keep-none --max-count 5 --epsilon 1 "
    run += "--ledger l.ledger --dataset crime --out {}"
    labels = [f"place {k}" for k in range(30)]
    for name in ("a.csv", "b.csv"):
        rows = [f"{label},{k % 4 // 2}" for k, label in enumerate(labels)]
        with open(name, "w") as file:
            file.write("\n".join(["place,n", *rows, ""]))
        labels[8], labels[9], labels[20] = labels[9], labels[8], "place 20a"
    cli("ledger", "set-limit", "l.ledger", "crime", "--epsilon", "1")
    assert cli(*run.format("a.csv", "first").split(), *order)[0] == 0
    words = [*run.format("b.csv", "second").split(), *order, "--corrects", "first"]
    code, out, err = cli(*words)
    if order:  # sorted, the two stand where they stood, and have the same count
        assert code == 0 and "1 label changed" in out
    else:
        assert code == 2 and "stand in other rows here" in " ".join(err.split())
