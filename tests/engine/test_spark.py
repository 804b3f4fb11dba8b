"""Spark in local mode, where pyspark and Java are installed: `pytest -m spark`."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import holdfast

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]  # pyspark's own
OPTIONS = {"count": "visits", "category": "shop", "within": "state", "epsilon": 1, "seed": 5}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "shop": [f"s{k:04d}" for k in range(2000)],
            "state": rng.choice(["KS", "NE", "TX"], 2000),
            "visits": rng.negative_binomial(0.7, 0.1, 2000),
            "beds": rng.poisson(3.0, 2000),
            "closed": [False] * 2000,
            "secret": rng.integers(0, 9, 2000),
        }
    )


@pytest.fixture(scope="module")
def frame(spark, table):
    """The table in five partitions of several batches each, in its order."""
    return spark.createDataFrame(table).repartitionByRange(5, "shop").sortWithinPartitions("shop")


def test_the_released_table_is_a_frame_of_the_same_session_without_what_is_withheld(spark, frame):
    release = holdfast.privatize(frame, **OPTIONS)
    assert release.table.sparkSession is spark or release.table.sparkSession == spark
    rows = release.table.collect()
    assert release.table.columns == ["shop", "state", "visits"]
    assert [row.visits for row in rows] == release.counts.tolist()
    assert [row.shop for row in rows] == release.cells["shop"]


def test_no_more_than_a_batch_of_a_partition_is_in_the_driver_at_a_time(frame, monkeypatch):
    from holdfast.tables.spark import SparkTable

    for name in ("collect", "toArrow", "toPandas", "take", "head"):
        monkeypatch.setattr(type(frame), name, None)
    pieces = list(SparkTable(frame).read(["visits"]))
    assert len(pieces) > 5 and max(len(piece.rows) for piece in pieces) == 300
    release = holdfast.privatize(frame, **OPTIONS)
    assert len(release.counts) == 2000 and release.table.columns[0] == "shop"


def test_nothing_of_holdfast_is_needed_where_tasks_run():
    from pyspark.cloudpickle import dumps

    from holdfast.tables.spark import _packed, _replaced

    code = "import sys, pickle; sys.modules['holdfast'] = None; pickle.load(sys.stdin.buffer)"
    for task in (_packed(), _replaced(["shop"], None, {}, ["visits"])):
        subprocess.run([sys.executable, "-c", code], input=dumps(task), check=True)


def test_rows_without_a_count_are_empty_cells(spark, table):
    gaps = table.assign(visits=np.where(np.arange(2000) % 9 == 0, -9, table.visits))
    options = {"count": "visits", "category": "shop", "epsilon": 1, "seed": 5, "missing": [-9]}
    release = holdfast.privatize(spark.createDataFrame(gaps), **options, keep_none=True)
    shown = [row.visits for row in release.table.collect()]
    assert shown[0] is None and shown[9] is None and shown[1:9] == release.counts[1:9].tolist()
    assert (release.counts == holdfast.privatize(gaps, **options, keep_none=True).counts).all()


def test_some_rows_in_another_order_come_back_so(spark, table):
    options = {"subset": {"state": "NE"}, "order_by": "shop", "keep_none": True}
    options |= {"count": "visits", "category": "shop", "epsilon": 1, "seed": 5}
    mixed = table.sample(frac=1, random_state=1)
    release = holdfast.privatize(spark.createDataFrame(mixed).repartition(3), **options)
    rows = release.table.collect()
    assert [row.shop for row in rows] == sorted(table.shop[table.state == "NE"])
    assert [row.visits for row in rows] == release.counts.tolist()
    assert (release.counts == holdfast.privatize(mixed, **options).counts).all()


def test_rows_that_are_dealt_out_among_partitions_come_in_one_order(spark, table):
    dealt = spark.createDataFrame(table.assign(note="x" * 20)).repartition(3)
    release = holdfast.privatize(dealt, **OPTIONS)
    shown = {row.shop: row.visits for row in release.table.collect()}
    counts = dict(zip(release.cells["shop"], release.counts.tolist(), strict=True))
    assert shown == counts and len(shown) == 2000


def test_notes_of_a_column_do_not_come_along(spark, table):
    from pyspark.sql import functions as F

    noted = spark.createDataFrame(table).withColumn(
        "visits", F.col("visits").alias("visits", metadata={"total": 7})
    )
    release = holdfast.privatize(noted, **OPTIONS)
    assert "total" not in release.table.schema.json()


def test_a_frame_that_gives_other_counts_each_time_is_refused(spark, table):
    from pyspark.sql import functions as F

    class Changing:
        number = 0

    def other(batches):
        import pyarrow as pa

        for batch in batches:
            import secrets

            counts = pa.array([secrets.randbelow(9) for _ in range(batch.num_rows)])
            yield pa.RecordBatch.from_arrays([batch.column(0), counts], names=["shop", "visits"])

    changing = spark.createDataFrame(table).select("shop", F.col("visits"))
    changing = changing.mapInArrow(other, "shop string, visits long")
    release = holdfast.privatize(changing, count="visits", category="shop", epsilon=1, seed=1)
    for again in (lambda: release.cells, lambda: release.table):
        with pytest.raises(holdfast.HoldfastError, match="changed while it was read"):
            again()


def test_a_frame_that_fails_is_refused_in_words(spark, table):
    def broken(batches):
        for _ in batches:
            raise ValueError("no")
        yield

    frame = spark.createDataFrame(table).mapInArrow(broken, "shop string, visits long")
    with pytest.raises(holdfast.HoldfastError, match="cannot be read to its end"):
        holdfast.privatize(frame, count="visits", category="shop", epsilon=1, seed=1)


def test_its_bundle_is_verified(frame, tmp_path):
    release = holdfast.privatize(frame, **OPTIONS)
    assert holdfast.verify(release.save(tmp_path / "release"))


def test_a_leak_is_refused_on_spark_too(spark, table):
    leaking = table.assign(copy=table.visits * 2)
    with pytest.raises(holdfast.LeakError):
        holdfast.privatize(spark.createDataFrame(leaking), **OPTIONS, keep=["copy"])
