"""A plan says how far off releases of a public prior are, and finds the epsilon for a target."""

import re

import numpy as np
import pytest

import holdfast
from holdfast.errors import HoldfastError, roughly
from holdfast.plan.plan import plan
from holdfast.plan.questions import read_question, read_target
from holdfast.plan.simulation import KnownTable, prior_table, simulated

SHAPE = "zeros:0.4+geometric:3"


def in_groups(*means):
    """Three groups of different sizes, with these means."""
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], [300, 200, 100])
    counts = rng.poisson(np.array(means)[group])
    return KnownTable(name="three", counts=counts, group=group, labels=("a", "b", "c"))


@pytest.fixture(scope="module")
def planned():
    return plan(SHAPE, rows=800, epsilons=["0.5", "2"], target="zeros within 3 points, 9 in 10")


def test_epsilon_comes_first_and_no_line_has_w1_or_an_exponent(planned):
    text = str(planned)
    assert text.startswith(f"epsilon = {planned.smallest} is the smallest that keeps zeros within")
    assert "times in 100" in text.splitlines()[1]
    assert "W1" not in text and not re.search(r"\de-\d|0\.0000", text)


def test_the_epsilon_found_meets_the_target_and_lies_between_those_looked_at(planned):
    shown = [each.epsilon for each in planned.expected]
    assert shown == ["0.5", planned.smallest, "2"]
    at_smallest = planned.expected[1].within["zeros"]
    assert at_smallest <= 0.031
    assert planned.expected[0].within["zeros"] > 0.03


def test_a_larger_epsilon_buys_smaller_errors(planned):
    first, *_, last = planned.expected
    assert last.off < first.off
    assert all(last.within[name] < first.within[name] for name in first.within)


def test_a_count_is_off_by_what_the_release_says_of_it(planned, tmp_path):
    release = holdfast.privatize([0, 1] * 400, epsilon="2", seed=1)
    off = float(release.only.measurement.noise.mean_absolute)
    assert planned.expected[-1].off == off
    release.save(tmp_path / "made")
    said = (tmp_path / "made" / "README.md").read_text()
    assert f"A noisy count of `count` is off by {roughly(off)} on average" in said
    assert "A noisy count is off by so much on average" in " ".join(str(planned).split())


def test_what_a_plan_says_holds_of_as_many_releases_as_it_says():
    table = prior_table(SHAPE, 800)
    expected = plan(SHAPE, rows=800, epsilons=["1"], questions=["zeros", "mean"]).expected[0]
    released = [simulated(table, "1", 100 + seed).estimate.whole for seed in range(1, 61)]
    for name in ("zeros", "mean"):
        asked = read_question(name)
        of = asked.question.of_histogram
        errors = [abs(of(whole) - of(table.whole)) for whole in released]
        inside = np.mean(np.array(errors) <= expected.within[name])
        assert 0.75 <= inside <= 1.0
        assert max(errors) > expected.within[name] / 3  # and it is not said too wide


def test_a_target_that_cannot_be_met_says_so():
    found = plan(SHAPE, rows=20, epsilons=["0.1"], target="zeros within 0.1 points, 99 in 100")
    assert found.smallest is None
    assert str(found).startswith("No epsilon up to 0.1 keeps zeros within 0.1 points")


def test_groups_are_planned_for_beside_the_whole():
    table = in_groups(1.0, 1.0, 1.0)
    found = plan(table, epsilons=["1"], questions=["zeros", "total"], repetitions=2)
    (each,) = found.expected
    assert each.within_groups["zeros"] > each.within["zeros"]
    assert "The same for one of 3 groups, of about 200 rows" in str(found)


def test_measured_totals_are_planned_for():
    how = {"epsilons": ["1"], "questions": ["total"], "repetitions": 2}
    without = plan(in_groups(1.0, 3.0, 8.0), **how).expected[0]
    measured = plan(in_groups(1.0, 3.0, 8.0), **how, totals="0.3").expected[0]
    assert measured.within_groups["total"] < without.within_groups["total"]


def test_a_table_of_another_size_is_like_the_one_that_was_given():
    table = in_groups(1.0, 3.0, 8.0)
    smaller = table.resized(60)
    assert np.bincount(smaller.group).tolist() == [30, 20, 10]
    assert abs(smaller.counts.mean() - table.counts.mean()) < 0.3


@pytest.mark.parametrize(
    ("text", "name", "amount", "probability"),
    [
        ("zeros within 1 point, 9 in 10", "zeros", 0.01, 0.9),
        ("mean within 0.2, 19 times in 20", "mean", 0.2, 0.95),
        ("above 10 within 0.5 points 9 in 10", "above 10", 0.005, 0.9),
        ("share at least 3 within 2 %, 9 in 10", "at least 3", 0.02, 0.9),
    ],
)
def test_targets_are_read_as_people_write_them(text, name, amount, probability):
    target = read_target(text)
    assert (target.asked.name, target.amount, target.probability) == (name, amount, probability)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "few errors"}, "`target` must read 'QUESTION within AMOUNT, K in L'"),
        ({"target": "mean within 1 point, 9 in 10"}, "mean is within a number, not points"),
        ({"epsilons": []}, "`epsilons` is empty"),
        ({"questions": ["top 10"]}, "cannot be planned for"),
        ({"within": "state"}, "`within` needs a prior that has this column"),
        ({"rows": None}, "`rows` is missing"),
        ({"prior": "normal:3"}, "is neither a file nor a shape"),
        ({"prior": "geometric:-3"}, "has a number that is not positive"),
        ({"prior": "zeros:2+geometric:3"}, "is neither a file nor a shape"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_words(options, message):
    given = {"prior": SHAPE, "rows": 30, "epsilons": ["1"]} | options
    with pytest.raises(HoldfastError, match=re.escape(message)):
        plan(given.pop("prior"), **given)


def test_an_error_that_is_next_to_nothing_is_only_said_to_be_small():
    found = str(plan("uniform:70", rows=60, epsilons=[5], repetitions=1))
    assert "under 0.01 points" in found and "0.0000" not in found.replace("under 0.0001", "")
