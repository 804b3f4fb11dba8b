"""What Spark's executors do with their batches."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.mechanism.grouped import GroupedMechanism, GroupedSampler
from holdfast.mechanism.mechanism import Mechanism
from holdfast.mechanism.sampling import Sampler
from holdfast.privacy.randomness import SystemEntropy
from holdfast.tables.count_values import Codes


def changed() -> HoldfastError:
    """The error for a DataFrame that is not the same twice."""
    return HoldfastError(
        "`df` gave other rows the second time; nothing was released. "
        "Hint: write it to files first, and read those."
    )


def drawing(
    shared: Any,
    at: int,
    top: int,
    marker: int | None,
    codes: Codes,
    width: int,
    grouping: tuple[int, ...] = (),
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The first columns of batches, with counts drawn from the mechanism that is shared in `at`;
    `grouping` are the columns that say which group a row is in."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        key, mechanism, groups = shared.value
        draw, source = _sampler(key, mechanism), SystemEntropy()
        for batch in batches:
            missing = _missing(batch.column(at), codes)
            known = pa.array(~missing)
            counts = np.zeros(len(batch), dtype=np.int64)
            counts[~missing] = counts_in(batch.column(at).filter(known), top)
            drawn, released = ~missing, np.zeros(len(batch), dtype=np.int64)
            if marker is not None:
                marks = batch.column(marker).to_numpy(zero_copy_only=False).astype(np.bool_)
                drawn &= ~marks
            if isinstance(draw, Sampler):
                released[drawn] = draw(counts[drawn], source)
            else:
                cells = [batch.column(place).to_pylist() for place in grouping]
                released[drawn] = draw(counts[drawn], groups.place(cells, drawn), source)
            columns = list(batch.columns[:width])
            columns[at] = pa.array(released, mask=missing)
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names[:width])

    return run


def _missing(column: Any, codes: Codes) -> NDArray[np.bool_]:
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
def _by_key(key: str) -> list[Sampler | GroupedSampler]:
    return []


def _sampler(key: str, mechanism: Mechanism | GroupedMechanism) -> Sampler | GroupedSampler:
    """The mechanism certified again where it is used; once for each process."""
    made = _by_key(key)
    if not made:
        if isinstance(mechanism, GroupedMechanism):
            made.append(GroupedSampler(mechanism))
        else:
            made.append(Sampler(mechanism))
    return made[0]


def packed(batches: Iterator[Any]) -> Iterator[Any]:
    """Every batch as one cell of bytes: Arrow's own stream format."""
    import pyarrow as pa

    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()])], ["data"])
