"""Both stages and a draw over a made-up table, while nothing is paid.

What this machine cannot do, such as compile a kernel or find a library, then fails at no cost.
"""

from contextlib import suppress

import numpy as np

from holdfast.constructors import Constructor, Optimal
from holdfast.engines.stages import Stages, check_parameters
from holdfast.errors import HoldfastError
from holdfast.ledger.identity import is_known
from holdfast.mechanism.sampling import LARGEST_TABLE, draw
from holdfast.privatizers import CumulativeSmooth, Privatizer

ROWS = 12


def rehearse(stages: Stages) -> None:
    """Do what a run will do, with its own methods where they are holdfast's."""
    top = 3 if stages.highest < LARGEST_TABLE else LARGEST_TABLE
    with suppress(HoldfastError):  # these methods have something against the made-up table
        _run(top, stages.privatizer, stages.constructor)
        return
    _run(top, CumulativeSmooth(), Optimal())


def _run(top: int, privatizer: Privatizer, constructor: Constructor) -> None:
    parameters = check_parameters(
        epsilon=1,
        max_count=top,
        privatizer=privatizer if is_known(privatizer) else CumulativeSmooth(),
        constructor=constructor if is_known(constructor) else Optimal(),
    )
    counts = np.arange(ROWS) % 4
    histogram = np.bincount(counts, minlength=top + 1).astype(np.int64)
    settled = parameters.for_rows(ROWS)
    staged = settled(histogram)
    draw(staged.construction.mechanism, counts, settled.source)
