"""Reads and checks a table of counts; swaps its count column and keeps the rest."""

import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.csv_table import (
    MAX_COUNT,
    CsvTable,
    bad_count,
    find_column,
    number_problem,
    parse_csv,
    suggest,
    text_counts,
)
from holdfast.errors import HoldfastError

__all__ = ["MAX_COUNT", "CountTable", "CsvTable", "read_file", "read_table", "write_file"]

_BOOLEAN, _TEXT, _REAL = (bool, np.bool_), (str, bytes), (Decimal, Real)
_FLAGS = {True: True, False: False}
_MISSING_TYPES = {"NoneType", "NAType", "NaTType", "MaskedConstant"}
_TEXT_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_TEXT_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
_PARQUET_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True, kw_only=True, eq=False)
class CountTable:
    """The counts of a table, checked, and the way back to a table of the same kind.

    >>> table = read_table([3, 0, 1])
    >>> table.counts, table.replace(np.array([2, 1, 1]))
    (array([3, 0, 1]), array([2, 1, 1]))
    """

    counts: NDArray[np.int64] = field(repr=False)  #: true counts in row order, not top-coded
    structural_zero: NDArray[np.bool_] = field(repr=False)  #: rows publicly known to be zero
    notes: tuple[str, ...] = ()  #: what the steward should know; holds no counts
    _back: Callable[[NDArray[np.int64]], Any] = field(repr=False)

    def replace(self, counts: NDArray[np.int64]) -> Any:
        """The same kind of table as came in, its count column replaced."""
        counts = np.array(counts, dtype=np.int64)
        if counts.shape != self.counts.shape:
            raise HoldfastError("`counts` must have one entry per row of the table.")
        return self._back(counts)


def read_table(
    source: Any,
    *,
    count: str | None = None,
    category: str | None = None,
    structural_zero: str | Sequence[Any] | None = None,
) -> CountTable:
    r"""A table of counts, from whatever holds it.

    `source` is one-dimensional (list, array, series), a data frame (pandas, polars, pyarrow,
    DuckDB), a `CsvTable`, or the path of a CSV or Parquet file. `structural_zero` is a column of
    flags, a mask with one boolean per row, or a list of labels found in the `category` column.

    >>> frame = CsvTable(("county", "deaths"), [["Kent", "3"], ["Ely", "0"]])
    >>> read_table(frame, count="deaths", category="county", structural_zero=["Ely"])
    CountTable(notes=())
    """
    if isinstance(source, str | os.PathLike):
        source = read_file(source)
    view = _open(source)
    count = _count_column(view, count, category, structural_zero)
    labels = None if category is None else view.labels(category, "category")
    counts = view.counts(count)
    if not len(counts):
        raise HoldfastError("`table` has no rows. Hint: give one row per category, zeros included.")
    known = _structural_zero(view, structural_zero, labels, len(counts))
    _check_structural_zero(known, counts)
    return CountTable(
        counts=counts,
        structural_zero=known,
        notes=_notes(category, labels),
        _back=lambda new: view.replace(count, new),
    )


@dataclass(frozen=True)
class Frame:
    """An eager data frame in narwhals, and the way back to the kind it was."""

    data: Any  #: the narwhals DataFrame
    back: Callable[[Any, str], Any]  #: from a narwhals DataFrame and its count column

    def series(self, name: str, parameter: str) -> Any:
        """One column, which must exist."""
        find_column(self.columns, name, parameter)
        return self.data.get_column(name)

    @property
    def columns(self) -> list[str]:
        """The column names, in order."""
        return list(self.data.columns)

    def labels(self, name: str, parameter: str) -> list[Any]:
        """The values of one column as Python objects."""
        return list(self.series(name, parameter).to_list())

    def flags(self, name: str) -> NDArray[np.bool_]:
        """A column of booleans."""
        return _flags(self.labels(name, "structural_zero"), _FLAGS, name)

    def counts(self, name: str) -> NDArray[np.int64]:
        """A column of counts."""
        return _series_counts(self.series(name, "count"), f"`count` column {name!r}")

    def replace(self, name: str, counts: NDArray[np.int64]) -> Any:
        """The frame with a new count column, as the kind it was."""
        import narwhals.stable.v2 as nw

        fresh = nw.new_series(name, counts, nw.Int64, backend=self.data.implementation)
        return self.back(self.data.with_columns(fresh), name)


@dataclass(frozen=True)
class _Text:
    """A `CsvTable`, with the same methods as a frame."""

    table: CsvTable

    @property
    def columns(self) -> list[str]:
        return self.table.columns

    def labels(self, name: str, parameter: str) -> list[Any]:
        return list(self.table.column(name, parameter))

    def flags(self, name: str) -> NDArray[np.bool_]:
        cells = [cell.strip().lower() for cell in self.labels(name, "structural_zero")]
        return _flags(cells, _TEXT_FLAGS, name)

    def counts(self, name: str) -> NDArray[np.int64]:
        return text_counts(self.table.column(name, "count"), f"`count` column {name!r}")

    def replace(self, name: str, counts: NDArray[np.int64]) -> CsvTable:
        return self.table.with_column(name, counts.tolist())


@dataclass(frozen=True)
class _Line:
    """One-dimensional counts, with the same methods as a frame but no columns."""

    read: Callable[[str], NDArray[np.int64]]
    back: Callable[[NDArray[np.int64]], Any]
    columns: tuple[str, ...] = ()

    def labels(self, name: str, parameter: str) -> list[Any]:
        raise _no_columns(parameter)

    def flags(self, name: str) -> NDArray[np.bool_]:
        raise _no_columns("structural_zero")

    def counts(self, name: str) -> NDArray[np.int64]:
        return self.read("`table`")

    def replace(self, name: str, counts: NDArray[np.int64]) -> Any:
        return self.back(counts)


_View = Frame | _Text | _Line


def _open(source: Any) -> _View:
    if isinstance(source, CsvTable):
        return _Text(source)
    return open_frame(source) or _open_series(source) or _open_array(source)


def open_frame(source: Any) -> Frame | None:
    """A data frame of any library, read once; None if `source` is no data frame."""
    import narwhals.stable.v2 as nw

    frame = _narwhals(source)
    if isinstance(frame, nw.LazyFrame):
        return _collect(source, frame)
    if isinstance(frame, nw.DataFrame):
        return Frame(frame, lambda new, _: new.to_native())
    return None


def _narwhals(source: Any) -> Any:
    import narwhals.stable.v2 as nw

    try:
        return nw.from_native(source, allow_series=True, pass_through=True)
    except Exception:
        raise HoldfastError("`table` cannot be read. Hint: are its column names unique?") from None


def _collect(source: Any, lazy: Any) -> Frame:
    kind = str(lazy.implementation)
    if kind not in ("polars", "duckdb"):
        raise HoldfastError(f"`table` is a lazy {kind} frame. Hint: collect it first.")
    try:
        # Once only: the order of the rows may differ between runs.
        frame = lazy.collect()
    except ImportError:
        raise _no_pyarrow("DuckDB relations need") from None
    except Exception:
        raise HoldfastError(f"`table`: the {kind} query failed. Hint: run it by itself.") from None
    if kind == "polars":
        return Frame(frame, lambda new, _: new.to_native().lazy())
    types = {name: str(t) for name, t in zip(source.columns, source.types, strict=True)}
    return Frame(frame, lambda new, count: _to_duckdb(new, types | {count: "BIGINT"}))


def _to_duckdb(frame: Any, types: dict[str, str]) -> Any:
    import duckdb

    quoted = {name: '"' + name.replace('"', '""') + '"' for name in frame.columns}
    # Arrow has no enums or UUIDs of DuckDB's kind: the casts bring them back.
    casts = ", ".join(f"{q}::{types[name]} AS {q}" for name, q in quoted.items())
    return duckdb.from_arrow(frame.to_native()).project(casts)


def _open_series(source: Any) -> _Line | None:
    import narwhals.stable.v2 as nw

    name = f"{type(source).__module__}.{type(source).__name__}"
    if name.startswith("pyarrow.") and name.endswith("Array") and "Chunked" not in name:
        import pyarrow as pa

        chunks = nw.from_native(pa.chunked_array([source]), series_only=True)
        return _Line(lambda where: _series_counts(chunks, where), pa.array)
    series = _narwhals(source)
    if not isinstance(series, nw.Series):
        return None
    return _Line(lambda where: _series_counts(series, where), lambda new: _like(series, new))


def _like(series: Any, counts: NDArray[np.int64]) -> Any:
    import narwhals.stable.v2 as nw

    old = series.to_native()
    if hasattr(old, "reset_index"):  # pandas
        return type(old)(counts, index=old.index, name=old.name)
    return nw.new_series(series.name, counts, nw.Int64, backend=series.implementation).to_native()


def _open_array(source: Any) -> _Line:
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        _check_flat(source)
        values = np.fromiter(source, dtype=object, count=len(source))
    elif isinstance(source, np.ma.MaskedArray):
        values = np.array(source.tolist(), dtype=object)
    else:
        values = np.asarray(source)
    if values.ndim == 0:
        raise HoldfastError(
            f"`table` must be an array of counts or a data frame, got {type(source).__name__}. "
            "Hint: a list, an array, a pandas, polars, pyarrow or DuckDB table, a path."
        )
    if values.ndim > 1:
        raise _not_flat()
    return _Line(lambda where: array_counts(values, where), lambda new: new)


def _check_flat(source: Sequence[Any]) -> None:
    if source and isinstance(source[0], list | tuple | np.ndarray):
        raise _not_flat()


def _not_flat() -> HoldfastError:
    return HoldfastError(
        "`table` must be one-dimensional or have named columns. "
        "Hint: make it a data frame and name the column of counts with `count=`."
    )


def _no_columns(parameter: str) -> HoldfastError:
    return HoldfastError(
        f"`{parameter}` names a column, but `table` has none. Hint: give a data frame, "
        f"or leave `{parameter}` out."
    )


def _count_column(view: _View, count: str | None, *others: Any) -> str:
    if isinstance(view, _Line):
        if count is not None:
            raise _no_columns("count")
        return ""
    if count is None and len(view.columns) != 1:
        raise HoldfastError(
            f"`count` must name the column that holds the counts. Hint: {suggest(view.columns)}."
        )
    count = view.columns[0] if count is None else count
    if any(isinstance(other, str) and other == count for other in others):
        raise HoldfastError(f"`count` must be a column of its own, {count!r} is used twice.")
    return count


def _series_counts(series: Any, where: str) -> NDArray[np.int64]:
    if series.null_count():
        raise bad_count(where, int(series.is_null().to_numpy().argmax()), "is missing")
    try:
        values = series.to_numpy()
    except Exception:  # 128-bit integers have no place in numpy
        values = np.fromiter(series.to_list(), dtype=object, count=len(series))
    return array_counts(values, where)


def array_counts(values: NDArray[Any], where: str) -> NDArray[np.int64]:
    """The counts in an array of any dtype."""
    kind = values.dtype.kind
    if kind == "O":
        return _object_counts(values.tolist(), where)
    if kind not in "iuf":
        problem = {"b": "is a boolean", "U": "is text", "S": "is text", "T": "is text"}
        raise bad_count(where, 0, problem.get(kind, "is not a number"))
    values = values.astype(np.float64) if kind == "f" else values
    with np.errstate(invalid="ignore"):
        good = (values >= 0) & (values <= MAX_COUNT) & (values == np.floor(values))
    if not good.all():
        row = int(good.argmin())
        raise bad_count(where, row, _problem(values[row]) or "is not a number")
    return values.astype(np.int64)


def _object_counts(cells: list[Any], where: str) -> NDArray[np.int64]:
    if set(map(type, cells)) == {float}:
        return array_counts(np.array(cells, dtype=np.float64), where)
    for row, problem in enumerate(map(_problem, cells)):
        if problem:
            raise bad_count(where, row, problem)
    return np.array(list(map(int, cells)), dtype=np.int64)


def _problem(value: Any) -> str | None:
    if type(value) is int:
        return None if 0 <= value <= MAX_COUNT else number_problem(value)
    if isinstance(value, _BOOLEAN):
        return "is a boolean"
    if isinstance(value, _TEXT):
        return "is text"
    if isinstance(value, _REAL):
        return number_problem(value)
    return "is missing" if is_missing(value) else "is not a number"


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value, in any library."""
    return type(value).__name__ in _MISSING_TYPES or (isinstance(value, float) and value != value)


def _flags(cells: Iterable[Any], meaning: dict[Any, bool], name: str) -> NDArray[np.bool_]:
    try:
        flags = list(map(meaning.get, cells))
    except TypeError:
        flags = [None]
    if None in flags:
        raise HoldfastError(
            f"`structural_zero` column {name!r} must hold true or false, row "
            f"{flags.index(None) + 1} does not. Hint: fill it with true and false, or 1 and 0."
        )
    return np.array(flags, dtype=np.bool_)


def as_list(values: Any, parameter: str) -> list[Any]:
    """The members of a sequence, array or series as Python objects."""
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            values = getattr(values, method)()
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise HoldfastError(f"`{parameter}` must be a list, got {type(values).__name__}.")
    return list(values)


def _structural_zero(
    view: _View, given: Any, labels: list[Any] | None, length: int
) -> NDArray[np.bool_]:
    if given is None:
        return np.zeros(length, dtype=np.bool_)
    if isinstance(given, str):
        return view.flags(given)
    items = as_list(given, "structural_zero")
    if items and all(isinstance(item, _BOOLEAN) for item in items):
        return _mask(items, length)
    if labels is None:
        raise HoldfastError(
            "`structural_zero` lists labels, but no `category` column says whose. "
            "Hint: give `category=`, or a mask with one True or False per row."
        )
    return _labelled([str(i) for i in items] if isinstance(view, _Text) else items, labels)


def _mask(items: list[bool], length: int) -> NDArray[np.bool_]:
    if len(items) != length:
        raise HoldfastError(
            "`structural_zero` must have one True or False per row of the table. "
            "Hint: or list the labels of the `category` column that are structurally zero."
        )
    return np.array(items, dtype=np.bool_)


def _labelled(wanted: list[Any], labels: list[Any]) -> NDArray[np.bool_]:
    try:
        known, chosen = set(labels), set(wanted)
        unknown = next((label for label in wanted if label not in known), None)
    except TypeError:
        raise HoldfastError("`structural_zero` must list labels such as text.") from None
    if chosen - known:
        raise HoldfastError(
            f"`structural_zero`: no row has the label {unknown!r}. "
            "Hint: labels must match the `category` column exactly, type included."
        )
    return np.array([label in chosen for label in labels], dtype=np.bool_)


def _check_structural_zero(known: NDArray[np.bool_], counts: NDArray[np.int64]) -> None:
    wrong = known & (counts != 0)
    if wrong.any():
        raise HoldfastError(
            f"`structural_zero`: row {int(wrong.argmax()) + 1} is marked as publicly known to be "
            "zero, but its count is not. Hint: correct the count or the mark."
        )
    if known.all():
        raise HoldfastError(
            "`structural_zero` marks every row, so there is nothing to release. "
            "Hint: mark only rows that are publicly known to be zero."
        )


def _notes(category: str | None, labels: list[Any] | None) -> tuple[str, ...]:
    if labels is None:
        return ()
    try:
        repeated = len(set(labels)) < len(labels)
    except TypeError:
        raise HoldfastError(
            f"`category` column {category!r} must hold labels such as text. "
            "Hint: name another column, or leave `category` out."
        ) from None
    note = f"{category} has repeated values; every row is treated as a category of its own"
    return (note,) if repeated else ()


def read_file(path: str | os.PathLike[str]) -> Any:
    """The table in a file: a `CsvTable`, or from .parquet and .pq a pyarrow Table."""
    path = Path(path)
    parquet = _is_parquet(path)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise HoldfastError(f"`{path}` cannot be read: {reason}. Hint: check the path.") from None
    try:
        return _parse_parquet(data) if parquet else parse_csv(data)
    except HoldfastError as error:
        raise HoldfastError(f"`{path}`: {error}") from None


def write_file(table: Any, path: str | os.PathLike[str]) -> None:
    """Writes a `CsvTable`, a data frame or an array of counts, as the suffix of `path` says.

    Text columns of a `CsvTable` become integers in Parquet where nothing is lost by it.
    """
    path = Path(path)
    data = _parquet_bytes(table) if _is_parquet(path) else _text_bytes(table, path.suffix.lower())
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise HoldfastError(f"`{path}` exists already. Hint: remove it or name another.") from None
    except OSError as error:
        raise HoldfastError(f"`{path}` cannot be written: {error.strerror}.") from None


def _is_parquet(path: Path) -> bool:
    suffix = path.suffix.lower()
    if suffix not in (*_TEXT_SUFFIXES, *_PARQUET_SUFFIXES):
        raise HoldfastError(
            f"`{path}` must end in one of {', '.join(_TEXT_SUFFIXES + _PARQUET_SUFFIXES)}. "
            "Hint: save the table as CSV or Parquet."
        )
    return suffix in _PARQUET_SUFFIXES


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise _no_pyarrow("Parquet files need") from None
    return pyarrow.parquet


def _no_pyarrow(who: str) -> HoldfastError:
    return HoldfastError(f'{who} pyarrow. Hint: pip install "holdfast[parquet]".')


def _parse_parquet(data: bytes) -> Any:
    parquet = _parquet()
    try:
        return parquet.ParquetFile(io.BytesIO(data)).read()
    except Exception:
        raise HoldfastError(
            "the file cannot be read as Parquet. Hint: is it whole, and is the suffix right?"
        ) from None


def _parquet_bytes(table: Any) -> bytes:
    parquet, sink = _parquet(), io.BytesIO()
    table = _with_columns(table)
    try:
        parquet.write_table(_arrow(table), sink)
    except Exception:
        raise HoldfastError("`table` has a column that Parquet cannot hold.") from None
    return sink.getvalue()


def _text_bytes(table: Any, suffix: str) -> bytes:
    table = _with_columns(table)
    if isinstance(table, CsvTable):
        return table.to_bytes()
    try:
        data: bytes = table.data.write_csv().encode()
    except Exception:
        raise HoldfastError("`table` has a column that CSV cannot hold.") from None
    return replace(parse_csv(data), delimiter="\t").to_bytes() if suffix == ".tsv" else data


def _with_columns(table: Any) -> CsvTable | Frame:
    if isinstance(table, CsvTable):
        return table
    if hasattr(table, "to_frame"):  # a series of pandas or polars
        table = table.to_frame(table.name or "count")
    frame = open_frame(_with_index(table))
    if frame is not None:
        return frame
    counts = as_list(table, "table")
    _check_flat(counts)
    return CsvTable(("count",), [[str(count)] for count in counts])


def _with_index(table: Any) -> Any:
    # A pandas index of labels is often the category; one of bare numbers says nothing.
    if not hasattr(table, "reset_index"):
        return table
    index = table.index
    said = any(name is not None for name in index.names) or index.dtype.kind not in "iu"
    return table.reset_index() if said else table.reset_index(drop=True)


def _arrow(table: CsvTable | Frame) -> Any:
    import pyarrow as pa

    if isinstance(table, Frame):
        return table.data.to_arrow()
    columns = (list(column) for column in zip(*table.rows, strict=True))
    arrays = [pa.array(map(int, c)) if _lossless(c) else pa.array(c) for c in columns]
    return pa.Table.from_arrays(arrays, names=table.columns)


def _lossless(cells: list[str]) -> bool:
    return all(map(_TEXT_INTEGER.fullmatch, cells))
