"""Groups whose counts run far: every question, without anything n by n or rows by n."""

import numpy as np
import pyarrow as pa
import pytest

import holdfast.former as holdfast
from holdfast.former import HoldfastError
from holdfast.former.analysis import row_laws
from holdfast.former.analysis.posterior import Posterior, prior
from holdfast.former.analysis.row_laws import HeldLaws, LongLaws
from holdfast.former.mechanism.curves import Curves
from holdfast.former.release.row_marks import row_kinds
from long_groups import COUNTS, OPTIONS, STATES, TABLE, TOP


@pytest.fixture(scope="module")
def release():
    return holdfast.privatize(TABLE, **OPTIONS, within="state", epsilon=1, seed=5)


@pytest.fixture
def nothing_large(monkeypatch):
    """No table of weights, and no law of every row."""

    def refuse(*_):
        raise AssertionError("n by n weights were asked for")

    monkeypatch.setattr(Curves, "table", refuse)
    monkeypatch.setattr(row_laws, "row_law", refuse)


def dense_laws(release, kinds):
    """Every law in full, through sums over the whole mechanism."""
    found = []
    for kind in kinds:
        group, count = divmod(int(kind), TOP + 2)
        before, mechanism = prior(release, group)
        joint = before * np.maximum(mechanism.expected(np.eye(1, TOP + 1, count)[0]), 0)
        found.append(Posterior(count=count, probabilities=joint / joint.sum()))
    return HeldLaws(found)


@pytest.mark.parametrize("epsilon", ["0.2", "4"])
@pytest.mark.parametrize("within", [None, "state"])
def test_intervals_of_every_row_are_those_of_laws_that_are_held(epsilon, within, nothing_large):
    counts = pa.table(TABLE).set_column(2, "visits", pa.array(np.r_[TOP, TOP + 5, COUNTS[2:]]))
    release = holdfast.privatize(counts, **OPTIONS, within=within, epsilon=epsilon, seed=5)
    kinds = np.unique(row_kinds(release))[::12]
    held, long = dense_laws(release, kinds), LongLaws(release, kinds)
    one, other = held.summary(0.8), long.summary(0.8)
    assert np.abs(one.ends - other.ends).max() <= 1  # runs as short, where two are as probable
    assert (np.diff(one.ends) == np.diff(other.ends)).all()
    assert (one.median == other.median).all()
    for a, b in ((one.held, other.held), (one.zero, other.zero)):
        np.testing.assert_allclose(a, b, atol=1e-8)
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-4)
    assert one.reaches == other.reaches
    np.testing.assert_allclose(held.at_least(40), long.at_least(40), atol=1e-8)


def test_every_row_has_an_interval_and_most_are_covered(release, nothing_large):
    found = release.intervals()
    assert ((found.low <= COUNTS) & (found.high >= COUNTS)).mean() > 0.8
    assert release.to_pandas(intervals=True)["low_90"].tolist() == found.low.tolist()
    assert found.at_least(TOP).max() < 0.5


def test_a_law_can_still_be_looked_at(release):
    found = release.intervals()
    law = found.laws[found.law_of[7]]
    assert law.interval(0.9) == (found.low[7], found.high[7])
    assert law.mean == pytest.approx(found.mean[7], abs=1e-6)
    assert len(found.laws[:2]) == 2 and len(found.laws) == len(np.unique(row_kinds(release)))


def test_laws_that_floors_have_a_part_of_are_worked_out_in_full(release, monkeypatch):
    kinds = np.unique(row_kinds(release))[::20]
    usual = LongLaws(release, kinds).summary(0.9)
    monkeypatch.setattr(row_laws, "NOTHING", -1)
    full = LongLaws(release, kinds).summary(0.9)
    assert np.array_equal(usual.ends, full.ends) and np.array_equal(usual.median, full.median)
    np.testing.assert_allclose(usual.mean, full.mean, atol=1e-4)
    np.testing.assert_allclose(usual.held, full.held, atol=1e-8)


def test_rows_on_top_are_found_in_groups(release, monkeypatch):
    monkeypatch.setattr(Curves, "table", lambda _: pytest.fail("n by n"))
    monkeypatch.setattr(
        "holdfast.former.analysis.categories._standings", lambda *_: pytest.fail("all")
    )
    found = release.top(3)
    assert {row.row for row in found} & set(np.argsort(COUNTS)[-3:].tolist())
    assert release.top(1, where="state == 'one'")[0].probability == 1


def test_plausible_tables_are_drawn_near_what_was_released(release, nothing_large):
    tables = [np.asarray(one["visits"]) for one in release.impute(20)]
    moved = np.array(tables) - release.counts
    many = STATES == "many"
    assert 0.5 < moved[:, many].std() < 5 and len({one.tobytes() for one in tables}) == 20
    means = np.mean([one[many].mean() for one in tables])
    assert means == pytest.approx(release.ask("mean", by="state")["many"].estimate, abs=0.5)


@pytest.mark.parametrize("family", ["poisson", "negative binomial", "gaussian"])
@pytest.mark.parametrize("within", [None, "state"])
def test_regressions_run_through_columns_of_the_mechanism(family, within, nothing_large):
    release = holdfast.privatize(TABLE, **OPTIONS, within=within, epsilon=2, seed=5)
    formula = "visits ~ size" if family == "gaussian" else "visits ~ log(size)"
    found = release.regress(formula, family=family, where="state == 'many' and size < 4")
    if family == "gaussian":
        assert found.fitted.values[1] == pytest.approx(found.naive.values[1], rel=0.05)
    else:
        assert found.fitted.values[:2] == pytest.approx([np.log(300), 2], abs=0.1)


def test_a_count_as_regressor_has_its_expected_value(release, nothing_large):
    found = release.regress("size ~ visits", family="gaussian", where="state == 'many'")
    assert found.fitted.values[1] == pytest.approx(found.naive.values[1], rel=0.05)


def test_a_regression_that_would_hold_too_much_is_refused(release, monkeypatch):
    monkeypatch.setattr("holdfast.former.analysis.regression.regress.MOST_HELD", 1000)
    with pytest.raises(HoldfastError, match="Hint: fewer rows, by `where`"):
        release.regress("visits ~ log(size)", family="negative binomial")


def test_measured_totals_ask_no_law_of_every_row(nothing_large):
    release = holdfast.privatize(TABLE, **OPTIONS, within="state", epsilon=2, totals=True, seed=5)
    found = release.ask("total", by="state")
    assert found["many"].estimate == pytest.approx(COUNTS[STATES == "many"].sum(), rel=0.01)


def test_pairs_of_long_counts_are_refused_before_anything_is_held(monkeypatch):
    table = TABLE.append_column("sales", pa.array(COUNTS[::-1].copy()))
    release = holdfast.privatize(
        table, **OPTIONS | {"count": ["visits", "sales"]}, within="state", epsilon=2, seed=1
    )
    for place in ("pairs.questions", "derived.sums"):
        name = f"holdfast.former.analysis.{place}.channel_of"
        monkeypatch.setattr(name, lambda _: pytest.fail("n numbers for every kind of row"))
    refused = pytest.raises(HoldfastError, match="tables that `impute` gives")
    with refused:
        release.ask("correlation", of=["visits", "sales"])
    with refused:
        release.derive("both = visits + sales")
    assert release.columns["sales"].ask("mean", by="state")["one"].interval[0] >= 0


def test_without_a_group_a_released_count_is_refused_with_what_there_is(release):
    with pytest.raises(HoldfastError, match="Hint: ask about a row by name; in Python"):
        release.posterior(300)


def test_counts_of_small_groups_are_off_by_what_is_stated_and_a_highest_row_reaches_no_further():
    random = np.random.default_rng(6)
    groups = random.permutation(np.repeat(np.arange(40), 25))
    counts = np.minimum(random.lognormal(random.normal(4, 1, 40)[groups], 1.5), 15_000).astype(int)
    frame = pa.table({"group": [f"g{number}" for number in groups], "visits": counts})
    release = holdfast.privatize(
        frame, count="visits", within="group", epsilon=1, max_count=20_000, seed=3
    )
    off = np.abs(release.counts - counts)
    assert off.mean() < 1.25 * release.expected_change
    highest = [np.flatnonzero(groups == g)[counts[groups == g].argmax()] for g in range(40)]
    assert off[highest].max() < 30
    found = release.intervals()
    assert (found.high - found.low)[highest].max() < 30
    assert ((found.low <= counts) & (counts <= found.high)).mean() > 0.86
