"""Draws of a table given a noisy sum have the law that numerical integration gives."""

import numpy as np
import pytest

from holdfast.fit import draws
from holdfast.fit.draws import draw_rows, rows_of, widened
from holdfast.fit.likelihood import Seen

ROWS, SHARE, SCALE = 10_000, 0.3, 60.0


def posterior(noisy_sum):
    """Mean and deviation of a normal number of rows, seen with Laplace noise."""
    deviation = np.sqrt(ROWS * SHARE * (1 - SHARE))
    rows = np.linspace(-8, 8, 20_001) * deviation + ROWS * SHARE
    log = -0.5 * ((rows - ROWS * SHARE) / deviation) ** 2 - np.abs(noisy_sum - rows) / SCALE
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    mean = weights @ rows
    return mean, np.sqrt(weights @ (rows - mean) ** 2)


@pytest.mark.parametrize("away", [0.0, 80.0, 250.0])
def test_laplace_noise_of_a_sum_is_read_as_laplace(away):
    shares = np.array([1 - SHARE, SHARE])
    seen = Seen(
        rows=np.array([[float(ROWS)]]),
        kernel=np.ones((2, 1)),  # noisy counts say nothing
        weights=np.array([[[0.0, 1.0]]]),
        sums=np.array([[ROWS * SHARE + away]]),
        variance=np.array([[2 * SCALE**2]]),
    )
    drawn = draw_rows(seen, np.tile(shares, (20_000, 1)), shares, np.random.default_rng(1))
    mean, deviation = posterior(ROWS * SHARE + away)
    assert drawn.sum(axis=1) == pytest.approx(ROWS)
    assert drawn[:, 1].mean() == pytest.approx(mean, abs=1.5)
    assert drawn[:, 1].std() == pytest.approx(deviation, rel=0.03)
    normal = 1 / np.sqrt(1 / (ROWS * SHARE * (1 - SHARE)) + 1 / (2 * SCALE**2))
    assert away == 80.0 or abs(normal / deviation - 1) > 0.05  # what a normal law would give


def test_rows_of_full_bins_are_drawn_together_with_the_moments_of_single_ones(monkeypatch):
    generator = np.random.default_rng(2)
    shares = np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    kernel = generator.dirichlet(np.ones(7), 5)
    rows = np.array([900.0, 40.0, 350.0, 0.0, 700.0, 3.0, 25.0])
    laws = generator.dirichlet(2_000 * shares, 20_000)
    together = rows_of(rows, laws, kernel, np.random.default_rng(3))
    monkeypatch.setattr(draws, "MANY", np.inf)
    one_by_one = rows_of(rows, laws, kernel, np.random.default_rng(4))
    assert together.sum(axis=1) == pytest.approx(rows.sum())
    assert together.mean(axis=0) == pytest.approx(one_by_one.mean(axis=0), abs=0.6)
    assert together.var(axis=0) == pytest.approx(one_by_one.var(axis=0), rel=0.06)
    assert np.abs(np.corrcoef(together.T) - np.corrcoef(one_by_one.T)).max() < 0.03


def test_cells_that_hardly_any_row_has_hardly_scatter():
    """Their counts may be high, and would scatter every total."""
    shares = np.array([0.6, 0.4, 1e-9])
    kernel = np.array([[0.8, 0.2], [0.3, 0.7], [0.5, 0.5]])
    drawn = rows_of(
        np.array([4e5, 6e5]), np.tile(shares, (500, 1)), kernel, np.random.default_rng(1)
    )
    assert drawn[:, 2].std() < 0.1


@pytest.mark.parametrize("number", [40, 10**6, 10**9])
def test_rows_of_which_the_noise_leaves_no_doubt_are_drawn_where_they_are(number):
    """The covariance of their cells is nothing but rounding."""
    away = np.abs(np.arange(60)[:, None] - np.arange(60))
    kernel = np.exp(-20.0 * away)
    kernel /= kernel.sum(axis=1, keepdims=True)
    laws = np.random.default_rng(5).dirichlet(np.full(60, 5.0), 50)
    rows = np.zeros(60)
    rows[[0, 1, 7]] = number
    drawn = rows_of(rows, laws, kernel, np.random.default_rng(6))
    assert drawn == pytest.approx(np.tile(rows, (50, 1)), abs=1e-3 * number)


def test_laws_are_wider_apart_and_the_tail_of_one_does_not_raise_that_of_another():
    log = np.array([[0.0, -1.0, -15.0]] * 60 + [[0.0, -1.2, -16.0]] * 59 + [[0.0, -1.1, -600.0]])
    laws = np.exp(log) / np.exp(log).sum(axis=1, keepdims=True)
    apart = np.log(widened(laws, 1.4)[:, 1] / widened(laws, 1.4)[:, 0])
    assert np.ptp(apart) == pytest.approx(1.4 * 0.2)
    assert widened(laws, 1.4)[:, 2].max() < 4 * laws[:, 2].max()
