"""Whether the rows of a DataFrame stand in the order of their counts."""

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.former.engines.spark.tasks import counts_in
from holdfast.former.tables.leaks import Leak
from holdfast.former.tables.leaks.watch import MOST_COUNT, Order


def order_of_counts(batches: Iterator[Any]) -> Iterator[Any]:
    """What the order of its rows tells of each column of counts, for one partition: its number, and
    a state to merge. Rows without a count in a column are passed over."""
    import pyarrow as pa
    from pyspark import TaskContext

    orders = list[Order]()
    for batch in batches:
        orders = orders or [Order() for _ in batch.columns]
        for order, column in zip(orders, batch.columns, strict=True):
            order.see(counts_in(column.drop_null(), MOST_COUNT))
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    columns = [pa.array([number]), pa.array([pickle.dumps(orders)])]
    yield pa.RecordBatch.from_arrays(columns, ["part", "state"])


def merged_orders(states: Sequence[bytes], columns: int) -> list[list[Leak]]:
    """What the order of all rows tells of each column, from partitions that follow each other."""
    whole = [Order() for _ in range(columns)]
    for state in states:
        for order, part in zip(whole, pickle.loads(state) or (), strict=False):
            order.join(part)
    return [order.leaks() for order in whole]
