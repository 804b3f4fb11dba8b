"""Both stages and a draw over a made-up table, while nothing is paid.

What this machine cannot do, such as compile a kernel or find a library, then fails at no cost.
"""

from contextlib import suppress
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.former.constructors import Constructor, Optimal
from holdfast.former.engines.stages import Stages, check_parameters
from holdfast.former.engines.steps import histogram_by
from holdfast.former.ledger.identity import is_known
from holdfast.former.mechanism.grouped import RowSampler
from holdfast.former.mechanism.sampling import MOST_TABULATED
from holdfast.former.privatizers import CumulativeSmooth, Privatizer
from holdfast.former.tables.groups import Partition, Within

ROWS = 12
GROUPS = Partition(
    within=Within(("a column",)), labels=(("a",), ("b",)), sizes=np.array([ROWS // 2] * 2)
)


def rehearse(stages: Stages) -> None:
    """Do what a run will do, with its own methods where they are holdfast's. A constructor of
    somebody else is asked for a mechanism for an even distribution."""
    if not is_known(stages.constructor):
        even = np.full(stages.highest + 1, 1 / (stages.highest + 1))
        made: Any = None
        with suppress(Exception):  # what stage 1 finds may suit it better
            made = stages.constructor(even, epsilon=stages.budget.unit_2)
        if made is not None:
            stages.checked(made, len(even))
    top = 3 if stages.highest < MOST_TABULATED else MOST_TABULATED
    groups = None if stages.groups is None else GROUPS
    with suppress(HoldfastError):  # these methods have something against the made-up table
        _run(top, stages.privatizer, stages.constructor, groups)
        return
    _run(top, CumulativeSmooth(), Optimal(), groups)


def _run(
    top: int, privatizer: Privatizer, constructor: Constructor, groups: Partition | None
) -> None:
    parameters = check_parameters(
        epsilon=1,
        max_count=top,
        privatizer=privatizer if is_known(privatizer) else CumulativeSmooth(),
        constructor=constructor if is_known(constructor) else Optimal(),
        within=None if groups is None else groups.within,
    )
    counts = np.arange(ROWS) % 4
    members = None if groups is None else np.arange(ROWS) % len(groups)
    settled = parameters.for_rows(ROWS, groups)
    staged = settled(histogram_by(members, counts, settled), ())
    RowSampler(staged.mechanism)(counts, members, settled.source)
