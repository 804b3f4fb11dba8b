"""Tables whose counts may be looked at: public ones, made ones, or on the trusted side."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import one_line
from holdfast.plan.simulation import KnownTable


def read_known(
    source: Any, *, count: Any = None, within: Any = None, missing: Any = ()
) -> KnownTable:
    """A table of counts, or a release of one, with the group of each row.

    >>> read_known([3, 0, 1]).counts
    array([3, 0, 1])
    """
    name = one_line(os.fspath(source)) if isinstance(source, str | os.PathLike) else "a table"
    if isinstance(source, str | os.PathLike) and (Path(source) / "release.json").is_file():
        source, count = _released(source, count)
        name = f"the release {name}"
    return _read(source, name, count=count, within=within, missing=missing)


def _released(folder: Any, count: Any) -> tuple[Any, Any]:
    """The table of a release, and its column of counts."""
    from holdfast.release.bundle import load

    release = load(folder)
    return release.table, release.only.name if count is None else count


def _read(source: Any, name: str, **options: Any) -> KnownTable:
    counts = np.asarray(source, dtype=np.int64)
    return KnownTable(name=name, counts=counts, group=np.zeros(len(counts), dtype=np.int64))
