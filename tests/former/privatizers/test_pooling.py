"""Isotonic regression, running means and medians: bit for bit what scipy computes."""

import numpy as np
import pytest
from scipy.ndimage import median_filter, uniform_filter1d
from scipy.optimize import isotonic_regression

from holdfast.former.privatizers.pooling import CHUNK, nearest_rising, running_mean, running_median


def sequences():
    rng = np.random.default_rng(3)
    for n in (*range(1, 40), 300):
        yield np.cumsum(rng.integers(-20, 25, n))
        yield np.cumsum(rng.normal(0.1, 1, n))
        yield rng.integers(-3, 3, n)


def test_the_nearest_rising_sequence_is_scipys():
    for values in sequences():
        expected = isotonic_regression(values).x
        np.testing.assert_array_equal(nearest_rising(values), expected)


@pytest.mark.parametrize("half", [1, 2, 7])
def test_running_means_and_medians_are_scipys(half):
    for values in sequences():
        floats, size = values.astype(float), 2 * half + 1
        mean = uniform_filter1d(floats, size, mode="nearest")
        np.testing.assert_array_equal(running_mean(floats, half), mean)
        median = median_filter(floats, size=size, mode="nearest")
        np.testing.assert_array_equal(running_median(floats, half), median)


def test_medians_run_on_from_chunk_to_chunk():
    values = np.random.default_rng(5).random(2 * CHUNK + 5)
    expected = median_filter(values, size=5, mode="nearest")
    np.testing.assert_array_equal(running_median(values, 2), expected)
