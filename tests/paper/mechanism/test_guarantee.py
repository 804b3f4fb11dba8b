"""What the guarantee stands on, each watched by a test that fails without it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import CertificateError
from holdfast.paper.constructors import Heuristic
from holdfast.paper.mechanism.certificate import TOTAL, certify, worst_ratio
from holdfast.paper.mechanism.mechanism import Mechanism, draw
from holdfast.privacy.randomness import SystemEntropy
from holdfast.privacy.rational import exp_below


class Scripted:
    """A source whose uniform integers are given."""

    simulated = True

    def __init__(self, *values):
        self.values, self.asked, self.generator = values, [], self

    def integers(self, low, high, *, size):
        assert (low, high) == (0, TOTAL)
        self.asked.append(size)
        return np.resize(np.array(self.values, dtype=np.int64), size)


def test_every_row_gets_a_uniform_of_its_own():
    source = Scripted(1, 2, 3)
    mechanism = Heuristic()([0.5, 0.25, 0.25], epsilon=1).mechanism
    draw(mechanism.weights, np.zeros(1_500_000, dtype=np.int64), source)
    assert sum(source.asked) == 1_500_000


def test_exactly_weight_many_integers_give_each_output():
    weights = np.array([[0, 5, 0, TOTAL - 6, 1, 0]] * 6)
    mechanism = Mechanism(weights=weights, epsilon=1)
    edges = [0, 4, 5, 6, TOTAL - 2, TOTAL - 1]
    drawn = draw(mechanism.weights, np.zeros(6, dtype=np.int64), Scripted(*edges))
    assert drawn.tolist() == [1, 1, 3, 3, 3, 4]


def test_a_real_draw_has_the_first_62_bits_of_a_word_of_the_operating_system(monkeypatch):
    words = np.array([0, 5 * 4 - 1, 5 * 4, (1 << 64) - 1], dtype=np.uint64)
    monkeypatch.setattr(SystemEntropy, "words", lambda self, size, *, stream: words[:size])
    weights = np.array([[5, TOTAL - 6, 1]])
    assert draw(weights, np.zeros(4, dtype=np.int64), SystemEntropy()).tolist() == [0, 0, 1, 2]


near_ties = st.tuples(st.integers(2**40, 2**61), st.integers(2**40, 2**61))


@given(
    near_ties, st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=4)
)
def test_ratios_that_differ_in_the_last_digit_are_told_apart(pair, shifts):
    high, low = max(pair), min(pair)
    columns = [(high, low), *((high + a, low + b) for a, b in shifts)]
    n = max(len(columns), 2)
    weights = np.ones((n, n), dtype=np.int64)
    for j, (a, b) in enumerate(columns):
        weights[0, j], weights[1:, j] = a, b
    top, bottom, _, _ = worst_ratio(weights)
    exact = max(Fraction(max(a, b), min(a, b)) for a, b in columns)
    assert Fraction(int(top), int(bottom)) == exact


@given(st.integers(2**58, 2**60), st.integers(1, 2**59))
def test_certified_epsilon_is_never_below_the_truth(low, more):
    weights = np.array([[low + more, TOTAL - low - more], [low, TOTAL - low]])
    ratio = max(Fraction(low + more, low), Fraction(TOTAL - low, TOTAL - low - more))
    certified = certify(weights, Fraction(10), Fraction(0)).epsilon
    assert exp_below(certified) >= ratio
    assert exp_below(certified * (1 - Fraction(1, 10**9))) < ratio


def test_negative_weights_are_refused_even_where_rows_add_up():
    with pytest.raises(CertificateError, match="negative"):
        Mechanism(weights=np.array([[TOTAL + 1, -1]] * 2), epsilon=1)
