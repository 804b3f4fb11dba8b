"""The release: what an analyst gets."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.mechanism.grouped import GroupedMechanism
from holdfast.mechanism.mechanism import Mechanism
from holdfast.privacy.budget import Budget
from holdfast.privacy.delta import promise_in_words
from holdfast.privatizers.max_count import FoundMaxCount
from holdfast.privatizers.totals import Totals
from holdfast.release.groups import Groups
from holdfast.release.usefulness import expected_change

if TYPE_CHECKING:
    from holdfast.analysis.answer import Answer
    from holdfast.analysis.asking import Answers
    from holdfast.analysis.categories import RowComparison, TopRow
    from holdfast.analysis.changes import RowChanges
    from holdfast.analysis.derived.derive import Derived
    from holdfast.analysis.evidence import Evidence
    from holdfast.analysis.plotting import Picture
    from holdfast.analysis.posterior import Posterior
    from holdfast.analysis.regression.result import Regression
    from holdfast.analysis.row_intervals import Intervals

SCHEMA = 3
SCHEMA_WITH_GROUPS = 4  # or totals
SCHEMA_OF_SEVERAL = 5  # several counts, several rows of a person, or another unit than a person
NEIGHBOURS = (
    "Two tables are neighbours when one person is added to or removed from one of them: "
    "one row changes, by at most `contributions`. The number of rows and their order, "
    "max_count, the structural zeros, which counts are missing, and the columns published beside "
    "the counts are public and published unchanged."
)
FOUND = " max_count was found from the data, privately, for its own part of epsilon."


def neighbours(budget: Budget) -> str:
    """Which tables a promise compares."""
    words = NEIGHBOURS.replace("one person", f"one {budget.unit}", 1)
    if budget.rows > 1:
        words = words.replace(
            "one row changes, by", f"at most {budget.rows} rows change, each by", 1
        )
    return words.replace("max_count, the", "the", 1) + FOUND if budget.quantile else words


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("holdfast")


@dataclass(frozen=True, kw_only=True)
class Privacy:
    """What a release promises, and what was certified from what was drawn."""

    budget: Budget
    """Promised: epsilon and its exact split."""
    stage_1_certified: Fraction
    """From OpenDP's privacy map, for one person."""
    stage_2_certified: Fraction
    """From the integer weights that were sampled, for one person."""
    stage_1_certified_by: str = "OpenDP's map"
    """Who vouches for stage 1."""
    quantile_certified: Fraction = Fraction(0)
    """From OpenDP's privacy map, for one person: what finding max_count took."""
    totals_certified: Fraction = Fraction(0)
    """From OpenDP's privacy map, for one person: what measuring totals took."""
    delta: Fraction = Fraction(0)
    """The chance that epsilon fails for one person, at the most; 0 is pure epsilon."""
    simulated: bool
    """Whether a seed was used: then the release protects nobody."""

    @property
    def epsilon(self) -> Fraction:
        """Promised to one person, in all."""
        return self.budget.epsilon

    @property
    def certified_epsilon(self) -> Fraction:
        """Certified for one person, in all; at most `epsilon`."""
        stages = self.stage_1_certified + self.stage_2_certified
        return self.quantile_certified + self.totals_certified + stages

    @property
    def promise(self) -> str:
        """The promise in one line; with a delta it never reads as pure epsilon."""
        return promise_in_words(self.epsilon, self.delta)

    @property
    def neighbours(self) -> str:
        """Which tables the promise compares."""
        return neighbours(self.budget)

    @property
    def randomness(self) -> str:
        """Where the randomness came from."""
        return "a seed (simulation: protects nobody)" if self.simulated else "operating system"

    def __post_init__(self) -> None:
        parts = (
            (self.quantile_certified, self.budget.quantile),
            (self.totals_certified, self.budget.totals),
            (self.stage_1_certified, self.budget.stage_1),
            (self.stage_2_certified, self.budget.stage_2),
        )
        if any(not 0 <= certified <= given for certified, given in parts):
            raise HoldfastError("a stage was certified for more than it was given.")
        if not 0 <= self.delta < 1:
            raise HoldfastError("`delta` must be 0 or more and below 1.")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; exact numbers as fractions in text."""
        more: dict[str, Any] = {}
        if self.budget.totals:
            more = {
                "totals": str(self.budget.totals),
                "totals_certified": str(self.totals_certified),
            }
        if not self.usual_persons:
            more |= {"person_rows": self.budget.rows, "unit": self.budget.unit}
        return more | {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "bound": str(self.budget.quantile),
            "stage_1": str(self.budget.stage_1),
            "stage_2": str(self.budget.stage_2),
            "contributions": self.budget.contributions,
            "steps": self.budget.steps,
            "bound_certified": str(self.quantile_certified),
            "stage_1_certified": str(self.stage_1_certified),
            "stage_1_certified_by": self.stage_1_certified_by,
            "stage_2_certified": str(self.stage_2_certified),
            "certified_epsilon_decimal": f"{float(self.certified_epsilon):.12g}",
            "promise": self.promise,
            "neighbours": self.neighbours,
            "randomness": self.randomness,
            "simulated": self.simulated,
        }

    @property
    def usual_persons(self) -> bool:
        """Whether the promise is to a person, who is in one row at the most."""
        return self.budget.rows == 1 and self.budget.unit == "person"

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "Privacy":
        """The inverse of `to_dict`."""
        budget = Budget(
            epsilon=Fraction(record["epsilon"]),
            quantile=Fraction(record.get("bound", 0)),
            totals=Fraction(record.get("totals", 0)),
            stage_1=Fraction(record["stage_1"]),
            stage_2=Fraction(record["stage_2"]),
            contributions=int(record["contributions"]),
            steps=int(record["steps"]),
            rows=int(record.get("person_rows", 1)),
            unit=str(record.get("unit", "person")),
        )
        return Privacy(
            budget=budget,
            stage_1_certified=Fraction(record["stage_1_certified"]),
            stage_1_certified_by=str(record["stage_1_certified_by"]),
            stage_2_certified=Fraction(record["stage_2_certified"]),
            quantile_certified=Fraction(record.get("bound_certified", 0)),
            totals_certified=Fraction(record.get("totals_certified", 0)),
            delta=Fraction(record.get("delta", 0)),
            simulated=bool(record["simulated"]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseFacts:
    """All of a release but its rows: the target, the mechanism behind it, and the promise."""

    target: NDArray[np.float64] = field(repr=False)
    """z, the private distribution of counts; where one stage had all of the budget, the
    distribution of the released counts. With groups, the mean of theirs by their rows."""
    drawn_with: Mechanism | GroupedMechanism
    """The certified mechanism that every count went through, or one for each group."""
    privacy: Privacy = field(repr=False)
    """Promised and certified."""
    rows: int
    """N: rows that went through the mechanism."""
    structural_zeros: int
    """Rows that are publicly known to be zero."""
    methods: tuple[str, ...]
    """Stage 1, stage 2."""
    structural_zero_rows: NDArray[np.bool_] | None = field(default=None, repr=False)
    """Which rows those zeros are, in row order; None where there are none or it is not told."""
    missing_rows: NDArray[np.bool_] | None = field(default=None, repr=False)
    """Which rows have no count, because it is not known; None where there are none. Public."""
    missing: int | None = field(default=None, repr=False)
    """How many those are, where there may be too many rows to tell which."""
    measurement: NDArray[np.int64] | None = field(default=None, repr=False)
    """The noisy integers that stage 1 measured and made z from; None where it does not say."""
    count_column: str | None = None
    """Name of the count column; None for a plain array."""
    unchanged_columns: tuple[str, ...] = ()
    """Names of the other columns: published as they were."""
    other_counts: tuple[str, ...] = ()
    """Names of the other columns of counts, in a release of several."""
    given: tuple[str, ...] = ()
    """Those of them that were drawn before it, and its relation to which is kept."""
    later: tuple[str, ...] = ()
    """Those of them that were drawn after it, given its released counts."""
    category: str | None = None
    """Which of those says whose a row is; None where none was named as the category."""
    max_count_found: FoundMaxCount | None = None
    """How `max_count` was found; None where it was given."""
    groups: Groups | None = field(default=None, repr=False)
    """The groups within which the distribution holds, by name; None where there are none."""
    totals: Totals | None = field(default=None, repr=False)
    """The totals of the true counts, not capped; None where they were not measured."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    repeated: bool = False
    """Whether it was shown again from a ledger: then nothing was drawn or spent."""
    receipt: str | None = field(default=None, repr=False)
    """By what a ledger knows the spend that paid for it; None where no ledger was named."""
    made_with: str = field(default_factory=lambda: _version(), repr=False)
    """The version of holdfast that drew it."""

    @property
    def mechanism(self) -> Mechanism:
        """The certified mechanism that every count went through, where there is one for all."""
        if isinstance(self.drawn_with, GroupedMechanism):
            raise HoldfastError(
                "each group of this release has a mechanism of its own. "
                "Hint: release.groups[name].mechanism."
            )
        return self.drawn_with

    @property
    def released_histogram(self) -> NDArray[np.int64]:
        """How many rows have each released count, structural zeros included."""
        raise NotImplementedError

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The distribution of the released counts, without the structural zeros."""
        histogram = self.released_histogram.astype(np.float64)
        histogram[0] -= self.structural_zeros
        return histogram / self.rows

    @property
    def expected_change(self) -> float | None:
        """How far a released count is from the true one, capped at max_count, on average, by the
        mechanism and z."""
        if isinstance(self.drawn_with, GroupedMechanism) and self.groups is not None:
            return float(self.groups.sizes @ self.drawn_with.count_errors() / self.rows)
        return expected_change(self.mechanism, self.target)

    @property
    def gaps(self) -> int:
        """How many rows have no count, because it is not known."""
        marks = self.missing_rows
        return (self.missing or 0) if marks is None else int(marks.sum())

    def summary(self) -> dict[str, Any]:
        """What was done and promised, as plain values."""
        return {
            "schema": self._schema,
            "holdfast": self.made_with,
            "privacy": self.privacy.to_dict(),
            "rows": self.rows,
            "structural_zeros": self.structural_zeros,
            **({"missing": self.gaps} if self.gaps else {}),
            **self._groups_and_totals(),
            "max_count": self.drawn_with.max_count,
            "max_count_found": None
            if self.max_count_found is None
            else self.max_count_found.to_dict(),
            "methods": list(self.methods),
            "count_column": self.count_column,
            "unchanged_columns": list(self.unchanged_columns),
            **self._several(),
            **({} if self.category is None else {"category": self.category}),
            "expected_change_of_a_count": self.expected_change,
            "mechanism_digest": self.drawn_with.digest,
            "mechanism_delta": str(self.drawn_with.delta),
            "notes": list(self.notes),
            **({} if self.receipt is None else {"receipt": self.receipt}),
        }

    @property
    def _schema(self) -> int:
        if self.other_counts or not self.privacy.usual_persons:
            return SCHEMA_OF_SEVERAL
        return SCHEMA_WITH_GROUPS if self.groups or self.totals else SCHEMA

    def _several(self) -> dict[str, Any]:
        if not self.other_counts:
            return {}
        return {
            "other_counts": list(self.other_counts),
            "given": list(self.given),
            "later": list(self.later),
        }

    def _groups_and_totals(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.groups is not None:
            found["within"] = self.groups.within.to_dict() | {"groups": len(self.groups)}
        if self.totals is not None:
            whole = self.totals.whole
            alone = self.totals.measured[0] if self.groups is None else self.totals.measured_whole
            found["totals"] = {
                "total": whole.value,
                "low": whole.low,
                "high": whole.high,
                "level": str(whole.level),
                "measured": alone,
            }
        return found

    def __repr__(self) -> str:
        warning = "SIMULATION, protects nobody; " if self.privacy.simulated else ""
        return (
            f"{type(self).__name__}({warning}{self.rows} rows, counts 0 to "
            f"{len(self.target) - 1}, {self.privacy.promise} promised, "
            f"{float(self.privacy.certified_epsilon):.6g} certified)"
        )


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
        from holdfast.analysis.frames import as_frame

        return as_frame(self.cells)

    @property
    def released_histogram(self) -> NDArray[np.int64]:
        """How many rows have each released count, structural zeros included."""
        counts = self.counts[self.counts >= 0]
        return np.bincount(counts, minlength=len(self.drawn_with)).astype(np.int64)

    @cached_property
    def known(self) -> "Release":
        """The rows whose count is not missing: what all answers are about."""
        from holdfast.tables.table import rows_of

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
    def evidence(self) -> "Evidence":
        """What the two stages say of the true distribution, and how sure; see `analysis`."""
        from holdfast.analysis.long_ranges import find_evidence

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
                table; labels or row numbers. They may be chosen by anything public, and be
                as unlike the table as they will; not by their released counts.
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
        from holdfast.analysis.questions import ask

        how = {"estimator": estimator, "level": level, "where": where, "by": by}
        if against is not None:
            from holdfast.analysis.changes import ask_change

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
        of its change. Rows are joined by their label, and those without a partner are said."""
        from holdfast.analysis.changes import row_changes

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
        from holdfast.analysis.posterior import group_number, posterior

        return posterior(self.known, count, group_number(self, group))

    def intervals(self, level: float = 0.9, *, every: bool | None = None) -> "Intervals":
        """For every row, what its released count says about its true one.

        Right on average over the rows; with `every`, wider and right for rows of each true count,
        however rare, whatever the distribution is. Left open, the former, and the latter where
        the rows are too few for the distribution to be known.
        """
        from holdfast.analysis.row_intervals import intervals

        return intervals(self.known, level, every)

    def top(
        self, k: int = 10, *, label: str | None = None, level: float = 0.9
    ) -> "tuple[TopRow, ...]":
        """The rows most likely to be among the k highest, with the probability that they are."""
        from holdfast.analysis.categories import top

        return top(self.known, k, label=label, level=level)

    def row(self, row: Any, *, label: str | None = None, level: float = 0.9) -> "Answer":
        """What one row, by label or by number from 0, may truly have: what to expect, and an
        interval, the same as in `intervals` and in intervals.csv.

        >>> from holdfast import privatize
        >>> release = privatize([0, 1, 2, 0] * 50, epsilon=2, max_count=3, seed=1)
        >>> release.row(0).interval
        (0.0, 1.0)
        """
        from holdfast.analysis.one_row import ask_row

        return ask_row(self, row, label=label, level=level)

    def compare(
        self, first: Any, second: Any, *, label: str | None = None, level: float = 0.9
    ) -> "RowComparison":
        """Which of two rows truly has more; rows by label, or by number from 0."""
        from holdfast.analysis.categories import compare

        return compare(self.known, first, second, label=label, level=level)

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
        from holdfast.analysis.regression.regress import regress

        return regress(self, formula, family=family, where=where)

    def derive(self, formula: str, *, level: float = 0.9) -> "Derived":
        """A rate of every row with a public number, such as "rate = homicides per 100,000 of
        population", with intervals; `.ask(by="state")` gives it of groups. Spends nothing."""
        from holdfast.analysis.derived.derive import derive

        return derive({self.count_column or "count": self}, formula, level)

    def impute(self, times: int = 20, *, given: Sequence[str] = ()) -> list[Any]:
        """Plausible true tables, for analyses that no method here does: do yours on each, and
        put the results together with `holdfast.combine`.

        `given` names the published columns that your analysis sets against the counts: what is not
        named there is taken to say nothing of a row, and relations with it are weakened.
        """
        from holdfast.analysis.imputation import impute
        from holdfast.tables.table import with_counts

        found = impute(self, times, given)
        return [with_counts(self.table, self.count_column, counts) for counts in found]

    def to_pandas(self, *, intervals: bool = False, level: float = 0.9) -> Any:
        """The table as a pandas data frame; texts stay texts. With `intervals`, columns for what
        each released count says of the true one.

        They may leave out the released count itself: few rows have that many, so it was more
        probably drawn for a row that has another. It is the interval that tells of the row.
        """
        from holdfast.analysis.frames import as_columns, pandas

        return pandas().DataFrame(as_columns(self, intervals, level))

    def to_polars(self, *, intervals: bool = False, level: float = 0.9) -> Any:
        """The same as a polars data frame."""
        from holdfast.analysis.frames import as_columns, polars

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
        from holdfast.analysis.plotting import plot

        return plot(self, row, groups, label, level)

    def _repr_html_(self) -> str:
        from holdfast.analysis.notebook import release_html

        return release_html(self)

    def save(self, directory: str | os.PathLike[str], *, table_format: str = "csv") -> Path:
        """Write the bundle as a new folder, all of it or nothing; see `holdfast.release.bundle`."""
        from holdfast.release.bundle import save

        return save(self, directory, table_format)

    def to_excel(self, path: str | os.PathLike[str], *, level: float = 0.9) -> None:
        """Write an Excel workbook for people: the table with its intervals, the distribution,
        answers. A copy: the bundle that `save` writes is what can be verified."""
        from holdfast.analysis.report.workbook import workbook

        data = workbook(self, level)
        try:
            with open(path, "xb") as file:
                file.write(data)
        except OSError as error:
            raise HoldfastError(f"`{path}` cannot be written: {error.strerror}.") from None


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
        from holdfast.release.bundle import load

        return load(self.folder)
