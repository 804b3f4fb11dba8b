"""Questions about rows: posteriors, intervals, tops, comparisons, groups."""

import itertools
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast.former as holdfast
from analysis_releases import COUNTS, named, released
from holdfast.errors import HoldfastError
from holdfast.former.analysis import categories
from holdfast.former.analysis.answer import SIMULATED
from holdfast.former.analysis.rows import find_row
from holdfast.former.release.row_laws import shortest_run


def test_the_posterior_is_bayes_rule_with_z_as_prior():
    release = released()
    joint = release.target[:, None] * release.mechanism.matrix
    for j in range(8):
        law = release.posterior(j)
        assert law.probabilities == pytest.approx(joint[:, j] / joint[:, j].sum())
        assert joint[:, j].sum() == pytest.approx(release.target[j], abs=1e-8)  # the fixed point
        assert law.mean == pytest.approx(law.probabilities @ np.arange(8))
        assert law.at_least(0) == pytest.approx(1) and law.at_least(9) == 0
        assert law.equal(0) + law.at_least(1) == pytest.approx(1)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=9), st.floats(0.5, 0.99))
def test_the_shortest_run_is_the_shortest(weights, level):
    if sum(weights) == 0:
        weights = [1, *weights]
    p = np.array(weights) / sum(weights)
    low, high = shortest_run(p, level)
    held = p[low : high + 1].sum()
    assert held >= level - 1e-9
    runs = [(a, b) for a in range(len(p)) for b in range(a, len(p))]
    enough = [(a, b) for a, b in runs if p[a : b + 1].sum() >= level - 1e-9]
    shortest = min(b - a for a, b in enough)
    assert high - low == shortest
    assert held == pytest.approx(max(p[a : b + 1].sum() for a, b in enough if b - a == shortest))


def test_row_intervals_cover_on_average_as_they_say():
    covered, stated = [], []
    for seed in range(30):
        rows = released(seed=seed).intervals()
        covered.append(((rows.low <= COUNTS) & (rows.high >= COUNTS)).mean())
        stated.append(rows.probability.mean())
    assert 0.88 < np.mean(covered) < 0.97
    assert np.mean(covered) == pytest.approx(np.mean(stated), abs=0.02)


def test_rows_with_the_same_released_count_have_the_same_interval():
    release = released()
    rows = release.intervals(0.8)
    for j in np.unique(release.counts):
        law, same = release.posterior(int(j)), release.counts == j
        assert set(zip(rows.low[same], rows.high[same], strict=True)) == {law.interval(0.8)}
        assert set(rows.median[same]) == {law.median}
        assert rows.zero[same] == pytest.approx(law.equal(0))
        assert rows.at_least(2)[same] == pytest.approx(law.at_least(2))
    assert list(rows.columns()) == ["low_80", "high_80", "expected", "median", "probability_zero"]


def on_top(laws, k):
    """The exact chance of each row to be among the k highest: every table of true counts."""
    chance = np.zeros(len(laws))
    for true in itertools.product(range(len(laws[0])), repeat=len(laws)):
        weight = np.prod([law[i] for law, i in zip(laws, true, strict=True)])
        last = sorted(true)[-k]
        above, tied = (sum(i > last for i in true), true.count(last))
        places = [1 if i > last else (k - above) / tied if i == last else 0 for i in true]
        chance += weight * np.array(places)
    return chance


@pytest.mark.parametrize(("epsilon", "k"), [("0.5", 1), ("0.5", 4), ("4", 2)])
def test_the_chance_to_be_on_top_is_that_of_all_tables_of_true_counts(epsilon, k):
    release = named((3, 0, 1, 4, 2), epsilon=epsilon, max_count=4)
    laws = [release.posterior(int(j)).probabilities for j in release.counts]
    exact, first = on_top(laws, k), on_top(laws, 1)
    found = release.top(k)
    for row in found:
        assert row.probability == pytest.approx(exact[row.row], abs=0.035)
        assert row.highest == pytest.approx(first[row.row], abs=0.035)
        assert row.label == f"place {row.row}"
    assert min(exact[row.row] for row in found) >= np.sort(exact)[-k] - 0.035


def test_counts_that_cannot_be_on_top_need_not_be_told_apart(monkeypatch):
    release = released(counts=np.repeat(np.arange(8), 200), epsilon=4)
    quick = release.top(3)
    monkeypatch.setattr(categories, "_lowest_on_top", lambda expected, k: 0)
    slow = release.top(3)
    assert quick[0].probability == pytest.approx(slow[0].probability, rel=0.1)
    assert quick[0].highest == pytest.approx(slow[0].highest, rel=0.1)
    assert [row.released for row in quick] == [row.released for row in slow]


def test_all_rows_are_among_all():
    release = named((3, 0, 1, 7, 0, 2))
    assert sum(row.probability for row in release.top(6)) == pytest.approx(6)


def test_a_comparison_is_the_law_of_the_difference():
    release = named((3, 0, 1, 7, 0, 2))
    one, other = (release.posterior(int(release.counts[i])).probabilities for i in (3, 1))
    joint = np.outer(one, other)
    found = release.compare("place 3", "place 1")
    assert found.first_more == pytest.approx(np.tril(joint, -1).sum())
    assert found.equal + found.unknown == pytest.approx(np.trace(joint))
    assert found.unknown == pytest.approx(joint[-1, -1])
    told = found.first_more + found.equal + found.second_more
    assert told + found.unknown == pytest.approx(1)
    assert release.compare(3, 1) == found
    assert "place 3 has more than place 1" in str(found)


def test_groups_are_covered_however_they_were_chosen():
    generator, high_rows = np.random.default_rng(1), np.flatnonzero(COUNTS >= 4)
    covered, chosen, estimates = [], [], []
    for seed in range(24):
        release = released(seed=seed, epsilon=3)
        group = generator.choice(len(COUNTS), 40, replace=False)
        low, high = release.total_of(group.tolist()).interval
        covered.append(low <= COUNTS[group].sum() <= high)
        answer = release.total_of(high_rows)
        chosen.append(answer.interval[0] <= COUNTS[high_rows].sum() <= answer.interval[1])
        estimates.append(answer.estimate)
    assert np.mean(covered) > 0.8 and np.mean(chosen) > 0.8
    assert np.mean(estimates) == pytest.approx(COUNTS[high_rows].sum(), rel=0.03)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.posterior(8), "from 0 to 7"),
        (lambda r: r.posterior("3"), "whole number"),
        (lambda r: r.intervals(2), "between 0.5 and 0.999"),
        (lambda r: r.top(0), "`k` must be a whole number from 1 to"),
        (lambda r: r.compare("place 3", "plaec 1"), "did you mean 'place 1'"),
        (lambda r: r.compare(1, 1), "with itself"),
        (lambda r: r.compare(0, 17), "from 0 to 5"),
        (lambda r: r.total_of([]), "is empty"),
        (lambda r: r.total_of([True, False]), "one True or False per row"),
        (lambda r: r.top(2, label="population"), "population"),
    ],
)
def test_rows_that_are_not_there_are_refused_with_a_hint(ask, words):
    with pytest.raises(holdfast.HoldfastError, match=words):
        ask(named())


def test_a_repeated_label_must_be_named_by_number():
    table = holdfast.former.tables.csv.CsvTable(
        ("place", "n"), [["Kent", "3"], ["Kent", "0"], ["Ely", "1"]]
    )
    release = released(counts=table, count="n", keep="place")
    with pytest.raises(holdfast.HoldfastError, match="several rows"):
        release.compare("Kent", "Ely")
    assert release.compare(0, 2).second == "Ely"
    assert release.total_of(["Kent"]).question == "total of 2 rows"


def test_a_baseline_answers_for_parts_too():
    geometric = holdfast.baselines.TruncatedGeometric()
    release = released(counts=[0] * 40 + [6] * 10, epsilon=3, constructor=geometric)
    assert release.total_of(range(50)).estimate == pytest.approx(60, abs=10)
    low, high = release.total_of(range(40, 50)).interval
    assert low <= 60 <= high


def numbered(labels):
    return released(counts=holdfast.former.tables.csv.CsvTable(
        ("id", "n"), [[str(label), str(i % 4)] for i, label in enumerate(labels)]
    ), count="n", keep="id")  # fmt: skip


def test_a_number_that_is_no_label_is_refused_where_labels_are_numbers():
    release = numbered([101, 102, 7, 104])
    assert release.compare("101", "7") == release.compare(101, 7)
    assert release.compare(101, 7).second == "7"
    for ask in (lambda: release.compare(101, 2), lambda: release.total_of([0, 1])):
        with pytest.raises(holdfast.HoldfastError, match="a number is a label"):
            ask()
    assert numbered(["a", "b", 7, "c"]).compare(0, 2).second == "7"
    assert numbered(["a", "b", 3, "c"]).compare(0, 3).second == "3"


def test_few_rows_are_told_that_the_prior_is_uncertain():
    few, many = named(), released()
    assert any("intervals do without it" in note for note in few.intervals().notes)
    assert many.intervals().notes[1:] == many.top(1)[0].notes[-1:] == (SIMULATED,)


@pytest.mark.parametrize("seed", [2, 6, 12])
def test_the_highest_rows_are_found_where_shares_round_to_more_than_one(seed):
    path = files("holdfast") / "data" / "county_homicides_1996.csv"
    options = {"count": "homicides", "category": "county", "keep": ["population"]}
    release = holdfast.privatize(path, epsilon=1, max_count=50, seed=seed, **options)
    assert len(release.top(5)) == 5


def test_a_label_with_a_comma_is_found_by_its_beginning_and_the_quotes_are_said():
    labels = ["Kent, Delaware, United States of America", "Ely"]
    with pytest.raises(HoldfastError, match=r"did you mean 'Kent, Delaware, .* in quotes: .Kent"):
        find_row(released(), labels, "Kent")
    with pytest.raises(HoldfastError, match=r"did you mean 'Ely'\?$"):
        find_row(released(), labels, "Elly")
