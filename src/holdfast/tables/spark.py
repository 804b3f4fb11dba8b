"""Spark frames: their rows are collected once, as an Arrow table, and given back to their session.

Counts and labels of a table that is to be published fit into the driver's memory; who has more
writes Parquet with Spark, and names the folder.
"""

import sys
from typing import Any

from holdfast.tables.frames import Frame, FrameRows


def is_spark(source: Any) -> bool:
    """Whether this is a Spark frame, of a session of one's own or through Connect."""
    pyspark = sys.modules.get("pyspark")  # who has a frame has loaded it
    return pyspark is not None and any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"
        for kind in type(source).__mro__
    )


def open_spark(source: Any) -> Frame:
    """The frame, collected; what is given back is a frame of the same session."""
    import narwhals.stable.v2 as nw

    rows = FrameRows(nw.from_native(_collected(source), eager_only=True))
    return Frame(rows, lambda data: _given_back(source.sparkSession, data.to_arrow()))


def _collected(source: Any) -> Any:
    import pyarrow as pa
    import pyspark

    if int(pyspark.__version__.split(".")[0]) >= 4:
        return source.toArrow()
    return pa.Table.from_pandas(source.toPandas(), preserve_index=False)


def _given_back(session: Any, table: Any) -> Any:
    import pyspark

    if int(pyspark.__version__.split(".")[0]) >= 4:
        return session.createDataFrame(table)
    return session.createDataFrame(table.to_pandas())
