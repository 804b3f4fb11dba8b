"""The private quantile on neighbouring tables: no answer gives a person away; half the noise does.

The false-alarm rate of every comparison is below 1e-6: five standard errors.
"""

import numpy as np
import pytest

from holdfast.paper.privatizers import PrivateQuantile
from holdfast.privacy.randomness import Simulation, SystemEntropy

NEIGHBOURS = {
    "one row": ([1], [2]),
    "from zero": ([0, 3, 1], [0, 3, 2]),
    "at the quantile": ([2, 2, 2, 8, 8], [2, 2, 3, 8, 8]),
}


def frequencies(counts, epsilon, source, runs):
    quantile = PrivateQuantile("0.6", highest=9)
    drawn = [quantile(counts, epsilon=epsilon, rng=source) for _ in range(runs)]
    return np.bincount(drawn, minlength=10) + 1.0


def excess(table, neighbour, *, drawn_with, source, runs=4000):
    """By how many standard errors the most telling event exceeds a privacy loss of 1."""
    first = frequencies(table, drawn_with, source, runs)
    second = frequencies(neighbour, drawn_with, source, runs)
    events = np.concatenate([np.eye(10), np.tri(10)[:-1], 1 - np.tri(10)[:-1]])
    a, b = events @ first, events @ second
    often = (a > 50) & (b > 50)
    error = np.sqrt(1 / a[often] + 1 / b[often])
    return float(((np.abs(np.log(a[often] / b[often])) - 1) / error).max())


@pytest.mark.parametrize("kind", NEIGHBOURS)
def test_neighbours_cannot_be_told_apart_by_more_than_epsilon(kind):
    assert excess(*NEIGHBOURS[kind], drawn_with=1, source=Simulation(3)) < 5


def test_neither_can_they_with_opendps_noise():
    assert excess(*NEIGHBOURS["one row"], drawn_with=1, source=SystemEntropy(), runs=1500) < 5


@pytest.mark.parametrize("kind", NEIGHBOURS)
def test_half_the_noise_is_caught(kind):
    assert excess(*NEIGHBOURS[kind], drawn_with=2, source=Simulation(4)) > 8


def test_a_person_who_adds_more_than_allowed_is_not_protected_by_it():
    assert excess([1, 1, 1, 8, 8], [1, 1, 4, 8, 8], drawn_with=1, source=Simulation(5)) > 8
