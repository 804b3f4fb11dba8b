"""What changed from one release of a table to the next."""

import json

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.analysis.standing_out import usual

ROWS = 400
STATES = ["NE", "CA", "TX", "KS"]


def frame(rise=0, rows=ROWS, seed=1):
    chance = np.random.default_rng(seed)
    order = chance.permutation(rows)
    counts = np.minimum(np.random.default_rng(0).poisson(1.5, rows) + rise, 8)
    place = np.array([f"county {k}" for k in range(rows)])
    state = np.array(STATES)[np.arange(rows) % 4]
    return pd.DataFrame({"place": place, "state": state, "n": counts}).iloc[order]


def released(table, seed, epsilon=3, top=8, **options):
    roles = {"count": "n", "category": "place", "keep": ["state"], "publish_anyway": ["row order"]}
    return holdfast.privatize(table, epsilon=epsilon, max_count=top, seed=seed, **roles, **options)


@pytest.fixture(scope="module")
def pair():
    """Two years: all counts rise by 2, rows stand in another order, some come and some go."""
    before = frame()
    after = frame(rise=2, seed=2)
    after = after.assign(place=after.place.replace({"county 5": "county 5a", "county 6": "new"}))
    return released(before, 11), released(after, 12)


def test_the_change_of_an_answer_covers_what_changed(pair):
    then, now = pair
    change = now.ask("mean", against=then)
    assert change.interval[0] < 2 < change.interval[1] and change.interval[0] > 1
    assert change.question.startswith("change of mean count")
    one, other = now.ask("mean"), then.ask("mean")
    assert change.estimate == pytest.approx(one.estimate - other.estimate)
    assert change.standard_error == pytest.approx(
        np.hypot(one.standard_error, other.standard_error)
    )


def test_groups_are_joined_by_name_and_the_others_are_said(pair):
    then = pair[0]
    moved = holdfast.privatize(
        frame(rise=2).replace({"state": {"TX": "OR"}}), epsilon=3, max_count=8, seed=5, count="n",
        category="place", keep=["state"], publish_anyway=["row order"],
    )  # fmt: skip
    changes = moved.ask("mean", by="state", against=then)
    assert set(changes) == {"NE", "CA", "KS"}
    assert all(each.interval[0] < 2.1 and each.interval[1] > 1.5 for each in changes.values())
    assert "left out, because only in this release: OR" in changes.notes
    assert "left out, because only in the earlier one: TX" in changes.notes


def test_rows_are_joined_by_label_whatever_their_place(pair):
    then, now = pair
    found = now.changes(then)
    assert len(found) == ROWS - 2
    assert found.only_after == ("county 5a", "new") or found.only_after == ("new", "county 5a")
    assert set(found.only_before) == {"county 5", "county 6"}
    assert any("only in the earlier one: county" in note for note in found.notes)
    truth = dict(zip(frame().place, frame().n, strict=True))
    change = np.array([min(truth[name] + 2, 8) - truth[name] for name in found.labels])
    inside = (found.low <= change) & (change <= found.high)
    assert inside.mean() > 0.85
    shown = dict(zip(then.table.place, then.table.n, strict=True))
    assert [shown[name] for name in found.labels] == found.before.tolist()
    np.testing.assert_allclose(found.rose + found.fell, 1, atol=1)
    assert (found.rose > found.fell).mean() > 0.9


def test_the_law_of_a_change_is_that_of_a_difference(pair):
    then, now = pair
    found = now.changes(then, ["county 7"], level=0.8)
    row = list(now.table.place).index("county 7")
    then_row = list(then.table.place).index("county 7")
    laws = now.posterior(int(now.counts[row])), then.posterior(int(then.counts[then_row]))
    chances = np.outer(laws[0].probabilities, laws[1].probabilities)
    steps = np.subtract.outer(np.arange(9), np.arange(9))
    low, high = int(found.low[0]), int(found.high[0])
    assert chances[(steps >= low) & (steps <= high)].sum() >= 0.8 - 1e-9
    assert found.rose[0] == pytest.approx(chances[steps > 0].sum())
    assert found.expected[0] == pytest.approx((chances * steps).sum())


def test_few_rows_get_intervals_that_do_without_the_distribution():
    tables = [frame(rows=40), frame(rise=2, rows=40)]
    then, now = (released(each, seed, epsilon=0.5) for seed, each in enumerate(tables))
    found = now.changes(then)
    assert any("do without it" in note for note in found.notes)
    one, other = now.intervals(0.95, every=True), then.intervals(0.95, every=True)
    places = [list(then.table.place).index(name) for name in found.labels]
    high = other.high[places]
    np.testing.assert_array_equal(found.low, np.where(high < 8, one.low - high, -np.inf))
    assert np.isinf(found.low).any() and np.isnan(found.expected[np.isinf(found.low)]).all()


def test_a_change_from_or_to_the_top_code_has_an_open_end():
    """Counts run to three times the top code: closed intervals would miss most rows at it."""
    chance = np.random.default_rng(5)
    counts = np.concatenate([chance.poisson(2, 500), chance.integers(20, 60, 60)])
    later = counts + np.where(counts > 19, chance.integers(-9, 30, 560), 0)
    later[:5] = 50
    places = [f"county {k}" for k in chance.permutation(560)]
    years = [
        released(pd.DataFrame({"place": places, "state": "NE", "n": each}), seed, top=20)
        for seed, each in enumerate((counts, later))
    ]
    found = years[1].changes(years[0])
    change = later - counts
    rose = found.low[:5]
    assert (rose > 10).all() and np.isinf(found.high[:5]).all()
    high = counts >= 25
    assert ((found.low <= change) & (change <= found.high))[high].mean() > 0.9
    assert found.unknown[high].mean() > 0.8 and found.rose[high].mean() < 0.2
    text = str(found)
    assert "the change cannot be told" in text and " or more" in text
    assert "stand out among all of them" in text
    assert found.to_dict()["rows"]["high"][0] is None


def made_up_years():
    """Two years in which most rows stay as they are and a few change by much."""
    chance = np.random.default_rng(8)
    counts = np.minimum(chance.poisson(1.5, ROWS), 20)
    later = np.where(chance.random(ROWS) < 0.03, chance.integers(0, 21, ROWS), counts)
    places = [f"county {k}" for k in range(ROWS)]
    tables = [pd.DataFrame({"place": places, "state": "NE", "n": each}) for each in (counts, later)]
    return tables, later - counts


def test_intervals_of_picked_rows_hold_and_those_of_a_row_by_itself_do_not():
    tables, change = made_up_years()
    missed, missed_alone, number = [], [], 0
    for seed in range(0, 40, 2):
        then, now = (released(one, seed + k, 1, 20) for k, one in enumerate(tables))
        found = now.changes(then)
        rows, low, high = found.picked.rows, found.picked.low, found.picked.high
        assert ((low[rows] > 0) | (high[rows] < 0)).all() and np.isnan(low[~rows]).all()
        outside = ~((low <= change) & (change <= high)) & rows
        missed.append(outside.sum() / max(rows.sum(), 1))
        alone = (found.low > 0) | (found.high < 0)
        missed_alone.append((~((found.low <= change) & (change <= found.high)))[alone].mean())
        number += rows.sum()
    assert number > 40 and np.mean(missed) < 0.1
    assert np.mean(missed_alone) > 0.15


def test_where_nothing_changed_nearly_no_row_is_picked():
    tables, _ = made_up_years()
    some = alone = 0
    for seed in range(0, 40, 2):
        then, now = (released(tables[0], seed + k, 1, 20, period=2025 + k) for k in range(2))
        found = now.changes(then)
        some += found.picked.rows.any()
        alone += ((found.low > 0) | (found.high < 0)).any()
        assert found.picked.rows.any() or "no row stands out" in str(found)
    assert some <= 4 and alone >= 10


def test_the_p_value_of_two_years_is_exact_by_enumeration():
    """Of all that can be released for true counts (i, k), as much as alpha has a p-value of at
    most alpha, for every alpha: nothing is assumed of the counts."""
    tables, _ = made_up_years()
    matrix = released(tables[0], 1, 1, 4).mechanism.matrix
    chances = usual(np.full(5, 0.2), matrix)
    for i in range(5):
        for k in range(5):
            both = np.outer(matrix[i], matrix[k]).ravel()
            product = np.outer(chances[i], chances[k]).ravel()
            values = product * (1 - np.log(product))
            for alpha in np.unique(values):
                assert both[values <= alpha].sum() <= alpha + 1e-12


def test_other_caps_and_numbers_of_rows_are_said(pair):
    other = released(frame().head(300), 3, top=6)
    notes = pair[1].ask("share", equal=0, against=other).notes
    assert "counts are capped at 8 here, and at 6 in the earlier one" in notes
    assert "400 rows here, and 300 in the earlier one" in notes


def test_what_makes_no_change_is_refused(pair):
    then, now = pair
    with pytest.raises(HoldfastError, match="the same release"):
        now.ask("mean", against=now)
    with pytest.raises(HoldfastError, match="on several rows"):
        now.changes(then, label="state")
    with pytest.raises(HoldfastError, match="stand in other places"):
        now.ask("mean", against=then, where=[True] * ROWS)
    with pytest.raises(HoldfastError, match="stand in other places"):
        now.ask("mean", against=then, by=["a"] * ROWS)
    with pytest.raises(HoldfastError, match="no row has the label 'county 5'"):
        now.changes(then, ["county 5"])


def test_the_command_line_tells_changes_of_all_of_groups_and_of_rows(pair, cli):
    pair[0].save("old")
    pair[1].save("new")
    code, out, err = cli("ask", "new", "mean", "--against", "old")
    assert code == 0 and out.startswith("change of mean count"), err
    code, out, _ = cli("ask", "new", "share zero", "--against", "old", "--by", "state", "--json")
    assert set(json.loads(out)["groups"]) == set(STATES)
    code, out, _ = cli("ask", "new", "changes", "--against", "old")
    assert code == 0 and "up to 40 of so many may miss" in out and "only in this release" in out
    code, out, _ = cli("ask", "new", "change of county 7, county 9", "--against", "old", "--json")
    assert json.loads(out)["rows"]["row"] == ["county 7", "county 9"]
    assert cli("ask", "new", "changes")[0] == 2
    assert "`against` fits" in cli("ask", "new", "top 3", "--against", "old")[2]
