"""Small releases that the tests of the analysis share."""

import numpy as np

import holdfast
from holdfast.constructors import Heuristic

HISTOGRAM = (420, 180, 90, 40, 30, 20, 12, 8)
COUNTS = np.repeat(np.arange(8), HISTOGRAM)
SHARES = np.array(HISTOGRAM) / sum(HISTOGRAM)


def released(seed=1, epsilon="1.5", counts=COUNTS, **options):
    options = {"constructor": Heuristic(selector="sandwich"), "max_count": 7} | options
    options = {"publish_anyway": ["row order"]} | options  # counts that rise row by row
    return holdfast.privatize(counts, epsilon=epsilon, seed=seed, **options)


def named(counts=(3, 0, 1, 7, 0, 2), seed=1, **options):
    names = [f"place {i}" for i in range(len(counts))]
    table = holdfast.tables.csv.CsvTable(
        ("place", "n"), [[name, str(count)] for name, count in zip(names, counts, strict=True)]
    )
    return released(seed=seed, counts=table, count="n", category="place", **options)
