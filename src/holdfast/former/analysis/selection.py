"""Which rows an analyst means: by a condition, a mask, a series, an expression, labels."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Marks
from holdfast.errors import HoldfastError
from holdfast.former.analysis.conditions import fulfilled
from holdfast.former.analysis.rows import find_rows, row_labels
from holdfast.former.tables.columns import find_column
from holdfast.former.tables.count_values import label_text
from holdfast.former.tables.group_rows import label_order
from holdfast.former.tables.table import labels_of

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


TOO_MANY_FOR_CHANCE = 10
BY_COUNTS = (
    "just the rows with some released counts were chosen: chosen by what was drawn for them, rows "
    "are not what they seem, and the interval does not hold; choose by what is public"
)


def chosen_rows(release: "Release", where: Any, label: str | None = None) -> Marks:
    """Which rows of the released table `where` chooses.

    A condition in words; a mask, one True or False per row, as a list, an array or a series (a
    pandas series is put in order by its index); a polars expression; a function of the table;
    or a list of labels or row numbers.
    """
    import narwhals.stable.v2 as nw

    if isinstance(where, str):
        return fulfilled(where, lambda name: published(release, name))
    if callable(where):
        return chosen_rows(release, where(release.table), label)
    if nw.dependencies.is_pandas_like_series(where):
        where = _in_order(release, where)
    polars = nw.dependencies.get_polars()
    if polars is not None and isinstance(where, polars.Expr):
        where = _expressed(release, where, polars)
    if nw.dependencies.is_into_series(where):
        where = nw.from_native(where, series_only=True).to_list()
    return _marked(release, where, label)


def published(release: "Release", name: str, parameter: str = "where") -> Sequence[Any]:
    """The values of a public column; the released counts are none. `parameter` is what an error
    calls it."""
    if name == (release.count_column or "count"):
        raise HoldfastError(
            f"`where` and `by` cannot use the released counts ({name!r:.60}): rows chosen by what "
            "was drawn for them are not what they seem. Hint: choose by columns that were "
            "published unchanged."
        )
    find_column(list(release.unchanged_columns), name, parameter)
    return labels_of(release.cells, name)


def chosen_by_counts(release: "Release", marks: Marks) -> bool:
    """Whether just the rows with some released counts are marked, and too many for chance."""
    inside, outside = np.unique(release.counts[marks]), np.unique(release.counts[~marks])
    fewest = min(int(marks.sum()), int((~marks).sum()))
    return fewest >= TOO_MANY_FOR_CHANCE and not np.isin(inside, outside).any()


def _marked(release: "Release", where: Any, label: str | None) -> Marks:
    rows = len(release.counts)
    items = list(where) if isinstance(where, Sequence | np.ndarray) else where
    if isinstance(items, list) and any(item is None for item in items):
        raise HoldfastError("`where` has empty entries. Hint: fill_null(False), or fillna(False).")
    if isinstance(items, list) and items and all(isinstance(x, bool | np.bool_) for x in items):
        if len(items) != rows:
            raise HoldfastError(
                f"`where` has {len(items):,} entries, and the release {rows:,} rows. Hint: a mask "
                "has one True or False per row of release.table."
            )
        return np.array(items, dtype=bool)
    marks = np.zeros(rows, dtype=bool)
    marks[find_rows(release, row_labels(release, label), items)] = True
    return marks


def _in_order(release: "Release", series: Any) -> Any:
    """A pandas series by its index, where that is the table's; refused where it is not."""
    index = _index(release)
    if len(series) != len(release.counts):
        raise HoldfastError(
            f"`where` has {len(series):,} entries, and the release {len(release.counts):,} rows. "
            "Hint: make it from release.table or release.to_pandas()."
        )
    labels = series.index.tolist()
    if labels == index:
        return series
    if len(set(labels)) != len(labels) or set(labels) != set(index):
        raise HoldfastError(
            "the index of `where` is not that of the released table, so its rows cannot be "
            "matched. Hint: make it from release.table, or give .to_numpy() if the order is right."
        )
    return series.loc[index]


def _index(release: "Release") -> list[Any]:
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_pandas_like_dataframe(release.cells):
        return list(release.cells.index.tolist())
    return list(range(len(release.counts)))


def _expressed(release: "Release", expression: Any, polars: Any) -> Any:
    needed = expression.meta.root_names()
    frame = polars.DataFrame({name: list(published(release, name)) for name in needed})
    try:
        return frame.select(expression).to_series()
    except Exception:
        raise HoldfastError(
            "the expression in `where` fails. Hint: try it on release.table."
        ) from None


def groups_of(release: "Release", by: str | Callable[..., Any] | Sequence[Any]) -> dict[Any, Marks]:
    """The rows of every value of a public column, in the order that groups.csv has; of classes
    that are given row by row, in their own order where they have one."""
    values = published(release, by, "by") if isinstance(by, str) else _per_row(release, by)
    codes: dict[Any, int] = {}
    places = np.array([codes.setdefault(value, len(codes)) for value in values])
    order = list(codes)
    if isinstance(by, str):
        order.sort(key=lambda value: label_order(label_text(value) or str(value)))
    else:
        try:
            order.sort()
        except TypeError:  # values of several kinds have none
            order = list(codes)
    return {value: places == codes[value] for value in order}


def _per_row(release: "Release", by: Any) -> list[Any]:
    from holdfast.former.tables.frames import as_list

    values = as_list(by(release.table) if callable(by) else by, "by")
    if len(values) != len(release.counts):
        raise HoldfastError("`by` must name a column, or give one value per row of the table.")
    return values
