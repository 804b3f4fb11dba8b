"""The columns of a Spark DataFrame: checked, tallied and looked through by Spark itself."""

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import compress
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.engines.spark.order import merged_order, order_of_counts
from holdfast.errors import HoldfastError
from holdfast.tables.columns import Wanted, refuse_leaks
from holdfast.tables.count_values import Codes
from holdfast.tables.leaks import Leak, Watch
from holdfast.tables.leaks.watch import SAMPLE, named_total, total_labels
from holdfast.tables.subset import Subset
from holdfast.tables.table import not_labels, repeated_notes

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_WHOLE, "float", "double")
LABELS = ("string", "boolean", *_WHOLE)
_PROBLEMS = {
    -1: "a row where it is missing. Hint: fill in the count, 0 where there is nobody, or say that "
    "it is not known with `missing`",
    -2: "a negative number. Hint: correct it in the source, or name the code for what is not known "
    "with `missing`",
    -3: "a number above 2^53. Hint: it looks like an identifier",
    -4: "a number that is not whole. Hint: give counts, not rates or averages",
    -5: "a number other than zero in a row marked as publicly known to be zero",
    -6: "a row whose mark for `structural_zero` is missing",
}
_KNOWN_ZERO, _NOT_KNOWN = -7, -8


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the first pass found. Not for release."""

    histogram: Integers = field(repr=False)
    structural_zeros: int
    missing: int
    notes: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Rows that go through the mechanism."""
        return int(self.histogram.sum())


class Columns:
    """A DataFrame of counts, checked as far as its schema goes."""

    def __init__(self, df: Any, wanted: Wanted) -> None:
        self.marker, self.category = wanted.structural_zero, wanted.category
        self.codes = Codes(wanted.missing)
        self.roles = wanted.roles(list(df.columns))
        self.roles.refuse_header()
        self.names, self.count = list(self.roles.published), self.roles.count
        marks = [self.marker] if self.marker and self.marker not in self.names else []
        self.df = df.select(*map(quoted, [*self.names, *marks]))
        self._kinds = dict(df.dtypes)
        self._check_kinds()

    @property
    def placed(self) -> Any:
        """The rows in the order in which they are written."""
        return self.df.orderBy(*self.order_keys) if self.order_keys else self.df

    @cached_property
    def order_keys(self) -> tuple[Any, ...]:
        """What the rows are sorted by, if a column was named."""
        return tuple(key for name in self.roles.ordering for key in self._order_keys(name))

    def _order_keys(self, name: str) -> list[Any]:
        """As numbers where all are, as text otherwise, the missing last."""
        from pyspark.sql import functions as F

        value, kind = F.col(quoted(name)), self._kinds[name]
        text = value.cast("string")
        known = value.isNotNull() & (text != "") & (text != "NaN")
        key = text
        if is_number(kind) or kind in ("string", "boolean"):
            number = F.expr(f"try_cast({quoted(name)} AS double)")
            odd = self.df.where(known & number.isNull()).limit(1)
            key = text if odd.collect() else number
        return [(~known).asc(), F.when(known, key).asc()]

    def _check_kinds(self) -> None:
        kind = self._kinds[self.count]
        if not is_number(kind):
            raise HoldfastError(f"`count` column {self.count!r} must hold numbers, it is {kind}.")
        self._whole = kind in _WHOLE
        if self.category and self._kinds[self.category].startswith(("array", "map", "struct")):
            raise not_labels(self.category)
        subset = self.roles.wanted.subset
        if subset is not None and self._kinds[subset.column] not in LABELS:
            raise HoldfastError(
                f"`subset` column {subset.column!r} must hold labels: text, whole numbers or "
                f"booleans, it is {self._kinds[subset.column]}."
            )
        if self.marker and self._kinds[self.marker] != "boolean":
            raise HoldfastError(f"`structural_zero` column {self.marker!r} must be boolean.")

    def only(self, subset: Subset) -> "Columns":
        """The rows of a subset alone."""
        from pyspark.sql import functions as F

        value, part = F.col(quoted(subset.column)), copy(self)
        cells = [row[0] for row in self.df.select(value).distinct().collect()]
        mine = subset.marks(cells).tolist()
        part.df = self.df.where(value.isin(list(compress(cells, mine))))
        return part

    def tally(self, highest: int) -> Seen:
        """The histogram of counts by one groupBy; then a sample of the rows is looked through."""
        from pyspark.sql import functions as F

        groups = self.df.groupBy(self._key(highest).alias("key"))
        found = groups.agg(F.count(F.lit(1))).collect()
        histogram, zeros, missing = np.zeros(highest + 1, dtype=np.int64), 0, 0
        for key, rows in found:
            if key in _PROBLEMS:
                raise HoldfastError(
                    f"`count` column {self.count!r} must hold whole numbers from 0 to 2^53, but "
                    f"there is {_PROBLEMS[key]}."
                )
            if key == _KNOWN_ZERO:
                zeros = rows
            elif key == _NOT_KNOWN:
                missing = rows
            else:
                histogram[key] = rows
        if not histogram.any():
            raise HoldfastError("`df` has no rows to release. Hint: one row per category.")
        refuse_leaks(self._leaks(histogram), self.roles.wanted)
        return Seen(
            histogram=histogram, structural_zeros=zeros, missing=missing, notes=self._notes()
        )

    def _leaks(self, histogram: Integers) -> list[Leak]:
        """What gives the counts away, in a sample of rows with a count of 0 and one of others."""
        from pyspark.sql import functions as F

        found = [named_total()] if self._has_total() else []
        found += self._order_leaks()
        columns = list(self.roles.watched)
        if not columns:
            return found
        rows, value = self._drawn(self.df), F.col(quoted(self.count))
        watch = Watch(columns)
        for part, number in ((value == 0, histogram[0]), (value > 0, histogram[1:].sum())):
            share = min(1.0, 2 * SAMPLE / max(int(number), 1))
            named = [value.cast("bigint"), *(F.col(quoted(name)) for name in columns)]
            sample = rows.where(part).select(*named).sample(share, seed=0).limit(3 * SAMPLE)
            cells = [list(row) for row in sample.collect()]
            counts = np.array([row[0] for row in cells], dtype=np.int64)
            watch.see(counts, partial(_picked, cells))
        # a sample has neither the order of the rows nor their total
        return found + [leak for leak in watch.leaks() if set(leak.names) <= set(columns)]

    def _order_leaks(self) -> list[Leak]:
        """Whether the rows, as they will be written, stand in the order of the counts: what every
        partition says of its own, put together."""
        counts = self._drawn(self.placed).select(quoted(self.count))
        parts = counts.mapInArrow(order_of_counts, "part long, state binary").collect()
        return merged_order([bytes(row.state) for row in sorted(parts)])

    @property
    def drawn(self) -> Any:
        """The rows that go through the mechanism."""
        return self._drawn(self.df)

    def kind(self, name: str) -> str:
        """What a column holds, as Spark calls it."""
        return str(self._kinds[name])

    def total(self) -> int:
        """Of all counts, not capped."""
        from pyspark.sql import functions as F

        value = F.col(quoted(self.count)).cast("decimal(38,0)")
        return int(self.drawn.agg(F.sum(value)).collect()[0][0])

    def _drawn(self, df: Any) -> Any:
        """The rows that go through the mechanism."""
        from pyspark.sql import functions as F

        known = df.where(~self._not_known())
        return known if self.marker is None else known.where(~F.col(quoted(self.marker)))

    def _not_known(self) -> Any:
        """Whether a count is one of the codes for what is not known."""
        from pyspark.sql import functions as F

        value = F.col(quoted(self.count))
        absent = value.isNull() if self._whole else value.isNull() | F.isnan(value)
        found = absent if self.codes.empty else F.lit(False)
        if self.codes.numbers:
            found = found | F.coalesce(value.isin(self.codes.numbers), F.lit(False))
        return found

    def _has_total(self) -> bool:
        from pyspark.sql import functions as F

        if self.category is None:
            return False
        label = F.lower(F.trim(F.col(quoted(self.category)).cast("string")))
        names = sorted(set(map(str.lower, total_labels())))
        return bool(self.df.where(label.isin(names)).limit(1).collect())

    def _notes(self) -> tuple[str, ...]:
        from pyspark.sql import functions as F

        if self.category is None:
            return ()
        labels = self.df.groupBy(F.col(quoted(self.category)).alias("label"))
        repeated = labels.agg(F.count(F.lit(1)).alias("rows")).where("rows > 1").limit(1)
        return repeated_notes(self.roles.wanted) if repeated.collect() else ()

    def _key(self, highest: int) -> Any:
        from pyspark.sql import functions as F

        value = F.col(quoted(self.count))
        absent = value.isNull() | (F.lit(False) if self._whole else F.isnan(value))
        gap = self._not_known()
        if self.marker is not None:  # a row that is known to be zero is not one that is not known
            gap = gap & ~F.coalesce(F.col(quoted(self.marker)), F.lit(False))
        key = F.when(gap, _NOT_KNOWN).when(absent, -1)
        key = key.when(value < 0, -2).when(value > 2**53, -3)
        if not self._whole:
            key = key.when(value != F.floor(value), -4)
        if self.marker is not None:
            mark = F.col(quoted(self.marker))
            key = key.when(mark.isNull(), -6).when(mark & (value != 0), -5)
            key = key.when(mark, _KNOWN_ZERO)
        return key.otherwise(F.least(value.cast("bigint"), F.lit(highest)))

    def released_schema(self) -> Any:
        """The schema with whole counts, and without notes, which would go into the files."""
        from pyspark.sql.types import StructType

        described = without_notes(self.df.select(*map(quoted, self.names)).schema.jsonValue())
        described["fields"][self.names.index(self.count)]["type"] = "long"
        return StructType.fromJson(described)


def _picked(rows: list[list[Any]], chosen: Integers) -> list[list[Any]]:
    """The cells of some rows, a list for each column after the first."""
    return [list(column) for column in zip(*(rows[at][1:] for at in chosen.tolist()), strict=True)]


def is_number(kind: str) -> bool:
    """Whether a type of Spark holds numbers.

    >>> is_number("int"), is_number("decimal(9,2)"), is_number("interval day to second")
    (True, True, False)
    """
    return kind in _NUMBERS or kind.startswith("decimal")


def without_notes(described: Any) -> Any:
    """A schema as JSON describes it, the metadata of its fields gone, however deep.

    >>> without_notes({"name": "n", "metadata": {"total": 4}, "type": {"metadata": {"a": 1}}})
    {'name': 'n', 'metadata': {}, 'type': {'metadata': {}}}
    """
    if isinstance(described, list):
        return [without_notes(part) for part in described]
    if not isinstance(described, dict):
        return described
    return {
        name: {} if name == "metadata" else without_notes(part) for name, part in described.items()
    }


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return "`" + name.replace("`", "``") + "`"
