"""The paper's printed numbers from the random numbers that gave them."""

import pytest

from holdfast.paper.experiments import EXPERIMENTS, QUICK
from holdfast.paper.experiments import published_draws as module
from holdfast.paper.experiments.published_draws import RUNS, draw_again, published_claims
from holdfast.paper.experiments.split_claims import PRINTED_TABLE


@pytest.fixture
def first_points(monkeypatch):
    """Only the first so many points of a part."""
    points = module._points

    def shorten(count):
        monkeypatch.setattr(module, "_points", lambda part: list(points(part))[:count])

    return shorten


def best_share(rows):
    return min(rows, key=lambda row: row["absolute"] * row["wasserstein"])["share"]


@pytest.mark.parametrize("data", ["uniform", "left-skewed"])  # the first and the second of six
def test_the_printed_table_begins_as_printed_wherever_the_stream_is_entered(
    data, shared_data, first_points
):
    first_points(9)
    rows = draw_again({"part": "optimal-split", "data": data}, 0, str(shared_data))
    assert len(rows) == 9
    assert round(10 * best_share(rows)) == PRINTED_TABLE[data][0]


def test_the_crime_data_at_the_smallest_budget_give_the_printed_numbers(shared_data, first_points):
    first_points(6)
    rows = draw_again({"part": "accuracy", "data": "crime"}, 0, str(shared_data))
    w1 = {row["method"]: f"{row['wasserstein']:.2f}" for row in rows}
    assert (w1["unfixed-optimum"], w1["heuristic-sandwich"]) == ("1.44", "2.17")


def test_an_optimality_gap_is_drawn_again_to_its_last_printed_digit(shared_data, first_points):
    first_points(10)
    task = {"part": "optimality-gap", "data": "binomial"}
    rows = [task | row for row in draw_again(task, 0, str(shared_data))]
    (claim,) = published_claims(rows)
    assert (claim.paper, claim.here, claim.verdict_words) == ("0.42", "0.416", "agrees")
    worse = [r | {"wasserstein": 2 * r["wasserstein"]} if r["share"] == 0.9 else r for r in rows]
    assert published_claims(worse)[0].verdict_words == "differs"


def test_data_that_no_file_holds_are_left_out(shared_data):
    published = EXPERIMENTS["published-draws"]
    assert not published.tasks(None, QUICK)
    tasks = published.tasks(str(shared_data), QUICK)
    assert {task["part"] for task in tasks} == set(RUNS)
    assert all(task["runs"] == RUNS[task["part"]] for task in tasks)
    assert "schools" not in {task["data"] for task in tasks}


def test_a_table_with_a_data_set_missing_is_not_compared():
    row = {"part": "optimal-split", "data": "uniform", "epsilon": 0.1, "share": 0.1, "runs": 20}
    assert published_claims([row | {"absolute": 1.0, "wasserstein": 1.0}]) == []
