"""The questions that a release is asked: methods of `Release`, which `holdfast.answers` answers."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from holdfast.fit.histogram import LEVEL
from holdfast.request.questions import QUESTIONS

if TYPE_CHECKING:
    from holdfast.answers.answer import Answer
    from holdfast.answers.changes import RowChanges
    from holdfast.answers.coefficients import Regression
    from holdfast.answers.merging import MergedRelease
    from holdfast.answers.rows import RowComparison, TopByGroup, TopRows
    from holdfast.answers.sums import Derived
    from holdfast.release.release import Release


class Answering:
    """What can be asked of a release."""

    def ask(
        self, question: str | Callable[..., Any], *, of: Any = None, where: Any = None,
        by: Any = None, less: Any = None, against: "Release | None" = None,
        label: str | None = None, level: float = LEVEL, **options: Any,
    ) -> Any:  # fmt: skip
        """The answer to a question, with an interval; see docs/answers.md.

        Parameters:
            question: A name: {questions}; of two columns correlation, slope, intercept, both,
                ratio. Or as it is typed on the command line, such as "share zero", "top 10",
                "mean Wake". Or a function of (counts, rows with each).
            of: The column of counts, where there are several; two for a question about two.
            where: Which rows: a condition such as "state == 'NE' and population < 5000", a mask, a
                series, a function of the table, or labels.
            by: A public column, or several: an answer for each group of rows.
            less: Other rows, whose answer is subtracted.
            against: An earlier release, whose answer is subtracted.
            label: The column that names the rows; the category by default.
            level: The coverage of the interval.
            options: What a named question takes: a share one of `equal`, `at_least`, `at_most` and
                `between`, a number of rows too, a quantile `at`, one level or a list.

        Returns:
            An `Answer`, `Answers` by group, or what a typed question asks for.

        Raises:
            HoldfastError: If the release cannot answer it; so do all methods here.
        """
        from holdfast.answers.typed import ask_anything

        how = {"of": of, "where": where, "by": by, "less": less, "against": against}
        return ask_anything(self._release, question, label=label, level=level, **how, **options)

    ask.__doc__ = str(ask.__doc__).format(questions=", ".join(QUESTIONS))

    def row(
        self, row: Any, *, of: str | None = None, label: str | None = None, level: float = LEVEL
    ) -> "Answer":
        """The true count that one row may have: what is expected, and its interval.

        Parameters:
            row: Its label, or as an integer its number from 0.
            of, label, level: As for `ask`.
        """
        from holdfast.answers.rows import ask_row

        return ask_row(self._release, row, of=of, label=label, level=level)

    def top(
        self, k: int = 10, *, of: str | None = None, where: Any = None, by: Any = None,
        label: str | None = None, level: float = LEVEL,
    ) -> "TopRows | TopByGroup":  # fmt: skip
        """The k rows that are most likely among the k highest, and how likely they are.

        Parameters:
            k: How many.
            of, where, by, label, level: As for `ask`.
        """
        from holdfast.answers.rows import top

        return top(self._release, k, of=of, where=where, by=by, label=label, level=level)

    def compare(
        self, first: Any, second: Any, *, of: str | None = None, label: str | None = None,
        level: float = LEVEL,
    ) -> "RowComparison":  # fmt: skip
        """Which of two rows truly has more, how likely that is, and by how much.

        Parameters:
            first, second: Their labels, or as integers their numbers from 0.
            of, label, level: As for `ask`.
        """
        from holdfast.answers.rows import compare

        return compare(self._release, first, second, of=of, label=label, level=level)

    def changes(
        self, earlier: "Release", rows: Sequence[Any] | None = None, *, of: str | None = None,
        label: str | None = None, level: float = LEVEL,
    ) -> "RowChanges":  # fmt: skip
        """The change of each row since an earlier release, and which changes are more than noise.

        Parameters:
            earlier: A release of the same rows at an earlier time, which is subtracted.
            rows: The labels of those to look at; all by default.
            of, label, level: As for `ask`.
        """
        from holdfast.answers.changes import row_changes

        return row_changes(self._release, earlier, rows, of=of, label=label, level=level)

    def regress(
        self, formula: str, *, family: str | None = None, where: Any = None, level: float = LEVEL
    ) -> "Regression":
        """A regression with a count as outcome or as regressor, which the noise does not bend.

        Parameters:
            formula: Such as "homicides ~ log(population) + state", or "price ~ log1p(homicides)".
            family: poisson (the default where a count is the outcome; quasi-likelihood), nb for
                negative binomial, ols (the default where it is a regressor).
            where, level: As for `ask`.

        Returns:
            What users of statsmodels expect: params, bse, conf_int(), summary().
        """
        from holdfast.answers.regression import regress

        return regress(self._release, formula, family=family, where=where, level=level)

    def derive(self, formula: str, *, level: float = LEVEL) -> "Derived":
        """A sum of columns of counts, or a rate, of every row with an interval.

        Parameters:
            formula: "violent = murder + rape", or "rate = murder per 100,000 of population".
            level: The coverage of the intervals.
        """
        from holdfast.answers.sums import derive

        return derive(self._release, formula, level=level)

    def merge(self, table: Any, on: str | Sequence[str]) -> "MergedRelease":
        """The release with the public columns of another table beside it, to be asked about.

        Parameters:
            table: A data frame or the path of a file, with each label once.
            on: The columns that both have, by whose labels rows are joined.
        """
        from holdfast.answers.merging import merge

        return merge(self._release, table, on)

    def impute(self, times: int = 20) -> list[Any]:
        """So many tables with plausible true counts, for other software and Rubin's rules: for the
        distribution of a count in all rows or in declared groups. Relations between columns fade in
        them; `ask("correlation")` and `regress` are for these.

        Parameters:
            times: How many tables.
        """
        from holdfast.answers.laws import impute

        return impute(self._release, times)

    def to_excel(self, path: "str | PathLike[str]") -> Path:
        """Write the report as an Excel workbook: the table, the distribution, answers, groups.

        Parameters:
            path: The file to write.
        """
        from holdfast.answers.report.workbook import workbook
        from holdfast.tables.formats import write_whole

        write_whole(Path(path), workbook(self._release))
        return Path(path)

    @property
    def _release(self) -> "Release":
        return cast("Release", self)
