"""Plausible true tables: what other software can be run on, with Rubin's rules."""

from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.answers.laws import laws_of
from holdfast.arrays import Integers
from holdfast.errors import whole_number

if TYPE_CHECKING:
    from holdfast.release.release import Column, Release

SEED = 20_263  # public: everybody draws the same tables
MOST = 1000


def impute(release: "Release", times: int = 20) -> list[Any]:
    """Tables of the kind that came in, each with counts that may be the true ones.

    Counts of each row are drawn given its noisy count and the distribution of its group. They know
    nothing of other columns: a regression on them is weaker than it should be, and `regress` is
    not.
    """
    times = whole_number(times, "times", least=1, most=MOST)
    drawn = {column.name: _drawn(column, times) for column in release.columns}
    return [
        release._replace({name: tables[place] for name, tables in drawn.items()})
        for place in range(times)
    ]


def _drawn(column: "Column", times: int) -> Integers:
    """Drawn counts, of shape (times, rows): 0 where a row is known to be zero, -1 where missing."""
    generator = np.random.default_rng(SEED)
    tables = np.tile(np.where(column.missing, -1, 0), (times, 1)).astype(np.int64)
    rows = np.flatnonzero(column.measured)
    laws, kinds = laws_of(column, rows)
    order = np.argsort(kinds, kind="stable")
    alike = np.split(rows[order], np.flatnonzero(np.diff(kinds[order])) + 1)
    for law, some in zip(laws, alike, strict=len(rows) > 0):
        tables[:, some] = generator.choice(law.values, size=(times, len(some)), p=law.probabilities)
    return tables
