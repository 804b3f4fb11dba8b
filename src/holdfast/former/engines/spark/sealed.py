"""Counts that wait for their draw while others are given: in files, readable with a key alone.

Where the relation of several counts is kept, a column is drawn given what is released of those
before it, and that must be in files, which no task computes anew. The counts not drawn yet go into
these files too, each with 64 bits added to it, without carry, that SHAKE-256 makes of a key; the
key is in the memory of the run alone.
"""

from collections.abc import Iterator
from hashlib import shake_256
from typing import Any

import numpy as np

from holdfast.arrays import Integers
from holdfast.former.engines.spark.tasks import LARGEST, Task, counts_in, missing_in
from holdfast.former.tables.count_values import Codes

BLOCK = 4096  # rows whose bits are made at once
_PART = 40  # bits of the number of a row in its partition


def sealing(key: Any, places: tuple[int, ...], codes: Codes, names: tuple[str, str]) -> Task:
    """Batches with the counts in these places sealed, and two more columns of these names: where a
    row stands in the table, and which task wrote it. `key` is shared."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        task, rows = TaskContext.get(), 0
        part, attempt = (0, 0) if task is None else (task.partitionId(), task.taskAttemptId())
        for batch in batches:
            columns, size = list(batch.columns), len(batch)
            standing = np.arange(rows, rows + size, dtype=np.int64) + (part << _PART)
            attempts = np.full(size, attempt, dtype=np.int64)
            for at in places:
                missing = missing_in(columns[at], codes)
                counts = np.zeros(size, dtype=np.int64)
                counts[~missing] = counts_in(columns[at].filter(pa.array(~missing)), LARGEST)
                bits = pad(key.value, at, standing, attempts)
                columns[at] = pa.array(counts ^ bits, mask=missing)
            columns += [pa.array(standing), pa.array(attempts)]
            yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, *names])
            rows += size

    return run


def opening(key: Any, at: int) -> Task:
    """Batches that were sealed, the counts in one place readable again."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            columns = list(batch.columns)
            standing, attempts = (column.to_numpy() for column in columns[-2:])
            missing = columns[at].is_null().to_numpy(zero_copy_only=False)
            sealed = columns[at].fill_null(0).to_numpy()
            counts = sealed ^ pad(key.value, at, standing, attempts)
            columns[at] = pa.array(counts, mask=missing)
            yield pa.RecordBatch.from_arrays(columns, batch.schema.names)

    return run


def pad(key: bytes, column: int, standing: Integers, attempts: Integers) -> Integers:
    """64 bits for each row, which nobody knows without the key.

    >>> rows = np.arange(3, 9)
    >>> one, other = (pad(b"key", k, rows, np.zeros(6, dtype=int)) for k in (1, 2))
    >>> bool((one == other).any()), bool((pad(b"key", 1, rows[2:], rows[:4] * 0) == one[2:]).all())
    (False, True)
    """
    named = np.stack([attempts, standing // BLOCK])
    blocks, which = np.unique(named, axis=1, return_inverse=True)
    bits = [
        np.frombuffer(shake_256(repr((key, column, *block)).encode()).digest(8 * BLOCK), np.int64)
        for block in blocks.T.tolist()
    ]
    return np.stack(bits)[which.ravel(), standing % BLOCK]
