"""Signature and docstring of `holdfast.privatize`, from the fields of a request."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

from holdfast.request.fields import FIELDS

Function = TypeVar("Function", bound=Callable[..., Any])

SUMMARY = """\
A private table of counts whose distribution of counts holds fast.

Exact noise is added to every count first. The distribution of counts is estimated from the noisy
counts and from noisy sums, and the noisy counts, ranked, are given its values: so the released
table has that distribution exactly. The promise: anything published is at most exp(`epsilon`) times
as probable with any one person counted as without, or the reverse, for people who add at most
`contributions` to one row, or to each of `rows`. The number of rows, their order, and the columns
`category`, `keep` and `within` are public and published as they are; all other columns are
withheld."""

TABLE = (
    "table (array-like, data frame, path or Spark frame)",
    "Counts: a list, array or series; a pandas, polars or pyarrow table or a DuckDB relation; the "
    "path of a CSV, Parquet or Excel file, of a folder of Parquet files or, with `query`, of a "
    "DuckDB database; a Spark frame.",
)

ENDING = """\
Returns:
    A `Release`: the released table, what was measured, its promise, and answers with intervals.

Raises:
    HoldfastError: Where something given cannot be used; nothing was measured or spent then.
    LeakError: Where what would be published beside the counts gives them away.
    BudgetError: Where the ledger cannot afford it.

>>> import holdfast
>>> release = holdfast.privatize([0, 0, 3, 1, 0, 7], epsilon="1.0", seed=1)
>>> len(release)
6
"""


def declared(function: Function) -> Function:
    """A function of (table, **options) that shows the fields of a request as its parameters.

    >>> @declared
    ... def privatize(table, **options): ...
    >>> list(inspect.signature(privatize).parameters)[:4]
    ['table', 'count', 'category', 'keep']
    """
    parameters, entries = [], [TABLE]
    for about in FIELDS.values():
        default = inspect.Parameter.empty if about.required else about.default
        parameters.append(
            inspect.Parameter(about.name, inspect.Parameter.KEYWORD_ONLY, default=default)
        )
        words = "" if about.required else f", default {about.default!r}"
        entries.append((f"{about.name} ({about.form.value}{words})", about.help))
    table = inspect.Parameter("table", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    vars(function)["__signature__"] = inspect.Signature([table, *parameters])
    shown = "\n".join(
        textwrap.fill(f"    {name}: {words}", 92, subsequent_indent=8 * " ")
        for name, words in entries
    )
    function.__doc__ = f"{SUMMARY}\n\nParameters:\n{shown}\n\n{ENDING}"
    return function
