"""`holdfast.privatize`: a table in memory is read, paid for and drawn in five steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack, overload

from holdfast.arrays import Integers
from holdfast.former.constructors import Construction
from holdfast.former.engines.options import RepeatableOptions, sorted_options
from holdfast.former.engines.rehearsal import rehearse
from holdfast.former.engines.several import refuse_for_one
from holdfast.former.engines.several_memory import privatize_several
from holdfast.former.engines.stages import Stages, check_parameters
from holdfast.former.engines.steps import content_of, five_steps
from holdfast.former.ledger.corrections import Labels
from holdfast.former.ledger.periods import period_notes, read_period
from holdfast.former.ledger.recognition import Content
from holdfast.former.ledger.spending import Made, Run, find_account, pay_and_draw
from holdfast.former.privatizers import Privatizer
from holdfast.former.release.bundle import load
from holdfast.former.release.release import Release
from holdfast.former.release.several import TableRelease
from holdfast.former.tables.count_values import check_codes
from holdfast.former.tables.table import CountTable, read_table


@overload
def privatize(
    table: Any, *, count: str | None = None, **options: Unpack[RepeatableOptions]
) -> Release: ...
@overload
def privatize(
    table: Any, *, count: Sequence[str], **options: Unpack[RepeatableOptions]
) -> TableRelease: ...
def privatize(
    table: Any,
    *,
    epsilon: Any,
    max_count: Any,
    count: str | Sequence[str] | None = None,
    category: str | None = None,
    keep: Sequence[str] = (),
    publish_anyway: Sequence[str] = (),
    order_by: str | None = None,
    repeated_categories: bool = False,
    missing: Sequence[Any] = (),
    structural_zero: str | Sequence[Any] | None = None,
    contributions: Any = 1,
    privatizer: Privatizer | None = None,
    constructor: Callable[..., Construction] | None = None,
    split: Any = None,
    seed: int | None = None,
    ledger: Any = None,
    dataset: str | None = None,
    within: Any = None,
    totals: Any = None,
    subset: Any = None,
    rows: int = 1,
    unit: str = "person",
    joint: bool = False,
    person_in: str = "all columns",
    weights: Any = None,
    period: Any = None,
    corrects: Any = None,
) -> Release | TableRelease:
    """A private table of counts whose distribution of counts holds fast.

    The promise: whoever sees the release learns almost the same whether or not one person
    is counted, for people who add at most `contributions` to one row, or to each of `rows`. N (the
    number of rows), their order, a given `max_count`, the structural zeros, and the columns
    `category` and `keep` are public and published as they are. All other columns are withheld.

    Parameters:
        table: 1-D array-like of counts; a pandas, polars or pyarrow table or a DuckDB
            relation; or the path of a CSV, Parquet or Excel file.
        epsilon: The whole budget: int, float, str, Decimal or Fraction; kept exact.
        max_count: The highest count that is published, up to 1,000,000; higher ones are
            top-coded. Choose it generously, without looking at the data: too high a bound costs
            little. `PrivateQuantile(0.99)` finds one for a part of the budget; "auto" is the
            0.999 quantile, found up to 1,000,000.
            With several columns of counts one for all, a list, or a dictionary by column.
        count: Name of the count column, when `table` has columns; or a list of several, which are
            released together: one table, one payment, one promise. Returns a `Release`, and of
            several a `TableRelease`, whose columns are releases.
        category: Name of the category column, which is published.
        keep: Names of other columns to publish as they are. None of them may give the counts
            away, alone or together: what does is refused before anything is paid. What that
            check says comes from the true counts and is for the steward alone.
        publish_anyway: Columns that give the counts away and are published all the same;
            "row order" for rows that stand in the order of the counts, "totals" for rows that
            are totals of others, "same counts" where a ledger has released the same counts as
            those of another period.
        order_by: A published column in whose order the rows are released, ties in that of the
            category; default the order they have, which is published too.
        repeated_categories: Whether a category may have several rows.
        missing: Codes that mean that a count is not known, such as -999 or "". Such rows are
            published as missing and do not count towards N: that they are missing is public.
        structural_zero: Rows publicly known to be zero: a column's name, a boolean mask, or
            a list of categories. They pass through and do not count towards N.
        contributions: How much one person may add to one row, at the most; with several columns
            of counts one for all, a list, or a dictionary by column.
        privatizer: Stage 1; default `CumulativeSmooth()`, above a max_count of 1000
            `LongRange()`.
        constructor: Stage 2; default `Optimal()`, the least error. A
            baseline that needs no distribution gets the whole budget, unless `privatizer` or
            `split` is given. A function of (target, *, epsilon) will do.
        split: Stage 1's share of the budget; default our rule, from epsilon, N and
            max_count; "paper" is the paper's rule of thumb.
        seed: Makes the run a simulation, and the release says so. Leave it out for real data.
        ledger: A `Ledger` or its path: the run is paid from it before anything is drawn, and
            one that was made before is shown again instead. Goes with `dataset`.
        dataset: The name in the ledger under which all releases of these data are counted.
        within: Groups whose distribution holds each: a column's name, `holdfast.classes("age", 8)`
            for classes of a public number, or a list of them, crossed. Every group has the whole
            budget. These columns are public, and published as if they were in `keep`; rows
            without a label are a group of their own.
        totals: True to measure the totals of the table and of each group, not capped, for a tenth
            of the budget; or another share of it.
        rows: In how many rows one person may be, at the most.
        unit: Who is protected, in a word: person, household, establishment.
        joint: Whether the relation between several counts is kept: each is drawn given those
            before it in `count`, for a larger change of single counts (docs/joint.md).
        person_in: "all columns" where one person may be counted in several columns of a row, and
            epsilon is divided between them; "one column" where each row of a person is counted in
            one of them, and every column has all of epsilon.
        weights: By what epsilon is divided between columns; evenly by default.
        subset: Release only the rows with one label in a public column, such as
            {"state": "NE"}; that column is published too. A ledger charges releases of other
            labels of the column side by side: docs/ledger.md says when that is true.
        period: The time that the counts are of: 2026, "2026-Q1", "2026-07", "2025-09..2026-08".
            The release says so, and a ledger may have a limit for each period: docs/years.md.
        corrects: A release that this one corrects, or its folder. By giving it you vouch that
            every row is the one that stood in its place there, with a better label or more columns:
            then the same counts are shown again beside them, unpaid. Refused where the counts,
            their order or a parameter have changed.

    >>> release = privatize([0, 0, 3, 1, 0, 7], epsilon="1.0", max_count=10, seed=1)
    >>> len(release.counts), release.privacy.simulated
    (6, True)
    """
    names, options, shared, payer, told = sorted_options(locals())
    if count is not None and not isinstance(count, str):
        return privatize_several(table, count, names, options | shared, payer, told)
    refuse_for_one(**shared)
    parameters = check_parameters(**options)
    check_codes(missing, parameters.highest)
    account = find_account(**payer, source=table, column=count)
    found = read_table(table, count=count, within=parameters.within, **names).checked()
    span = read_period(period)
    found = replace(found, notes=(*period_notes(span), *found.notes))
    stages, members = parameters.for_table(int(found.drawn.sum()), found.groups)
    zeros = int(found.structural_zero.sum())
    run = InMemory(rows=found, stages=stages, members=members)
    request = stages.request(zeros, **told | found.for_ledger | {"period": span})
    return pay_and_draw(run, request, account)


@dataclass(frozen=True, kw_only=True)
class InMemory(Run[Release]):
    """The five steps, as a ledger sees them."""

    rows: CountTable
    stages: Stages
    members: Integers | None = None
    """The group of each row, -1 for one that is not drawn; None without groups."""

    def draw(
        self, *, store: Path | None = None, notes: tuple[str, ...] = (), receipt: str | None = None
    ) -> Release:
        """All five steps; the counts alone are stored as well, where that is said, with the
        columns that say which group a row is in."""
        release, _ = five_steps(self.rows, self.stages, self.members)
        release = replace(release, receipt=receipt)
        if store is not None:
            bare = replace(
                release,
                cells=release.counts,
                count_column=None,
                unchanged_columns=(),
                category=None,
            )
            if release.groups is not None:
                kept = set(release.groups.within.columns)
                columns = tuple(name for name in self.rows.others if name in kept)
                table = self.rows.replace(release.counts, only=kept)
                bare = replace(release, cells=table, unchanged_columns=columns, category=None)
            bare.save(store)
        return replace(release, notes=(*release.notes, *notes))

    def prepare(self) -> None:
        """Load what drawing needs."""
        rehearse(self.stages)

    def content(self, words: str) -> Content:
        """The parameters, the counts, and whose they are."""
        return content_of(self.rows, words, self.stages.groups, self.members)

    def labels(self) -> Labels | None:
        """The labels of the rows."""
        return self.rows.labels()

    def show_again(
        self, folder: Path, check: Callable[[Made], None], notes: tuple[str, ...] = ()
    ) -> Release:
        """The stored counts in the table that was given."""
        stored = load(folder)
        check(stored)
        return replace(
            stored,
            cells=self.rows.replace(stored.counts),
            count_column=self.rows.column,
            unchanged_columns=self.rows.others,
            category=self.rows.category,
            repeated=True,
            notes=(*stored.notes, *notes),
        )
