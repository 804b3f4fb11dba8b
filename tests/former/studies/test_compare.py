"""Comparing methods: the paper's numbers, what is measured, and going on after a kill."""

import csv

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.constructors import UnfixedOptimum
from holdfast.former.privatizers import CyclicLaplace
from holdfast.former.studies.compare import comparison
from holdfast.former.studies.methods import find_methods
from holdfast.former.privacy.metrics import absolute_deviation, wasserstein
from holdfast.former.tables.histogram import whole_histogram

COUNTS = np.random.default_rng(5).geometric(0.4, 300) - 1
QUICK = {"max_count": 9, "epsilons": ["0.5", "2"], "repetitions": 3, "jobs": 1}
MINE = holdfast.Method(name="mine", privatizer=CyclicLaplace(), constructor=UnfixedOptimum())


def of(found, method, epsilon):
    (row,) = [
        r
        for r in found.non_private_summary()
        if (r["method"], r["epsilon"]) == (method, str(epsilon))
    ]
    return row


def test_every_method_is_measured_in_every_way():
    found = holdfast.compare(COUNTS, **QUICK)
    assert len(found.methods) == 9 and len(found.non_private_rows) == 9 * 2 * 3
    assert found.measures[:5] == ("w1", "ks", "tv", "absolute", "squared")
    for row in found.non_private_summary():
        assert all(np.isfinite(row[name]) for name in found.measures)
        assert all(row[f"spread of {name}"] >= 0 for name in found.measures)
        assert 0 < row["ks"] < min(row["tv"], row["w1"]) + 1e-12 and row["tv"] <= 1
        assert 0 < row["absolute"] <= row["squared"] and row["seconds"] > 0


def test_errors_are_those_of_the_release():
    found = holdfast.compare(COUNTS, methods=["default"], **QUICK)
    release = found.non_private_example("default", "0.5")
    truth = found.non_private_distribution
    first = found.non_private_rows[0]
    assert first["w1"] == pytest.approx(wasserstein(truth, release.distribution))
    assert first["absolute"] == pytest.approx(absolute_deviation(release.mechanism.matrix, truth))
    assert first["error of zeros"] == pytest.approx(release.distribution[0] - truth[0])
    above = release.distribution[4:].sum() - truth[4:].sum()
    assert first["error of above 3"] == pytest.approx(above)
    steps = np.arange(10)
    assert first["error of mean"] == pytest.approx(steps @ release.distribution - steps @ truth)


def test_the_truncated_geometric_on_crime_is_the_papers(shared_data):
    found = holdfast.compare(
        shared_data / "crime_murder_by_county.csv",
        count="MURDER",
        max_count=50,
        methods=["truncated-geometric"],
        epsilons=["0.1", "1.05"],
        repetitions=100,
        jobs=1,
    )
    assert of(found, "truncated-geometric", "1.05")["absolute"] == pytest.approx(0.55, abs=0.005)
    assert of(found, "truncated-geometric", "0.1")["w1"] == pytest.approx(4.1, abs=0.09)


def test_the_unfixed_optimum_on_binomial_counts_is_the_papers(shared_data):
    with open(shared_data / "binomial_histogram.csv", newline="") as file:
        rows = [int(row["categories"]) for row in csv.DictReader(file)]
    shares = np.array(rows) / sum(rows)
    found = holdfast.compare(
        shares, rows=sum(rows), methods=["unfixed-optimum"], epsilons=["0.478"], jobs=1
    )
    assert of(found, "unfixed-optimum", "0.478")["w1"] == pytest.approx(0.64, abs=0.02)


def test_a_distribution_and_its_table_are_the_same_data():
    shares = np.array([0.5, 0.25, 0.125, 0.125])
    table = np.repeat(np.arange(4), [40, 20, 10, 10])
    options = {"epsilons": [1], "methods": ["staircase"], "repetitions": 2, "jobs": 1}
    one = holdfast.compare(shares, rows=80, **options)
    other = holdfast.compare(table, max_count=3, **options)
    np.testing.assert_array_equal(one.non_private_histogram, other.non_private_histogram)
    assert [r["w1"] for r in one.non_private_rows] == [r["w1"] for r in other.non_private_rows]


@pytest.mark.parametrize("rows", [1, 7, 1000, 99_991])
def test_a_whole_histogram_has_all_rows_and_is_near(rows):
    shares = np.random.default_rng(1).dirichlet(np.ones(40))
    histogram = whole_histogram(shares, rows)
    assert histogram.sum() == rows and np.abs(np.cumsum(histogram - rows * shares)).max() <= 0.5


def test_fewer_rows_than_counts_are_spread_over_the_whole_range():
    assert whole_histogram(np.full(100, 0.01), 50)[50:].sum() == 25


def test_it_says_loudly_that_it_is_not_private(tmp_path):
    found = holdfast.compare(COUNTS, methods=["staircase"], folder=tmp_path, **QUICK)
    assert "NOT PRIVATE" in repr(found) and "NOT PRIVATE" in holdfast.Comparison.__doc__
    told = {name for name in vars(found) if not name.startswith("non_private")}
    assert told == {"methods", "epsilons", "questions", "repetitions"}
    assert all(path.name.startswith("non_private") for path in tmp_path.iterdir())


def test_parallel_runs_find_what_one_process_finds():
    options = QUICK | {"methods": [MINE, "truncated-geometric"]}
    one = holdfast.compare(COUNTS, **options)
    two = holdfast.compare(COUNTS, **(options | {"jobs": 2}))

    def without_time(found):
        return [row | {"seconds": 0} for row in found.non_private_rows]

    assert without_time(one) == without_time(two)


def test_a_method_of_your_own_is_compared_by_its_name():
    found = holdfast.compare(COUNTS, methods=["default", MINE], **QUICK)
    assert of(found, "mine", 2)["absolute"] > 0
    assert find_methods(["test_compare:MINE"]) == (MINE,)


def test_a_finished_run_is_not_repeated_and_other_data_are_not_confused(tmp_path):
    first = holdfast.compare(COUNTS, methods=["staircase"], folder=tmp_path, **QUICK)
    again = holdfast.compare(COUNTS, methods=["staircase"], folder=tmp_path, **QUICK)
    assert first.non_private_rows == again.non_private_rows  # the seconds too
    other = holdfast.compare(COUNTS[:-1], methods=["staircase"], folder=tmp_path, **QUICK)
    assert other.non_private_rows[0]["w1"] != first.non_private_rows[0]["w1"]
    gamma = holdfast.baselines.Staircase(gamma=0.9)
    wide = holdfast.Method(name="staircase", constructor=gamma)
    third = holdfast.compare(COUNTS, methods=[wide], folder=tmp_path, **QUICK)
    assert third.non_private_rows[0]["absolute"] != first.non_private_rows[0]["absolute"]


def test_a_broken_off_comparison_goes_on_where_it_was(tmp_path, monkeypatch):
    log, done = tmp_path / "non_private_comparison.jsonl", []
    options = QUICK | {"methods": ["staircase", "truncated-geometric"], "folder": tmp_path}
    measure = comparison.measure

    def broken_off(task, seed, **rest):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(task)
        return measure(task, seed, **rest)

    monkeypatch.setattr(comparison, "measure", broken_off)
    with pytest.raises(KeyboardInterrupt):
        holdfast.compare(COUNTS, **options)
    before = log.read_bytes()
    assert before.count(b"\n") == 3 and not log.with_suffix(".csv").exists()
    log.write_bytes(before + b'{"task": "cut sh')  # as a kill leaves it
    monkeypatch.setattr(comparison, "measure", measure)
    found = holdfast.compare(COUNTS, **options)
    assert log.read_bytes().startswith(before)
    assert log.read_bytes().count(b"\n") == 2 * len(found.epsilons)
    with open(log.with_suffix(".csv"), newline="") as file:
        assert len(list(csv.DictReader(file))) == len(found.non_private_rows)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"max_count": None}, "`max_count` is missing"),
        ({"rows": 10}, "`target`"),
        ({"epsilons": []}, "`epsilons` is empty"),
        ({"epsilons": ["x"]}, "`epsilons`"),
        ({"epsilons": [-1]}, "`epsilons`"),
        ({"methods": []}, "`methods`"),
        ({"methods": ["nobody"]}, "no method 'nobody'"),
        ({"methods": ["json:loads"]}, "not a holdfast.Method"),
        ({"methods": ["no_module_here:x"]}, "cannot be imported"),
        ({"methods": ["staircase", "staircase"]}, "each once"),
        ({"questions": ["median"]}, "a question must be"),
        ({"questions": ["above 9"]}, "the answer 0"),
        ({"repetitions": 0}, "`repetitions`"),
        ({"repetitions": 1.5}, "`repetitions`"),
        ({"jobs": 0}, "`jobs`"),
    ],
    ids=str,
)
def test_bad_settings_are_errors(change, message):
    with pytest.raises(HoldfastError, match=message):
        holdfast.compare(COUNTS, **(QUICK | {"methods": ["staircase"]} | change))


def test_a_method_that_cannot_travel_is_an_error_in_parallel():
    class Local:
        def __call__(self, target, *, epsilon):
            return UnfixedOptimum()(target, epsilon=epsilon)

    local = holdfast.Method(name="local", constructor=Local())
    with pytest.raises(HoldfastError, match="other processes"):
        holdfast.compare(COUNTS, **(QUICK | {"methods": [local], "jobs": 2}))
    assert holdfast.compare(COUNTS, **(QUICK | {"methods": [local]}))


def test_a_long_range_is_compared_by_methods_that_make_no_matrix():
    options = {"max_count": 10_001, "epsilons": [1], "repetitions": 1, "jobs": 1}
    found = holdfast.compare(COUNTS, **options)
    assert [method.name for method in found.methods] == ["default", "paper"]
    with pytest.raises(
        HoldfastError, match="staircase can be compared up to a max_count of 10,000"
    ):
        holdfast.compare(COUNTS, **options, methods=["default", "staircase"])
