"""What the guarantee stands on, each watched by a test that fails without it."""

import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast.former as holdfast
from holdfast.errors import CertificateError, HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.former.mechanism.certificate_kernel import worst_ratio
from holdfast.former.mechanism.mechanism import Mechanism, certify
from holdfast.former.mechanism.sampling import draw
from holdfast.former.mechanism.weights import TOTAL, Weights
from holdfast.former.privatizers import CumulativeIsotonic
from holdfast.former.privacy import randomness
from holdfast.former.privacy.rational import exp_below

COUNTS = np.random.default_rng(0).poisson(3, 500)


class Recording(CumulativeIsotonic):
    """Remembers what stage 1 was given."""

    seen: dict = {}  # noqa: RUF012

    def __call__(self, histogram, *, epsilon, rng=None):
        self.seen.update(histogram=np.array(histogram), epsilon=epsilon)
        return super().__call__(histogram, epsilon=epsilon, rng=rng)


@pytest.mark.parametrize("contributions", [1, 3])
def test_stage_1_gets_its_own_share_for_a_change_of_one(contributions):
    release = holdfast.privatize(
        COUNTS, epsilon=1, max_count=9, contributions=contributions, privatizer=Recording()
    )
    budget = release.privacy.budget
    assert Recording.seen["epsilon"] == budget.stage_1 / contributions < budget.epsilon


@pytest.mark.parametrize("contributions", [1, 3])
def test_a_private_max_count_costs_what_the_budget_says(contributions, monkeypatch):
    asked = []

    def noted(self, values, epsilon, sensitivity=1):
        asked.append((np.array(values), epsilon, sensitivity))
        return np.array(values)

    monkeypatch.setattr(randomness.Simulation, "add_laplace", noted)

    def measured(counts):
        asked.clear()
        quantile = holdfast.PrivateQuantile("0.9", highest=40)
        options = {"epsilon": 1, "max_count": quantile, "contributions": contributions}
        return holdfast.privatize(counts, **options, seed=1).privacy.budget, asked[0]

    neighbour = COUNTS.copy()
    neighbour[7] += contributions
    budget, (values, epsilon, sensitivity) = measured(COUNTS)
    _, (others, _, _) = measured(neighbour)
    assert epsilon == budget.quantile and sensitivity == 1
    assert np.abs(values - others).sum() == 1


def test_structural_zeros_never_reach_stage_1():
    mask = COUNTS == 0
    release = holdfast.privatize(
        COUNTS, epsilon=1, max_count=9, structural_zero=mask.tolist(), privatizer=Recording()
    )
    histogram = Recording.seen["histogram"]
    assert histogram.sum() == release.rows == (~mask).sum()
    assert histogram[0] == 0


class Scripted:
    """A source whose uniform integers are given."""

    simulated = True

    def __init__(self, *values):
        self.values, self.asked = values, []

    def bits_62(self, size):
        self.asked.append(size)
        return np.resize(np.array(self.values, dtype=np.uint64), size)


def test_every_row_gets_a_uniform_of_its_own():
    source = Scripted(1, 2, 3)
    mechanism = Heuristic()([0.5, 0.25, 0.25], epsilon=1).mechanism
    draw(mechanism, np.zeros(1_500_000, dtype=np.int64), source)
    assert sum(source.asked) == 1_500_000


def test_exactly_weight_many_integers_give_each_output():
    weights = np.array([[0, 5, 0, TOTAL - 6, 1, 0]] * 6)
    mechanism = Mechanism(weights=weights, epsilon=1)
    edges = [0, 4, 5, 6, TOTAL - 2, TOTAL - 1]
    drawn = draw(mechanism, np.zeros(6, dtype=np.int64), Scripted(*edges))
    assert drawn.tolist() == [1, 1, 3, 3, 3, 4]


def test_noise_of_a_real_run_is_opendps(monkeypatch):
    asked = []

    def measurement(values):
        asked.append(values)
        return [value + 1000 for value in values]

    source = randomness.SystemEntropy()
    monkeypatch.setattr(randomness, "laplace_measurement", lambda e, s: (measurement, e))
    assert source.add_laplace(np.array([1, 2]), Fraction(1)).tolist() == [1001, 1002]
    monkeypatch.setattr(randomness, "gaussian_measurement", lambda scale: (measurement, scale))
    assert source.add_gaussian(np.array([3]), 2.0).tolist() == [1003]
    assert asked == [[1, 2], [3]]


def test_draws_of_a_real_run_use_the_operating_systems_bytes(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda size: b"\xff" * size)
    assert randomness.SystemEntropy().bits_62(2).tolist() == [2**62 - 1] * 2


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
    certified = certify(Weights(weights), Fraction(10), Fraction(0)).epsilon
    assert exp_below(certified) >= ratio
    assert exp_below(certified * (1 - Fraction(1, 10**9))) < ratio


def test_weights_and_digest_changed_together_are_still_certified_anew():
    mechanism = Heuristic()([0.5, 0.25, 0.25], epsilon=1).mechanism
    identity = Weights(np.diag([TOTAL] * 3))
    object.__setattr__(mechanism, "integers", identity)
    object.__setattr__(mechanism, "digest", identity.digest("epsilon=1"))
    with pytest.raises(CertificateError):
        mechanism.sample([1])


def test_negative_weights_are_refused_even_where_rows_add_up():
    with pytest.raises(CertificateError, match="negative"):
        Mechanism(weights=np.array([[TOTAL + 1, -1]] * 2), epsilon=1)


def test_only_a_certified_mechanism_can_be_drawn_from():
    class Fake:
        weights = np.diag([TOTAL] * 3)

        def verify(self):
            pass

    class Grown(Mechanism):
        pass

    grown = Grown(weights=np.full((2, 2), TOTAL // 2), epsilon=1)
    for impostor in (Fake(), grown):
        with pytest.raises(CertificateError, match="only a holdfast"):
            draw(impostor, np.array([0]), randomness.SystemEntropy())


def test_a_constructor_cannot_bring_another_mechanism_or_more_epsilon():
    def generous(target, *, epsilon):
        return Heuristic()(target, epsilon=10)

    class Open:
        method = "open"

        class mechanism:
            epsilon, sample = Fraction(0), staticmethod(lambda counts, rng: counts)

    for constructor in (generous, lambda target, epsilon: Open()):
        with pytest.raises(CertificateError, match="the constructor must"):
            holdfast.privatize(COUNTS, epsilon=1, max_count=9, constructor=constructor)


def test_a_source_cannot_hide_that_it_is_seeded():
    class Sly(randomness.Simulation):
        simulated = False

    with pytest.raises(HoldfastError, match="`rng`"):
        holdfast.privatize(COUNTS, epsilon=1, max_count=9, seed=Sly(1))


def test_a_privatizer_of_somebody_else_is_marked_as_unchecked():
    release = holdfast.privatize(COUNTS, epsilon=1, max_count=9, privatizer=Recording())
    assert "claimed by Recording" in release.privacy.stage_1_certified_by
    ours = holdfast.privatize(COUNTS, epsilon=1, max_count=9)
    assert ours.privacy.stage_1_certified_by == "OpenDP's map"


def test_an_error_from_a_library_is_not_chained(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"424242")
    with pytest.raises(HoldfastError) as caught:
        holdfast.privatize(tmp_path / "bad.parquet", epsilon=1, max_count=9, count="n")
    assert caught.value.__suppress_context__


def test_a_released_pandas_table_shares_no_memory_with_the_true_one():
    import pandas as pd

    frame = pd.DataFrame({"a": np.arange(500), "n": COUNTS, "b": np.arange(500)})
    release = holdfast.privatize(frame, epsilon=1, max_count=9, count="n", keep=["a", "b"])
    for column in ("a", "b", "n"):
        values = release.table[column].to_numpy()
        assert not np.shares_memory(values, frame["n"].to_numpy())
        base = values.base
        assert base is None or base.size == 500 or not (base == COUNTS).all(axis=-1).any()
