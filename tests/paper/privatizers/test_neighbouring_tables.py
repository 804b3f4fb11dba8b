"""The privatizers on neighbouring tables: what they say passes, half their noise is flagged.

An event is evidence against (ε, δ) when its probability under one table surely exceeds
e^ε times that under the other, plus δ. Bounds are Clopper and Pearson's; all events together
raise a false alarm with probability below 1e-6 per comparison. Seeds are fixed.
"""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import beta, chi2

from holdfast.paper.privatizers import (
    ClassicLaplace,
    Cumulative,
    CyclicGaussian,
    CyclicLaplace,
    Hierarchical,
    Privelet,
    gaussian,
)
from holdfast.paper.privatizers.privatizer import PROJECTIONS
from holdfast.privacy.gaussian import add_gaussian
from holdfast.privacy.randomness import Simulation, SystemEntropy
from silence import Silence, hear_silence

FALSE_ALARM = 1e-6
EPSILON = 1
DELTA = 0.02  # large, so that the event that decides happens often enough to be seen
DRAWS, TARGET_DRAWS = 2000, 4000
CASES = [  # a privatizer and how many bins to compare it on
    (Cumulative(), 3),
    (CyclicLaplace(), 12),
    (ClassicLaplace(), 3),
    (Privelet(), 5),
    (Hierarchical(), 17),
    (Hierarchical(branching=2), 4),
    (CyclicGaussian(delta=DELTA), 12),
]
CYCLIC = (CyclicLaplace, CyclicGaussian)
names = {"ids": lambda value: repr(value)[:40]}


@pytest.fixture(autouse=True)
def silence(monkeypatch):
    hear_silence(monkeypatch)


def half_the_noise(patch) -> None:
    laplace, add_gaussian = Simulation.add_laplace, gaussian.add_gaussian

    def less_laplace(self, values, epsilon):
        return laplace(self, values, 2 * epsilon)

    def less_gaussian(values, scale, source):
        # `laplace` above: rejection sampling needs its proposals as they are
        patch.setattr(Simulation, "add_laplace", laplace)
        noisy = add_gaussian(values, scale / 2, source)
        patch.setattr(Simulation, "add_laplace", less_laplace)
        return noisy

    patch.setattr(Simulation, "add_laplace", less_laplace)
    patch.setattr(gaussian, "add_gaussian", less_gaussian)


def worst_neighbours(privatizer, bins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two tables that one unit apart change the measured integers most, and the change."""
    eta, best = np.full(bins, 20), None
    measured = privatizer.measure(eta, Fraction(EPSILON), Silence())
    for i in range(bins - 1):
        neighbour = eta.copy()
        neighbour[[i, i + 1]] += [-1, 1]
        change = privatizer.measure(neighbour, Fraction(EPSILON), Silence()) - measured
        if best is None or np.abs(change).sum() > np.abs(best[2]).sum():
            best = eta, neighbour, change
    return best


def breaks_the_promise(first: np.ndarray, second: np.ndarray, delta: float) -> bool:
    """Whether some event {statistic at least t} or its mirror image shows more than (ε, δ)."""
    grid = np.unique(np.concatenate([first, second]))
    grid = grid[np.linspace(0, len(grid) - 1, min(len(grid), 40)).astype(int)]
    alarm = FALSE_ALARM / (8 * len(grid))  # two bounds, two sides, two directions
    for sign in (1, -1):
        counts = [(sign * s[:, None] >= sign * grid).sum(axis=0) for s in (first, second)]
        for a, b in (counts, counts[::-1]):
            low = np.where(a > 0, beta.ppf(alarm, a, len(first) - a + 1), 0)
            high = np.where(b < len(first), beta.isf(alarm, b + 1, len(first) - b), 1)
            if (low > np.exp(EPSILON) * high + delta).any():
                return True
    return False


def losses(privatizer, bins: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """What the noisy integers say about which of two neighbours was measured.

    |x| - |x - change|, added up, is the privacy loss of Laplace noise in units of its scale;
    for Gaussian noise on one integer that integer grows with the loss.
    """
    eta, neighbour, change = worst_neighbours(privatizer, bins)
    source, truth = Simulation(seed), privatizer.measure(eta, Fraction(EPSILON), Silence())
    found = []
    for table in (eta, neighbour):
        noisy = [privatizer.measure(table, Fraction(EPSILON), source) for _ in range(DRAWS)]
        noise = np.array(noisy) - truth
        if type(privatizer) in CYCLIC:
            noise = without_shared_noise(noise, change)
        if privatizer.delta:
            found.append(noise @ change)
        else:
            found.append((np.abs(noise) - np.abs(noise - change)).sum(axis=1))
    return found[0], found[1], float(privatizer.delta)


def without_shared_noise(noise: np.ndarray, change: np.ndarray) -> np.ndarray:
    """The noise less its median where nothing changed: an estimate of what all sums share."""
    return noise - np.rint(np.median(noise[:, change == 0], axis=1, keepdims=True))


@pytest.mark.parametrize(("privatizer", "bins"), CASES, **names)
def test_the_noisy_integers_keep_the_promise_and_half_the_noise_does_not(
    privatizer, bins, monkeypatch
):
    assert not breaks_the_promise(*losses(privatizer, bins, seed=11))
    with monkeypatch.context() as patch:
        half_the_noise(patch)
        assert breaks_the_promise(*losses(privatizer, bins, seed=12))


def released(privatizer, tables, seed: int) -> list[np.ndarray]:
    """The share of the first bin in z, many times for each table: what was measured decides it."""
    source, bins, total = Simulation(seed), len(tables[0]), sum(tables[0])

    @cache
    def first_share(*noisy):
        estimate = privatizer.estimate(np.array(noisy), bins, total)
        return PROJECTIONS[privatizer.projection](estimate)[0]

    def draw(table):
        return first_share(*privatizer.measure(np.array(table), Fraction(EPSILON), source))

    return [np.array([draw(table) for _ in range(TARGET_DRAWS)]) for table in tables]


@pytest.mark.parametrize("privatizer", [p for p, _ in CASES], **names)
def test_the_target_keeps_the_promise_and_with_half_the_noise_it_does_not(privatizer, monkeypatch):
    tables = [20, 20], [19, 21]
    delta = float(privatizer.delta)
    assert not breaks_the_promise(*released(privatizer, tables, seed=13), delta)
    if type(privatizer) in CYCLIC:
        return  # with two bins the noise that the sums share hides the rest: see below
    with monkeypatch.context() as patch:
        half_the_noise(patch)
        assert breaks_the_promise(*released(privatizer, tables, seed=14), delta)


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_projections_of_a_crowded_table_keep_the_promise(projection):
    """Where the projection is at work: few rows, so that most of the noise is cut off."""
    privatizer = Cumulative(projection=projection)
    assert not breaks_the_promise(*released(privatizer, ([2, 0, 1], [1, 1, 1]), seed=15), 0.0)


@pytest.mark.parametrize("privatizer", [p for p, _ in CASES if type(p) in CYCLIC], **names)
def test_the_targets_other_bins_give_the_shared_noise_of_a_cyclic_one_away(privatizer, monkeypatch):
    eta, change = np.full(12, 200), np.eye(11, dtype=int)[5]

    def middle(seed):
        source, found = Simulation(seed), []
        for moved in (0, 1):
            table = eta + moved * np.eye(12, dtype=int)[5] - moved * np.eye(12, dtype=int)[6]
            z = [privatizer(table, epsilon=EPSILON, rng=source) for _ in range(DRAWS)]
            noise = np.rint(2400 * np.cumsum(z, axis=1))[:, :-1] - np.cumsum(eta)[:-1]
            found.append(without_shared_noise(noise, change)[:, 5])
        return found

    delta = float(privatizer.delta)
    assert not breaks_the_promise(*middle(16), delta)
    with monkeypatch.context() as patch:
        half_the_noise(patch)
        assert breaks_the_promise(*middle(17), delta)


def fits(noise: np.ndarray, law: np.ndarray) -> bool:
    reach = len(law) // 2
    observed = np.bincount(np.clip(noise, -reach, reach) + reach, minlength=len(law))
    expected = law / law.sum() * len(noise)
    assert expected.min() > 15
    statistic = ((observed - expected) ** 2 / expected).sum()
    return bool(statistic < chi2.isf(FALSE_ALARM, len(law) - 1))


def folded(weights: np.ndarray, reach: int) -> np.ndarray:
    """A law on -R..R with what lies beyond -reach..reach added to the ends."""
    middle = len(weights) // 2
    law = weights[middle - reach : middle + reach + 1].copy()
    law[0] += weights[: middle - reach].sum()
    law[-1] += weights[middle + reach + 1 :].sum()
    return law


@pytest.mark.parametrize("source", [SystemEntropy(), Simulation(18)], ids=["opendp", "seeded"])
@pytest.mark.parametrize("scale", [0.7, 3.3])
def test_gaussian_noise_is_the_discrete_gaussian_of_its_scale(source, scale):
    x = np.arange(-100, 101)
    noise = add_gaussian(np.zeros(20_000, dtype=np.int64), scale, source)
    reach = int(2.5 * scale) + 1
    for factor, right in ((1, True), (1.1, False), (0.9, False), (0.5, False)):
        law = folded(np.exp(-((x / (factor * scale)) ** 2) / 2), reach)
        assert fits(noise, np.maximum(law, 1e-3 * law.sum())) == right


@pytest.mark.parametrize("source", [SystemEntropy(), Simulation(19)], ids=["opendp", "seeded"])
def test_laplace_noise_grows_as_epsilon_falls(source):
    x = np.arange(-400, 401)
    noise = source.add_laplace(np.zeros(20_000, dtype=np.int64), Fraction(1, 4))
    for scale, right in ((4, True), (4.5, False), (3.6, False), (1, False)):
        law = folded(np.exp(-np.abs(x) / scale), 8)
        assert fits(noise, np.maximum(law, 1e-3 * law.sum())) == right


@pytest.mark.parametrize(("privatizer", "bins"), CASES, **names)
def test_the_noise_of_the_cumulative_sums_has_the_stated_variance(privatizer, bins):
    eta, source = np.full(bins, 50), Simulation(20)
    draws = [privatizer.measure(eta, Fraction(EPSILON), source) for _ in range(DRAWS)]
    noise = [np.cumsum(privatizer.estimate(noisy, bins, 50 * bins))[:-1] for noisy in draws]
    stated = privatizer.cumulative_variance(bins, EPSILON)
    np.testing.assert_allclose(np.var(noise, axis=0), stated, rtol=0.2)
