"""Tables whose counts may be looked at: public ones, made ones, or on the trusted side."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError, one_line
from holdfast.plan.simulation import KnownTable
from holdfast.release.load import load
from holdfast.tables.leaks import ROW_ORDER, TOTALS
from holdfast.tables.options import TableOptions
from holdfast.tables.table import open_table


def read_known(
    source: Any, *, count: Any = None, within: Any = None, missing: Any = ()
) -> KnownTable:
    """A table of counts, or a release of one, with the group of each row.

    >>> read_known([3, 0, 1]).counts
    array([3, 0, 1])
    """
    name = one_line(os.fspath(source)) if isinstance(source, str | os.PathLike) else "a table"
    if isinstance(source, str | os.PathLike) and (Path(source) / "release.json").is_file():
        release = load(source)
        source, count = release.table, release.only.name if count is None else count
        name = f"the release {name}"
    options = TableOptions(count=count, within=within, missing=missing)
    public = (*options.grouping, ROW_ORDER, TOTALS)  # nothing of it is published
    table = open_table(source, options, publish_anyway=public)
    if len(table.counts) > 1:
        raise HoldfastError("`count` must name one column here. Hint: look at one at a time.")
    (column,) = table.counts
    batches = [
        (batch.counts[column], batch.group, batch.measured[column]) for batch in table.batches()
    ]
    counts, group, measured = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    return KnownTable(
        name=name, counts=counts[measured], group=group[measured], labels=table.partition.names
    )
