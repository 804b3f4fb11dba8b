"""What every privatizer must satisfy."""

import itertools
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import HoldfastError
from holdfast.paper.privatizers import (
    ClassicLaplace,
    Cumulative,
    CyclicGaussian,
    CyclicLaplace,
    Hierarchical,
    Privelet,
)
from holdfast.paper.privatizers.privatizer import PROJECTIONS
from holdfast.privacy.randomness import Simulation, laplace_measurement
from silence import Silence, hear_silence

CONTENDERS = {
    "cumulative Laplace": Cumulative,
    "cyclic Laplace": CyclicLaplace,
    "classic Laplace": ClassicLaplace,
    "Privelet": Privelet,
    "hierarchical": Hierarchical,
    "cyclic Gaussian": partial(CyclicGaussian, delta="1e-6"),
}
ALL = [
    make(projection=projection)
    for make, projection in itertools.product(CONTENDERS.values(), PROJECTIONS)
]
ONE_EACH = [make() for make in CONTENDERS.values()]
histograms = st.lists(st.integers(0, 2000), min_size=1, max_size=40).filter(any)


@given(st.sampled_from(ALL), histograms, st.sampled_from(["0.01", "0.5", "5"]), st.integers(0, 99))
def test_the_result_is_a_distribution(privatizer, histogram, epsilon, seed):
    z = privatizer(histogram, epsilon=epsilon, rng=seed)
    assert z.shape == (len(histogram),)
    assert z.min() >= 0
    assert z.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("privatizer", ONE_EACH, ids=repr)
def test_opendps_map_is_the_authority_for_epsilon(privatizer):
    for epsilon in ("0.1", "0.3", "1/3", "2.7", "0.00001"):
        certified = privatizer.certified_epsilon(epsilon)
        assert Fraction(epsilon) * (1 - Fraction(1, 10**12)) < certified <= Fraction(epsilon)


@pytest.mark.parametrize("privatizer", ONE_EACH, ids=repr)
@pytest.mark.parametrize("bins", [1, 2, 3, 16, 17, 40])
def test_noise_is_asked_for_the_change_that_a_neighbour_makes(privatizer, bins, monkeypatch):
    """All moves of one unit to the next bin, both ways, against the claimed sensitivity."""
    hear_silence(monkeypatch)
    eta = np.full(bins, 10)
    source = Silence()
    measured = privatizer.measure(eta, Fraction(1, 3), source)
    worst = 0
    for i in range(bins - 1):
        neighbour = eta.copy()
        neighbour[[i, i + 1]] += [-1, 1]
        change = privatizer.measure(neighbour, Fraction(1, 3), Silence()) - measured
        assert np.array_equal(
            -change, privatizer.measure(2 * eta - neighbour, Fraction(1, 3), Silence()) - measured
        )
        worst = max(worst, np.abs(change).sum())
    for law, *parameters in source.asked:
        if law == "laplace":
            most = max(int(worst), 1)
            assert parameters == [Fraction(1, 3) / most]
            measurement, stated = laplace_measurement(*parameters)
            assert Fraction(measurement.map(1)) == stated
            assert Fraction(measurement.map(most)) <= Fraction(1, 3)
            assert most * stated <= privatizer.certified_epsilon("1/3")
        else:
            assert worst in (0, 1) and parameters == [privatizer.scale("1/3")]
    assert source.asked or bins == 1


def test_delta_is_declared_where_it_is_spent_and_only_there():
    for name, make in CONTENDERS.items():
        assert (make().delta > 0) == ("Gaussian" in name)


@pytest.mark.parametrize("privatizer", ALL, ids=repr)
def test_real_noise_comes_from_the_operating_system(privatizer):
    eta = np.full(50, 1000)
    first, second = privatizer(eta, epsilon="0.1"), privatizer(eta, epsilon="0.1")
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("privatizer", ALL, ids=repr)
def test_a_seed_repeats_itself(privatizer):
    eta = [10, 0, 5, 3]
    first = privatizer(eta, epsilon=1, rng=3)
    assert np.array_equal(first, privatizer(eta, epsilon=1, rng=3))
    assert not np.array_equal(first, privatizer(eta, epsilon=1, rng=4))


@pytest.mark.parametrize("privatizer", ALL, ids=repr)
def test_one_bin_needs_no_noise(privatizer):
    assert privatizer([7], epsilon=1).tolist() == [1.0]


@pytest.mark.parametrize("privatizer", ALL, ids=repr)
def test_a_generous_budget_gives_the_truth(privatizer):
    eta = np.array([100_000, 0, 40_000, 60_000])
    z = privatizer(eta, epsilon=10, rng=0)
    np.testing.assert_allclose(z, eta / eta.sum(), atol=1e-4)


@pytest.mark.parametrize("privatizer", [CyclicLaplace(), CyclicGaussian(delta="1e-6")], ids=repr)
def test_the_noisy_histogram_adds_up_to_the_public_total_and_may_be_negative(privatizer):
    eta, source = np.array([40, 0, 0, 10]), Simulation(1)
    noisy = [
        privatizer.estimate(privatizer.measure(eta, Fraction(1), source), 4, 50) for _ in range(20)
    ]
    assert all(v.sum() == 50 for v in noisy) and min(v.min() for v in noisy) < 0


def test_the_cumulative_sums_of_the_classic_laplace_get_less_precise():
    """The paper: by a factor of 2(i+1) against the cyclic, before the public total is restored."""
    epsilon, bins = Fraction(1, 20), 41
    cyclic, classic = (
        make().cumulative_variance(bins, epsilon) for make in (CyclicLaplace, ClassicLaplace)
    )
    np.testing.assert_allclose(cyclic, 4 / float(epsilon) ** 2, rtol=1e-3)
    i = np.arange(bins - 1)
    restored = 1 - (i + 1) / bins  # what the public total takes off
    np.testing.assert_allclose(classic / cyclic, 2 * (i + 1) * restored, rtol=1e-3)


def test_noise_enters_through_the_cumulative_histogram_alone():
    """Neighbours that differ by one unit between adjacent bins shift one measured number by one."""
    eta, neighbour = np.array([50, 20, 30]), np.array([49, 21, 30])
    for kind in (Cumulative, CyclicLaplace):
        measured = [kind().measure(h, Fraction(1), Silence()) for h in (eta, neighbour)]
        assert measured[0].tolist() == [50, 70]
        assert np.abs(measured[0] - measured[1]).sum() == 1


@pytest.mark.parametrize(
    "histogram", [[], [0, 0], [-1, 2], [0.5, 0.5], [[1, 2]], [2**60], "ab", [True, False]]
)
def test_what_is_no_histogram_is_an_error(histogram):
    with pytest.raises(HoldfastError, match="`histogram`"):
        Cumulative()(histogram, epsilon=1)


def test_an_unknown_projection_is_an_error():
    with pytest.raises(HoldfastError, match="`projection`"):
        CyclicLaplace(projection="round")


@given(st.lists(st.integers(-50, 200), min_size=1, max_size=12).filter(lambda v: sum(v) > 0))
def test_projections_are_what_they_claim(noisy):
    v = np.array(noisy)
    total = v.sum()
    clipped, monotone = (PROJECTIONS[name](v) for name in ("clip", "isotonic"))
    np.testing.assert_allclose(clipped * np.maximum(v, 0).sum(), np.maximum(v, 0), atol=1e-9)
    if (v >= 0).all():
        np.testing.assert_allclose(monotone, v / total, atol=1e-12)
    # the fit of the cumulative is no worse than the clipped one
    truth = np.cumsum(v)[:-1] / total

    def misfit(z):
        return ((np.cumsum(z)[:-1] - truth) ** 2).sum()

    assert misfit(monotone) <= misfit(clipped) + 1e-9
