"""The columns of a Spark DataFrame, and what Spark is to compute of them."""

from copy import copy
from functools import cached_property
from itertools import compress
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.former.engines.spark.tasks import LARGEST
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.count_values import Codes
from holdfast.former.tables.subset import Subset
from holdfast.former.tables.table import not_labels

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_WHOLE, "float", "double")
LABELS = ("string", "boolean", *_WHOLE)
PROBLEMS = {
    -1: "a row where it is missing. Hint: fill in the count, 0 where there is nobody, or say that "
    "it is not known with `missing`",
    -2: "a negative number. Hint: correct it in the source, or name the code for what is not known "
    "with `missing`",
    -3: "a number above 2^53. Hint: it looks like an identifier",
    -4: "a number that is not whole. Hint: give counts, not rates or averages",
    -5: "a number other than zero in a row marked as publicly known to be zero",
    -6: "a row whose mark for `structural_zero` is missing",
}
KNOWN_ZERO, NOT_KNOWN = -7, -8


class Columns:
    """A DataFrame of counts, checked as far as its schema goes."""

    def __init__(self, df: Any, wanted: Wanted) -> None:
        self.marker, self.category = wanted.structural_zero, wanted.category
        self.codes = Codes(wanted.missing)
        self.roles = wanted.roles(list(df.columns))
        self.roles.refuse_header()
        self.names, self.count = list(self.roles.written), self.roles.count
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
            raise HoldfastError(f"`count` column {self.count!r} must hold numbers, not {kind}.")
        self._whole = kind in _WHOLE
        if self.category and self._kinds[self.category].startswith(("array", "map", "struct")):
            raise not_labels(self.category)
        subset = self.roles.wanted.subset
        if subset is not None and self._kinds[subset.column] not in LABELS:
            raise HoldfastError(
                f"`subset` column {subset.column!r} must hold labels: text, whole numbers or "
                f"booleans, not {self._kinds[subset.column]}."
            )
        if self.marker and self._kinds[self.marker] != "boolean":
            raise HoldfastError(f"`structural_zero` column {self.marker!r} must be boolean.")

    def only(self, subset: Subset) -> Any:
        """Which rows are in a subset, as Spark sees it."""
        from pyspark.sql import functions as F

        value = F.col(quoted(subset.column))
        cells = [row[0] for row in self.df.select(value).distinct().collect()]
        return value.isin(list(compress(cells, subset.marks(cells).tolist())))

    def where(self, condition: Any) -> "Columns":
        """Some of the rows alone."""
        part = copy(self)
        part.df = self.df.where(condition)
        return part

    def among(self, df: Any, codes: Codes) -> "Columns":
        """The same counts in another table, whole numbers now; `codes` say which are not known."""
        moved = copy(self)
        moved.df, moved.codes, moved._whole = df, codes, True
        return moved

    @property
    def drawn(self) -> Any:
        """The rows that go through the mechanism."""
        from pyspark.sql import functions as F

        known = self.df.where(~self._not_known())
        return known if self.marker is None else known.where(~F.col(quoted(self.marker)))

    @property
    def open_count(self) -> Any:
        """The count of a row that goes through the mechanism, null in others."""
        from pyspark.sql import functions as F

        value = F.col(quoted(self.count))
        drawn = ~self._not_known() & (value >= 0) & (value <= LARGEST)
        if self.marker is not None:
            drawn = drawn & ~F.col(quoted(self.marker))
        return F.when(drawn, value.cast("bigint"))

    def kind(self, name: str) -> str:
        """What a column holds, as Spark calls it."""
        return str(self._kinds[name])

    def total(self) -> int:
        """Of all counts, not capped."""
        from pyspark.sql import functions as F

        value = F.col(quoted(self.count)).cast("decimal(38,0)")
        return int(self.drawn.agg(F.sum(value)).collect()[0][0])

    def _not_known(self) -> Any:
        """Whether a count is one of the codes for what is not known."""
        from pyspark.sql import functions as F

        value = F.col(quoted(self.count))
        absent = value.isNull() if self._whole else value.isNull() | F.isnan(value)
        found = absent if self.codes.empty else F.lit(False)
        if self.codes.numbers:
            found = found | F.coalesce(value.isin(self.codes.numbers), F.lit(False))
        return found

    def key(self, highest: int) -> Any:
        """A count, capped; or a number below 0 for what is no count that is drawn."""
        from pyspark.sql import functions as F

        value = F.col(quoted(self.count))
        absent = value.isNull() | (F.lit(False) if self._whole else F.isnan(value))
        gap = self._not_known()
        if self.marker is not None:  # a row that is known to be zero is not one that is not known
            gap = gap & ~F.coalesce(F.col(quoted(self.marker)), F.lit(False))
        key = F.when(gap, NOT_KNOWN).when(absent, -1)
        key = key.when(value < 0, -2).when(value > LARGEST, -3)
        if not self._whole:
            key = key.when(value != F.floor(value), -4)
        if self.marker is not None:
            mark = F.col(quoted(self.marker))
            key = key.when(mark.isNull(), -6).when(mark & (value != 0), -5)
            key = key.when(mark, KNOWN_ZERO)
        return key.otherwise(F.least(value.cast("bigint"), F.lit(highest))).cast("bigint")

    def released_schema(self) -> Any:
        """The schema with whole counts, and without notes, which would go into the files."""
        from pyspark.sql.types import StructType

        described = without_notes(self.df.select(*map(quoted, self.names)).schema.jsonValue())
        for name in (self.count, *self.roles.wanted.other_counts):
            described["fields"][self.names.index(name)]["type"] = "long"
        return StructType.fromJson(described)


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
