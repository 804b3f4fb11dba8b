"""A table with three counts that go together."""

import numpy as np

from holdfast.former.tables.csv import CsvTable

NAMES = ("a", "b", "c")
TOPS = {"a": 6, "b": 9, "c": 7}


def three_counts(rows=300, seed=0):
    """Rows of a group each, whose counts grow with one another."""
    rng = np.random.default_rng(seed)
    level = rng.gamma(1.0, 1.5, rows)
    counts = [
        np.minimum(rng.poisson(level * k), TOPS[n]) for k, n in zip((1, 2, 1.5), NAMES, strict=True)
    ]
    cells = zip(range(rows), np.arange(rows) % 2, *counts, strict=True)
    lines = [[f"r{i}", "xy"[g], str(a), str(b), str(c)] for i, g, a, b, c in cells]
    return CsvTable(("name", "group", *NAMES), lines)
