"""Releases of the real engine through a ledger: paid once, and never shown for another table."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import holdfast
from holdfast.errors import BudgetError, HoldfastError
from holdfast.ledger.chain import releases_of
from holdfast.ledger.ledger import Ledger

FRAME = pd.DataFrame(
    {
        "place": [f"p{k}" for k in range(40)],
        "state": ["NE", "CA"] * 20,
        "n": np.random.default_rng(3).poisson(1.5, 40),
    }
)
COUNTED = {"count": "n", "epsilon": "0.5"}
LABELLED = COUNTED | {"category": "place", "keep": ["state"]}


@pytest.fixture
def ledger(quick):
    ledger = Ledger(quick / "budget.ledger")
    ledger.set_limit("crime", epsilon=5)
    return ledger


def release(ledger, table=FRAME, **asked):
    return holdfast.privatize(table, **(asked or LABELLED), ledger=ledger, dataset="crime")


def spends(ledger):
    return len(ledger.spends("crime"))


def swapped():
    """The labels of two rows of equal counts in each other's place."""
    one, other = np.flatnonzero(FRAME.n == 1)[[0, 2]]
    places = FRAME.place.to_numpy().copy()
    places[[one, other]] = places[[other, one]]
    return FRAME.assign(place=places)


def test_a_release_is_paid_for_and_then_shown_again_as_the_table_that_came_in(ledger):
    first, again = release(ledger), release(ledger)
    assert not first.repeated and again.repeated and spends(ledger) == 1
    assert (again.noisy == first.noisy).all() and again.table.equals(first.table)
    assert type(again.table) is pd.DataFrame and again.receipt == first.receipt
    assert ledger.balance("crime").epsilon_spent == Fraction(1, 2)
    assert ledger.spends()[0].epsilon == first.promise.epsilon


def test_what_only_shows_a_table_is_no_second_payment(ledger):
    first = release(ledger)
    for shown in ({"keep": []}, {"top": 3}, {"keep": ["state"]}):
        again = release(ledger, **(LABELLED | shown))
        assert again.repeated and (again.noisy == first.noisy).all()


def test_a_column_that_joins_costs_nothing_and_one_that_changes_does(ledger, tmp_path):
    files = {"first": FRAME, "more": FRAME.assign(region="west")}
    files["other"] = FRAME.assign(state=FRAME.state.replace("CA", "OR"))
    for name, frame in files.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    paths = [tmp_path / f"{name}.csv" for name in files]
    for tables, epsilon in ((files.values(), "0.5"), (paths, "0.25")):
        asked = LABELLED | {"epsilon": epsilon}
        made = [release(ledger, table, **asked).repeated for table in tables]
        assert made == [False, True, False]


@pytest.mark.parametrize("asked", [COUNTED, COUNTED | {"keep": ["state"]}, LABELLED])
def test_rows_of_equal_counts_that_changed_places_are_measured_and_paid_again(ledger, asked):
    """Withheld labels tell whose a row is as well: else showing one for the other would tell that
    the two counts are equal."""
    asked = asked if "keep" in asked else asked | {"keep_none": True}
    made = [release(ledger, table, **asked) for table in (FRAME, FRAME, swapped())]
    assert [each.repeated for each in made] == [False, True, False]


def test_the_name_of_a_series_tells_whose_its_counts_are(ledger):
    def series(name):
        counts = pd.Series([2, 2, 0, 1], name=name)
        return holdfast.privatize(counts, epsilon="0.5", ledger=ledger, dataset="crime").repeated

    assert [series("a"), series("a"), series("b"), series("b")] == [False, True, False, True]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_is_known_again_and_its_withheld_cells_too(ledger, tmp_path, suffix):
    def written(frame, name):
        path = tmp_path / f"{name}.{suffix}"
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path, index=False)
        return path

    asked = COUNTED | {"keep": ["state"]}
    made = [
        release(ledger, written(frame, name), **asked)
        for frame, name in ((FRAME, "a"), (FRAME, "b"), (swapped(), "c"))
    ]
    assert [each.repeated for each in made] == [False, True, False]


OTHER = {
    "epsilon": {"epsilon": "0.25"},
    "the split": {"split": "1/4"},
    "contributions": {"contributions": 2},
    "rows of a person": {"rows": 2},
    "the unit": {"unit": "household"},
    "totals": {"totals": True},
    "groups": {"within": "state"},
    "a period": {"period": 2026},
    "structural zeros": {"structural_zero": (FRAME.n == 0).to_numpy()},
}


@pytest.mark.parametrize("what", OTHER)
def test_another_request_is_measured_and_paid(ledger, what):
    release(ledger)
    asked = LABELLED | OTHER[what]
    assert not release(ledger, **asked).repeated
    assert release(ledger, **asked).repeated and spends(ledger) == 2


def test_several_columns_are_paid_together_and_not_shown_for_each_other(ledger):
    frame = FRAME.assign(m=FRAME.n)
    for count, repeated in ((["n", "m"], False), (["n", "m"], True), (["m", "n"], False)):
        asked = LABELLED | {"count": count, "epsilon": 1, "keep": []}
        assert release(ledger, frame, **asked).repeated is repeated
    assert ledger.balance("crime").epsilon_spent == 2


def test_a_subset_is_paid_beside_others_and_known_however_it_is_spelled(ledger):
    asked = LABELLED | {"keep": []}
    made = [
        release(ledger, **asked, subset={"state": label}).repeated for label in ("NE", " ne", "CA")
    ]
    assert made == [False, True, False]
    assert ledger.balance("crime").epsilon_spent == Fraction(1, 2)


def test_labels_are_corrected_beside_the_same_measurement(ledger, tmp_path):
    first = release(ledger)
    folder = first.save(tmp_path / "first")
    better = FRAME.assign(place=FRAME.place.replace("p7", "P Seven"))
    for corrects in (first, folder):
        again = release(ledger, better, **LABELLED, corrects=corrects)
        assert again.repeated and (again.noisy == first.noisy).all()
        assert list(again.table.place) == list(better.place)
    with pytest.raises(HoldfastError, match="stand in other rows"):
        release(ledger, swapped(), **LABELLED, corrects=first)
    with pytest.raises(HoldfastError, match="this is another release"):
        release(ledger, better.assign(n=better.n + 1), **LABELLED, corrects=first)
    assert spends(ledger) == 1


def test_what_cannot_be_afforded_or_written_costs_nothing(ledger, tmp_path):
    with pytest.raises(BudgetError, match="cannot afford"):
        release(ledger, **(LABELLED | {"epsilon": 6}))
    (tmp_path / "there").mkdir()
    with pytest.raises(HoldfastError, match="exists"):
        release(ledger, **LABELLED, out=tmp_path / "there")
    assert spends(ledger) == 0 and not list(releases_of(ledger.path).glob("*-*"))


def test_a_simulation_leaves_the_ledger_alone(ledger):
    made = release(ledger, **LABELLED, seed=1)
    assert made.receipt is None and any("not touched" in note for note in made.notes)
    assert spends(ledger) == 0


def test_the_stored_copy_holds_no_labels(ledger):
    release(ledger)
    stored = ledger.folder(ledger.spends()[0])
    files = [path for path in stored.rglob("*") if path.is_file()]
    assert files and not any(b"p17" in path.read_bytes() for path in files)


def test_what_is_shown_again_says_what_was_promised_and_by_which_version(ledger, monkeypatch):
    """Also where a later version would part epsilon otherwise."""
    monkeypatch.setattr("holdfast.engine.run.VERSION", "0.0.7")
    first = release(ledger)
    monkeypatch.undo()
    monkeypatch.setattr("holdfast.fit.cells.share_of_sums", lambda *given: Fraction(1, 3))
    again = release(ledger)
    assert again.repeated and again.promise == first.promise and again.made_with == "0.0.7"


def test_noise_that_only_many_groups_need_is_rehearsed_before_paying(ledger):
    """From 31 groups on a part of the totals' epsilon is for the total of the table."""
    table = pd.DataFrame({"g": [f"g{k % 51:02d}" for k in range(510)], "n": [0, 1, 2] * 170})
    asked = {"count": "n", "epsilon": 1, "within": "g", "totals": "0.2"}
    asked["publish_anyway"] = ["g", "row order"]
    with pytest.raises(HoldfastError, match="must be larger"):
        release(ledger, table, **asked, contributions=100_000, rows=1_000_000)
    assert spends(ledger) == 0
