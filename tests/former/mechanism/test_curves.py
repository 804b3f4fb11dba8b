"""Mechanisms made of curves: their weights, their certificate, and draws without a table."""

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from curve_sets import all_weights, one_tail, optimal_curves, some_curves, worst_of_all
from families import FAMILIES, hump, powerlaw
from holdfast.errors import CertificateError, HoldfastError
from holdfast.former.constructors import Heuristic, Optimal
from holdfast.former.mechanism import sampling
from holdfast.former.mechanism.certificate_kernel import worst_ratio
from holdfast.former.mechanism.curves import Curves
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.mechanism.sampling import Sampler
from holdfast.former.mechanism.weights import TOTAL
from holdfast.former.privacy.approximate import hockey_stick
from holdfast.former.privacy.randomness import Simulation
from holdfast.former.privacy.rational import decay_table, exp_above, exp_below


def optimum(n: int = 21, epsilon: str = "0.5", **options) -> Mechanism:
    return Optimal(**options)(hump(n), epsilon=epsilon).mechanism


def weights_in_words(curves: Curves) -> np.ndarray:
    """Every weight by the formula of docs/bundle.md, in Python's integers."""
    n, keep = len(curves), curves.keep
    powers = [*decay_table(curves.epsilon, n, total=TOTAL), *[0] * n]

    def tail(height: int, steps: int) -> int:
        return max(((height + curves.lift) * powers[steps] >> 62) - curves.lift, 0)

    rows = []
    for i in range(n):
        sums = []
        for m, x in zip(curves.turns.tolist(), curves.heights.tolist(), strict=True):
            sums.append(tail(x, i - m) if i >= m else keep - tail(keep - x, m - i))
        differences = np.diff(np.array([0, *sums], dtype=object))
        rows.append([int(d) + int(f) for d, f in zip(differences, curves.floors, strict=True)])
    return np.array(rows, dtype=np.int64)


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("epsilon", ["0.01", "0.5", "5"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_weight_follows_from_the_integers(family, epsilon, delta):
    mechanism = Optimal(delta=delta)(FAMILIES[family](23), epsilon=epsilon).mechanism
    expected = weights_in_words(mechanism.curves)
    assert np.array_equal(mechanism.weights, expected)
    assert np.array_equal(mechanism.row(7), expected[7])
    assert (expected.sum(axis=1) == TOTAL).all()


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.5", "2", "10"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_certificate_sees_every_pair_of_a_table(family, epsilon):
    for n in (1, 2, 3, 50, 300):
        mechanism = Optimal()(FAMILIES[family](n), epsilon=epsilon).mechanism
        top, bottom, _, _ = mechanism.certificate.worst
        expected = worst_ratio(mechanism.weights)
        assert Fraction(top, bottom) == Fraction(int(expected[0]), int(expected[1]))


@pytest.mark.parametrize("delta", ["1e-6", "1e-3"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_certificate_of_a_delta_sees_every_column(family, delta):
    mechanism = Optimal(delta=delta)(FAMILIES[family](120), epsilon=2).mechanism
    rows = zip(mechanism.weights[:-1], mechanism.weights[1:], strict=True)
    assert mechanism.certified_delta == hockey_stick(rows, Fraction(2), total=TOTAL)[0]


curves_of_any_kind = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, n - 1), min_size=n - 1, max_size=n - 1),
        st.lists(st.integers(0, 2**61), min_size=n - 1, max_size=n - 1),
        st.lists(st.sampled_from([0, 5, 2**30]), min_size=n, max_size=n),
    )
)


@given(curves_of_any_kind)
def test_arbitrary_curves_are_certified_exactly_if_their_table_is(integers):
    turns, heights, floors = integers
    order = sorted(zip(turns, heights, strict=True))
    keep = TOTAL - sum(floors)
    curves = Curves(
        turns=np.array([m for m, _ in order] + [len(floors) - 1]),
        heights=np.array([x for _, x in order] + [keep]),
        floors=np.array(floors),
        epsilon=Fraction(3, 10),
    )
    outcomes = []
    for form in ({"curves": curves}, {"weights": weights_in_words(curves)}):
        try:
            outcomes.append(Mechanism(epsilon="0.3", **form).certified_epsilon)
        except CertificateError:
            outcomes.append(None)
    assert outcomes[0] == outcomes[1]


def largest_ratio(curves):
    turns, heights, floors, epsilon, _ = curves
    made = Curves(turns=turns, heights=heights, floors=floors, epsilon=Fraction(epsilon))
    try:
        top, bottom, row, column = made.worst()
    except CertificateError:
        return "negative"
    if bottom:
        weights = all_weights(curves)[column][row : row + 2]
        assert row < 0 or sorted(weights) == [bottom, top]
    return Fraction(top, bottom) if bottom else "impossible"


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_ratio_is_that_of_all_weights(seed):
    random, found = np.random.default_rng(seed), []
    for _ in range(40):
        for curves in (some_curves(random), some_curves(random), *optimal_curves(random)):
            expected, ratio = worst_of_all(all_weights(curves)), largest_ratio(curves)
            assert ratio == expected or {ratio, expected} == {"negative", "impossible"}
            found.append(ratio)
    assert sum(isinstance(ratio, Fraction) for ratio in found) > 100


@pytest.mark.parametrize("f", [3, 4, 5])
def test_steps_down_to_a_low_floor_are_found_however_far_out_they_are(f):
    curves = one_tail(f, TOTAL >> 2, "1/10", 450)
    assert largest_ratio(curves) == worst_of_all(all_weights(curves)) > Fraction(111, 100)


def test_without_the_bound_on_what_follows_the_largest_ratio_is_missed(monkeypatch):
    monkeypatch.setattr(Curves, "_settled", lambda self, worst: np.full(len(self), TOTAL))
    curves = one_tail(3, TOTAL >> 2, "1/10", 450)
    assert largest_ratio(curves) < worst_of_all(all_weights(curves))


@pytest.mark.parametrize(
    "epsilon, length", [("1e-6", 40), ("0.1", 500), ("0.5", 90), ("10", 9), ("1/3", 131)]
)
def test_powers_are_the_whole_parts_of_exact_powers(epsilon, length):
    epsilon = Fraction(epsilon)
    powers = decay_table(epsilon, length, total=TOTAL)
    for d, power in enumerate(powers):
        low, high = TOTAL / exp_above(d * epsilon), TOTAL / exp_below(d * epsilon)
        assert int(low) == power == int(high)
    assert powers[0] == TOTAL and 0 not in powers
    assert len(powers) == length or TOTAL / exp_below(len(powers) * epsilon) < 1


CHANGES = {
    "a turn": ("turns", 9, 1),
    "a height": ("heights", 9, 2**50),
    "a height by one": ("heights", 9, 1),
    "a floor": ("floors", 3, 1),
    "a floor taken away": ("floors", 3, -1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_drawn_from_curves_that_were_changed(change):
    name, at, by = CHANGES[change]
    mechanism = optimum()
    array = getattr(mechanism.curves, name)
    array.setflags(write=True)
    array[at] += by
    with pytest.raises(CertificateError):
        mechanism.sample([1, 2])


def test_nothing_is_drawn_with_another_power_or_epsilon():
    mechanism = optimum()
    powers = mechanism.curves.powers
    powers.setflags(write=True)
    powers[3] -= 1
    with pytest.raises(CertificateError, match="powers"):
        mechanism.sample([1])
    mechanism = optimum()
    object.__setattr__(mechanism.curves, "epsilon", Fraction(2, 5))
    with pytest.raises(CertificateError, match="powers"):
        mechanism.sample([1])
    with pytest.raises(CertificateError, match="this epsilon"):
        Mechanism(curves=optimum().curves, epsilon="0.6")


@pytest.mark.parametrize(
    "name, at, to",
    [
        ("turns", 5, -1), ("turns", 5, 21), ("heights", 20, 5), ("turns", 20, 3),
        ("heights", 5, -1), ("heights", 5, 2**62), ("floors", 5, -1), ("floors", 5, 2**62),
        ("floors", 5, 0), ("turns", 5, 20),
    ],
)  # fmt: skip
def test_integers_that_are_no_curves_are_refused(name, at, to):
    curves = optimum().curves
    array = getattr(curves, name).copy()
    array[at] = to
    with pytest.raises(CertificateError):
        Mechanism(curves=replace(curves, **{name: array}), epsilon="0.5")


@pytest.mark.parametrize("delta", [0, "0.5"])
def test_negative_weights_are_refused_with_a_delta_too(delta):
    heights = np.array([0.762 * TOTAL, 0.433 * TOTAL, TOTAL]).astype(np.int64)
    curves = Curves(
        turns=np.array([1, 2, 2]), heights=heights, floors=np.zeros(3, int), epsilon=Fraction(1, 2)
    )
    with pytest.raises(CertificateError, match="negative"):
        Mechanism(curves=curves, epsilon="0.5", delta=delta)


def test_arrays_of_another_kind_are_refused():
    curves = optimum().curves
    for array in (curves.turns.astype(np.int32), curves.turns[:, None], curves.turns[:0]):
        with pytest.raises(CertificateError):
            replace(curves, turns=array)
    with pytest.raises(CertificateError):
        Mechanism(curves=replace(curves, floors=curves.floors[:-1]), epsilon="0.5")
    with pytest.raises(CertificateError, match="holdfast's"):
        Mechanism(curves="curves", epsilon="0.5")
    with pytest.raises(HoldfastError, match="either"):
        Mechanism(epsilon="0.5")


def test_a_copy_is_certified_before_it_exists():
    mechanism = Optimal(target=powerlaw(9))(hump(9), epsilon=1).mechanism
    again = pickle.loads(pickle.dumps(mechanism))
    assert again.digest == mechanism.digest and np.array_equal(again.source, mechanism.source)
    weights = Heuristic()(hump(9), epsilon=1).mechanism
    assert pickle.loads(pickle.dumps(weights)).digest == weights.digest


def test_a_mechanism_cannot_be_changed_by_assignment():
    mechanism = optimum()
    for name in ("epsilon", "integers", "verify"):
        with pytest.raises(AttributeError):
            setattr(mechanism, name, None)
    with pytest.raises(AttributeError):
        del mechanism.digest


def test_a_check_that_is_shadowed_is_made_all_the_same():
    mechanism = optimum()
    mechanism.__dict__["verify"] = lambda: None
    heights = mechanism.curves.heights
    heights.setflags(write=True)
    heights[4] += 2**55
    with pytest.raises(CertificateError):
        mechanism.sample([1])


@pytest.mark.parametrize("method", ["table", "worst", "check", "digest", "row"])
def test_nothing_on_an_instance_answers_in_place_of_its_integers(method):
    curves = optimum().integers
    weights = Mechanism(weights=np.full((2, 2), TOTAL // 2), epsilon="0.5").integers
    for integers in (curves, weights):
        with pytest.raises(AttributeError):
            object.__setattr__(integers, method, lambda *_: None)
        with pytest.raises(TypeError):
            vars(integers)


def test_nothing_is_drawn_from_curves_for_another_epsilon():
    mechanism = optimum()
    object.__setattr__(mechanism.integers, "epsilon", mechanism.epsilon * 2)
    with pytest.raises(CertificateError, match="powers"):
        mechanism.sample([1])


def test_a_floor_that_no_bundle_may_hold_is_refused():
    curves = optimum().curves
    floors = curves.floors.copy()
    floors[0] = 2**30 + 1
    taken = int(floors[0] - curves.floors[0])
    heights = np.minimum(curves.heights, curves.keep - taken)
    with pytest.raises(CertificateError, match="range of weights"):
        Mechanism(
            curves=Curves(
                turns=curves.turns, heights=heights, floors=floors, epsilon=curves.epsilon
            ),
            epsilon=curves.epsilon,
        )


def test_tables_beyond_what_can_be_held_are_refused_with_a_way_out():
    mechanism = optimum(10_002)
    for view in ("weights", "matrix"):
        with pytest.raises(HoldfastError, match=r"row\(i\)"):
            getattr(mechanism, view)
    assert mechanism.row(1234).sum() == TOTAL
    with pytest.raises(HoldfastError, match="between 0 and 10001"):
        mechanism.row(10_002)


@pytest.mark.parametrize("delta", [0, "1e-4"])
def test_a_search_along_the_curves_draws_what_a_table_draws(monkeypatch, delta):
    counts = np.random.default_rng(0).integers(0, 300, 20_000)
    mechanism = optimum(300, delta=delta)
    from_table = Sampler(mechanism)(counts, Simulation(7))
    monkeypatch.setattr(sampling, "MOST_TABULATED", 2)
    searched = Sampler(mechanism)(counts, Simulation(7))
    assert np.array_equal(searched, from_table)


def p_value(drawn: np.ndarray, weights: np.ndarray) -> float:
    expected = len(drawn) * weights / weights.sum()
    large = expected >= 5
    seen = np.bincount(drawn, minlength=len(weights))
    pooled = np.append(seen[large], seen[~large].sum())
    wanted = np.append(expected[large], expected[~large].sum() + 1e-9)
    return float(chi2.sf(((pooled - wanted) ** 2 / wanted).sum(), large.sum()))


def test_draws_along_the_curves_have_the_weights_of_their_row():
    mechanism, row = optimum(3000), 1100
    drawn = mechanism.sample(np.full(8_000_000, row), rng=5)
    weights = mechanism.row(row).astype(float)
    assert p_value(drawn, weights) > 1e-6
    pair = np.argsort(weights)[-2:]
    for sign in (1, -1):
        wrong = weights.copy()
        wrong[pair] += sign * 0.01 * weights[pair[0]] * np.array([1, -1])
        assert p_value(drawn, wrong) < 1e-6


def test_a_mechanism_for_a_long_range_needs_no_matrix():
    mechanism = Optimal()(hump(200_000), epsilon=1).mechanism
    assert mechanism.certified_epsilon <= 1
    counts = np.random.default_rng(1).integers(0, 200_000, 100_000)
    assert np.abs(mechanism.sample(counts) - counts).mean() < 2
