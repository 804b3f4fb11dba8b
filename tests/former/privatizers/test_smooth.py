"""The smooth fit: against an independent dense computation, and on shapes that break fits."""

import itertools
import math

import numpy as np
import pytest

from holdfast.former.privatizers import CumulativeIsotonic, CumulativeSmooth
from holdfast.former.privatizers.noisy import laplace_variance
from holdfast.former.privatizers.projection import Noise, isotonic
from holdfast.former.privatizers.smooth import smooth_fit
from holdfast.former.privatizers.smooth_kernel import (
    END_JUMP,
    FITTED,
    WORKSPACE,
    C,
    V,
    W,
    _smoothed,
    whole_medians,
)
from holdfast.former.privacy.metrics import total_variation, wasserstein


def dense_smoother(y, R, eta, theta0, w, du, kappa):
    """The same linear Gaussian model as one big Gaussian: posterior of theta and C."""
    n = len(y)
    # theta as a linear map of independent Gaussians: theta_0, s_0, steps of the slope, jumps
    theta_map, slope_map = np.zeros((n, 2 + 2 * n)), np.zeros((n, 2 + 2 * n))
    variances = np.zeros(2 + 2 * n)
    variances[0], variances[1] = 100.0, 4.0
    theta_map[0, 0], slope_map[0, 1] = 1.0, 1.0
    for i in range(n - 1):
        theta_map[i + 1] = theta_map[i] + du[i] * slope_map[i]
        slope_map[i + 1] = slope_map[i]
        slope_map[i + 1, 2 + i] += 1.0
        variances[2 + i] = kappa * du[i]
        theta_map[i + 1, 2 + n + i] += 1.0
        variances[2 + n + i] = END_JUMP * ((i == 0) + (i == n - 2) > 0)
    cov_theta = (theta_map * variances) @ theta_map.T
    sums = np.tril(np.ones((n, n)))
    effect = sums * eta  # C = effect (1 + theta - theta0) + sums w
    mean_c = effect @ (1 + theta0[0] - theta0)
    cov_c = effect @ cov_theta @ effect.T + (sums * w) @ sums.T
    cross = cov_theta @ effect.T
    total = cov_c + np.diag(R)
    gain = np.linalg.solve(total, y - mean_c)
    fitted = theta0[0] + cross @ gain
    c = mean_c + cov_c @ gain
    spread = np.diag(cov_c - cov_c @ np.linalg.solve(total, cov_c))
    loglik = -0.5 * (np.linalg.slogdet(total)[1] + (y - mean_c) @ gain)
    return fitted, c, spread, loglik


def test_one_pass_of_the_filter_is_the_posterior_of_the_linear_model():
    rng = np.random.default_rng(4)
    n = 9
    eta, theta0 = rng.uniform(1, 30, n), rng.normal(2, 1, n)
    w, R, du = rng.uniform(1, 30, n), rng.uniform(5, 50, n), rng.uniform(0.1, 1, n)
    y = np.cumsum(eta) + rng.normal(0, 5, n)
    work = np.zeros((WORKSPACE, n))
    work[W] = w
    loglik = _smoothed(y, R, theta0, eta, du, 0.3, work)
    expected = dense_smoother(y, R, eta, theta0, w, du, 0.3)
    for ours, theirs in zip((work[FITTED], work[C], work[V], loglik), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)


def test_medians_are_those_of_all_paths_counted_one_by_one():
    y, mean, epsilon = np.array([1, 2, 2, 5]), np.array([1.5, 0.7, 0.4, 1.0]), 0.8
    total = 5
    posterior = np.zeros((4, total + 1))
    for path in itertools.combinations_with_replacement(range(total + 1), 3):
        cumulative = (*path, total)
        steps = np.diff(cumulative, prepend=0)
        logs = steps * np.log(mean) - mean - [math.lgamma(k + 1) for k in steps]
        weight = math.exp(logs.sum() - epsilon * np.abs(y[:3] - path).sum())
        for i, value in enumerate(cumulative):
            posterior[i, value] += weight
    cdf = np.cumsum(posterior, axis=1) / posterior.sum(axis=1, keepdims=True)
    expected = (cdf < 0.5).sum(axis=1)
    log_weights = -epsilon * np.arange(40)
    medians = whole_medians(y, log_weights, mean, 0.0, 1.0, y.astype(float), 10, 1e-9)
    np.testing.assert_allclose(medians, expected, atol=1e-6)
    wide = whole_medians(y, log_weights, mean, 0.0, 1.0, y.astype(float), 10, 0.5)
    assert (np.diff(wide, prepend=0.0) > 0).all() and np.abs(wide - expected).max() <= 0.25


def shapes():
    rng = np.random.default_rng(8)
    geometric = np.bincount(np.minimum(rng.geometric(0.2, 3000) - 1, 50), minlength=51)
    two_humps = np.bincount(
        np.concatenate([rng.binomial(40, 0.2, 2000), rng.binomial(40, 0.8, 2000)]), minlength=41
    )
    counts = rng.gamma(2, 12, 5000).astype(int)
    heaped = np.where(rng.random(5000) < 0.6, 5 * (counts // 5), counts)
    point = np.zeros(51, dtype=int)
    point[20] = 500
    empty = np.zeros(51, dtype=int)
    empty[0] = 500
    return {
        "geometric": geometric,
        "two humps": two_humps,
        "heaped": np.bincount(np.minimum(heaped, 100), minlength=101),
        "one point": point,
        "almost empty": empty,
    }


def mean_errors(privatizer, histogram, epsilon, *distances, draws=25):
    truth = histogram / histogram.sum()
    runs = [privatizer(histogram, epsilon=epsilon, rng=seed) for seed in range(draws)]
    return np.array([[distance(truth, z) for z in runs] for distance in distances])


@pytest.mark.parametrize("epsilon", ["0.05", "0.5"])
@pytest.mark.parametrize("name", shapes())
def test_smooth_is_nowhere_worse_than_isotonic_by_more_than_noise(name, epsilon):
    histogram = shapes()[name]
    distances = wasserstein, total_variation
    ours = mean_errors(CumulativeSmooth(), histogram, epsilon, *distances)
    theirs = mean_errors(CumulativeIsotonic(), histogram, epsilon, *distances)
    for difference, usual in zip(ours - theirs, theirs.mean(axis=1), strict=True):
        assert difference.mean() <= 3 * difference.std() / 5 + 0.03 * usual


@pytest.mark.parametrize(("name", "at_most"), [("geometric", 0.65), ("heaped", 0.9)])
def test_smooth_is_far_better_where_the_noise_is_large(name, at_most):
    histogram = shapes()[name]
    ours = mean_errors(CumulativeSmooth(), histogram, "0.05", wasserstein).mean()
    theirs = mean_errors(CumulativeIsotonic(), histogram, "0.05", wasserstein).mean()
    assert ours <= at_most * theirs


@pytest.mark.parametrize("law", ["laplace", "gaussian", "other"])
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 10.0])
@pytest.mark.parametrize("n", [1, 2, 3, 50, 700])
def test_every_target_is_a_positive_distribution(n, epsilon, law):
    rng = np.random.default_rng(n)
    deviation = math.sqrt(laplace_variance(epsilon))
    for total in (1, 40, 10**9):
        noisy = rng.multinomial(total, rng.dirichlet(np.full(n, 0.3))).cumsum().astype(float)
        noisy[:-1] += np.round(rng.laplace(0, deviation, n - 1))
        histogram = np.diff(noisy, prepend=0.0)
        z = smooth_fit(histogram, Noise(variance=np.full(n - 1, deviation**2), law=law))
        assert (z > 0).all() and abs(z.sum() - 1) < 1e-9


def test_the_isotonic_projection_takes_over_when_no_fit_is_finite(monkeypatch):
    from holdfast.former.privatizers import smooth_kernel

    broken = np.array([np.nan]), np.array([np.nan]), np.nan
    monkeypatch.setattr(smooth_kernel, "fit", lambda *_: broken)
    histogram = np.array([5, -2, 9, 4])
    z = smooth_fit(histogram, Noise(variance=np.ones(3), law="laplace"))
    np.testing.assert_allclose(z, isotonic(histogram), atol=1e-11)


@pytest.mark.parametrize("histogram", [[3000, 0], [99_980, 20], [0, 10**9, 0], [99_980, 15, 3, 2]])
def test_few_bins_and_many_rows_are_no_worse_than_isotonic(histogram):
    ours = mean_errors(CumulativeSmooth(), np.array(histogram), "0.2", wasserstein, draws=60)
    theirs = mean_errors(CumulativeIsotonic(), np.array(histogram), "0.2", wasserstein, draws=60)
    assert ours.mean() <= 1.1 * theirs.mean()


def test_a_fit_does_not_change_with_the_order_of_calls():
    histogram = shapes()["geometric"]
    first = CumulativeSmooth()(histogram, epsilon="0.3", rng=5)
    CumulativeSmooth()(shapes()["heaped"], epsilon="0.3", rng=6)
    np.testing.assert_array_equal(first, CumulativeSmooth()(histogram, epsilon="0.3", rng=5))
