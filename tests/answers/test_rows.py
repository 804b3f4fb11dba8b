"""One row, the highest rows, one row against another."""

from itertools import product

import numpy as np
import pytest

from holdfast.answers.laws import RowLaw
from holdfast.answers.rows import chances_on_top
from holdfast.errors import HoldfastError
from private_tables import private_table

COUNTS = np.random.default_rng(3).poisson(np.repeat([1.0, 4.0, 20.0], [300, 200, 20]))
CELLS = {
    "county": ["Kent", "Kent", "Washington, DC", *(f"c{row}" for row in range(3, 520))],
    "state": ["DE", "MI", "DC", *(["NE", "KS"] * 300)[:517]],
}


@pytest.fixture(scope="module")
def release():
    return private_table(COUNTS, cells=CELLS, epsilon=1)


def test_the_law_of_a_row_is_bayes_rule(release):
    column = release.only
    answer = release.row("c7")
    values, prior = column.estimate.prior(0)
    likely = prior * column.measurement.noise.probability(int(column.noisy[7]) - values)
    assert answer.estimate == pytest.approx(values @ likely / likely.sum(), abs=1e-3)


def test_row_intervals_cover_on_average_as_they_say():
    covered = []
    for seed in range(4):
        release = private_table(COUNTS, cells=CELLS, epsilon=1, seed=seed)
        for row in range(0, 520, 3):
            low, high = release.row(row).interval
            covered.append(low <= COUNTS[row] <= high)
    assert 0.87 <= np.mean(covered) <= 0.99


def test_one_row_says_the_same_however_it_is_asked(release):
    row = release.row("c9")
    mean, share = release.ask("mean", where=["c9"]), release.ask("share", equal=0, where=["c9"])
    assert mean.estimate == pytest.approx(row.estimate) and mean.interval == row.interval
    assert release.ask("row c9").estimate == row.estimate
    assert share.interval in ((0, 0), (0, 1), (1, 1))
    assert any("a share of one row is 0% or 100%" in note for note in share.notes)


def test_a_repeated_label_is_told_apart(release):
    with pytest.raises(HoldfastError, match=r"Kent \(DE\)"):
        release.row("Kent")
    assert "Kent (MI)" in release.row("Kent (MI)").question
    assert release.row("Kent (MI)").estimate == release.row(1).estimate


def test_a_code_without_its_zero_in_front_is_answered_with_the_code():
    codes = private_table([9] * 40, cells={"fips": [f"{1300 + row:05}" for row in range(40)]})
    with pytest.raises(HoldfastError, match=r"did you mean 01310\? The labels"):
        codes.ask("row 1310")
    with pytest.raises(HoldfastError, match=r"label 99\. Hint: The labels"):
        codes.ask("row 99")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("kent", "did you mean 'Kent'"),
        ("Washington", "did you mean 'Washington, DC'\\?$"),
        (999, "row numbers go from 0 to 519"),
        ("XY", "no row has the label"),
        ("NE", "as `label`, --label 'state', if it tells rows apart; or ask 'mean'"),
    ],
)
def test_rows_that_are_not_there_are_refused_with_a_hint(release, row, message):
    with pytest.raises(HoldfastError, match=message):
        release.row(row)


def test_a_row_without_a_count_is_refused_and_a_structural_zero_is_zero():
    rows = np.arange(520)
    release = private_table(
        np.where(rows == 4, 0, COUNTS), cells=CELLS, missing=rows == 3, structural_zero=rows == 4
    )
    with pytest.raises(HoldfastError, match="is missing"):
        release.row("c3")
    assert release.row("c4").interval == (0, 0)


def test_the_chance_to_be_on_top_is_that_of_all_tables_of_true_counts():
    laws = [
        RowLaw(values=np.array([0, 2, 3]), probabilities=np.array([0.5, 0.3, 0.2])),
        RowLaw(values=np.array([1, 3]), probabilities=np.array([0.6, 0.4])),
    ]
    kinds = np.array([0, 1, 0])
    among, highest = chances_on_top(laws, kinds, 2)
    exact = np.zeros((2, 3))
    for chosen in product(*(range(len(laws[kind].values)) for kind in kinds)):
        counts = np.array([laws[k].values[c] for k, c in zip(kinds, chosen, strict=True)])
        chance = np.prod([laws[k].probabilities[c] for k, c in zip(kinds, chosen, strict=True)])
        for place, k in enumerate((2, 1)):
            limit = np.sort(counts)[::-1][k - 1]
            left = (k - (counts > limit).sum()) / (counts == limit).sum()
            exact[place] += chance * ((counts > limit) + (counts == limit) * left)
    assert np.allclose(among, exact[0], atol=0.03) and np.allclose(highest, exact[1], atol=0.03)


def test_the_top_holds_the_highest_rows(release):
    top = release.top(10)
    highest = set(np.argsort(-COUNTS)[:10].tolist())
    assert len({row.row for row in top.rows} & highest) >= 7
    assert sum(row.probability for row in release.top(520).rows) == pytest.approx(520)
    expected = sum(row.probability for row in top.rows if row.row in highest)
    assert expected == pytest.approx(sum(row.probability for row in top.rows), rel=0.5)


def test_the_top_of_each_group_and_of_some_rows(release):
    by_state = release.top(3, by="state")
    assert "SIMULATION" in str(by_state) and str(by_state).count("SIMULATION") == 1
    assert set(by_state) == {"DC", "DE", "KS", "MI", "NE"}
    assert len(by_state["DC"]) == 1 and len(by_state["NE"]) == 3
    some = release.top(3, where="state == NE")
    assert [row.label for row in some.rows] == [row.label for row in by_state["NE"].rows]
    with pytest.raises(HoldfastError, match="more of them than rows"):
        release.top(521)


def test_a_comparison_is_the_law_of_the_difference(release):
    found = release.compare("c515", "c9")
    one, other = release.row("c515"), release.row("c9")
    assert found.difference == pytest.approx(one.estimate - other.estimate)
    assert found.first_more + found.equal + found.second_more == pytest.approx(1)
    assert found.first_more > 0.95
    with pytest.raises(HoldfastError, match="with itself"):
        release.compare("c9", "c9")


def test_a_number_as_text_is_a_label_and_never_a_place_where_rows_have_labels():
    cells = {"school": [f"School {row + 1}" for row in range(40)], "staff": ["7"] * 40}
    release = private_table([row * 100 for row in range(40)], epsilon=5, cells=cells)
    for question in ("row 7", "compare 7 with 8", "total of 7, School 8"):
        with pytest.raises(HoldfastError, match="did you mean 'School 7'"):
            release.ask(question)
    assert release.row(7).estimate == release.row("School 8").estimate
    coded = private_table([9] * 40, cells={"id": [f"C{row:03}" for row in range(40)]} | cells)
    with pytest.raises(HoldfastError, match=r"no row has the label '7'\. Hint: see release.table"):
        coded.ask("row 7")
    nameless = private_table([row * 100 for row in range(40)], epsilon=5)
    assert "true count of row 7 (the first is row 0)" in str(nameless.ask("row 7"))
    assert nameless.ask("row 7").estimate == nameless.row(7).estimate


def test_a_row_has_its_plain_interval_beside_the_likely_one(release):
    row, column = release.row(5), release.only
    reach = column.measurement.noise.quantile(0.9)
    low, high = max(int(column.noisy[5]) - reach, 0), max(int(column.noisy[5]) + reach, 0)
    assert row.notes[0].startswith("by its own noise alone")
    assert f"whatever the other rows have: {low} to {high} (90% interval" in row.notes[0]


def test_the_interval_of_a_row_on_top_holds_what_is_expected_of_it():
    counts = np.where(np.arange(400) < 8, 30, 0)
    release = private_table(counts, epsilon="0.15")
    top = release.top(60)
    assert all(row.interval[0] <= row.expected <= row.interval[1] for row in top)


@pytest.mark.parametrize("rows", [60, 600])
def test_the_estimate_of_a_row_is_in_its_interval_also_where_rows_are_too_few_for_a_prior(rows):
    generator = np.random.default_rng(0)
    counts = generator.poisson(1.5, rows) * (generator.random(rows) < 0.7)
    for seed in range(3):
        release = private_table(counts, epsilon=0.2, seed=seed)
        for row in range(0, rows, 7):
            answer = release.row(row)
            assert answer.interval[0] <= answer.estimate <= answer.interval[1]
