"""How much of a count error could at most be saved."""

import math

import numpy as np
import pytest

from holdfast.paper.constructors import Construction


@pytest.mark.parametrize(
    ("error", "bound", "gap"),
    [(2, 1.5, 0.25), (0, 0, 0), (-1, -1.5, 0.5), (1, 2, 0), (0, -1, math.inf), (1, None, None)],
)
def test_the_gap_is_the_share_of_the_error_above_its_bound(error, bound, gap):
    found = Construction(
        matrix=np.eye(1),
        epsilon=1,
        target=None,
        count_error=float(error),
        method="x",
        bound=lambda: bound,
    )
    assert found.gap == gap
