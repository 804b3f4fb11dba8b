"""Data frames and series of any library, read through narwhals and given back as they came."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.tables.arrow_cells import (
    arrow_codes,
    arrow_keys,
    is_writable,
    own_cells,
    without_dictionary,
    without_notes,
)
from holdfast.tables.cell_text import is_missing, is_text, refuse_odd_texts
from holdfast.tables.counts import MISSING, array_counts, series_counts
from holdfast.tables.partition import Coded, coded
from holdfast.tables.source import Held, LineRows, Rows
from holdfast.tables.spans import Keys

_ARROW_FROM = 1 << 16  # rows from which it pays to load pyarrow for labels


@dataclass(frozen=True)
class FrameRows(Rows):
    """Rows of an eager data frame in narwhals."""

    data: Any  #: the narwhals DataFrame

    def __len__(self) -> int:
        return len(self.data)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", list(self.data.columns))

    def series(self, name: str) -> Any:
        """One column."""
        return self.data.get_column(name)

    def counts(self, name: str, where: str, missing: Sequence[Any]) -> Integers:
        """A column of counts; `where` is what an error calls it."""
        return series_counts(self.series(name), where, missing)

    def cells(self, name: str, rows: Integers | None = None) -> list[Any]:
        """The values of one column as Python objects."""
        series = self.series(name)
        series = series if rows is None else series[rows.tolist()]
        if self.data.implementation.is_pyarrow():
            return list(without_dictionary(series.to_native()).to_pylist())
        return list(series.to_list())

    def column(self, name: str) -> Any:
        """An Arrow array of what is held in Arrow, else a list of cells."""
        if self.data.implementation.is_pyarrow():
            return without_dictionary(self.series(name).to_native())
        return self.cells(name)

    def codes(self, name: str) -> Coded:
        """The number of the cell in each row, and the different cells."""
        series = self.series(name)
        by_arrow = arrow_codes(series) if len(series) >= _ARROW_FROM else None
        return coded(series.to_list()) if by_arrow is None else by_arrow

    def keys(self, name: str) -> Keys:
        """A key for each cell; equal ones in all batches of Arrow's tables."""
        if self.data.implementation.is_pyarrow():
            return arrow_keys(self.series(name).to_native())
        return super().keys(name)

    def may_be_text(self, name: str) -> bool:
        """Whether the cells of a column may be other than numbers."""
        return not self.series(name).dtype.is_numeric()

    def refuse_unwritable(self, name: str) -> None:
        """Raise for a column that a file cannot hold."""
        import narwhals.stable.v2 as nw

        series = self.series(name)
        kind, backend = series.dtype, self.data.implementation
        if kind.is_nested() or kind == nw.Binary:
            raise _unwritable(name)
        if kind.is_numeric() or kind.is_temporal() or kind == nw.Boolean:
            return
        if backend.is_pyarrow() and is_writable(series.to_native()):
            return
        try:
            cells = self.codes(name)[1]
        except TypeError:  # lists and the like
            raise _unwritable(name) from None
        if any(isinstance(cell, tuple | bytes) for cell in cells):
            raise _unwritable(name)
        texts = [None if is_missing(cell) else str(cell) for cell in cells]
        if not all(text is None or is_text(text) for text in texts):
            refuse_odd_texts(name, [str(cell) for cell in self.cells(name)])

    def take(self, rows: Integers) -> "FrameRows":
        """Other rows, or the same in another order."""
        return FrameRows(self.data[rows.tolist()])


def arrow_rows(table: Any) -> FrameRows:
    """Rows of a table of Arrow; views of texts as texts, since it takes no rows of views."""
    import narwhals.stable.v2 as nw

    for at, field in enumerate(table.schema):
        if str(field.type) == "string_view":
            table = table.set_column(at, field.name, table.column(at).cast("string"))
    return FrameRows(nw.from_native(table, eager_only=True))


def _unwritable(name: str) -> HoldfastError:
    return HoldfastError(
        f"column {name!r} cannot be written as CSV: it holds lists, structures or bytes. "
        "Hint: make text or numbers of it, or leave it out."
    )


@dataclass(eq=False, repr=False)
class Frame(Held):
    """A data frame of some library, and the way back to the kind it was."""

    body: FrameRows
    back: Callable[[Any], Any]
    """Takes a narwhals DataFrame, whose columns of labels are as they came."""

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """These columns with other counts, as the kind it was; no column knows labels, or an order
        of labels, beside those of its rows as they come."""
        data = self.body.data.select(list(names))
        fresh = [_new_series(name, new, data.implementation) for name, new in counts.items()]
        return self.back(_own_copy(data.with_columns(*fresh)))


def open_frame(source: Any) -> Frame | None:
    """A data frame of any library, a lazy one collected; None if `source` is something else."""
    import narwhals.stable.v2 as nw

    frame = _narwhals(_index_as_columns(source))
    if isinstance(frame, nw.LazyFrame):
        return _collect(frame)
    if isinstance(frame, nw.DataFrame):
        arrow = frame.implementation.is_pyarrow()
        rows = arrow_rows(frame.to_native()) if arrow else FrameRows(frame)
        return Frame(rows, lambda new: new.to_native())
    return None


def _index_as_columns(table: Any) -> Any:
    """A pandas frame whose index of labels became columns; one of bare numbers says nothing.

    Whatever is published beside the counts has to be a column, which the steward is told of.
    """
    import narwhals.stable.v2 as nw

    if not nw.dependencies.is_pandas_like_dataframe(table):
        return table
    try:
        return table.reset_index(drop=not _has_labels(table.index))
    except ValueError:
        raise HoldfastError(
            "`table` has an index with the name of a column. Hint: rename the index, or drop it "
            "with reset_index(drop=True)."
        ) from None


def _has_labels(index: Any) -> bool:
    return any(name is not None for name in index.names) or index.dtype.kind not in "iu"


def _own_copy(frame: Any) -> Any:
    """The frame as its rows make it: without notes, without what is in memory under gaps or beyond
    the ends of a slice, and without what tells where it was put together from others, or in which
    order labels were kept. Any of that may tell the true counts, and pandas would also share blocks
    of memory with the frame that came in."""
    import narwhals.stable.v2 as nw

    native = frame.to_native()
    if frame.implementation.is_pyarrow():
        for at, column in enumerate(native.columns):
            native = native.set_column(at, native.field(at).name, own_cells(column))
        native = without_notes(native.combine_chunks())
    elif frame.implementation.is_polars():
        native = native.with_columns(map(_polars_cells, native.get_columns())).rechunk()
    elif frame.implementation.is_pandas():
        fresh = {name: _pandas_cells(native[name]) for name in native}
        native = type(native)(fresh, copy=True)
    return nw.from_native(native, eager_only=True)


def _polars_cells(column: Any) -> Any:
    """A column in memory of its own, whose labels are those of its rows, in the order in which
    they come."""
    import polars as pl

    if not isinstance(column.dtype, pl.Enum | pl.Categorical):
        floats = isinstance(column.dtype, pl.Float32 | pl.Float64)
        if column.dtype == pl.String:  # of which short ones would stay in gaps
            return pl.Series(column.name, column.to_list(), dtype=pl.String)
        own = column.gather(range(len(column)))  # leaves zeros in gaps
        return own.fill_nan(float("nan")) if floats else own
    texts = column.cast(pl.String)
    return texts.cast(pl.Enum(texts.drop_nulls().unique(maintain_order=True)))


def _pandas_cells(column: Any) -> Any:
    """The same of a column of pandas, in one piece."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.set_categories(column.dropna().unique().tolist(), ordered=False)
    of_texts = isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow"
    if not (of_texts or isinstance(column.dtype, pd.ArrowDtype)):
        gaps = column.isna()
        sparse = isinstance(column.dtype, pd.SparseDtype)
        if sparse or column.dtype.kind not in "iufb" or not gaps.any():
            return column
        return column.fillna(column.dtype.type(0)).mask(gaps)  # a gap keeps what it was put on
    whole = own_cells(column.array.__arrow_array__()).combine_chunks()
    return pd.Series(column.dtype.__from_arrow__(whole), index=column.index, name=column.name)


@dataclass(eq=False, repr=False)
class CountsLine(Held):
    """Counts in one dimension, and the way back to the kind they were."""

    body: LineRows
    back: Callable[[Integers], Any]
    title: str | None = None
    """What a series is called."""

    def replace(self, names: Sequence[str], counts: Mapping[str, Integers]) -> Any:
        """The same kind of line."""
        (new,) = counts.values()
        return self.back(new)


def open_line(source: Any) -> CountsLine:
    """A series of any library, or an array."""
    import narwhals.stable.v2 as nw

    pa = sys.modules.get("pyarrow")  # who has an array has loaded it
    if pa is not None and isinstance(source, pa.Array):
        chunks = nw.from_native(pa.chunked_array([source]), series_only=True)
        return _series_line(chunks, lambda new: pa.array(known(new)))
    series = _narwhals(source)
    if nw.dependencies.is_pandas_like_series(source) and _has_labels(source.index):
        raise HoldfastError(
            "`table` is a series with labels in its index. Hint: what is published beside the "
            "counts is named; make columns of them, with table.reset_index(name='count')."
        )
    if isinstance(series, nw.Series):
        kind = series.implementation
        return _series_line(series, lambda new: _new_series(series.name, new, kind).to_native())
    return _open_array(source)


def _series_line(series: Any, back: Callable[[Integers], Any]) -> CountsLine:
    name = None if series.name in (None, "") else str(series.name)
    return CountsLine(LineRows(len(series), partial(series_counts, series)), back, name)


def _open_array(source: Any) -> CountsLine:
    nested = False
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        nested = isinstance(next(iter(source), None), list | tuple | np.ndarray)
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
    if values.ndim > 1 or nested:
        raise HoldfastError(
            "`table` must be one-dimensional or have named columns. "
            "Hint: make it a data frame and name the column of counts with `count=`."
        )

    return CountsLine(LineRows(len(values), partial(array_counts, values)), lambda new: new.copy())


def _narwhals(source: Any) -> Any:
    import narwhals.stable.v2 as nw

    try:
        return nw.from_native(source, allow_series=True, pass_through=True)
    except Exception:
        raise HoldfastError("`table` cannot be read. Hint: are its column names unique?") from None


def _collect(lazy: Any) -> Frame:
    kind = str(lazy.implementation)
    if kind != "polars":
        raise HoldfastError(f"`table` is a lazy {kind} frame. Hint: collect it first.")
    try:
        # Once only: the order of the rows may differ between runs.
        frame = lazy.collect()
    except Exception:
        raise HoldfastError("`table`: the polars query failed. Hint: run it by itself.") from None
    return Frame(FrameRows(frame), lambda new: new.to_native().lazy())


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
