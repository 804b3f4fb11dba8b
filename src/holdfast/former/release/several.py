"""A release of several counts: one table, one promise, and for each column a release of its own."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from holdfast.errors import HoldfastError, listed_names
from holdfast.former.release.facts import SCHEMA_OF_SEVERAL, ReleaseFacts
from holdfast.former.release.promise import Privacy
from holdfast.former.release.release import Release, StreamedRelease
from holdfast.former.privacy.delta import promise_in_words
from holdfast.former.privacy.persons import Persons
from holdfast.former.tables.table import without_columns

if TYPE_CHECKING:
    from holdfast.former.analysis.answer import Answer
    from holdfast.former.analysis.asking import Answers
    from holdfast.former.analysis.derived.derive import Derived

PUBLIC = (
    " The number of rows and their order, every max_count that was given, the structural zeros, "
    "which counts are missing, and the columns published beside the counts are public and "
    "published unchanged."
)
R = TypeVar("R", bound=ReleaseFacts)


@dataclass(frozen=True, kw_only=True)
class SharedPrivacy:
    """What a release of several counts promises: to whom, in all, and in each column."""

    epsilon: Fraction
    """Promised to one person, in all."""
    persons: Persons
    """Who is protected."""
    columns: tuple[Privacy, ...]
    """What each column promises by itself, and what was certified of it."""

    def __post_init__(self) -> None:
        if self.persons.together([one.epsilon for one in self.columns]) != self.epsilon:
            raise HoldfastError("the parts of the columns do not come to epsilon.")
        if len({one.simulated for one in self.columns}) != 1:
            raise HoldfastError("all columns must be drawn alike.")

    @property
    def certified_epsilon(self) -> Fraction:
        """Certified for one person, in all; at most `epsilon`."""
        return self.persons.together([one.certified_epsilon for one in self.columns])

    @property
    def delta(self) -> Fraction:
        """The chance that epsilon fails for one person, at the most; 0 is pure epsilon."""
        return self.persons.together([one.delta for one in self.columns])

    @property
    def promise(self) -> str:
        """The promise in one line."""
        return promise_in_words(self.epsilon, self.delta)

    @property
    def neighbours(self) -> str:
        """Which tables the promise compares."""
        return self.persons.neighbours + PUBLIC

    @property
    def simulated(self) -> bool:
        """Whether a seed was used: then the release protects nobody."""
        return self.columns[0].simulated

    @property
    def randomness(self) -> str:
        """Where the randomness came from."""
        return self.columns[0].randomness

    def to_dict(self) -> dict[str, Any]:
        """Everything but the columns, as plain values; exact numbers as fractions in text."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            **self.persons.to_dict(),
            "certified_epsilon_decimal": f"{float(self.certified_epsilon):.12g}",
            "promise": self.promise,
            "neighbours": self.neighbours,
            "randomness": self.randomness,
            "simulated": self.simulated,
        }

    @staticmethod
    def from_dict(record: dict[str, Any], columns: Mapping[str, ReleaseFacts]) -> "SharedPrivacy":
        """The inverse of `to_dict`, with the releases of all columns."""
        return SharedPrivacy(
            epsilon=Fraction(record["epsilon"]),
            persons=Persons.from_dict(list(columns), record),
            columns=tuple(one.privacy for one in columns.values()),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SeveralFacts(Mapping[str, R], Generic[R]):
    """All of a release of several counts but its table: a release for each column, by its name."""

    columns: dict[str, R]
    """The release of each column, in the order in which they were drawn."""
    privacy: SharedPrivacy = field(repr=False)
    """Promised and certified, in all."""
    joint: bool
    """Whether the relation between the columns is kept."""
    notes: tuple[str, ...] = ()
    """What a reader should know of all columns."""
    repeated: bool = False
    """Whether it was shown again from a ledger: then nothing was drawn or spent."""
    receipt: str | None = field(default=None, repr=False)
    """By what a ledger knows the spend that paid for it; None where no ledger was named."""

    def __getitem__(self, column: str) -> R:
        if column not in self.columns:
            raise HoldfastError(
                f"this release has no column of counts {column!r:.60}. "
                f"Hint: {listed_names(self.columns)}."
            )
        return self.columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def first(self) -> R:
        """The release of the column that was drawn first."""
        return next(iter(self.columns.values()))

    @property
    def unchanged_columns(self) -> tuple[str, ...]:
        """Names of the columns that are published as they were."""
        return self.first.unchanged_columns

    def summary(self) -> dict[str, Any]:
        """What was done and promised, as plain values."""
        return {
            "schema": SCHEMA_OF_SEVERAL,
            "holdfast": self.first.made_with,
            "privacy": self.privacy.to_dict(),
            "joint": self.joint,
            "counts": {name: one.summary() for name, one in self.columns.items()},
            "unchanged_columns": list(self.unchanged_columns),
            "notes": list(self.notes),
            **({} if self.receipt is None else {"receipt": self.receipt}),
        }

    def __repr__(self) -> str:
        warning = "SIMULATION, protects nobody; " if self.privacy.simulated else ""
        how = "drawn together" if self.joint else "drawn apart"
        return (
            f"{type(self).__name__}({warning}{listed_names(self.columns)} {how}, "
            f"{self.first.rows} rows, {self.privacy.promise} promised, "
            f"{float(self.privacy.certified_epsilon):.6g} certified)"
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableRelease(SeveralFacts[Release]):
    """A private table with several columns of counts.

    `release["rape"]` is the `Release` of one column, and answers as any other does. Where the
    relation between columns is kept, its table has the columns of counts that were drawn before
    it, which its own draw was given, and not those after, which follow from it.
    """

    cells: Any = field(repr=False)
    """The table as it came in or was read, its columns of counts replaced."""

    @cached_property
    def table(self) -> Any:
        """The same kind of table as came in, its columns of counts replaced; a data frame where
        that was a CSV file."""
        from holdfast.former.analysis.frames import as_frame

        return as_frame(self.cells)

    def save(self, directory: str | os.PathLike[str], *, table_format: str = "csv") -> Path:
        """Write the bundle as a new folder, all of it or nothing; a folder in it for each column of
        counts. See docs/bundle.md."""
        from holdfast.former.release.several_bundle import save

        return save(self, directory, table_format)

    def ask(
        self,
        question: str,
        of: str | Sequence[str] | None = None,
        *,
        where: Any = None,
        by: Any = None,
        level: float = 0.9,
        **options: Any,
    ) -> "Answer | Answers":
        """A question about one column of counts, as `Release.ask` takes it; or about two.

        Parameters:
            question: Of two columns: "both zero", the share of rows that have none of either;
                "correlation"; "slope" and "intercept" of the line of the second on the first.
            of: The column, or the two.
            where, by, level: As in `Release.ask`.

        Of two columns the noise is taken out, which weakens their relation in the released table
        where it was not kept: docs/pairs.md.
        """
        if of is None:
            raise HoldfastError(
                "`of` is missing: this release has several columns of counts. Hint: name one of "
                f"{listed_names(self.columns)}, or two for a question about both."
            )
        if isinstance(of, str):
            found: Answer | Answers = self[of].ask(
                question, where=where, by=by, level=level, **options
            )
            return found
        from holdfast.former.analysis.pairs.questions import ask_pair

        if options:
            raise HoldfastError(
                f"`{next(iter(options))}` does not fit a question about two counts."
            )
        return ask_pair(self, question, of, where=where, by=by, level=level)

    def derive(self, formula: str, *, level: float = 0.9) -> "Derived":
        """A column that follows from those of this release, with intervals: a sum such as "violent
        = murder + rape", or a rate with a public number, "rate = murder + rape per 100,000 of
        population". `.ask(by="state")` gives it of groups. Spends nothing."""
        from holdfast.former.analysis.derived.derive import derive

        return derive(self.columns, formula, level)

    def to_pandas(self) -> Any:
        """The table as a pandas data frame; texts stay texts."""
        from holdfast.former.analysis.frames import pandas, typed_columns

        counts = {name: one.counts for name, one in self.columns.items()}
        return pandas().DataFrame(typed_columns(self.cells) | counts)

    def to_excel(self, path: str | os.PathLike[str], *, level: float = 0.9) -> None:
        """Write an Excel workbook for people: all counts with their intervals side by side. A copy:
        the bundle that `save` writes is what can be verified."""
        from holdfast.former.analysis.report.workbook import workbook_of_several
        from holdfast.former.release.bundle import write_new

        write_new(path, workbook_of_several(self, level))

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self.columns.values())


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StreamedTableRelease(SeveralFacts[StreamedRelease]):
    """A release of several counts whose table was never in memory."""

    folder: Path
    """The bundle."""

    def load(self) -> TableRelease:
        """The release with its whole table in memory."""
        from holdfast.former.release.several_bundle import load_table

        return load_table(self.folder)


def visible(columns: dict[str, Release], table: Any) -> dict[str, Release]:
    """The releases of all columns, each with the part of the table that its answers may go by."""
    return {
        name: replace(one, cells=without_columns(table, one.later)) for name, one in columns.items()
    }
