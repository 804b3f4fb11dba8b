"""The samplers against their laws: they accept the truth and reject it perturbed, both ways.

Every comparison has a false-alarm rate of 1e-6, since the draws are the operating system's.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from families import binomial
from holdfast.paper.constructors import Heuristic
from holdfast.paper.privatizers import Cumulative, CyclicLaplace
from holdfast.privacy.randomness import Simulation, SystemEntropy

FALSE_ALARM = 1e-6


def fits(observed: np.ndarray, law: np.ndarray) -> bool:
    """Pearson's chi-square, with bins expected below 20 joined to their neighbour."""
    expected = law / law.sum() * observed.sum()
    order = np.argsort(expected)
    groups = np.minimum(np.cumsum(expected[order]) // 20, 10**6)
    _, index = np.unique(groups, return_inverse=True)
    o, e = np.bincount(index, observed[order]), np.bincount(index, expected[order])
    statistic = ((o - e) ** 2 / e).sum()
    return bool(statistic < chi2.isf(FALSE_ALARM, len(o) - 1))


def perturbed(law: np.ndarray, sign: int, part: float = 0.01) -> np.ndarray:
    """The law with a part of its largest entry moved to, or from, the next largest."""
    first, second = np.argsort(law)[::-1][:2]
    changed = law.copy()
    move = sign * part * law[first]
    changed[first] += move
    changed[second] -= move
    return changed


@pytest.mark.parametrize("source", [SystemEntropy(), Simulation(5)], ids=["system", "seeded"])
@pytest.mark.parametrize("true_count", [0, 3])
def test_the_draws_follow_the_integer_weights(true_count, source):
    mechanism = Heuristic()(binomial(7), epsilon="1").mechanism
    drawn = mechanism.sample(np.full(6_000_000, true_count), rng=source)
    observed = np.bincount(drawn, minlength=7).astype(float)
    law = mechanism.weights[true_count] / 2**62
    assert fits(observed, law)
    assert not fits(observed, perturbed(law, +1))
    assert not fits(observed, perturbed(law, -1))


def test_mixed_counts_are_drawn_from_their_own_rows():
    mechanism = Heuristic()(binomial(5), epsilon="1/2").mechanism
    counts = np.tile(np.arange(5), 400_000)
    drawn = mechanism.sample(counts)
    for i in range(5):
        observed = np.bincount(drawn[counts == i], minlength=5).astype(float)
        assert fits(observed, mechanism.weights[i] / 2**62)
        assert not fits(observed, mechanism.weights[(i + 2) % 5] / 2**62)


def discrete_laplace(epsilon: float, reach: int) -> np.ndarray:
    alpha = np.exp(-epsilon)
    law = (1 - alpha) / (1 + alpha) * alpha ** np.abs(np.arange(-reach, reach + 1))
    law[[0, -1]] /= 1 - alpha  # the ends take the tails
    return law


def noise_histogram(noise: np.ndarray, reach: int) -> np.ndarray:
    return np.bincount(np.clip(noise, -reach, reach) + reach, minlength=2 * reach + 1).astype(float)


# OpenDP draws one number in ten microseconds: fewer of them, and a larger mistake to be found
@pytest.mark.parametrize(
    ("source", "draws", "part"),
    [(SystemEntropy(), 110_000, 0.03), (Simulation(6), 1_000_000, 0.01)],
    ids=["opendp", "seeded"],
)
def test_stage_1_noise_is_discrete_laplace_of_its_scale(source, draws, part):
    noise = source.add_laplace(np.zeros(draws, dtype=np.int64), Fraction(1))
    observed = noise_histogram(noise, 5)
    law = discrete_laplace(1.0, 5)
    assert fits(observed, law)
    assert not fits(observed, perturbed(law, +1, part))
    assert not fits(observed, perturbed(law, -1, part))
    assert not fits(observed, discrete_laplace(1 + 1.5 * part, 5))
    assert not fits(observed, discrete_laplace(1 - 1.5 * part, 5))


def recorded_noise(privatizer, repetitions: int, monkeypatch) -> np.ndarray:
    """The noise on the cumulative histograms of a table, before projection."""
    kept = []
    add = Simulation.add_laplace

    def recorded(self, values, epsilon):
        noisy = add(self, values, epsilon)
        kept.append(noisy - values)
        return noisy

    with monkeypatch.context() as patch:
        patch.setattr(Simulation, "add_laplace", recorded)
        source = Simulation(7)
        for _ in range(repetitions):
            privatizer(np.array([50, 0, 0, 50]), epsilon=1, rng=source)
    return np.concatenate(kept)


def test_the_privatizers_draw_the_noise_they_account_for(monkeypatch):
    per_run = {Cumulative: 3, CyclicLaplace: 4}
    for kind, draws in per_run.items():
        noise = recorded_noise(kind(), 4000, monkeypatch)
        assert len(noise) == 4000 * draws
        observed = noise_histogram(noise, 4)
        assert fits(observed, discrete_laplace(1.0, 4))
        assert not fits(observed, discrete_laplace(2.0, 4))
        assert not fits(observed, discrete_laplace(0.5, 4))


def test_the_cyclic_mechanism_has_the_papers_variance():
    eta = np.array([4000, 3000, 2000, 1000])
    noisy = np.array(
        [CyclicLaplace()(eta, epsilon="0.2", rng=seed)[:3].cumsum() for seed in range(2000)]
    )
    alpha = np.exp(-0.2)
    variance = 2 * 2 * alpha / (1 - alpha) ** 2 / 10_000**2  # two discrete Laplace draws
    assert np.var(noisy, axis=0) == pytest.approx(variance, rel=0.2)
    single = np.array(
        [Cumulative()(eta, epsilon="0.2", rng=seed)[:3].cumsum() for seed in range(2000)]
    )
    assert np.var(single, axis=0) == pytest.approx(variance / 2, rel=0.2)


def test_draws_of_different_rows_are_independent():
    mechanism = Heuristic()(binomial(4), epsilon="1").mechanism
    drawn = mechanism.sample(np.full(2_000_000, 1)).reshape(-1, 2)
    pairs = np.bincount(drawn[:, 0] * 4 + drawn[:, 1], minlength=16).astype(float)
    law = mechanism.weights[1] / 2**62
    assert fits(pairs, np.outer(law, law).ravel())
    same = np.bincount(np.repeat(drawn[:, 0], 2).reshape(-1, 2) @ [4, 1], minlength=16)
    assert not fits(same.astype(float), np.outer(law, law).ravel())


def test_the_released_distribution_is_the_target_on_average():
    z = binomial(9)
    mechanism = Heuristic()(z, epsilon="0.5").mechanism
    counts = np.repeat(np.arange(9), np.round(z * 2_000_000).astype(int))
    observed = np.bincount(mechanism.sample(counts), minlength=9).astype(float)
    assert np.abs(observed / len(counts) - z).max() < 0.002
