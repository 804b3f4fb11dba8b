"""An audit tells a release that charges one column for two from one that charges both."""

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.former.constructors import Optimal
from holdfast.former.engines.several import check_several

LAW = [0.4, 0.3, 0.2, 0.1]


def drawing(person_in):
    """Step 4 of two columns, with the budgets of a release; takes (counts of a row, size)."""
    options = {"epsilon": 1, "max_count": 3, "split": "1/100", "person_in": person_in}
    stages = check_several(["a", "b"], **options).for_rows([1000] * 2, [None] * 2)
    kernels = [Optimal()(LAW, epsilon=one.budget.unit_2).mechanism for one in stages.columns]
    rng = np.random.default_rng(3)

    def mechanism(counts, size):
        pairs = zip(kernels, counts, strict=True)
        return np.column_stack([kernel.sample(np.full(size, c), rng) for kernel, c in pairs])

    return mechanism


@pytest.mark.parametrize(("person_in", "caught"), [("one column", True), ("all columns", False)])
def test_one_column_charged_for_two_is_caught(person_in, caught):
    found = holdfast.audit(
        drawing(person_in), (1, 1), (2, 2), epsilon=1, draws=20_000, batched=True
    )
    assert found.violation is caught


def test_a_person_in_one_column_is_protected_where_each_has_the_whole_epsilon():
    found = holdfast.audit(
        drawing("one column"), (1, 1), (1, 2), epsilon=1, draws=20_000, batched=True
    )
    assert not found.violation and found.lower_bound > 0.7
