import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from families import hump
from holdfast.errors import HoldfastError
from holdfast.paper import distributions as metrics


def test_wasserstein_agrees_with_scipy():
    rng = np.random.default_rng(0)
    for _ in range(20):
        p, q = rng.dirichlet(np.ones(9), size=2)
        steps = np.arange(9)
        assert metrics.wasserstein(p, q) == pytest.approx(wasserstein_distance(steps, steps, p, q))


def test_distances_by_hand():
    p, q = [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]
    assert metrics.kolmogorov_smirnov(p, q) == pytest.approx(0.5)
    assert metrics.total_variation(p, q) == pytest.approx(0.5)
    assert metrics.wasserstein(p, q) == pytest.approx(0.8)


def test_count_errors_are_the_weighted_sums_they_claim_to_be():
    rng = np.random.default_rng(1)
    z, matrix = hump(8), rng.dirichlet(np.ones(8), size=8)
    distance = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    for error, power in (("absolute", 1), ("squared", 2)):
        expected = (z[:, None] * distance**power * matrix).sum()
        assert metrics.count_error(matrix, z, error) == pytest.approx(expected)
        assert (metrics.error_weights(error, z) * matrix).sum() == pytest.approx(expected)
    assert metrics.count_error(matrix, z) == metrics.count_error(matrix, z, "absolute")
    own = rng.random((8, 8))
    assert metrics.count_error(matrix, z, own) == pytest.approx((own * matrix).sum())


@pytest.mark.parametrize("error", ["cubic", np.ones((2, 3)), np.full((8, 8), np.nan)])
def test_an_unknown_error_measure_is_refused(error):
    with pytest.raises(HoldfastError, match="`error`"):
        metrics.count_error(np.eye(8), hump(8), error)


def test_distributions_of_different_length_are_refused():
    with pytest.raises(HoldfastError, match="same length"):
        metrics.wasserstein([1], [0.5, 0.5])
