"""Questions about all rows, declared groups and any other rows."""

from dataclasses import replace

import numpy as np
import pytest

from holdfast.answers.answer import Answer, Answers
from holdfast.errors import HoldfastError
from holdfast.request.questions import Unit
from private_tables import private_table

STATES = ("IA", "KS", "NE")


def table(seed=0, rows=900):
    generator = np.random.default_rng(seed)
    state = np.array(STATES)[generator.integers(0, 3, rows)]
    counts = generator.poisson(np.where(state == "NE", 9.0, 2.0))
    cells = {
        "county": [f"c{row}" for row in range(rows)],
        "state": state.tolist(),
        "people": [str(row) for row in range(rows)],
    }
    return counts, state, cells


COUNTS, STATE, CELLS = table()


@pytest.fixture(scope="module")
def release():
    return private_table(COUNTS, cells=CELLS, epsilon=1)


@pytest.fixture(scope="module")
def grouped():
    return private_table(COUNTS, cells=CELLS, epsilon=1, within="state")


def within(answer, truth, slack=0.5):
    low, high = answer.interval
    reach = (high - low) * slack
    return low - reach <= truth <= high + reach


TRUTHS = {
    ("share", "equal", 0): (COUNTS == 0).mean(),
    ("share", "at_least", 3): (COUNTS >= 3).mean(),
    ("share", "between", (2, 5)): ((COUNTS >= 2) & (COUNTS <= 5)).mean(),
    ("rows", "at_most", 1): (COUNTS <= 1).sum(),
    ("mean", None, None): COUNTS.mean(),
    ("total", None, None): COUNTS.sum(),
    ("median", None, None): np.median(COUNTS),
    ("quantile", "at", 0.9): np.quantile(COUNTS, 0.9, method="inverted_cdf"),
    ("standard deviation", None, None): COUNTS.std(),
    ("variance", None, None): COUNTS.var(),
    ("maximum", None, None): COUNTS.max(),
}


@pytest.mark.parametrize("asked", TRUTHS, ids=str)
def test_answers_about_all_rows_are_near_the_truth(release, asked):
    name, option, value = asked
    answer = release.ask(name, **({option: value} if option else {}))
    assert within(answer, TRUTHS[asked]), answer
    assert answer.interval[0] <= answer.estimate <= answer.interval[1]


@pytest.mark.parametrize("asked", TRUTHS, ids=str)
def test_the_answer_about_all_rows_and_declared_groups_is_what_counting_in_the_table_gives(
    grouped, asked
):
    name, option, value = asked
    options = {option: value} if option else {}
    answer = grouped.ask(name, **options)
    assert answer.estimate == pytest.approx(counted(grouped.counts, name, value))
    for state, each in grouped.ask(name, by="state", **options).items():
        shown = counted(grouped.counts[state == STATE], name, value)
        assert each.estimate == pytest.approx(shown)
        chosen = grouped.ask(name, where=f"state == {state}", **options)
        assert (chosen.estimate, chosen.interval) == (each.estimate, each.interval)
        assert each.in_table is None


def counted(counts, name, value):
    """What somebody counts in a spreadsheet."""
    if name in ("share", "rows"):
        marks = {
            0: counts == 0,
            3: counts >= 3,
            1: counts <= 1,
            (2, 5): (counts >= 2) & (counts <= 5),
        }[value]
        return marks.mean() if name == "share" else marks.sum()
    return {
        "mean": counts.mean(),
        "total": counts.sum(),
        "median": np.quantile(counts, 0.5, method="inverted_cdf"),
        "quantile": np.quantile(counts, 0.9, method="inverted_cdf"),
        "standard deviation": counts.std(),
        "variance": counts.var(),
        "maximum": counts.max(),
    }[name]


def test_rows_that_are_no_declared_group_get_a_better_answer_and_the_tables_own_beside_it(release):
    truth = COUNTS[STATE == "NE"].mean()
    errors, table_errors = [], []
    for seed in range(8):
        each = private_table(COUNTS, cells=CELLS, epsilon=0.2, seed=seed)
        answer = each.ask("mean", where="state == NE")
        errors.append(answer.estimate - truth)
        table_errors.append(each.counts[STATE == "NE"].mean() - truth)
        assert answer.in_table == pytest.approx(each.counts[STATE == "NE"].mean())
        assert "counting in the released table gives" in str(answer)
    assert np.mean(np.square(errors)) < 0.7 * np.mean(np.square(table_errors))


def test_whole_declared_groups_together_are_what_the_table_has(grouped):
    answer = grouped.ask("total", where="state in (NE, IA)")
    assert answer.estimate == grouped.counts[STATE != "KS"].sum()
    assert answer.in_table is None


def test_rows_known_to_be_zero_are_zeros_and_missing_ones_are_left_out():
    zero, missing = np.arange(900) < 100, (np.arange(900) >= 100) & (np.arange(900) < 150)
    counts = np.where(zero, 0, COUNTS)
    release = private_table(counts, cells=CELLS, structural_zero=zero, missing=missing, epsilon=5)
    answer = release.ask("share", equal=0)
    assert answer.rows == 850
    assert answer.estimate == pytest.approx((counts[~missing] == 0).mean(), abs=0.01)
    assert "100 rows publicly known to be zero included" in answer.notes
    assert "50 rows without a count left out" in answer.notes
    only_zeros = release.ask("total", where="people < 100")
    assert (only_zeros.estimate, only_zeros.interval) == (0, (0, 0))
    by_group = release.ask("mean", by=["without" if row else "with" for row in missing])
    assert list(by_group) == ["with"] and "cannot be told of 'without'" in str(by_group)
    with pytest.raises(HoldfastError, match="all are missing"):
        release.ask("mean", where="100 <= people < 150")


def test_by_several_columns_crosses_them():
    half = np.where(np.arange(900) < 450, "a", "b")
    release = private_table(COUNTS, cells=CELLS | {"half": half.tolist()}, epsilon=5)
    answers = release.ask("mean", by=["state", "half"])
    assert list(answers) == [f"{state}, {part}" for state in STATES for part in "ab"]
    assert within(answers["NE, a"], COUNTS[(STATE == "NE") & (half == "a")].mean())


def test_a_list_of_quantiles_is_answered_together(release):
    answers = release.ask("quantile", at=[0.1, 0.5, 0.9])
    assert isinstance(answers, Answers)
    assert [answers[at].estimate for at in (0.1, 0.5, 0.9)] == [
        release.ask("quantile", at=at).estimate for at in (0.1, 0.5, 0.9)
    ]


def test_two_parts_are_compared_and_parts_that_share_rows_are_not(release):
    less = release.ask("mean", where="state == NE", less="state == IA")
    assert within(less, COUNTS[STATE == "NE"].mean() - COUNTS[STATE == "IA"].mean())
    one = release.ask("share", equal=0, where="state == NE")
    other = release.ask("share", equal=0, where="state == KS")
    assert one.difference(other).unit is Unit.POINTS
    with pytest.raises(HoldfastError, match="share rows"):
        release.ask("mean").difference(release.ask("mean", where="state == NE"))


def test_the_draws_of_parts_are_taken_as_independent():
    draws = np.random.default_rng(0).normal(size=400)
    one, other = (Answer.of("x", 0.0, draws) for _ in range(2))
    assert one.difference(other).standard_error == pytest.approx(2**0.5, rel=0.15)


def test_a_function_of_ones_own_is_asked_of_counts_and_rows(release):
    answer = release.ask(lambda values, rows: rows[values > 5].sum() / rows.sum())
    assert answer.estimate == release.ask("share", at_least=6).estimate


@pytest.mark.parametrize(
    ("question", "options", "message"),
    [
        ("share", {}, "a share needs one of"),
        ("share", {"equal": 1, "at_least": 2}, "a share needs one of"),
        ("share", {"equal": -1}, "whole number"),
        ("share", {"between": (5, 2)}, "must rise"),
        ("quantile", {"at": 2}, "from 0 to 1"),
        ("mean", {"equal": 0}, "takes no such option"),
        ("meen", {}, "did you mean 'mean'"),
        ("mean", {"where": "state == XX"}, "chooses no row"),
        ("mean", {"where": "murders == 3"}, "cannot use the counts"),
        ("mean", {"where": "stat == NE"}, "did you mean 'state'"),
        ("mean", {"by": "stat"}, "did you mean 'state'"),
        ("mean", {"level": 1}, "between 0 and 1"),
        (3, {}, "text or a function"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_hint(release, question, options, message):
    with pytest.raises(HoldfastError, match=message):
        release.ask(question, **options)


def test_groups_are_answered_about_without_their_rows_that_have_no_count():
    missing = np.arange(len(COUNTS)) % 90 == 0
    release = private_table(COUNTS, cells=CELLS, epsilon=1, within="state", missing=missing)
    for each in (release, release.by("state")):
        answers = each.ask("mean", by="state")
        sizes = {state: int(((state == STATE) & ~missing).sum()) for state in STATES}
        assert {state: answer.rows for state, answer in answers.items()} == sizes


def test_declared_groups_are_answered_about_whatever_their_number(monkeypatch):
    monkeypatch.setattr("holdfast.answers.selection.MOST_ANSWERED", 3)
    cells = {"group": [f"g{row % 5}" for row in range(200)]}
    counts = np.arange(200) % 7
    declared = private_table(counts, epsilon=1, cells=cells, within="group")
    assert len(declared.ask("mean", by="group")) == 5
    with pytest.raises(HoldfastError, match="`by` makes 5 groups"):
        private_table(counts, epsilon=1, cells=cells).ask("mean", by="group")


def test_rows_chosen_by_their_released_counts_are_named():
    counts = np.random.default_rng(1).poisson(np.random.default_rng(2).gamma(0.3, 3, 300))
    cells = {"county": [f"c{row}" for row in range(300)], "state": ["NE", "IA", "KS"] * 100}
    release = private_table(counts, cells=cells, epsilon="0.5")
    released, picked = release.counts, "counts of the release"
    highest = np.argsort(-release.noisy, kind="stable")[:50]  # some of the ties
    for where in (released > 0, released == 0, released >= 5, [f"c{row}" for row in highest]):
        assert picked in str(release.ask("mean", where=where))
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"county": cells["county"], "high": released > 2})
    merged = release.merge(table, "county")
    assert picked in str(merged.ask("mean", by="high"))
    assert picked in str(merged.ask("murders ~ state", where="high == True"))
    for innocent in ({}, {"by": "state"}, {"where": "state == NE"}, {"where": ["c1", "c7"]}):
        assert picked not in str(release.ask("mean", **innocent))
    zeros = private_table([0] * 40 + [0, 0, 9, 90] * 10, epsilon=6, cells={"x": ["a"] * 80})
    assert picked not in str(zeros.ask("mean", where=np.arange(80) < 40))


def test_a_number_whose_interval_has_no_width_has_few_digits():
    rare = Answer(question="q", estimate=0.000956632653, interval=(0.000956632653,) * 2)
    assert str(replace(rare, unit=Unit.SHARE)).startswith("q: 0.09566%")
    assert str(rare).startswith("q: 0.0009566")
