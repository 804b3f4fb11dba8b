"""Small releases that the tests of the analysis share."""

from functools import cache

import numpy as np

import holdfast.former as holdfast
from holdfast.former.analysis import stage_one
from holdfast.former.constructors import Heuristic
from holdfast.former.privatizers import CumulativeIsotonic

HISTOGRAM = (420, 180, 90, 40, 30, 20, 12, 8)
COUNTS = np.repeat(np.arange(8), HISTOGRAM)
SHARES = np.array(HISTOGRAM) / sum(HISTOGRAM)


QUICK = {"privatizer": CumulativeIsotonic()}
"""Where stage 1 is not the subject: answers repeat it a hundred times."""


@cache
def usual(seed, repeats):
    """The usual release of a seed; what is asked of one test after another is made once, for each
    number of times that answers repeat stage 1."""
    return released(seed, counts=COUNTS)


def released(seed=1, epsilon="1.5", counts=None, **options):
    if counts is None and epsilon == "1.5" and not options:
        return usual(seed, stage_one.FITS)
    counts = COUNTS if counts is None else counts
    options = {"constructor": Heuristic(selector="sandwich"), "max_count": 7} | options
    options = {"publish_anyway": ["row order"]} | options  # counts that rise row by row
    return holdfast.privatize(counts, epsilon=epsilon, seed=seed, **options)


def named(counts=(3, 0, 1, 7, 0, 2), seed=1, **options):
    names = [f"place {i}" for i in range(len(counts))]
    table = holdfast.former.tables.csv.CsvTable(
        ("place", "n"), [[name, str(count)] for name, count in zip(names, counts, strict=True)]
    )
    return released(seed=seed, counts=table, count="n", category="place", **options)
