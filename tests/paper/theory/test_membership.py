"""Membership, and what the message says."""

from fractions import Fraction

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.paper import theory
from theory_examples import B1, B3, B6, LN2, THIRD, exact

UNIFORM = exact(["1/3 1/3 1/3"] * 3)

OUTSIDE = [
    ("U", exact(["1 0 0", "1 0 0", "1/3 1/3 1/3"]), "column 0 breaks π⁺_1: T[1, 0] = 1"),
    ("U", exact(["1/5 4/5 0", "1/2 1/2 0", "1/2 1/2 0"]), "column 0 breaks π⁻_0: T[1, 0] = 1/2"),
    ("U", exact(["1/2 1/2 0", "1/2 1/3 0", "1/2 1/2 0"]), "row 1 of T sums to 5/6"),
    ("F", exact(["1/2 1/2 0"] * 3), "z·T_0 = 1/2, but z_0 = 1/3"),
    ("U", exact(["-1/2 3/2 0"] * 3), "breaks π"),
    ("R_U", -B6, "B[0, 0] = -7/6 is negative"),
    ("R_U", 2 * B6, "row 0 of ΨB sums to 2"),
    ("R_F", B6, "z·ΨB_0 = 7/9, but z_0 = 1/3"),
    ("F", B1, "it must be 3 x 3, and is 4 x 3"),
]


@pytest.mark.parametrize(("name", "matrix", "message"), OUTSIDE)
def test_the_message_says_which_constraint_fails_and_where(name, matrix, message):
    found = theory.why_not(matrix, name, z=THIRD, epsilon=LN2)
    assert message in found
    assert found.startswith(f"{name}: ")
    assert not theory.is_member(matrix, name, z=THIRD, epsilon=LN2)
    if matrix.shape != (4, 3) or name != "F":
        with pytest.raises(HoldfastError):
            theory.is_extreme(matrix, name, z=THIRD, epsilon=LN2)


@pytest.mark.parametrize(
    ("name", "matrix"),
    [("U", UNIFORM), ("F", UNIFORM), ("R_F", B1), ("R_F", B3), ("R_U", B1), ("R_U", B6)],
)
def test_members_are_members_in_fractions_and_in_floats(name, matrix):
    assert theory.why_not(matrix, name, z=THIRD, epsilon=LN2) is None
    floats = matrix.astype(float)
    assert theory.why_not(floats, name, z=[1 / 3] * 3, epsilon=float(LN2)) is None


def test_an_exact_step_over_the_bound_is_seen_however_small():
    tiny = Fraction(1, 10**40)
    over = exact(["2/3 1/3", "1/3 2/3"])
    over[0] += [tiny, -tiny]
    assert "π⁺_0" in theory.why_not(over, "U", epsilon=LN2)


def test_a_zero_beside_a_tiny_float_is_outside():
    matrix = np.array([[1 - 1e-12, 1e-12], [1.0, 0.0]])
    assert "column 1" in theory.why_not(matrix, "U", epsilon=1)


def test_f_needs_z_and_names_are_checked():
    with pytest.raises(HoldfastError, match="needs `z`"):
        theory.why_not(UNIFORM, "F", epsilon=LN2)
    with pytest.raises(HoldfastError, match="F, U, R_F, R_U"):
        theory.why_not(UNIFORM, "Q", epsilon=LN2)
    with pytest.raises(HoldfastError, match="sum to 1"):
        theory.why_not(UNIFORM, "F", z=[1, 1, 1], epsilon=LN2)
