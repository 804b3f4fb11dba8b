import numpy as np
import pytest

from holdfast.errors import HoldfastError, whole_number

RANGE = {"least": 2, "most": 9, "hint": "4 is usual."}


@pytest.mark.parametrize("given", [2, 9, np.int64(4), np.uint8(9)])
def test_whole_numbers_of_the_range_become_ints(given):
    number = whole_number(given, "branching", **RANGE)
    assert number == given and type(number) is int


@pytest.mark.parametrize("given", [1, 10, 4.0, "4", True, None, np.array([4, 5]), 10**400])
def test_anything_else_is_refused_by_name_with_a_hint(given):
    with pytest.raises(HoldfastError, match=r"`branching` must be .* 2 to 9, .*Hint: 4 is usual\."):
        whole_number(given, "branching", **RANGE)
