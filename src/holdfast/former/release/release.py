"""The release: what an analyst gets, and what can be asked of it."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from holdfast.former.release.facts import ReleaseFacts

if TYPE_CHECKING:
    from holdfast.former.analysis.answer import Answer
    from holdfast.former.analysis.asking import Answers
    from holdfast.former.analysis.categories import RowComparison, TopByGroup, TopRow
    from holdfast.former.analysis.changes import RowChanges
    from holdfast.former.analysis.derived.derive import Derived
    from holdfast.former.analysis.evidence import Evidence
    from holdfast.former.analysis.parts.part import Part
    from holdfast.former.analysis.plotting import Picture
    from holdfast.former.analysis.posterior import Posterior
    from holdfast.former.analysis.regression.result import Regression
    from holdfast.former.analysis.row_intervals import Intervals


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release(ReleaseFacts):
    """A private table of counts, the target and the mechanism behind it, and the promise.

    It holds nothing that depends on the true counts except through the two private stages.
    """

    counts: NDArray[np.int64]
    """The released counts, in row order; -1 where the count is missing."""
    cells: Any
    """The table as it came in or was read, its count column replaced."""

    @cached_property
    def table(self) -> Any:
        """The same kind of table as came in, its count column replaced; a data frame where that was
        a CSV file, of pandas, or else of polars."""
        from holdfast.former.analysis.frames import as_frame

        return as_frame(self.cells)

    @property
    def released_histogram(self) -> NDArray[np.int64]:
        """How many rows have each released count, structural zeros included."""
        counts = self.counts[self.counts >= 0]
        return np.bincount(counts, minlength=len(self.drawn_with)).astype(np.int64)

    @cached_property
    def known(self) -> "Release":
        """The rows whose count is not missing: what all answers are about."""
        from holdfast.former.tables.table import rows_of

        if self.missing_rows is None:
            return self
        left, zeros = ~self.missing_rows, self.structural_zero_rows
        return replace(
            self,
            counts=self.counts[left],
            cells=rows_of(self.cells, left),
            structural_zero_rows=None if zeros is None else zeros[left],
            missing_rows=None,
            groups=None if self.groups is None else self.groups.of_rows(left),
        )

    @cached_property
    def all_rows(self) -> "Part":
        """Every row, as a part: what many questions fit to all of them is fitted once."""
        from holdfast.former.analysis.parts.part import Part

        return Part(release=self, marks=np.ones(len(self.counts), dtype=bool))

    @cached_property
    def evidence(self) -> "Evidence":
        """What the two stages say of the true distribution, and how sure; see `analysis`."""
        from holdfast.former.analysis.long_ranges import find_evidence

        return find_evidence(self.known)

    @overload
    def ask(
        self,
        question: "str | Callable[..., Any]",
        *,
        where: Any = None,
        by: None = None,
        against: "Release | None" = None,
        estimator: str = "best",
        level: float = 0.9,
        **options: Any,
    ) -> "Answer": ...

    @overload
    def ask(
        self,
        question: "str | Callable[..., Any]",
        *,
        where: Any = None,
        by: Any,
        against: "Release | None" = None,
        level: float = 0.9,
        **options: Any,
    ) -> "Answers": ...

    def ask(
        self,
        question: "str | Callable[..., Any]",
        *,
        where: Any = None,
        by: Any = None,
        against: "Release | None" = None,
        estimator: str = "best",
        level: float = 0.9,
        **options: Any,
    ) -> "Answer | Answers":
        """A question about the counts of all rows or of some, answered with honest uncertainty.

        Returns an `Answer`; with `by` an `Answers`, one for each group.

        Parameters:
            question: "share" with one of equal, at_least, at_most, between=(a, b); "mean";
                "total"; "quantile" with at; "median"; "variance"; "gini"; or a function of the
                distribution, which it gets as an array of shares.
            where: Which rows: a condition on published columns such as "state == AL and
                population < 5000"; a mask, series or polars expression; a function of the
                table; labels or row numbers. They may be chosen by anything public,
                however unlike the rest of the table; not by their released counts.
            by: A published column, or one value per row: an answer for each group.
            against: An earlier release of the same table, drawn by itself: the answer is the
                change since then. Groups are joined by their names.
            estimator: "best" combines both stages; it mostly has the least error, and not always
                (docs/uncertainty.md). "released" is what others compute from the released table;
                "target" is z.
            level: Of the interval, which covers the truth with this probability over the noise
                of both stages.

        >>> from holdfast import privatize
        >>> release = privatize([0] * 600 + [1] * 300 + [5] * 100, epsilon=1, max_count=9, seed=1)
        >>> answer = release.ask("share", at_least=1)
        >>> answer.interval[0] < 0.4 < answer.interval[1]
        True
        """
        from holdfast.former.analysis.questions import ask

        how = {"estimator": estimator, "level": level, "where": where, "by": by}
        if against is not None:
            from holdfast.former.analysis.changes import ask_change

            return ask_change(self, against, question, **how, **options)
        return ask(self, question, **how, **options)

    def changes(
        self,
        earlier: "Release",
        rows: Sequence[Any] | None = None,
        *,
        label: str | None = None,
        level: float = 0.9,
    ) -> "RowChanges":
        """For every row, or for these, what this release and an earlier one of the same table say
        of its change. Rows are joined by their label, and those without a partner are listed."""
        from holdfast.former.analysis.changes import row_changes

        return row_changes(self, earlier, label=label, rows=rows, level=level)

    def posterior(self, count: int, *, group: str | None = None) -> "Posterior":
        """What a released count says about the true one, with z as the prior; in a release by
        group, of the group with this name.

        >>> from holdfast import privatize
        >>> release = privatize([0, 1, 2, 0] * 50, epsilon=2, max_count=3, seed=1)
        >>> posterior = release.posterior(0)
        >>> posterior.probabilities.sum().round(12), posterior.interval(0.9)
        (np.float64(1.0), (0, 1))
        """
        from holdfast.former.analysis.posterior import group_number, posterior

        return posterior(self.known, count, group_number(self, group))

    def intervals(self, level: float = 0.9, *, every: bool | None = None) -> "Intervals":
        """For every row, what its released count says about its true one.

        Right on average over the rows; with `every`, wider and right for rows of each true count,
        however rare, whatever the distribution is. Left open, the former, and the latter where
        the rows are too few for the distribution to be known.
        """
        from holdfast.former.analysis.row_intervals import intervals

        return intervals(self.known, level, every)

    def top(
        self,
        k: int = 10,
        *,
        where: Any = None,
        by: Any = None,
        label: str | None = None,
        level: float = 0.9,
    ) -> "tuple[TopRow, ...] | TopByGroup":
        """The rows most likely to be among the k highest, with the probability that they are; of
        all, of those that `where` chooses, or of each group of a column (`by`).

        `tied` says how many others are as likely as the last one: rows at the highest count, which
        stands for all above it, are, and their order means nothing.
        """
        from holdfast.former.analysis.categories import top, top_by_group
        from holdfast.former.analysis.selection import chosen_rows

        inside = self.counts >= 0  # the others are missing
        if where is not None:
            inside = inside & chosen_rows(self, where, label)
        if by is not None:
            return top_by_group(self, k, by, label=label, level=level, inside=inside)
        return top(self, k, label=label, level=level, inside=np.flatnonzero(inside))

    def row(self, row: Any, *, label: str | None = None, level: float = 0.9) -> "Answer":
        """What one row, by label or by number from 0, may truly have: what to expect, and an
        interval, the same as in `intervals` and in intervals.csv.

        >>> from holdfast import privatize
        >>> release = privatize([0, 1, 2, 0] * 50, epsilon=2, max_count=3, seed=1)
        >>> release.row(0).interval
        (0.0, 1.0)
        """
        from holdfast.former.analysis.one_row import ask_row

        return ask_row(self, row, label=label, level=level)

    def compare(
        self, first: Any, second: Any, *, label: str | None = None, level: float = 0.9
    ) -> "RowComparison":
        """Which of two rows truly has more; rows by label, or by number from 0."""
        from holdfast.former.analysis.categories import compare

        return compare(self, first, second, label=label, level=level)

    def total_of(
        self,
        group: Sequence[Any],
        *,
        label: str | None = None,
        level: float = 0.9,
    ) -> "Answer":
        """The true total of a group of rows: labels, row numbers, a mask, or any other `where`."""
        return self.ask("total", where=group, label=label, level=level)

    def regress(self, formula: str, *, family: str = "poisson", where: Any = None) -> "Regression":
        """A regression with the count as outcome or as regressor, which the noise does not bend.

        Parameters:
            formula: Such as "homicides ~ log(population) + state"; `offset(log(population))`,
                products `a:b` and `- 1` as usual.
            family: "poisson", "negative binomial" or "gaussian" (least squares).
            where: Which rows, as in `ask`.

        As outcome the count enters by the likelihood of the released one through the mechanism; as
        a regressor by its expected true value.
        """
        from holdfast.former.analysis.regression.regress import regress

        return regress(self, formula, family=family, where=where)

    def derive(self, formula: str, *, level: float = 0.9) -> "Derived":
        """A rate of every row with a public number, such as "rate = homicides per 100,000 of
        population", with intervals; `.ask(by="state")` gives it of groups. Spends nothing."""
        from holdfast.former.analysis.derived.derive import derive

        return derive({self.count_column or "count": self}, formula, level)

    def merge(self, table: Any, on: str | Sequence[str]) -> "Release":
        """This release with the other columns of a table of your own, a data frame or a file, where
        the columns `on` have the same labels: for `where`, `by`, `regress` and `impute`. Rows that
        the table does not have stay, with empty cells. What is merged must be public, or known to
        you anyway; nothing is spent.
        """
        from holdfast.former.analysis.merging import merge

        return merge(self, table, on)

    def impute(self, times: int = 20, *, given: Sequence[str] = ()) -> list[Any]:
        """Plausible true tables, for analyses that no method here does: do yours on each, and
        put the results together with `holdfast.combine`.

        `given` names the published columns that your analysis sets against the counts: what is not
        named there is taken to say nothing of a row, and relations with it are weakened.
        """
        from holdfast.former.analysis.imputation import impute
        from holdfast.former.tables.table import with_counts

        found = impute(self, times, given)
        return [with_counts(self.table, self.count_column, counts) for counts in found]

    def to_pandas(self, *, intervals: bool = False, level: float = 0.9) -> Any:
        """The table as a pandas data frame; texts stay texts. With `intervals`, columns for what
        each released count says of the true one.

        They may leave out the released count itself: few rows have that many, so it was more
        probably drawn for a row that has another. It is the interval that tells of the row.
        """
        from holdfast.former.analysis.frames import as_columns, pandas

        return pandas().DataFrame(as_columns(self, intervals, level))

    def to_polars(self, *, intervals: bool = False, level: float = 0.9) -> Any:
        """The same as a polars data frame."""
        from holdfast.former.analysis.frames import as_columns, polars

        return polars().DataFrame(as_columns(self, intervals, level))

    def plot(
        self,
        *,
        row: Any = None,
        groups: bool = False,
        label: str | None = None,
        level: float = 0.9,
    ) -> "Picture":
        """A picture, which a notebook shows and `save` writes: the distribution with its intervals;
        with `groups` that of each; or with `row`, by label or number, what it may truly have."""
        from holdfast.former.analysis.plotting import plot

        return plot(self, row, groups, label, level)

    def _repr_html_(self) -> str:
        from holdfast.former.analysis.markup import release_html

        return release_html(self)

    def save(self, directory: str | os.PathLike[str], *, table_format: str = "csv") -> Path:
        """Write the bundle as a new folder, all of it or nothing; see `holdfast.release.bundle`."""
        from holdfast.former.release.bundle import save

        return save(self, directory, table_format)

    def to_excel(self, path: str | os.PathLike[str], *, level: float = 0.9) -> None:
        """Write an Excel workbook for people: the table with its intervals, the distribution,
        answers. A copy: the bundle that `save` writes is what can be verified."""
        from holdfast.former.analysis.report.workbook import workbook
        from holdfast.former.release.bundle import write_new

        write_new(path, workbook(self, level))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StreamedRelease(ReleaseFacts):
    """A release whose table went from one place to another without ever being in memory."""

    histogram: NDArray[np.int64]
    """How many rows have each released count, structural zeros included."""
    folder: Path
    """The bundle."""

    @property
    def released_histogram(self) -> NDArray[np.int64]:
        """How many rows have each released count, structural zeros included."""
        return self.histogram

    def load(self) -> Release:
        """The release with its whole table in memory."""
        from holdfast.former.release.bundle import load

        return load(self.folder)
