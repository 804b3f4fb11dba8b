"""Plausible true tables: what other software can be run on, with Rubin's rules."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.answers.laws import laws_of
from holdfast.arrays import Integers
from holdfast.errors import whole_number
from holdfast.release.frames import as_table
from holdfast.tables.csv import CsvTable

if TYPE_CHECKING:
    from holdfast.release.release import Column, Release

SEED = 20_263  # public: everybody draws the same tables
MOST = 1000
FADED = (
    "imputed counts are for their distribution in all rows and in declared groups. Their relations "
    "to other columns fade: ask('correlation') and regress are for these."
)


def impute(release: "Release", times: int = 20) -> list[Any]:
    """Tables of the kind that came in, or pandas frames where a file did, each with counts that may
    be the true ones.

    Counts of each row are drawn given its noisy count and the distribution of its group: they are
    for the distribution of a count, of all rows and of declared groups. They know nothing of other
    columns. Relations to these are weaker in them than in truth, whatever is done with Rubin's
    rules: `ask("correlation")` and `regress` are for relations.
    """
    times = whole_number(times, "times", least=1, most=MOST)
    warnings.warn(FADED, stacklevel=3)
    drawn = {column.name: _drawn(column, times) for column in release.columns}
    return [
        _table(release, {name: tables[place] for name, tables in drawn.items()})
        for place in range(times)
    ]


def _table(release: "Release", counts: dict[str | None, Integers]) -> Any:
    table = release._replace(counts)
    if not isinstance(table, CsvTable):
        return table
    return as_table(release.cells, {c.title: counts[c.name] for c in release.columns})


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
