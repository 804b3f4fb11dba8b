"""The whole path, from a table to a release."""

from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.former.privatizers import CyclicLaplace
from holdfast.former.privacy.metrics import wasserstein
from holdfast.former.privacy.randomness import laplace_measurement
from holdfast.former.tables.histogram import histogram_of_counts

COUNTS = np.random.default_rng(0).negative_binomial(1, 0.3, 3000)
FRAMES = {
    "pandas": lambda: pd.DataFrame({"place": range(3000), "n": COUNTS}),
    "polars": lambda: pl.DataFrame({"place": range(3000), "n": COUNTS}),
    "pyarrow": lambda: pa.table({"place": list(range(3000)), "n": COUNTS}),
    "duckdb": lambda: duckdb.from_arrow(pa.table({"place": list(range(3000)), "n": COUNTS})),
}


def test_a_release_holds_the_distribution_of_counts():
    release = holdfast.privatize(COUNTS, epsilon="0.5", max_count=20, seed=1)
    truth = histogram_of_counts(COUNTS, 20) / len(COUNTS)
    geometric = holdfast.baselines.TruncatedGeometric()(truth, epsilon="0.5").matrix
    assert wasserstein(truth, truth @ geometric) > 0.4
    assert wasserstein(truth, release.distribution) < 0.2


@pytest.mark.parametrize("kind", FRAMES)
def test_the_same_kind_of_table_comes_back(kind):
    frame = FRAMES[kind]()
    release = holdfast.privatize(
        frame, epsilon=1, max_count=20, count="n", category="place", seed=2
    )
    assert type(release.table) is type(frame)
    as_arrow = release.table if kind == "pyarrow" else None
    if as_arrow is None:
        as_arrow = (
            release.table.to_arrow_table()
            if kind == "duckdb"
            else pa.table({c: np.asarray(release.table[c]) for c in ("place", "n")})
        )
    assert as_arrow.column("place").to_pylist() == list(range(3000))
    assert as_arrow.column("n").to_pylist() == release.counts.tolist()
    assert release.counts.dtype == np.int64


def test_the_counts_are_top_coded_and_in_range():
    release = holdfast.privatize([10**6] * 50 + [0] * 50, epsilon=10, max_count=5)
    assert release.counts.min() >= 0 and release.counts.max() <= 5
    assert abs((release.counts == 5).sum() - 50) < 15
    assert len(release.target) == 6


def test_real_releases_differ_and_seeded_ones_repeat():
    real = [holdfast.privatize(COUNTS, epsilon=1, max_count=9).counts for _ in range(2)]
    assert not np.array_equal(*real)
    seeded = [holdfast.privatize(COUNTS, epsilon=1, max_count=9, seed=3) for _ in range(2)]
    assert np.array_equal(seeded[0].counts, seeded[1].counts)
    assert seeded[0].privacy.simulated and "SIMULATION" in repr(seeded[0])
    assert not holdfast.privatize([1, 2], epsilon=1, max_count=3).privacy.simulated


def test_structural_zeros_pass_through_and_are_not_counted():
    mask = np.arange(3000) % 3 == 0
    counts = np.where(mask, 0, COUNTS)
    release = holdfast.privatize(
        counts, epsilon="0.1", max_count=20, structural_zero=mask.tolist(), seed=4
    )
    assert (release.counts[mask] == 0).all()
    assert (release.counts[~mask] > 0).any()
    assert release.rows == 2000 and release.structural_zeros == 1000
    assert release.distribution.sum() == pytest.approx(1)


def test_the_budget_is_exact_and_certified():
    release = holdfast.privatize(COUNTS, epsilon="0.3", max_count=20)
    privacy = release.privacy
    assert privacy.budget.stage_1 + privacy.budget.stage_2 == Fraction(3, 10)
    assert privacy.stage_1_certified == laplace_measurement(privacy.budget.stage_1)[1]
    assert privacy.stage_2_certified == release.mechanism.certified_epsilon
    assert Fraction(299, 1000) < privacy.certified_epsilon <= privacy.epsilon
    assert privacy.randomness == "operating system"
    assert "contributions" in privacy.neighbours


@pytest.mark.parametrize("contributions", [2, 5])
def test_contributions_scale_both_stages(contributions):
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=20, contributions=contributions)
    budget = release.privacy.budget
    assert release.mechanism.epsilon == budget.stage_2 / contributions
    assert release.privacy.stage_1_certified <= budget.stage_1
    # k steps of the unit mechanism stay within the stage: rows i and i+k differ by e^stage_2
    weights = release.mechanism.weights[:, release.target > 0].astype(float)
    far = np.log(weights[contributions:] / weights[:-contributions])
    assert np.abs(far).max() <= float(budget.stage_2) * (1 + 1e-12)
    assert np.abs(far).max() > 0.99 * float(budget.stage_2)


def test_stage_2_sees_the_target_and_nothing_else():
    seen = []

    def constructor(target, *, epsilon):
        seen.append((target.copy(), epsilon))
        return Heuristic(selector="min")(target, epsilon=epsilon)

    release = holdfast.privatize(COUNTS, epsilon=1, max_count=20, constructor=constructor, seed=5)
    ((target, epsilon),) = seen
    assert np.array_equal(target, release.target)
    assert epsilon == release.privacy.budget.unit_2


def test_parts_and_split_can_be_chosen():
    release = holdfast.privatize(
        COUNTS,
        epsilon=1,
        max_count=20,
        privatizer=CyclicLaplace(projection="simplex"),
        constructor=Heuristic(selector="sandwich"),
        split="1/4",
        seed=6,
    )
    assert release.privacy.budget.stage_1 == Fraction(1, 4)
    stage_1, stage_2 = release.methods
    assert stage_1 == "CyclicLaplace(projection='simplex')"
    assert stage_2.startswith("Heuristic(sandwich), at most ")
    assert stage_2.endswith(" % above the optimum")


def test_a_baseline_can_be_released_too():
    geometric = holdfast.baselines.TruncatedGeometric()
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=20, constructor=geometric)
    assert release.mechanism.fixed_point is None
    assert release.privacy.certified_epsilon <= 1


def test_repeated_categories_are_said_where_they_are_meant():
    frame = pd.DataFrame({"place": ["a", "a", "b"], "n": [1, 2, 3]})
    options = {"epsilon": 1, "max_count": 5, "count": "n", "category": "place"}
    release = holdfast.privatize(frame, **options, repeated_categories=True)
    assert any("repeated" in note for note in release.notes)


@pytest.mark.parametrize("max_count", [0, -1, 10**9, 1.5, "9", None, True])
def test_a_bad_max_count_is_an_error(max_count):
    with pytest.raises(HoldfastError, match="`max_count`"):
        holdfast.privatize([1, 2], epsilon=1, max_count=max_count)


@pytest.mark.parametrize("seed", [-1, "x", 1.5, True])
def test_a_bad_seed_is_an_error(seed):
    with pytest.raises(HoldfastError, match="seed"):
        holdfast.privatize([1, 2], epsilon=1, max_count=3, seed=seed)


def test_n_of_two_and_one_row_work():
    release = holdfast.privatize([1], epsilon=1, max_count=1)
    assert release.counts.tolist() in ([0], [1])


def test_person_level_rows_become_a_release():
    people = pd.DataFrame({"county": ["Kent"] * 4 + ["Ely"]})
    table = holdfast.count_by(people, by="county", categories=["Ely", "Kent", "York"])
    release = holdfast.privatize(table, epsilon=1, max_count=5, count="count", category="county")
    assert list(release.table["county"]) == ["Ely", "Kent", "York"]


def test_the_papers_crime_table_keeps_its_zeros(shared_data):
    release = holdfast.privatize(
        shared_data / "crime_murder_by_county.csv",
        epsilon="0.48",
        max_count=50,
        count="MURDER",
        category="county_name",
    )
    assert release.rows == 3136
    assert abs(release.distribution[0] - 1648 / 3136) < 0.05


def test_what_is_not_a_data_frame_of_spark_is_refused_by_the_spark_engine(tmp_path):
    with pytest.raises(HoldfastError, match=r"pyspark|classic Spark session"):
        holdfast.spark.privatize([1, 2], str(tmp_path / "new"), epsilon=1, max_count=3)


def test_a_function_can_be_a_constructor_and_an_object_must_derive_from_the_declared_class():
    def constructor(target, *, epsilon):
        return Heuristic(selector="min")(target, epsilon=epsilon)

    class Duck:
        def __call__(self, histogram, *, epsilon, rng=None):
            return histogram / histogram.sum()

        def certified_epsilon(self, epsilon):
            return epsilon

    options = {"epsilon": 1, "max_count": 20, "seed": 5}
    plain = holdfast.privatize(COUNTS, constructor=constructor, **options)
    same = holdfast.privatize(COUNTS, constructor=Heuristic(selector="min"), **options)
    assert np.array_equal(plain.counts, same.counts)
    with pytest.raises(HoldfastError, match=r"derives from holdfast\.privatizers\.Privatizer"):
        holdfast.privatize(COUNTS, privatizer=Duck(), **options)


@pytest.mark.parametrize("options", [{"epsilon": "0.001"}, {"epsilon": 1, "contributions": 1000}])
def test_what_would_take_hours_to_certify_is_refused_before_it_is_paid(tmp_path, options):
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("visits", epsilon=5)
    with pytest.raises(HoldfastError, match="hours to certify"):
        holdfast.privatize(
            [0, 5, 900_000] * 50, max_count=10**6, ledger=ledger, dataset="visits", **options
        )
    assert ledger.spends("visits") == []
