"""The columns of a Spark DataFrame: checked, tallied and looked through by Spark itself."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.tables.columns import count_column
from holdfast.tables.copies import copied
from holdfast.tables.table import not_labels, repeated_note

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_WHOLE, "float", "double")
_PROBLEMS = {
    -1: "a row where it is missing. Hint: fill in the count, 0 where there is nobody",
    -2: "a negative number. Hint: correct it in the source",
    -3: "a number above 2^53. Hint: it looks like an identifier",
    -4: "a number that is not whole. Hint: give counts, not rates or averages",
    -5: "a number other than zero in a row marked as publicly known to be zero",
    -6: "a row whose mark for `structural_zero` is missing",
}
_KNOWN_ZERO = -7


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the first pass found. Not for release."""

    histogram: NDArray[np.int64] = field(repr=False)
    structural_zeros: int
    notes: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Rows that go through the mechanism."""
        return int(self.histogram.sum())


class Columns:
    """A DataFrame of counts, checked as far as its schema goes."""

    def __init__(
        self, df: Any, count: str | None, category: str | None, marker: str | None
    ) -> None:
        self.df, self.marker, self.category = df, marker, category
        self.names = list(df.columns)
        self._kinds = dict(df.dtypes)
        self.count = count_column(self.names, count, category=category, structural_zero=marker)
        self._check_kinds()

    def _check_kinds(self) -> None:
        kind = self._kinds[self.count]
        if not _is_number(kind):
            raise HoldfastError(f"`count` column {self.count!r} must hold numbers, it is {kind}.")
        self._whole = kind in _WHOLE
        if self.category and self._kinds[self.category].startswith(("array", "map", "struct")):
            raise not_labels(self.category)
        if self.marker and self._kinds[self.marker] != "boolean":
            raise HoldfastError(f"`structural_zero` column {self.marker!r} must be boolean.")

    @property
    def others(self) -> tuple[str, ...]:
        """All columns but the counts."""
        return tuple(name for name in self.names if name != self.count)

    def tally(self, highest: int) -> Seen:
        """The histogram of counts by one groupBy, which looks for copies of them as well."""
        from pyspark.sql import functions as F

        value = F.col(quoted(self.count)).cast("double")
        numeric = {name: self._as_number(name) for name in self.others}
        suspects = [name for name, number in numeric.items() if number is not None]
        looks = [F.min(F.when(numeric[name] == value, 1).otherwise(0)) for name in suspects]
        groups = self.df.groupBy(self._key(highest).alias("key"))
        found = groups.agg(F.count(F.lit(1)), F.min(value), F.max(value), *looks).collect()
        histogram, zeros = np.zeros(highest + 1, dtype=np.int64), 0
        for key, rows, *_ in found:
            if key in _PROBLEMS:
                raise HoldfastError(
                    f"`count` column {self.count!r} must hold whole numbers from 0 to 2^53, but "
                    f"there is {_PROBLEMS[key]}."
                )
            if key == _KNOWN_ZERO:
                zeros = rows
            else:
                histogram[key] = rows
        if not histogram.any():
            raise HoldfastError("`df` has no rows to release. Hint: one row per category.")
        self._refuse_copies(found, suspects)
        return Seen(histogram=histogram, structural_zeros=zeros, notes=self._notes())

    def _refuse_copies(self, found: list[Any], suspects: list[str]) -> None:
        lowest, highest = min(row[2] for row in found), max(row[3] for row in found)
        for at, name in enumerate(suspects, 4):
            if lowest < highest and all(row[at] == 1 for row in found):
                raise copied(self.count, name)

    def _as_number(self, name: str) -> Any:
        """What the column says as a number, null where it says none; None where it never can."""
        from pyspark.sql import functions as F

        kind = self._kinds[name]
        if kind == "boolean" or _is_number(kind):
            return F.col(quoted(name)).cast("double")
        if kind.startswith(("string", "char", "varchar", "binary")):
            return F.expr(f"try_cast(cast({quoted(name)} as string) as double)")
        return None

    def _notes(self) -> tuple[str, ...]:
        from pyspark.sql import functions as F

        if self.category is None:
            return ()
        labels = self.df.groupBy(F.col(quoted(self.category)).alias("label"))
        repeated = labels.agg(F.count(F.lit(1)).alias("rows")).where("rows > 1").limit(1)
        return (repeated_note(self.category),) if repeated.collect() else ()

    def _key(self, highest: int) -> Any:
        from pyspark.sql import functions as F

        value = F.col(quoted(self.count))
        key = F.when(value.isNull() | (F.lit(False) if self._whole else F.isnan(value)), -1)
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

        described = without_notes(self.df.schema.jsonValue())
        described["fields"][self.names.index(self.count)]["type"] = "long"
        return StructType.fromJson(described)


def _is_number(kind: str) -> bool:
    """Whether a type of Spark holds numbers.

    >>> _is_number("int"), _is_number("decimal(9,2)"), _is_number("interval day to second")
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
