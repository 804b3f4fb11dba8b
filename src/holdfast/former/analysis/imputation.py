"""Plausible true tables, drawn from what the released counts and public columns say."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.analysis.parts.graded import Graded, classes_of
from holdfast.former.analysis.parts.measured import Measured, measured_group, measured_whole
from holdfast.former.analysis.parts.part import members_of
from holdfast.former.analysis.posterior import prior
from holdfast.former.analysis.regression.formula import Factor, Formula, design
from holdfast.former.analysis.row_laws import LongLaws, by_columns, shape_of
from holdfast.former.analysis.selection import published
from holdfast.former.analysis.stage_one import SEED
from holdfast.former.release.row_marks import row_kinds

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


@dataclass(frozen=True, kw_only=True, eq=False)
class Imputer:
    """Draws true counts of rows, each from its law given its released count and its index."""

    graded: Graded = field(repr=False)
    classes: Integers = field(repr=False)
    shown: Integers = field(repr=False)

    def draw(self, generator: np.random.Generator) -> Integers:
        """One table: first the parameters, then every row, so that both are uncertain."""
        parameters, covariance = self.graded.fit
        return self._rows(generator.multivariate_normal(parameters, covariance), generator)

    def expected(self) -> Floats:
        """Every row's expected true count."""
        laws = self.graded.laws(self.graded.fit[0])
        steps = np.arange(laws.shape[1])
        means = ((laws * steps) @ self.graded.matrix) / (laws @ self.graded.matrix)
        return np.asarray(means[self.classes, self.shown])

    def _rows(self, parameters: Floats, generator: np.random.Generator) -> Integers:
        laws, n = self.graded.laws(parameters), self.graded.matrix.shape[0]
        found = np.empty(len(self.shown), dtype=np.int64)
        cells, where = np.unique(self.classes * n + self.shown, return_inverse=True)
        order = np.argsort(where, kind="stable")
        ends = np.cumsum(np.bincount(where))
        for cell, rows in zip(cells, np.split(order, ends[:-1]), strict=True):
            joint = laws[cell // n] * self.graded.matrix[:, cell % n]
            sums = np.cumsum(joint)
            found[rows] = np.searchsorted(sums, generator.random(len(rows)) * sums[-1], "right")
        return np.asarray(np.minimum(found, n - 1), dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class LongImputer:
    """The same where counts run far: by z and the released count alone. Stage 2 moves counts so
    little there that what the index says beyond these does not matter."""

    release: "Release" = field(repr=False)
    group: int
    shown: Integers = field(repr=False)

    def draw(self, generator: np.random.Generator) -> Integers:
        """One table."""
        from holdfast.former.analysis.row_kernel import draw_from_columns

        before, mechanism = prior(self.release, self.group)
        uniform = generator.random(len(self.shown))
        drawn = draw_from_columns(*shape_of(mechanism), before, self.shown, uniform)
        return np.asarray(drawn)

    def expected(self) -> Floats:
        """Every row's expected true count."""
        seen, where = np.unique(self.shown, return_inverse=True)
        kinds = seen + self.group * (len(self.release.target) + 1)
        return LongLaws(self.release, kinds).summary(0.9).mean[where]


@dataclass(frozen=True, kw_only=True, eq=False)
class Imputers:
    """One for the rows of each mechanism."""

    size: int
    every: Sequence[tuple[Integers, Imputer | LongImputer]] = field(repr=False)
    """Which of the rows, and what draws them."""

    def draw(self, generator: np.random.Generator) -> Integers:
        """One table, in row order."""
        found = np.zeros(self.size, dtype=np.int64)
        for rows, one in self.every:
            found[rows] = one.draw(generator)
        return found

    def expected(self) -> Floats:
        """Every row's expected true count."""
        found = np.zeros(self.size)
        for rows, one in self.every:
            found[rows] = one.expected()
        return found


def imputers(release: "Release", index: Floats, rows: Integers) -> Imputers:
    """For these rows of a release, along an index that is public."""
    if by_columns(release):
        return _long_imputers(release, rows)
    if release.groups is None:
        every = np.arange(len(rows))
        one = _imputer(measured_whole(release), index, release.counts[rows])
        return Imputers(size=len(rows), every=[(every, one)])
    members, found = members_of(release)[rows], []
    for number in np.unique(members).tolist():
        chosen = np.flatnonzero(members == number)
        view, shown = measured_group(release, release.groups, number), release.counts[rows[chosen]]
        found.append((chosen, _imputer(view, index[chosen], shown)))
    return Imputers(size=len(rows), every=found)


def _long_imputers(release: "Release", rows: Integers) -> Imputers:
    members = np.zeros(len(rows), dtype=np.int64)
    if release.groups is not None:
        members = members_of(release)[rows]
    found = []
    for number in np.unique(members).tolist():
        chosen = np.flatnonzero(members == number)
        shown = release.counts[rows[chosen]]
        found.append((chosen, LongImputer(release=release, group=number, shown=shown)))
    return Imputers(size=len(rows), every=found)


def _imputer(view: Measured, index: Floats, shown: Integers) -> Imputer:
    classes, means = classes_of(index)
    seen = np.zeros((len(means), len(view.target)))
    np.add.at(seen, (classes, shown), 1.0)
    graded = Graded(seen=seen, matrix=view.matrix, prior=view.target, index=means)
    return Imputer(graded=graded, classes=classes, shown=shown)


def index_of(shown: Integers, matrix: Floats) -> Floats:
    """What the regressors say of the counts: the released counts' fit on them, on log's scale."""
    outcome = np.log1p(shown)
    return np.asarray(matrix @ np.linalg.lstsq(matrix, outcome, rcond=None)[0])


def impute(release: "Release", times: int, given: Sequence[str]) -> list[Integers]:
    """So many columns of plausible true counts, in row order; -1 where a count is missing.

    Rows publicly known to be zero stay 0.
    """
    whole = isinstance(times, int | np.integer) and not isinstance(times, bool)
    if not whole or not 1 <= times <= 1000:
        raise HoldfastError(f"`times` must be a whole number from 1 to 1000, got {times!r:.40}.")
    n = len(release.target)
    kinds = np.where(release.counts < 0, n, row_kinds(release) % (n + 1))
    drawn = np.flatnonzero(kinds < n)
    found = imputers(release, _given(release, given)[drawn], drawn)
    generator, tables = np.random.default_rng(SEED), []
    for _ in range(times):
        counts = np.where(release.counts < 0, -1, 0)
        counts[drawn] = found.draw(generator)
        tables.append(counts)
    return tables


def _given(release: "Release", given: Sequence[str]) -> Floats:
    """An index of the rows from public columns: as they are, on a log scale, or as names."""
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise HoldfastError(
            "`given` must be the names of published columns, as a list of texts, got "
            f"{type(given).__name__}. Hint: given=['population', 'state']; their values are in the "
            "release."
        )
    rows = len(release.counts)
    if not given:
        return np.zeros(rows)
    terms = tuple((Factor(name),) for name in given)
    found = design(
        Formula(Factor("count"), terms), lambda name: published(release, name, "given"), rows
    )
    if not found.used.all():
        raise HoldfastError("`given` has columns with empty cells. Hint: leave those columns out.")
    matrix = found.matrix
    logs = [np.log1p(column) for column in matrix.T[1:] if column.min() >= 0 and column.max() > 20]
    return index_of(np.maximum(release.counts, 0), np.column_stack([matrix, *logs]))
