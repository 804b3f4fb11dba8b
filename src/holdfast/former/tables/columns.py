"""Names of columns: which plays which part, found, suggested, and what an error calls them."""

import difflib
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.errors import HoldfastError, LeakError, listed_names, one_line
from holdfast.former.tables.count_values import codes_of
from holdfast.former.tables.groups import read_within
from holdfast.former.tables.leaks import ROW_ORDER, SAME_COUNTS, TOTALS, Leak
from holdfast.former.tables.subset import read_subset

LONGEST_NAMES = 1 << 17
"""Characters, as JSON, of all names together: they stand in several files of a bundle, and more
than once, and none of those files may be large."""
_SHOWN = 8
_NUMBER = re.compile(r"[<>≤≥~+-]?\s*[$€£]?[0-9][0-9 .,_']*(?:e[+-]?[0-9]+)?\s*%?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a steward says of a table: the parts of its columns, and what may be published."""

    count: str | None = None
    category: str | None = None
    structural_zero: Any = None
    keep: Any = ()
    publish_anyway: Any = ()
    order_by: str | None = None
    repeated_categories: bool = False
    missing: Any = ()
    within: Any = None
    subset: Any = None
    other_counts: tuple[str, ...] = ()
    """Other columns of counts that are released with this one, and read for themselves."""
    apart: bool = False
    """Whether every row of a person is counted in one of them alone."""

    def __post_init__(self) -> None:
        for name in ("keep", "publish_anyway"):
            object.__setattr__(self, name, names_in(getattr(self, name), name))
        object.__setattr__(self, "within", read_within(self.within))
        object.__setattr__(self, "subset", read_subset(self.subset))
        object.__setattr__(self, "missing", codes_of(self.missing))

    @property
    def for_ledger(self) -> dict[str, Any]:
        """What a ledger is told: which rows are read, where it is not all of them, and whether the
        counts of another period may be released as those of this one."""
        return {"subset": self.subset, "same_counts": SAME_COUNTS in self.publish_anyway}

    def roles(self, columns: Sequence[str]) -> "Roles":
        """The same for a table with these columns, which must have all that are named."""
        parts = {"category": self.category, "structural_zero": self.structural_zero}
        for parameter, name in {"count": self.count, "order_by": self.order_by, **parts}.items():
            if isinstance(name, str) and not name:
                raise HoldfastError(
                    f"`{parameter}` must name a column, got an empty name. Hint: the first line "
                    "must hold the names of the columns; give this one a name there, or name the "
                    "row of the names with `header_row`, --header-row."
                )
        count = count_column(columns, self.count, **parts)
        times = Counter(columns)
        grouped = () if self.within is None else self.within.columns
        part = () if self.subset is None else (self.subset.column,)
        shown = {self.category, *self.keep, *grouped, *part}
        for parameter, names in (("keep", self.keep), ("within", grouped), ("subset", part)):
            for name in names:
                if times[name] != 1:
                    find_column(columns, name, parameter)
            for name in (count, *self.other_counts):
                if name in names:
                    raise HoldfastError(
                        f"`{parameter}` must not name the column of counts, {name!r}."
                    )
        for name in self.other_counts:
            count_column(columns, name, **parts)
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
        return Roles(
            wanted=self,
            count=count,
            published=tuple(name for name in columns if name == count or name in shown),
            written=tuple(name for name in columns if name in {count, *self.other_counts, *shown}),
            withheld=tuple(
                name for name in columns if name not in {count, *self.other_counts, *shown}
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns of a table: what is published, and what is not."""

    wanted: Wanted
    count: str  #: the column of counts
    published: tuple[str, ...]  #: with the counts, in the order of the table
    withheld: tuple[str, ...]  #: all others
    written: tuple[str, ...]  #: what is published, with all columns of counts

    @property
    def others(self) -> tuple[str, ...]:
        """What is published beside the counts, as it is."""
        return tuple(name for name in self.published if name != self.count)

    @property
    def ordering(self) -> tuple[str, ...]:
        """The columns in whose order the rows are published; none where they keep their own."""
        if self.wanted.order_by is None:
            return ()
        names = (self.wanted.order_by, self.wanted.category)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def grouping(self) -> tuple[str, ...]:
        """The columns that say which group a row is in."""
        return () if self.wanted.within is None else self.wanted.within.columns

    @property
    def watched(self) -> tuple[str, ...]:
        """Those of the others that could tell the counts; rows known to be zero are public."""
        zeros = self.wanted.structural_zero
        marks = zeros if isinstance(zeros, str) else None  # else a mask, or labels
        return tuple(name for name in self.others if name != marks)

    def refuse_header(self) -> None:
        """Raise if the name of a published column is a number: then it is a cell of the first row,
        in a file without a header. Raise too if a bundle has no room for the names."""
        if sum(len(json.dumps(str(name))) for name in self.published) > LONGEST_NAMES:
            raise HoldfastError(
                "the names of the columns that would be published are too long for a release. "
                "Nothing was drawn or spent. Hint: shorten the names, or keep fewer columns."
            )
        if any(reads_as_number(name) for name in self.published):
            raise HoldfastError(
                "the name of a column that would be published is a number. Hint: the first line of "
                "a table must hold the names of its columns; add it, rename the column, or name "
                "the row of the names with `header_row`, --header-row."
            )


def refuse_leaks(leaks: Iterable[Leak], wanted: Wanted) -> None:
    """Raise if something gives the counts away that was not meant to be published anyway."""
    anyway, counts = set(wanted.publish_anyway), {wanted.count, *wanted.other_counts}
    found = [leak for leak in leaks if not anyway & set(leak.names)]
    among = [leak for leak in found if set(leak.names) <= counts]
    totals = [leak for leak in among if not leak.few]
    if totals and wanted.apart:
        raise HoldfastError(
            "`person_in` must be 'all columns': one column of counts follows from others, "
            f"{listed_names(totals[0].names)}, as a total does, so whoever is counted in those is "
            "counted in it too. Nothing was drawn or spent. Hint: leave the total out, and add up "
            "what is released."
        )
    found = [leak for leak in found if leak not in among]
    if found:
        names = list(dict.fromkeys(leak.names[0] for leak in found))
        raise LeakError(
            f"the counts would be given away: {'; '.join(dict.fromkeys(map(str, found)))}. "
            f"Nothing was drawn or spent. Hint: {_advice(found)}; or, where that may be published "
            f"all the same, name it: {_anyway(names)}.",
            tuple(names),
        )


def _anyway(names: list[str]) -> str:
    words = shlex.join(word for name in names for word in ("--publish-anyway", name))
    return f"publish_anyway={names!r}, {one_line(words)}"


def _advice(found: Sequence[Leak]) -> str:
    hints = {
        ROW_ORDER: "publish in the order of a public column, with `order_by`",
        TOTALS: "take totals of other rows out of the table",
    }
    first = [leak.names[0] for leak in found]
    columns = any(name not in hints for name in first)
    return ", ".join([*["keep fewer columns"][:columns], *(hints[n] for n in hints if n in first)])


def names_in(value: Any, parameter: str) -> tuple[str, ...]:
    """Names of columns: one, or a list of them."""
    names = (value,) if isinstance(value, str) else value
    if names is None or isinstance(names, dict) or not isinstance(names, Iterable):
        names = () if names is None else (0,)
    names = tuple(names)
    if not all(isinstance(name, str) for name in names):
        raise HoldfastError(f"`{parameter}` must be a list of names of columns.")
    return names


def count_column(columns: Sequence[str], count: str | None, **others: Any) -> str:
    """The name of the column of counts, which plays no other part; `others` are named too.

    >>> count_column(["county", "deaths"], "deaths", category="county"), count_column(["n"], None)
    ('deaths', 'n')
    """
    if count is None and len(columns) != 1:
        raise HoldfastError(
            f"`count` must name the column that holds the counts. Hint: {suggest(columns)}"
        )
    name = columns[0] if count is None else count
    find_column(columns, name, "count")
    for parameter, other in others.items():
        if isinstance(other, str):
            if other == name:
                raise HoldfastError(
                    f"`count` must be a column of its own, {name!r} is also `{parameter}`."
                )
            find_column(columns, other, parameter)
    return name


def called(count: str | None) -> str:
    """What an error calls the counts. A name nobody gave stays unsaid: in a file without a header
    it is the first count."""
    return "`table`" if count is None else f"`count` column {count!r}"


def find_column(columns: Sequence[Any], name: Any, parameter: str) -> int:
    """The position of a column that must exist, once."""
    found = [i for i, column in enumerate(columns) if column == name]
    if len(found) > 1:
        raise HoldfastError(
            f"`{parameter}`: {len(found)} columns are called {name!r}. Hint: rename all but one."
        )
    if not found:
        raise HoldfastError(
            f"`{parameter}` must be a column of the table, got {name!r}. "
            f"Hint: {suggest(columns, name)}"
        )
    return found[0]


def reads_as_number(name: Any) -> bool:
    """Whether the name of a column is what a cell of data would be.

    >>> [reads_as_number(name) for name in ("7", " 1,204.0", "<5", "-999", "n2019", "county")]
    [True, True, True, True, False, False]
    """
    return isinstance(name, str) and bool(_NUMBER.fullmatch(name.strip()))


def suggest(columns: Sequence[Any], name: Any = "") -> str:
    """What to say about the columns there are: near matches, else the first few names.

    Where one of them is a number there may be no header, and the names may be cells of the first
    row: none is shown.
    """
    names = list(map(str, columns))
    if any(map(reads_as_number, names)):
        return (
            "the first line must hold the names of the columns; here one of them is a number. If "
            "they stand further down, name that row: `header_row`, --header-row."
        )
    near = difflib.get_close_matches(str(name), names, n=3)
    if near:
        return "did you mean " + " or ".join(map(repr, near)) + "?"
    listed = ", ".join(repr(c[:60]) for c in names[:_SHOWN])
    more = ", …" if len(names) > _SHOWN else ""
    return f"the columns are {listed}{more}."
