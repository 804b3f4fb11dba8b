"""What cannot be worked with is refused with a message, not with a stray exception."""

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.paper import theory
from theory_examples import B1, LN2, THIRD


@pytest.mark.parametrize("n", [0, -1, 2.5, "3", None])
def test_n_must_be_a_number_of_counts(n):
    for ask in (
        lambda: theory.patterns(n),
        lambda: theory.peaked_matrix(n, LN2),
        lambda: theory.constraint_matrix(n, LN2),
    ):
        with pytest.raises(HoldfastError, match="`n` must be a whole number"):
            ask()


def test_a_float_budget_is_refused_where_numbers_must_be_exact():
    with pytest.raises(HoldfastError, match="is exact"):
        theory.is_in_kernel_complement(B1, 1.0)
    with pytest.raises(HoldfastError, match="is exact"):
        theory.exact_amounts(theory.from_dense(B1, LN2), z=THIRD, epsilon=1.0)
    with pytest.raises(HoldfastError, match="n columns"):
        theory.is_in_kernel_complement([1, 2], LN2)


@pytest.mark.parametrize("ask", [theory.is_row_wise_concentrating, theory.is_row_wise_convex])
def test_weights_may_be_fractions_as_text_and_must_be_numbers(ask):
    assert ask([["0", "1/3"], ["1/3", "0"]])
    for bad in ([[0, np.nan], [1, 0]], [["a", 0], [0, 0]], [[0, 1], [0]], [0, 1], None):
        with pytest.raises(HoldfastError):
            ask(bad)
