"""Answers about parts of the rows: conditions, groups, intervals, comparisons."""

import json
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest

import holdfast.former as holdfast
from command_line import run
from holdfast.former.analysis.conditions import fulfilled
from holdfast.former.analysis.parts import numbers
from holdfast.former.analysis.parts.profile import Drawn, Profile
from holdfast.former.analysis.report.blocks import markdown
from holdfast.former.analysis.report.content import report

GENERATOR = np.random.default_rng(4)
SIZE = np.repeat([1, 10], 300)
RATES = np.where(SIZE == 1, 0.4, 4.0) * GENERATOR.gamma(2, 0.5, 600)
COUNTS = np.minimum(GENERATOR.poisson(RATES), 12)
TABLE = pd.DataFrame(
    {"place": [f"p{i:03}" for i in range(600)], "size": SIZE, "n": COUNTS, "side": list("ab") * 300}
)


def release_of(seed=1, epsilon=1, table=TABLE, **options):
    names = {"count": "n", "category": "place", "keep": ["size", "side"]}
    return holdfast.privatize(table, epsilon=epsilon, max_count=12, seed=seed, **names | options)


@cache
def released():
    return release_of()


def test_parts_unlike_the_table_are_covered_where_summing_is_not():
    small, covered, summed = SIZE == 1, [], []
    for seed in range(25):
        release = release_of(seed)
        low, high = release.ask("total", where="size == 1").interval
        covered.append(low <= COUNTS[small].sum() <= high)
        summed.append(release.counts[small].sum())
    assert np.mean(covered) > 0.8
    assert np.mean(summed) > 1.3 * COUNTS[small].sum()  # what the plain column would say


def test_every_way_to_choose_rows_chooses_the_same():
    wanted = released().ask("mean", where="size > 5")
    mask = TABLE["size"] > 5
    for where in (
        mask,
        mask.sample(frac=1, random_state=1),
        mask.to_numpy(),
        mask.tolist(),
        pl.col("size") > 5,
        lambda table: table["size"] > 5,
        TABLE["place"][mask].tolist(),
        "not (size <= 5)",
        "5 < size < 50",
        "size in (10, 11)",
    ):
        assert released().ask("mean", where=where).interval == wanted.interval


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("n > 3", "cannot use the released counts"),
        ("sise == 1", "did you mean 'size'"),
        ("size == 1 and", "it ends where a column should come"),
        ("size == 1 size", "was not expected"),
        ("size ~~ 1", "is no comparison"),
        ("side < b", "quote the value"),
        ("(" * 60 + "size == 1", "too deep"),
        ("size == 77", "chooses no row"),
        ("", "it is empty"),
        ([True, False], "has 2 entries"),
        ((TABLE["size"] > 5).set_axis(range(5, 605)), "index of `where`"),
        (pl.Series([None] + [True] * 599), "empty entries"),
    ],
)
def test_what_chooses_no_rows_is_refused_in_words(where, words):
    with pytest.raises(holdfast.HoldfastError, match=words):
        released().ask("mean", where=where)


def test_codes_with_zeros_in_front_are_texts():
    cells = {"code": ["01", "1", "10"], "people": ["01", "2", "x"]}
    assert fulfilled("code == 01", cells.__getitem__).tolist() == [True, False, False]
    assert fulfilled("code == 1 or code == '10'", cells.__getitem__).tolist() == [False, True, True]


def test_groups_are_answered_each_and_compared():
    answers = released().ask("mean", by="size")
    assert list(answers) == [1, 10] and answers[10].estimate > 3 > 1 > answers[1].estimate
    difference, ratio = answers[10].difference(answers[1]), answers[10].ratio(answers[1])
    truth = COUNTS[SIZE == 10].mean(), COUNTS[SIZE == 1].mean()
    assert difference.interval[0] < truth[0] - truth[1] < difference.interval[1]
    assert ratio.interval[0] < truth[0] / truth[1] < ratio.interval[1]
    assert float(difference) == difference.estimate
    assert answers.to_pandas()["rows"].tolist() == [300, 300]
    assert "by size" in str(answers) and "<table>" in answers._repr_html_()


def test_answers_about_the_same_rows_are_not_subtracted():
    with pytest.raises(holdfast.HoldfastError, match="share rows"):
        released().ask("mean").difference(released().ask("mean", where="size == 1"))
    other = release_of(seed=2).ask("mean")
    assert abs(released().ask("mean").difference(other).estimate) < 0.5


def test_little_is_called_little():
    answer = release_of(epsilon="0.1").ask("total", where=TABLE["place"][:8].tolist())
    assert any("these 8 rows say little: 0 to" in note for note in answer.notes)


def test_other_questions_are_answered_for_parts():
    large = COUNTS[SIZE == 10]
    for question, options, truth in (
        ("median", {}, np.median(large)),
        ("quantile", {"at": 0.9}, np.quantile(large, 0.9, method="inverted_cdf")),
        ("variance", {}, large.var()),
        ("gini", {}, None),
        (lambda shares: shares[0], {}, (large == 0).mean()),
    ):
        answer = release_of(epsilon=3).ask(question, where="size == 10", **options)
        assert answer.interval[0] <= answer.estimate <= answer.interval[1]
        if truth is not None:
            assert answer.interval[0] - 1e-9 <= truth <= answer.interval[1] + 1e-9


def test_a_mechanism_that_changes_nothing_leaves_nothing_open():
    drawn = Drawn.of(np.array([3.0, 0, 2]), np.eye(3) * (1 - 3e-12) + 1e-12)
    low, high = Profile(drawn=drawn, asked=numbers.Average(f=np.arange(3.0))).interval(0.9)
    assert 0.7 < low <= 0.8 + 1e-6 and 0.8 - 1e-6 <= high < 0.95


def test_releases_by_group_answer_for_all_rows_for_groups_and_across():
    release = release_of(epsilon=2, keep=["side"], within="size", totals=True)
    for where, rows in (("size == 10", SIZE == 10), ("side == a", TABLE["side"] == "a")):
        answer = release.ask("mean", where=where)
        assert answer.interval[0] < COUNTS[rows].mean() < answer.interval[1]
    assert release.ask("total").estimator == "measured"
    assert release.ask("total", where="size == 10").estimator == "measured"
    assert release.ask("total", where="side == a").estimator == "part"
    rows = release.intervals()
    assert ((rows.low <= COUNTS) & (rows.high >= COUNTS)).mean() > 0.8
    assert release.top(3)[0].released > 5
    assert release.posterior(0, group="10").equal(0) < release.posterior(0, group="1").equal(0)
    with pytest.raises(holdfast.HoldfastError, match="must name one of the groups"):
        release.posterior(0)
    text = markdown(report(release))
    assert "By group" in text and "| 10 | 300 |" in text
    fit = release.regress("n ~ side", family="poisson")
    assert fit.rows == 600 and len(release.impute(2)) == 2


def test_means_are_measured_totals_over_their_rows():
    by_size = release_of(epsilon=2, keep=["side"], within="size", totals=True)
    plain = release_of(epsilon=2, totals=True)
    for release, where in ((by_size, None), (by_size, "size == 10"), (plain, None)):
        mean, total = (release.ask(question, where=where) for question in ("mean", "total"))
        rows = int(mean.about[0].marks.sum())
        assert mean.estimator == total.estimator == "measured"
        assert mean.estimate * rows == pytest.approx(total.estimate)
        assert np.multiply(mean.interval, rows) == pytest.approx(total.interval)
        assert mean.standard_error * rows == pytest.approx(total.standard_error)
    assert by_size.ask("mean", where="side == a").estimator == "part"
    assert "mean count" in markdown(report(plain))


def test_the_total_of_several_groups_has_the_interval_of_their_noise():
    release = release_of(epsilon=1, within=["size", "side"], totals=True)
    both = release.ask("total", where="size == 10")
    one = release.ask("total", where="size == 10 and side == a")
    narrow, wide = (answer.interval[1] - answer.interval[0] for answer in (one, both))
    assert 1.3 < wide / narrow < 1.5 and both.standard_error > one.standard_error


def test_intervals_for_every_count_hold_for_rare_ones():
    release = release_of(epsilon="0.3")
    usual, every = release.intervals(), release.intervals(every=True)
    rare = COUNTS >= 9
    covered = [((r.low <= COUNTS) & (r.high >= COUNTS))[rare].mean() for r in (usual, every)]
    assert covered[0] < 0.8 <= covered[1]
    assert any("rare counts" in note for note in usual.notes)


def test_parts_are_asked_about_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    released().save("release")
    asked = ("ask", "release")
    _, out, _ = run(capsys, monkeypatch, *asked, "mean", "--where", "size == 10")
    assert "where size == 10: " in out
    _, out, _ = run(capsys, monkeypatch, *asked, "share zero", "--by", "size", "--json")
    assert set(json.loads(out)["groups"]) == {"1", "10"}
    code, _, err = run(capsys, monkeypatch, *asked, "row 3", "--where", "size == 1")
    assert code and "go only with questions such as" in err


def test_a_release_is_a_frame_with_intervals_and_codes_stay_texts(tmp_path):
    released().save(tmp_path / "release")
    frame = holdfast.load(tmp_path / "release").to_pandas(intervals=True)
    assert frame["place"].iloc[1] == "p001" and frame["size"].sum() == SIZE.sum()
    assert (frame["low_90"] <= frame["high_90"]).all() and "expected" in frame
    assert released().to_polars().shape == (600, 4) and "<table>" in released()._repr_html_()
