"""What a steward says of a table: the parts that its columns play, and what may be published."""

import json
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import HoldfastError, LeakError, listed_names, one_line
from holdfast.tables import UNNAMED
from holdfast.tables.cell_text import find_column, reads_as_number, refuse_odd_texts, suggest
from holdfast.tables.csv_part import Lines
from holdfast.tables.groups import Within
from holdfast.tables.leaks.search import ROW_ORDER, SAME_COUNTS, TOTALS, Leak
from holdfast.tables.subset import Subset

LONGEST_NAMES = 1 << 17
"""Characters, as JSON, of all names together: they stand in several files of a bundle, and more
than once, and none of those files may be large."""
TOGETHER = "leave one of them out: with all of them, anybody can compute every count"
FILE_OPTIONS = ("sheet", "header_row", "last_row", "leave_out", "thousands", "decimal")
"""The options that say where in its file a table lies, and how numbers are written there."""


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What a steward says of a table, as a `Request` has read it."""

    count: tuple[str, ...] = ()
    """The columns of counts that are named; none where the table has but one."""
    category: str | None = None
    """The column that says whose each row is; it is published."""
    structural_zero: Any = None
    """Rows publicly known to be zero: a column's name, a mask, or labels of the category."""
    keep: tuple[str, ...] = ()
    """Other columns to publish as they are."""
    publish_anyway: tuple[str, ...] = ()
    """Columns that give the counts away and are published all the same; or what else does."""
    order_by: str | None = None
    """A published column in whose order the rows are released."""
    repeated_categories: bool = False
    """Whether a category may have several rows."""
    missing: tuple[Any, ...] = ()
    """Codes that mean that a count is not known."""
    within: Within = field(default=Within(()))
    """Groups that are measured too, which may be none."""
    subset: Subset | None = None
    """The rows to release; all by default."""
    apart: bool = False
    """Whether every row of a person is counted in one of the columns of counts alone."""
    sheet: str | None = None
    header_row: int | None = None
    last_row: int | None = None
    leave_out: tuple[int, ...] = ()
    thousands: str | None = None
    decimal: str | None = None

    @property
    def lines(self) -> Lines:
        """Where the table lies in its file."""
        return Lines(self.header_row, self.last_row, self.leave_out)

    @property
    def file_options(self) -> dict[str, Any]:
        """Those of `FILE_OPTIONS` that are given."""
        every = {name: getattr(self, name) for name in FILE_OPTIONS}
        return {name: value for name, value in every.items() if value not in (None, ())}

    def roles(self, columns: Sequence[str]) -> "Roles":
        """The parts of the columns of a table, which must have all that are named."""
        if not self.count and len(columns) > 1:
            raise HoldfastError(
                f"`count` must name the column that holds the counts. Hint: {suggest(columns)}"
            )
        chosen = self.count or tuple(columns)
        counts, times = chosen or (UNNAMED,), Counter(columns)
        for parameter, name in [*(("count", name) for name in chosen), *self._named]:
            if not columns:
                raise HoldfastError(
                    f"`{parameter}` names a column, but `table` has none. Hint: give a data frame, "
                    f"or leave `{parameter}` out."
                )
            if not name:
                raise HoldfastError(
                    f"`{parameter}` must name a column, got an empty name. Hint: the first line "
                    "must hold the names of the columns; give this one a name there, or name the "
                    "row of the names with `header_row`, --header-row."
                )
            if times[name] != 1:
                find_column(columns, name, parameter)
            if name in counts and parameter != "count":
                raise HoldfastError(f"`{parameter}` must not name the column of counts, {name!r}.")
        shown = {self.category, *self.keep, *self.within.columns, *self._subset_column}
        if self.order_by is not None and self.order_by not in shown:
            raise HoldfastError(
                "`order_by` must name a column that is published: the order reveals it. "
                "Hint: the category, or a column in `keep` or `within`."
            )
        for name in self.publish_anyway:
            if name not in {*shown, ROW_ORDER, TOTALS, SAME_COUNTS}:
                raise HoldfastError(
                    f"`publish_anyway` must name what is published, got {name!r}. "
                    f"Hint: the category, a column in `keep`, {ROW_ORDER!r} or {TOTALS!r}."
                )
        published = tuple(name for name in columns or counts if name in {*counts, *shown})
        return Roles(
            options=self,
            counts=counts,
            published=published,
            withheld=tuple(name for name in columns if name not in set(published)),
        )

    @property
    def _subset_column(self) -> tuple[str, ...]:
        return () if self.subset is None else (self.subset.column,)

    @property
    def _named(self) -> Iterator[tuple[str, str]]:
        """Each column that is named, after the parameter that names it."""
        zeros = (self.structural_zero,) if isinstance(self.structural_zero, str) else ()
        named: dict[str, Sequence[str | None]] = {
            "category": (self.category,),
            "structural_zero": zeros,
            "keep": self.keep,
            "within": self.within.columns,
            "subset": self._subset_column,
            "order_by": (self.order_by,),
        }
        for parameter, names in named.items():
            yield from ((parameter, name) for name in names if name is not None)


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns of a table: the counts, what is published beside them, and what is not."""

    options: TableOptions = field(repr=False)
    counts: tuple[str, ...]
    """The columns of counts; `UNNAMED` where the table has no columns."""
    published: tuple[str, ...]
    """All that are written, the counts among them, in the order of the table."""
    withheld: tuple[str, ...]

    @property
    def others(self) -> tuple[str, ...]:
        """What is published beside the counts, as it is."""
        return tuple(name for name in self.published if name not in self.counts)

    @property
    def ordering(self) -> tuple[str, ...]:
        """The columns in whose order the rows are published: that of `order_by`, and where it ties
        the category, and where that repeats all others; none where rows keep their own order."""
        options = self.options
        if options.order_by is None:
            return ()
        ties = options.category is None or options.repeated_categories
        names = (options.order_by, options.category, *(self.others if ties else ()))
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def marker(self) -> str | None:
        """The column that says which rows are publicly known to be zero."""
        zeros = self.options.structural_zero
        return zeros if isinstance(zeros, str) else None

    @property
    def watched(self) -> tuple[str, ...]:
        """Those of the others that could tell the counts; rows known to be zero are public."""
        return tuple(name for name in self.others if name != self.marker)

    @property
    def where(self) -> dict[str, str]:
        """What an error calls each column of counts. A name nobody gave stays unsaid: in a file
        without a header it is the first count."""
        if not self.options.count:
            return dict.fromkeys(self.counts, "`table`")
        return {name: f"`count` column {name!r}" for name in self.counts}

    def refuse_header(self) -> None:
        """Raise if the name of a published column is a number: then it is a cell of the first row,
        in a file without a header. Raise too if a bundle has no room for the names."""
        if sum(len(json.dumps(str(name))) for name in self.published) > LONGEST_NAMES:
            raise HoldfastError(
                "the names of the columns that would be published are too long for a release. "
                "Nothing was drawn or spent. Hint: shorten the names, or keep fewer columns."
            )
        refuse_odd_texts("names of columns", list(map(str, self.published)))
        if any(reads_as_number(name) for name in self.published):
            raise HoldfastError(
                "the name of a column that would be published is a number. Hint: the first line of "
                "a table must hold the names of its columns; add it, rename the column, or name "
                "the row of the names with `header_row`, --header-row."
            )


def refuse_leaks(leaks: Iterable[Leak], roles: Roles, *, apart: bool) -> None:
    """Raise if something gives the counts away that was not meant to be published anyway; `apart`
    says whether columns of counts may not follow from each other."""
    anyway, counts = set(roles.options.publish_anyway), set(roles.counts)
    leaks = list(leaks)
    totals = [leak for leak in leaks if set(leak.names) <= counts and not leak.few]
    if totals and apart:
        raise HoldfastError(
            "`person_in` must be 'all columns': one column of counts follows from others, "
            f"{listed_names(totals[0].names)}, as a total does, so whoever is counted in those is "
            "counted in it too. Nothing was drawn or spent. Hint: leave the total out, and add up "
            "what is released."
        )
    refused = [leak for leak in leaks if set(leak.names) - counts - anyway]
    if refused:
        every = dict.fromkeys(name for leak in refused for name in leak.names)
        names = [name for name in every if name not in counts]
        words = shlex.join(word for name in names for word in ("--publish-anyway", name))
        raise LeakError(
            f"the counts would be given away: {'; '.join(dict.fromkeys(map(str, refused)))}. "
            f"Nothing was drawn or spent. Hint: {_advice(refused, counts)}; or, where that may be "
            f"published all the same, name all of it: publish_anyway={names!r}, {one_line(words)}.",
            tuple(names),
        )


def _advice(leaks: Sequence[Leak], counts: Collection[str]) -> str:
    hints = {
        ROW_ORDER: "publish in the order of a public column, with `order_by`, --order-by",
        TOTALS: "name the rows of totals with `leave_out`, --leave-out, as a look at the file does",
    }
    kept = [[name for name in leak.names if name not in counts] for leak in leaks]
    advice = [
        TOGETHER if names[1:] else hints.get(names[0], "keep fewer columns") for names in kept
    ]
    return ", ".join(dict.fromkeys(advice))
