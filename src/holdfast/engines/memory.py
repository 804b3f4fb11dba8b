"""The paper's framework in its five steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.constructors import Construction
from holdfast.engines.stages import Stages, check_parameters
from holdfast.ledger.request import TableDigest
from holdfast.ledger.spending import Run, find_account, pay_and_draw
from holdfast.mechanism.sampling import draw
from holdfast.privatizers import Privatizer
from holdfast.privatizers.private_quantile import PrivateQuantile
from holdfast.release.bundle import load
from holdfast.release.release import Release, ReleaseFacts
from holdfast.tables.copies import refuse_copies
from holdfast.tables.histogram import histogram_of_counts, top_code
from holdfast.tables.table import CountTable, read_table


def privatize(
    table: Any,
    *,
    epsilon: Any,
    max_count: int | PrivateQuantile,
    count: str | None = None,
    category: str | None = None,
    structural_zero: str | Sequence[Any] | None = None,
    contributions: int = 1,
    privatizer: Privatizer | None = None,
    constructor: Callable[..., Construction] | None = None,
    split: Any = None,
    seed: int | None = None,
    ledger: Any = None,
    dataset: str | None = None,
) -> Release:
    """A private table of counts whose distribution of counts holds fast.

    The promise: whoever sees the release learns almost the same whether or not one person
    is counted, for people who add at most `contributions` to one row. N (the number of
    rows), a given `max_count`, the structural zeros and all other columns are public: those
    columns are published as they are.

    Parameters:
        table: 1-D array-like of counts; a pandas, polars or pyarrow table or a DuckDB
            relation; or the path of a CSV or Parquet file.
        epsilon: The whole budget: int, float, str, Decimal or Fraction; kept exact.
        max_count: The highest count that is published; higher ones are top-coded. Choose it
            without looking at the data, or let `PrivateQuantile(0.99)` find it for a part of
            the budget.
        count: Name of the count column, when `table` has columns.
        category: Name of the category column; only to check it and to find structural zeros.
        structural_zero: Rows publicly known to be zero: a column's name, a boolean mask, or
            a list of categories. They pass through and do not count towards N.
        contributions: How much one person may add to one row, at the most.
        privatizer: Stage 1; default `CumulativeSmooth()`.
        constructor: Stage 2; default `Optimal()`, the least error. A
            baseline that needs no distribution gets the whole budget, unless `privatizer` or
            `split` is given. A function of (target, *, epsilon) will do.
        split: Stage 1's share of the budget; default our rule, from epsilon, N and
            max_count; "paper" is the paper's rule of thumb.
        seed: Makes the run a simulation, and the release says so. Leave it out for real data.
        ledger: A `Ledger` or its path: the run is paid from it before anything is drawn, and
            one that was made before is shown again instead. Goes with `dataset`.
        dataset: The name in the ledger under which all releases of these data are counted.

    >>> release = privatize([0, 0, 3, 1, 0, 7], epsilon="1.0", max_count=10, seed=1)
    >>> len(release.counts), release.privacy.simulated
    (6, True)
    """
    parameters = check_parameters(
        epsilon=epsilon,
        max_count=max_count,
        contributions=contributions,
        privatizer=privatizer,
        constructor=constructor,
        split=split,
        seed=seed,
    )
    account = find_account(ledger, dataset)
    rows = read_table(table, count=count, category=category, structural_zero=structural_zero)
    refuse_copies(rows)
    zeros = int(rows.structural_zero.sum())
    stages = parameters.for_rows(len(rows.counts) - zeros)
    return pay_and_draw(InMemory(rows=rows, stages=stages), stages.request(zeros), account)


def five_steps(rows: CountTable, stages: Stages) -> Release:
    """From a checked table to a release: everything that is drawn is drawn in here."""
    open_rows = ~rows.structural_zero
    counts = rows.counts[open_rows]
    histogram = histogram_of_counts(counts, stages.highest)  # step 1: the distribution of counts
    staged = stages(histogram)  # steps 2 and 3: z, and from z alone T
    counts = top_code(counts, staged.top)
    released = np.zeros(len(rows.counts), dtype=np.int64)
    released[open_rows] = draw(staged.construction.mechanism, counts, stages.source)  # step 4
    facts = staged.facts(histogram_of_counts(released[open_rows], staged.top))
    return Release(  # step 5: users ask the released table, or z and T
        counts=released,
        table=rows.replace(released),
        structural_zeros=int((~open_rows).sum()),
        structural_zero_rows=None if open_rows.all() else rows.structural_zero,
        count_column=rows.column,
        unchanged_columns=rows.others,
        **facts | {"notes": (*rows.notes, *facts["notes"])},
    )


@dataclass(frozen=True, kw_only=True)
class InMemory(Run[Release]):
    """The five steps, as a ledger sees them."""

    rows: CountTable
    stages: Stages

    def draw(self, *, store: Path | None = None, notes: tuple[str, ...] = ()) -> Release:
        """All five steps; the counts alone are stored as well, where that is said."""
        release = five_steps(self.rows, self.stages)
        if store is not None:
            bare = replace(release, table=release.counts, count_column=None, unchanged_columns=())
            bare.save(store)
        return replace(release, notes=(*release.notes, *notes))

    def content(self, words: str) -> bytes:
        """The parameters, the counts, and whose they are."""
        digest = TableDigest()
        digest.add(self.rows.counts, self.rows.structural_zero)
        return digest.content(words, self.rows.digest())

    def show_again(self, folder: Path, check: Callable[[ReleaseFacts], None]) -> Release:
        """The stored counts in the table that was given."""
        stored = load(folder)
        check(stored)
        return replace(
            stored,
            table=self.rows.replace(stored.counts),
            count_column=self.rows.column,
            unchanged_columns=self.rows.others,
            repeated=True,
        )
