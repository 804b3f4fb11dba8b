"""Two forms of a mechanism in `verify`: what curves give in windows is what all weights give."""

from fractions import Fraction

import numpy as np
import pytest

from holdfast.former.constructors import Optimal
from holdfast.former.verify import curve_table
from holdfast.former.verify import mechanism as forms
from holdfast.former.verify.certificate import _excesses, worst_ratio
from holdfast.former.verify.curve_table import CurveTable
from holdfast.former.verify.curves import exact_powers
from holdfast.former.verify.exact import PLACES, above, exp_from_below, from_limbs
from holdfast.former.verify.mechanism import TOTAL, WeightTable
from holdfast.former.privacy.metrics import absolute_deviation

CASES = [
    (n, epsilon, delta, seed)
    for n, epsilon in ((2, "1"), (9, "1/3"), (40, "10"), (150, "2"), (150, "5"), (200, "1/20"))
    for delta in ("0", "1/1000")
    for seed in (1, 2)
]


def both_forms(n, epsilon, delta, seed):
    random = np.random.default_rng(seed)
    z = random.dirichlet(np.full(n, 0.3)) * (random.random(n) < 0.7)
    z[0] += 1e-3
    z /= z.sum()
    made = Optimal(delta=delta)(z, epsilon=epsilon).mechanism
    curves = made.curves
    powers = exact_powers(Fraction(made.epsilon), n)
    table = CurveTable(curves.turns, curves.heights, curves.floors, lift=curves.lift, powers=powers)
    weights = np.ascontiguousarray(curves.table().T.astype(np.uint64))
    return table, WeightTable(weights), z


@pytest.mark.parametrize("case", CASES, ids=str)
def test_windows_give_what_all_weights_give(case, monkeypatch):
    for module in (forms, curve_table):
        monkeypatch.setattr(module, "STRIP", 1 << 10)
    curves, weights, z = both_forms(*case)
    n = len(curves)
    assert all(
        curves.weight(i, j) == weights.weight(i, j) for i in (0, n // 2, n - 1) for j in range(n)
    )
    assert curves.possible().tolist() == weights.possible().tolist()
    curves.check_row_totals(), weights.check_row_totals()
    if case[2] == "0":
        assert worst_ratio(curves)[0] == worst_ratio(weights)[0]
    ours, theirs = curves.sums(z), weights.sums(z)
    assert np.abs(ours.below - theirs.below).max() < ours.error + theirs.error
    matrix = weights.columns.T / TOTAL
    assert ours.crossing.sum() == pytest.approx(absolute_deviation(matrix, z), rel=1e-9, abs=1e-12)
    assert theirs.crossing.sum() == pytest.approx(ours.crossing.sum(), rel=1e-9, abs=1e-12)
    errors = np.random.default_rng(3).random(n - 1)
    assert np.allclose(curves.moved(errors), weights.moved(errors), atol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_exceeds_is_summed_exactly_in_either_form(case):
    curves, weights, _ = both_forms(*case)
    factor = int(exp_from_below(Fraction(case[1]) * Fraction(9, 10)) * (1 << PLACES))
    columns = weights.columns.astype(object)
    for form in (curves, weights):
        tops, bottoms = _excesses(form, factor)
        for k, (a, b) in enumerate(((0, 1), (1, 0))):
            first, second = columns[:, a : a + len(curves) - 1], columns[:, b : b + len(curves) - 1]
            excess = np.maximum((first << PLACES) - second * factor, 0).sum(axis=0)
            found = [
                (top << PLACES) - bottom * factor
                for top, bottom in zip(from_limbs(tops[k]), from_limbs(bottoms[k]), strict=True)
            ]
            assert found[:-1] == excess.tolist() and found[-1] == 0


def test_the_comparison_with_a_factor_is_exact_to_the_last_bit():
    random = np.random.default_rng(4)
    factor = int(exp_from_below(Fraction(7, 10)) * (1 << PLACES))
    b = random.integers(1, 2**61, 3000, dtype=np.uint64)
    nearest = np.array([(int(x) * factor) >> PLACES for x in b], dtype=np.uint64)
    for shift in (-1, 0, 1, 2):
        a = nearest + np.uint64(shift % 2**64)
        exactly = [(int(x) << PLACES) > int(y) * factor for x, y in zip(a, b, strict=True)]
        assert above(a, b, factor).tolist() == exactly
    assert above(np.array([0, 1], np.uint64), np.array([0, 0], np.uint64), factor).tolist() == [
        False,
        True,
    ]
