"""The bound n that comes from the data, privately."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import HoldfastError
from holdfast.paper.privatizers import PrivateQuantile
from holdfast.privacy.randomness import Simulation


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
    assert found.min() >= 1 and found.max() <= 9_999


def test_one_value_everywhere_is_found():
    assert set(answers(np.full(2000, 37), "0.99", 1)) == {37}
    assert set(answers(np.zeros(2000, dtype=int), "0.99", 1)) == {1}
    assert set(answers(np.full(2000, 10**7), "0.99", "0.05")) == {9_999}
    assert set(answers(np.full(2000, 10**7), "0.99", "0.05", highest=300)) == {300}


@pytest.mark.parametrize("q", [0, 1, "1", 1.0, -0.1, 2, "x", None, float("nan"), True])
def test_what_is_no_quantile_is_refused(q):
    with pytest.raises(HoldfastError, match="`q`"):
        PrivateQuantile(q)


def test_the_maximum_is_refused_with_a_hint():
    with pytest.raises(HoldfastError, match=r"one row decides it.*0\.99"):
        PrivateQuantile(1)


@given(st.integers(1, 10**6), st.fractions("0.01", 10), st.fractions("0.01", "0.999"))
def test_the_default_part_is_a_fiftieth_to_a_tenth(rows, epsilon, q):
    part = PrivateQuantile(q).part(epsilon, rows)
    assert Fraction(1, 50) <= part / epsilon <= Fraction(1, 10)
    assert part >= min(1 / ((1 - q) * rows), epsilon / 10)


def test_a_real_run_draws_its_noise_from_opendp(monkeypatch):
    asked = []

    def measurement(values):
        asked.append(values)
        return values

    monkeypatch.setattr(
        "holdfast.privacy.randomness.laplace_measurement",
        lambda epsilon, *rest: (measurement, epsilon),
    )
    PrivateQuantile(0.9, highest=5)(np.array([0, 2, 2, 7]), epsilon=1)
    assert asked == [[1, 3, 3, 3]]


def test_one_person_moves_at_most_one_of_the_numbers_that_are_made_noisy(monkeypatch):
    """The sensitivity that the proof claims, at all counts."""
    seen = []

    def recorded(self, values, epsilon):
        seen.append(values.copy())
        return values

    monkeypatch.setattr(Simulation, "add_laplace", recorded)
    quantile = PrivateQuantile(0.9, highest=50)
    for start in range(60):
        seen.clear()
        for count in (start, start + 1):
            quantile(np.array([3, 20, count]), epsilon=1, rng=0)
        assert np.abs(seen[0] - seen[1]).sum() <= 1
