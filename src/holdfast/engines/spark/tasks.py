"""What Spark's executors do with their batches."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.mechanism.mechanism import Mechanism
from holdfast.mechanism.sampling import Sampler
from holdfast.privacy.randomness import SystemEntropy


def changed() -> HoldfastError:
    """The error for a DataFrame that is not the same twice."""
    return HoldfastError(
        "`df` gave other rows the second time; nothing was released. "
        "Hint: write it to files first, and read those."
    )


def drawing(
    shared: Any, at: int, top: int, marker: int | None, width: int
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The first columns of batches, with counts drawn from the mechanism that is shared in `at`."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        draw, source = _sampler(*shared.value), SystemEntropy()
        for batch in batches:
            counts = _counts(batch.column(at), top)
            released = np.zeros(len(counts), dtype=np.int64)
            marks = np.zeros(len(counts), dtype=np.bool_)
            if marker is not None:
                marks = batch.column(marker).to_numpy(zero_copy_only=False).astype(np.bool_)
            released[~marks] = draw(counts[~marks], source)
            columns = list(batch.columns[:width])
            columns[at] = pa.array(released)
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names[:width])

    return run


def _counts(column: Any, top: int) -> NDArray[np.int64]:
    import pyarrow as pa

    try:
        counts: NDArray[np.int64] = np.minimum(column.cast(pa.int64()).to_numpy(), top)
    except pa.ArrowException:  # its message would tell a count
        raise changed() from None
    if len(counts) and counts.min() < 0:
        raise changed()
    return counts


@lru_cache(maxsize=2)
def _by_key(key: str) -> list[Sampler]:
    return []


def _sampler(key: str, mechanism: Mechanism) -> Sampler:
    """The mechanism certified again where it is used; once for each process."""
    made = _by_key(key)
    if not made:
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
