"""Data frames and series of any library, read through narwhals and given back as they came."""

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.former.tables.arrow_schema import without_notes
from holdfast.former.tables.columns import find_column
from holdfast.former.tables.count_values import MISSING, series_counts


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

    def counts(self, name: str, where: str, missing: Sequence[Any] = ()) -> Integers:
        """A column of counts; `where` is what an error calls it."""
        return series_counts(self.series(name, "count"), where, missing)

    def replace(self, name: str, counts: Integers) -> Any:
        """The frame with a new count column, as the kind it was."""
        fresh = _new_series(name, counts, self.data.implementation)
        return self.back(self.data.with_columns(fresh), name)

    def select(self, names: Collection[str]) -> "Frame":
        """These columns alone, in the order they have."""
        wanted = set(names)
        data = self.data.select([name for name in self.columns if name in wanted])
        return Frame(data, self.back)

    def take(self, rows: Integers) -> "Frame":
        """Other rows, or the same in another order."""
        return Frame(self.data[rows.tolist()], self.back)


@dataclass(frozen=True)
class Line:
    """One-dimensional counts, with the same methods as a frame but no columns."""

    columns = ()

    read: Callable[
        [str, Sequence[Any]], Integers
    ]  #: the counts; the text is what an error calls them
    back: Callable[[Integers], Any]  #: from new counts to the kind it was
    name: str | None = None  #: what a series is called

    def labels(self, name: str, parameter: str) -> list[Any]:
        """An error: there are no columns."""
        raise no_columns(parameter)

    def counts(self, name: str, where: str, missing: Sequence[Any] = ()) -> Integers:
        """All the counts; `where` is what an error calls them."""
        return self.read(where, missing)

    def replace(self, name: str, counts: Integers) -> Any:
        """The new counts, as the kind it was."""
        return self.back(counts)


def open_frame(source: Any) -> Frame | None:
    """A data frame of any library, read once; None if `source` is something else."""
    import narwhals.stable.v2 as nw

    frame = _narwhals(source)
    if isinstance(frame, nw.LazyFrame):
        return _collect(source, frame)
    if isinstance(frame, nw.DataFrame):
        return Frame(frame, lambda new, _: _own_copy(new))
    return None


def index_as_columns(table: Any) -> Any:
    """A pandas frame whose index of labels became columns; one of bare numbers says nothing.

    Whatever is published beside the counts has to be a column, which the steward is told of.
    """
    import narwhals.stable.v2 as nw

    if not nw.dependencies.is_pandas_like_dataframe(table):
        return table
    index = table.index
    said = any(name is not None for name in index.names) or index.dtype.kind not in "iu"
    try:
        return table.reset_index() if said else table.reset_index(drop=True)
    except ValueError:
        raise HoldfastError(
            "`table` has an index with the name of a column. Hint: rename the index, or drop it "
            "with reset_index(drop=True)."
        ) from None


def _own_copy(frame: Any) -> Any:
    """A native frame without notes, which could tell the true counts; pandas would also share
    blocks of memory with the frame that came in."""
    native = frame.to_native()
    if frame.implementation.is_pandas():
        native = native.copy()
        native.attrs = {}
    return without_notes(native) if frame.implementation.is_pyarrow() else native


def open_series(source: Any) -> Line | None:
    """A series of any library; None if `source` is something else."""
    import narwhals.stable.v2 as nw

    pa = sys.modules.get("pyarrow")  # who has an array has loaded it
    if pa is not None and isinstance(source, pa.Array):
        chunks = nw.from_native(pa.chunked_array([source]), series_only=True)
        return Line(
            lambda where, missing: series_counts(chunks, where, missing),
            lambda new: pa.array(known(new)),
        )
    series = _narwhals(source)
    if not isinstance(series, nw.Series):
        return None
    return Line(
        lambda where, missing: series_counts(series, where, missing),
        lambda new: _like(series, new),
        None if series.name in (None, "") else str(series.name),
    )


def series_labels(source: Any) -> dict[str, list[Any]]:
    """The index of a pandas series by the names of its levels; nothing for what has none."""
    import narwhals.stable.v2 as nw

    if not nw.dependencies.is_pandas_like_series(source):
        return {}
    index, levels = source.index, range(source.index.nlevels)
    names = ["index" if name is None else str(name) for name in index.names]
    apart = [name if names.count(name) == 1 else f"{name} {at}" for at, name in enumerate(names)]
    return {apart[at]: index.get_level_values(at).tolist() for at in levels}


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
        raise no_pyarrow("DuckDB relations need") from None
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


def _like(series: Any, counts: Integers) -> Any:
    import narwhals.stable.v2 as nw

    old = series.to_native()
    if nw.dependencies.is_pandas_like_series(old):
        gaps = "Int64" if (counts == MISSING).any() else None
        return type(old)(known(counts), index=old.index, name=old.name, dtype=gaps)
    return _new_series(series.name, counts, series.implementation).to_native()


def _new_series(name: str, counts: Integers, backend: Any) -> Any:
    import narwhals.stable.v2 as nw

    if (counts == MISSING).any() and backend.is_pandas_like():
        import pandas as pd

        values = pd.Series(known(counts), name=name, dtype="Int64")  # int64 has no gaps
        return nw.from_native(values, series_only=True)
    return nw.new_series(name, known(counts), nw.Int64, backend=backend)


def known(counts: Integers) -> Any:
    """The counts; None for those that are not known."""
    if not (counts == MISSING).any():
        return counts
    return [None if count == MISSING else count for count in counts.tolist()]


def as_list(values: Any, parameter: str) -> list[Any]:
    """The members of a sequence, array or series as Python objects."""
    import narwhals.stable.v2 as nw

    arrow = nw.dependencies.get_pyarrow()
    if arrow is not None and isinstance(values, arrow.Array | arrow.ChunkedArray):
        return list(values.to_pylist())
    if isinstance(values, np.ndarray):
        values = values.tolist()
    elif nw.dependencies.is_into_series(values):
        values = nw.from_native(values, series_only=True).to_list()
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise HoldfastError(f"`{parameter}` must be a list, got {type(values).__name__}.")
    return list(values)


def check_flat(source: Sequence[Any]) -> None:
    """Refuses a list of lists."""
    if source and isinstance(source[0], list | tuple | np.ndarray):
        raise not_flat()


def not_flat() -> HoldfastError:
    """The error for counts in two dimensions."""
    return HoldfastError(
        "`table` must be one-dimensional or have named columns. "
        "Hint: make it a data frame and name the column of counts with `count=`."
    )


def no_columns(parameter: str) -> HoldfastError:
    """The error for a column named where there is none."""
    return HoldfastError(
        f"`{parameter}` names a column, but `table` has none. Hint: give a data frame, "
        f"or leave `{parameter}` out."
    )


def no_pyarrow(who: str) -> HoldfastError:
    """The error for what needs pyarrow, where it is not installed."""
    return HoldfastError(f'{who} pyarrow. Hint: pip install "holdfast[parquet]".')
