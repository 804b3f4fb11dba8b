"""What Spark's executors do with their batches."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.former.mechanism.grouped import GroupedMechanism, RowSampler
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.privacy.randomness import SystemEntropy
from holdfast.former.tables.count_values import Codes
from holdfast.former.tables.group_rows import GroupReader

LARGEST = 2**53
Task = Callable[[Iterator[Any]], Iterator[Any]]


def changed() -> HoldfastError:
    """The error for a DataFrame that is not the same twice."""
    return HoldfastError(
        "`df` gave other rows the second time; nothing was released. "
        "Hint: write it to files first, and read those."
    )


@dataclass(frozen=True, kw_only=True)
class ToDraw:
    """A column of counts that tasks are to draw."""

    at: int
    """Its place in a batch."""
    top: int
    mechanism: Mechanism | GroupedMechanism
    groups: GroupReader | None = None
    grouping: tuple[int, ...] = ()
    """The places of the columns that say which group a row is in."""


def drawing(shared: Any, marker: int | None, codes: Codes, width: int) -> Task:
    """The first columns of batches, with counts drawn from the mechanisms that are shared: a key
    and the columns `ToDraw`."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        key, wanted = shared.value
        samplers, source = _samplers(key, wanted), SystemEntropy()
        for batch in batches:
            columns = list(batch.columns[:width])
            for one, sampler in zip(wanted, samplers, strict=True):
                columns[one.at] = _drawn(batch, one, sampler, marker, codes, source)
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names[:width])

    return run


def _drawn(
    batch: Any,
    one: ToDraw,
    draw: RowSampler,
    marker: int | None,
    codes: Codes,
    source: SystemEntropy,
) -> Any:
    """The released counts of a column, null where one is not known."""
    import pyarrow as pa

    missing = missing_in(batch.column(one.at), codes)
    counts = np.zeros(len(batch), dtype=np.int64)
    counts[~missing] = counts_in(batch.column(one.at).filter(pa.array(~missing)), one.top)
    drawn, released = ~missing, np.zeros(len(batch), dtype=np.int64)
    if marker is not None:
        drawn &= ~batch.column(marker).to_numpy(zero_copy_only=False).astype(np.bool_)
    cells = [batch.column(place).to_pylist() for place in one.grouping]
    members = None if one.groups is None else one.groups.place(cells, drawn)
    released[drawn] = draw(counts[drawn], members, source)
    return pa.array(released, mask=missing)


def missing_in(column: Any, codes: Codes) -> NDArray[np.bool_]:
    """Where a count is a code for what is not known."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = column.cast(pa.float64(), safe=False)
    found = pc.is_in(numbers, value_set=pa.array(codes.numbers, pa.float64()))
    if codes.empty:
        found = pc.or_(found, numbers.is_null(nan_is_null=True))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)


def counts_in(column: Any, top: int) -> NDArray[np.int64]:
    """The counts of a column, top-coded."""
    import pyarrow as pa

    try:
        counts: NDArray[np.int64] = np.minimum(column.cast(pa.int64()).to_numpy(), top)
    except pa.ArrowException:  # its message would tell a count
        raise changed() from None
    if len(counts) and counts.min() < 0:
        raise changed()
    return counts


@lru_cache(maxsize=2)
def _by_key(key: str) -> list[RowSampler]:
    return []


def _samplers(key: str, columns: Sequence[ToDraw]) -> list[RowSampler]:
    """The mechanisms certified again where they are used; once for each process."""
    made = _by_key(key)
    if not made:
        made += [RowSampler(one.mechanism) for one in columns]
    return made


def packed(batches: Iterator[Any]) -> Iterator[Any]:
    """Every batch as one cell of bytes: Arrow's own stream format."""
    import pyarrow as pa

    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()])], ["data"])
