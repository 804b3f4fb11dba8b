"""A max_count that comes from the data, privately, and is paid for."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former import PrivateQuantile
from holdfast.former.cli.choices import max_count_of
from holdfast.former.constructors import Heuristic
from holdfast.former.privatizers import (
    ClassicLaplace,
    CumulativeGaussian,
    CumulativeIsotonic,
    CumulativeSmooth,
    CyclicGaussian,
    CyclicLaplace,
    Hierarchical,
    Privelet,
)
from holdfast.former.privatizers.max_count import budget_for, highest_count
from holdfast.former.privacy.budget import split_budget
from holdfast.former.privacy.delta import total_delta
from holdfast.former.privacy.randomness import Simulation, laplace_measurement

COUNTS = np.random.default_rng(0).negative_binomial(1, 0.1, 3000)
FAST = {"constructor": Heuristic(selector="sandwich")}
EVERY_PRIVATIZER = [
    CumulativeSmooth(),
    CumulativeIsotonic(),
    CyclicLaplace(),
    ClassicLaplace(),
    Privelet(),
    Hierarchical(branching=4),
    CumulativeGaussian(delta="1e-6"),
    CyclicGaussian(delta="1e-9"),
]


def answers(counts, q, epsilon, *, runs=25, **options):
    quantile = PrivateQuantile(q, **options)
    source = Simulation(1)
    return np.array([quantile(counts, epsilon=epsilon, rng=source) for _ in range(runs)])


def test_with_enough_budget_it_is_the_quantile():
    counts = np.arange(10_000) % 200
    assert set(answers(counts, "0.5", 10)) == {99}
    assert set(answers(counts, "0.99", 10)) == {197}


def test_a_heavy_tail_up_to_ten_million_is_met_to_a_few_ranks():
    wild = np.random.default_rng(1).pareto(0.9, 5000) * 3
    counts = np.minimum(wild, 10**7).astype(np.int64)
    assert counts.max() > 10**4
    found = answers(counts, "0.99", "0.05")
    ranks = (counts[:, None] <= found).sum(axis=0)
    assert np.abs(ranks - 4950).mean() < 10
    assert np.abs(np.log2(found / np.quantile(counts, 0.99))).max() < 1


def test_a_small_budget_errs_towards_small_bounds_and_not_to_the_ceiling():
    counts = np.random.default_rng(2).geometric(0.2, 100) - 1  # the 0.99 quantile is about 20
    found = answers(counts, "0.99", "0.05", runs=120)
    assert 10 <= np.median(found) <= 40
    assert np.quantile(found, 0.8) < 80


def test_the_last_row_of_few_does_not_open_the_whole_range():
    """With 50 rows the 0.99 quantile is the maximum; beyond it lies only a flat tail."""
    assert np.quantile(answers(np.full(50, 37), "0.99", "0.5", runs=60), 0.9) < 74


@pytest.mark.parametrize("epsilon", ["0.001", "0.05", 10])
@pytest.mark.parametrize(
    "counts", [[5], [0], [0] * 200, [37] * 200, [10**7] * 200, [2**53] * 3], ids=str
)
def test_the_answer_is_always_a_max_count(counts, epsilon):
    found = answers(np.array(counts), "0.9", epsilon, runs=8)
    assert found.min() >= 1 and found.max() <= 10_000


def test_one_value_everywhere_is_found():
    assert set(answers(np.full(2000, 37), "0.99", 1)) == {37}
    assert set(answers(np.zeros(2000, dtype=int), "0.99", 1)) == {1}
    assert set(answers(np.full(2000, 10**7), "0.99", "0.05")) == {10_000}
    assert set(answers(np.full(2000, 10**7), "0.99", "0.05", highest=300)) == {300}


@pytest.mark.parametrize("q", [0, 1, "1", 1.0, -0.1, 2, "x", None, float("nan"), True])
def test_what_is_no_quantile_is_refused(q):
    with pytest.raises(HoldfastError, match="`q`"):
        PrivateQuantile(q)


def test_the_maximum_is_refused_with_a_hint():
    with pytest.raises(HoldfastError, match=r"one row decides it.*0\.99"):
        PrivateQuantile(1)


@pytest.mark.parametrize("epsilon", ["1", "1.5", 1])
def test_the_quantile_cannot_take_the_whole_budget(epsilon):
    with pytest.raises(HoldfastError, match=r"`epsilon` of the quantile.*below the whole budget"):
        holdfast.privatize(COUNTS, epsilon=1, max_count=PrivateQuantile(0.9, epsilon=epsilon))


def test_bad_options_are_refused_before_anything_is_drawn(monkeypatch):
    monkeypatch.setattr(PrivateQuantile, "__call__", lambda *a, **k: pytest.fail("was drawn"))
    quantile = PrivateQuantile(0.9, epsilon="0.1")
    for options, words in [
        ({"split": 2}, "`split`"),
        ({"contributions": 0}, "`contributions`"),
        ({"contributions": 10_000}, "no quantile to find"),
        ({"seed": -1}, "seed"),
    ]:
        with pytest.raises(HoldfastError, match=words):
            holdfast.privatize(COUNTS, epsilon=1, max_count=quantile, **options)
    with pytest.raises(HoldfastError, match="`max_count`"):
        PrivateQuantile(0.9, highest=0)


def test_a_quantile_of_somebody_else_is_no_max_count():
    class Sly(PrivateQuantile):
        pass

    with pytest.raises(HoldfastError, match="`max_count`"):
        holdfast.privatize(COUNTS, epsilon=1, max_count=Sly(0.9))


EVERY_TWO = [  # of the choices stand together somewhere
    (split, [1, 3, 40][(i + j) % 3], privatizer, [None, "1/7"][(i // 3 + j) % 2])
    for i, privatizer in enumerate(EVERY_PRIVATIZER)
    for j, split in enumerate([None, "paper", "1/3"])
]


@pytest.mark.parametrize("split, contributions, privatizer, part", EVERY_TWO, ids=str)
def test_all_choices_together_add_up_exactly(split, contributions, privatizer, part):
    release = holdfast.privatize(
        COUNTS[:300],
        epsilon="0.9",
        max_count=PrivateQuantile("0.8", epsilon=part, highest=60),
        split=split,
        contributions=contributions,
        privatizer=privatizer,
        seed=1,
        **FAST,
    )
    privacy, budget = release.privacy, release.privacy.budget
    assert budget.quantile + budget.stage_1 + budget.stage_2 == Fraction(9, 10)
    assert budget.quantile == (Fraction(1, 7) if part else budget.quantile) > 0
    assert privacy.quantile_certified == laplace_measurement(budget.quantile)[1] <= budget.quantile
    assert privacy.certified_epsilon == (
        privacy.quantile_certified + privacy.stage_1_certified + privacy.stage_2_certified
    )
    assert budget.steps == min(contributions, release.max_count_found.max_count)
    assert privacy.delta == total_delta(budget, privatizer.delta)
    assert (privacy.delta > 0) == ("Gaussian" in repr(privatizer))
    rest = split_budget(
        Fraction(9, 10) - budget.quantile,
        max_count=60,
        rows=300,
        bins=50,
        split=split,
        contributions=contributions,
    )
    assert (budget.stage_1, budget.stage_2) == (rest.stage_1, rest.stage_2)


@given(st.integers(1, 10**6), st.fractions("0.01", 10), st.fractions("0.01", "0.999"))
def test_the_default_part_is_a_fiftieth_to_a_tenth(rows, epsilon, q):
    part = PrivateQuantile(q).part(epsilon, rows)
    assert Fraction(1, 50) <= part / epsilon <= Fraction(1, 10)
    assert part >= min(1 / ((1 - q) * rows), epsilon / 10)


def test_the_release_says_where_max_count_came_from(tmp_path):
    release = holdfast.privatize(
        COUNTS, epsilon=1, max_count=PrivateQuantile("0.95", epsilon="0.04"), seed=3, **FAST
    )
    found = release.max_count_found
    assert found.max_count == len(release.target) - 1 == release.summary()["max_count"]
    assert 22 <= found.max_count <= 34  # the true quantile is 27
    assert (found.q, found.epsilon) == (Fraction(19, 20), Fraction(1, 25))
    assert f"max_count = {found.max_count} came from the data" in release.notes[0]
    assert [note for note in release.notes[1:] if "from the data" in note] == []
    assert "max_count was found from the data, privately" in release.privacy.neighbours

    folder = release.save(tmp_path / "release")
    record = json.loads((folder / "release.json").read_text())
    assert record["max_count_found"]["q"] == "19/20"
    assert record["max_count_found"]["method"].startswith("PrivateQuantile")
    assert record["privacy"]["bound"] == record["max_count_found"]["epsilon"] == "1/25"
    text = (folder / "README.md").read_text()
    assert "this bound came from the data, privately" in text and "came from the data: a" in text
    loaded = holdfast.load(folder)
    assert loaded.max_count_found == found and loaded.privacy == release.privacy


def test_a_given_max_count_costs_nothing_and_says_nothing():
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=30, seed=1, **FAST)
    assert release.max_count_found is None and release.privacy.budget.quantile == 0
    assert "from the data" not in " ".join((*release.notes, release.privacy.neighbours))


def test_too_few_rows_and_the_ceiling_are_noted():
    tiny = holdfast.privatize(
        [3, 5, 900] * 3, epsilon="0.1", max_count=PrivateQuantile(0.9, highest=9), seed=1, **FAST
    )
    assert any("may be far from the 0.9 quantile" in note for note in tiny.notes)
    high = holdfast.privatize(
        [900] * 500, epsilon=1, max_count=PrivateQuantile(0.9, highest=9), seed=1, **FAST
    )
    assert any("as high as it may be" in note for note in high.notes)


def test_a_seed_makes_it_a_simulation_and_repeats():
    runs = [
        holdfast.privatize(COUNTS, epsilon="0.2", max_count=PrivateQuantile(0.9), seed=7, **FAST)
        for _ in range(2)
    ]
    assert runs[0].privacy.simulated and runs[0].max_count_found == runs[1].max_count_found
    assert np.array_equal(runs[0].counts, runs[1].counts)


def test_a_real_run_draws_its_noise_from_opendp(monkeypatch):
    asked = []

    def measurement(values):
        asked.append(values)
        return values

    monkeypatch.setattr(
        "holdfast.former.privacy.randomness.laplace_measurement",
        lambda epsilon, *rest: (measurement, epsilon),
    )
    PrivateQuantile(0.9, highest=5)(np.array([0, 2, 2, 7]), epsilon=1)
    assert asked == [[1, 3, 3, 3]]


def test_structural_zeros_are_left_out():
    counts = np.concatenate([np.full(500, 40), np.zeros(4500, dtype=int)])
    quantile = PrivateQuantile(0.5, epsilon="0.5", highest=100)
    options = {"epsilon": 1, "max_count": quantile, "seed": 1} | FAST
    assert holdfast.privatize(counts, **options).max_count_found.max_count == 1
    masked = holdfast.privatize(counts, structural_zero=(counts == 0).tolist(), **options)
    assert masked.max_count_found.max_count == 40


def test_one_person_moves_at_most_one_of_the_numbers_that_are_made_noisy(monkeypatch):
    """The sensitivity that the proof claims, at all counts, for several contributions."""
    seen = []

    def recorded(self, values, epsilon):
        seen.append(values.copy())
        return values

    monkeypatch.setattr(Simulation, "add_laplace", recorded)
    quantile = PrivateQuantile(0.9, highest=50)
    for k in (1, 2, 3, 7):
        for start, added in itertools.product(range(60), range(1, k + 1)):
            seen.clear()
            for count in (start, start + added):
                quantile(np.array([3, 20, count]), epsilon=1, contributions=k, rng=0)
            assert np.abs(seen[0] - seen[1]).sum() <= 1


def test_contributions_set_the_resolution_and_not_the_noise():
    counts = np.random.default_rng(4).poisson(300, 2000)
    quantile = PrivateQuantile("0.9", highest=1000)
    truth = np.quantile(counts, 0.9)
    for k in (1, 5, 20):
        found = np.array(
            [quantile(counts, epsilon="0.1", contributions=k, rng=seed) for seed in range(10)]
        )
        assert (found % k == 0).all()
        assert np.abs(found - truth).max() <= 8 + k


def test_a_plan_names_the_part_without_a_draw():
    quantile = PrivateQuantile(0.99, highest=200)
    assert highest_count(quantile) == 200
    assert budget_for(quantile, 4000, epsilon=1).quantile == Fraction(1, 40)
    assert budget_for(30, 4000, epsilon=1).quantile == 0


@pytest.mark.parametrize("epsilon", ["0.02", "1"])
def test_the_budget_is_settled_before_max_count_is_drawn(epsilon):
    counts = np.random.default_rng(0).poisson(6, 3000)
    quantile = PrivateQuantile("0.9")
    release = holdfast.privatize(counts, epsilon=epsilon, max_count=quantile, seed=1)
    planned = budget_for(quantile, len(counts), epsilon=epsilon)
    assert release.max_count_found.max_count < 100
    assert release.privacy.budget == planned


def test_a_quantile_is_found_up_to_a_million_to_a_five_hundredth():
    rng = np.random.default_rng(11)
    counts = np.minimum(rng.pareto(0.8, 50_000) * 100, 10**7).astype(np.int64)
    truth = np.sort(counts)[int(0.99 * len(counts))]
    assert 10_000 < truth < 1_000_000
    found = [
        PrivateQuantile("0.99", highest=1_000_000)(counts, epsilon="0.2", rng=seed)
        for seed in range(5)
    ]
    assert np.abs(np.array(found) / truth - 1).max() < 0.05


@pytest.mark.parametrize("contributions", [1, 7, 20_000])
def test_far_places_are_multiples_of_the_contributions_and_few(contributions):
    places = PrivateQuantile("0.9", highest=1_000_000)._places(contributions)
    assert (np.diff(places) >= contributions).all()
    assert not (places % contributions).any()
    assert places[-1] < 1_000_000 <= places[-1] * (1 + 1 / 400) + contributions
    assert len(places) < 13_000


def test_auto_is_the_last_thousandth_up_to_a_million():
    counts = np.append(np.zeros(5000, dtype=np.int64), np.full(5000, 123_456))
    release = holdfast.privatize(counts, epsilon=1, max_count="auto", seed=4)
    found = release.max_count_found
    assert (found.q, found.highest) == (Fraction(999, 1000), 1_000_000)
    assert found.max_count == pytest.approx(123_456, rel=0.005)
    assert max_count_of("auto", "0.1") == PrivateQuantile("0.999", epsilon="0.1", highest=10**6)
