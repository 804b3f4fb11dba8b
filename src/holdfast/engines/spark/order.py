"""Whether the rows of a DataFrame stand in the order of their counts."""

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.engines.spark.tasks import counts_in
from holdfast.tables.leaks import Leak
from holdfast.tables.leaks.watch import MOST_COUNT, Order


def order_of_counts(batches: Iterator[Any]) -> Iterator[Any]:
    """What the order of its rows tells, for one partition: its number, and a state to merge."""
    import pyarrow as pa
    from pyspark import TaskContext

    order = Order()
    for batch in batches:
        order.see(counts_in(batch.column(0), MOST_COUNT))
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    columns = [pa.array([number]), pa.array([pickle.dumps(order)])]
    yield pa.RecordBatch.from_arrays(columns, ["part", "state"])


def merged_order(states: Sequence[bytes]) -> list[Leak]:
    """What the order of all rows tells, from that of partitions that follow each other."""
    whole = Order()
    for state in states:
        whole.join(pickle.loads(state))
    return whole.leaks()
