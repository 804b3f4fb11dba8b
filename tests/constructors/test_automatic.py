"""The default constructor on the tables that people have: mass at zero and a long empty tail."""

import numpy as np
import pytest

import holdfast
from holdfast.constructors import Automatic, Heuristic, Optimal, Windowed, automatic, optimal

POISSON = np.random.default_rng(0).poisson(2, 5000)


@pytest.mark.parametrize(
    "max_count, epsilon", [(200, "8"), (700, "2"), (700, "10"), (1500, "1"), (1500, "8")]
)
def test_a_long_empty_tail_is_released(max_count, epsilon):
    release = holdfast.privatize(POISSON, max_count=max_count, epsilon=epsilon, seed=1)
    assert release.privacy.certified_epsilon <= release.privacy.epsilon
    assert np.abs(release.counts - POISSON).mean() < 3


def test_outliers_beyond_an_empty_run_are_released():
    counts = np.minimum(POISSON, 400)
    counts[:20] = 1200
    release = holdfast.privatize(counts, max_count=1500, epsilon="2", seed=1)
    assert (release.counts > 600).sum() > 5


@pytest.mark.parametrize("epsilon", ["1", "10"])
@pytest.mark.parametrize("n", [153, 381, 1000])
def test_mass_at_both_ends_is_handled_by_every_constructor(n, epsilon):
    z = np.zeros(n)
    z[:10] = z[-10:] = 0.05
    for constructor in (Heuristic(selector="sandwich", bound=True), Windowed(), Automatic()):
        found = constructor(z, epsilon=epsilon)
        assert found.mechanism.certified_epsilon <= found.epsilon
        assert 0 <= found.lower_bound <= found.count_error


def test_the_gap_is_proved_beyond_the_sizes_of_windows_and_left_out_beyond_those_of_bounds(
    monkeypatch,
):
    z = np.exp(-0.5 * ((np.arange(2102) - 800) / 150) ** 2) + 1e-4
    found = Automatic()(z / z.sum(), epsilon=1)
    assert found.method.startswith("Heuristic(") and 0 < found.gap < 0.01
    assert "% above the optimum" in found.description
    monkeypatch.setattr(automatic, "BOUNDED_UP_TO", 2101)
    assert Automatic()(z / z.sum(), epsilon=1).gap is None


def test_the_gap_is_proved_where_one_share_dominates():
    for z in ([1 - 2.0**-39, 2.0**-39], [1 - 2.0**-38, 2.0**-39, 2.0**-39]):
        for error in ("absolute", "squared"):
            assert Optimal(error=error)(z, epsilon="1.9574").gap <= 1e-6


@pytest.mark.parametrize("gap", ["x", None, 0.0, 1.0, float("nan")])
def test_a_gap_that_is_no_share_is_refused(gap):
    with pytest.raises(holdfast.HoldfastError, match="`gap`"):
        Optimal(gap=gap)


@pytest.mark.parametrize("error", [[["a"] * 2] * 2, [[1, 2], [3]], "cubic"])
def test_an_error_that_is_no_matrix_is_refused(error):
    with pytest.raises(holdfast.HoldfastError, match="`error`"):
        Optimal(error=error)([0.5, 0.5], epsilon=1)


@pytest.mark.parametrize("constructor", [Automatic, Heuristic, Optimal, Windowed])
def test_weights_that_would_overflow_are_refused(constructor):
    error = np.full((3, 3), 1e308) - np.eye(3) * 1e308
    with pytest.raises(holdfast.HoldfastError, match="`error`"):
        constructor(error=error)([0.5, 0.3, 0.2], epsilon=1)
    usual = constructor()([0.5, 0.3, 0.2], epsilon=1).count_error
    distance = np.abs(np.arange(3)[:, None] - np.arange(3)) * np.array([[0.5], [0.3], [0.2]])
    for size in (1e-150, 1e149):
        found = constructor(error=size * distance)([0.5, 0.3, 0.2], epsilon=1)
        assert found.count_error / size == pytest.approx(usual)


@pytest.mark.parametrize("constructor", [Automatic(), Windowed()])
def test_a_search_that_stops_early_is_replaced_by_a_better_heuristic(constructor, monkeypatch):
    monkeypatch.setattr(optimal, "MOST_STEPS", 6)
    z = np.array([1, *[1e-5] * 50]) / (1 + 50e-5)
    stopped, heuristic = Optimal()(z, epsilon=2), Heuristic()(z, epsilon=2)
    assert stopped.gap > 0.5 and heuristic.count_error < 0.1 * stopped.count_error
    found = constructor(z, epsilon=2)
    assert found.count_error == pytest.approx(heuristic.count_error)
    assert found.method == heuristic.method
    assert found.lower_bound == pytest.approx(stopped.lower_bound)
    assert found.gap == pytest.approx(1 - found.lower_bound / found.count_error)


def test_a_search_that_stops_early_is_kept_where_the_heuristic_is_worse(monkeypatch):
    monkeypatch.setattr(optimal, "MOST_STEPS", 12)
    z = np.random.default_rng(0).dirichlet(np.ones(40))
    error = np.random.default_rng(1).integers(0, 2, (40, 40))
    found = Automatic(error=error)(z, epsilon=1)
    assert found.method == "Optimal(gap not reached)"
    assert found.count_error < Heuristic(error=error)(z, epsilon=1).count_error


def test_ctrl_c_stops_a_release(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Automatic(progress=stop)([0.5, 0.3, 0.2], epsilon=1)
    monkeypatch.setattr(optimal, "step", stop)
    with pytest.raises(KeyboardInterrupt):
        Windowed()([0.5, 0.3, 0.2], epsilon=1)
