"""The joining theorem: the paper's optimum is exact noise, then a monotone map.

The product releases discrete Laplace noise followed by the map that carries its law to the
distribution; the paper's room builds the optimum over F. For given z they are one kernel.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from closed_form import exact_kernel
from holdfast.paper.constructors import LinearProgram, Optimal
from holdfast.paper.constructors.noise_and_map import carried, noisy_law
from holdfast.privacy.noise import Noise


def random_law(rng, n):
    """With exact zeros, ties, or neither."""
    kind = rng.integers(4)
    if kind == 0:
        shares = rng.integers(0, 3, n).astype(float)
    elif kind == 1:
        shares = rng.dirichlet(np.full(n, 0.2)) * (rng.random(n) > 0.4)
    elif kind == 2:
        shares = np.full(n, 1.0)
    else:
        shares = rng.dirichlet(np.ones(n))
    shares[rng.integers(n)] += 0.5
    shares[shares < 1e-9] = 0
    return shares / shares.sum()


def noise_and_map(z, w, noise):
    """i -> i + X, clamped to 0 ... n - 1, then the map, ties at random, that carries its law to w:
    what overlaps of [Q_(k-1), Q_k) with [W_(b-1), W_b) goes from k to b."""
    n = len(z)
    k = np.arange(n - 1)
    up_to = noise.cumulative(k[None, :] - np.arange(n)[:, None])  # P(i + X <= k)
    noisy = np.diff(up_to, axis=1, prepend=0.0, append=1.0)
    law = z @ noisy
    below, above = overlaps(law, w), overlaps(law[::-1], w[::-1])[::-1, ::-1]
    overlap = np.where(np.cumsum(law)[:, None] < 0.5, below, above)  # small sums are the exact ones
    return noisy @ (overlap / law[:, None])


def overlaps(law, w):
    q, wanted = (np.concatenate([[0.0], np.cumsum(p)]) for p in (law, w))
    q[-1] = wanted[-1] = 1.0
    start = np.maximum(q[:-1, None], wanted[None, :-1])
    return np.maximum(np.minimum(q[1:, None], wanted[None, 1:]) - start, 0)


@pytest.mark.parametrize("seed", range(200))
def test_noise_and_the_monotone_map_are_the_papers_optimum(seed):
    rng = np.random.default_rng([14, seed])
    n = int(rng.integers(2, 40))
    epsilon = Fraction(str(rng.choice(["0.1", "0.5", "1", "2", "4"])))
    z = random_law(rng, n)
    w = z if seed % 2 else random_law(rng, n)
    found = Optimal(target=None if seed % 2 else w)(z, epsilon=epsilon)
    joined = noise_and_map(z, w, Noise(epsilon=epsilon))
    np.testing.assert_allclose(joined, found.matrix, atol=1e-9, rtol=0)
    np.testing.assert_allclose(joined, found.mechanism.matrix, atol=1e-9, rtol=0)


def test_with_more_noise_or_less_they_are_not_one_kernel():
    z = random_law(np.random.default_rng(1), 12)
    found = Optimal()(z, epsilon=1).matrix
    for epsilon in (Fraction(11, 10), Fraction(9, 10)):
        assert np.abs(noise_and_map(z, z, Noise(epsilon=epsilon)) - found).max() > 1e-3


@pytest.mark.parametrize("seed", range(12))
def test_the_map_gives_the_kernel_of_the_theorem_in_exact_arithmetic(seed):
    """The former curves, in rationals: S(i+1) = F(S(i)) through every level."""
    rng = np.random.default_rng([7, seed])
    z = [Fraction(int(part)) for part in rng.integers(0, 5, 7)]
    z[int(rng.integers(7))] += 1
    z = [share / sum(z) for share in z]
    epsilon = Fraction(str(rng.choice(["0.3", "1", "2"])))
    exact = np.array(exact_kernel(z, z, Fraction(np.exp(-float(epsilon)))), dtype=float)
    law = np.array(z, dtype=float)
    np.testing.assert_allclose(
        noise_and_map(law, law, Noise(epsilon=epsilon)), exact, atol=1e-12, rtol=0
    )


@pytest.mark.parametrize("seed", range(10))
def test_a_linear_program_finds_the_same_least_error(seed):
    rng = np.random.default_rng([9, seed])
    z = random_law(rng, int(rng.integers(2, 15)))
    epsilon = Fraction(str(rng.choice(["0.3", "1", "2"])))
    joined = noise_and_map(z, z, Noise(epsilon=epsilon))
    distance = np.abs(np.subtract.outer(range(len(z)), range(len(z))))
    error = (z[:, None] * joined * distance).sum()
    assert error == pytest.approx(LinearProgram()(z, epsilon=epsilon).count_error, rel=1e-7)


def test_with_a_delta_any_other_monotone_map_that_keeps_w_is_as_good():
    """Where z has a gap that is wider than the noise, thresholds may lie anywhere in it."""
    z = np.array([0.3, 0.2, *[0.0] * 9, 0.2, 0.3])
    distance = np.abs(np.subtract.outer(range(13), range(13)))
    noisy = noisy_law(13, 1.0, 0.05)
    (empty,) = np.nonzero(z @ noisy == 0)
    assert len(empty) > 5
    usual = carried(noisy, z, z)
    matrices = []
    for output in (1, 11):  # where no count reaches, either neighbour of the gap will do
        moved = usual.copy()
        for cell in empty:
            place = np.searchsorted(np.cumsum(z[z > 0]), np.cumsum(z @ noisy)[cell])
            moved[:, np.flatnonzero(z)[place]] -= noisy[:, cell]
            moved[:, output] += noisy[:, cell]
        matrices.append(moved)
    assert np.abs(matrices[0] - matrices[1]).max() > 0.4
    for matrix in (usual, *matrices):
        np.testing.assert_allclose(z @ matrix, z, atol=1e-12)
        error = (z[:, None] * distance * matrix).sum()
        assert error == pytest.approx(Optimal(delta="0.05")(z, epsilon=1).count_error, rel=1e-9)
        for above_row, below_row in pairwise(matrix):
            for first, second in ((above_row, below_row), (below_row, above_row)):
                assert np.maximum(first - np.e * second, 0).sum() <= 0.05 + 1e-12
