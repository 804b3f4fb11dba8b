"""Draws of a table given a noisy sum have the law that numerical integration gives."""

import numpy as np
import pytest

from holdfast.fit.draws import draw_rows
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
