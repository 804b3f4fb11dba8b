"""Spark in local mode, where pyspark and Java are installed: `pytest -m spark`."""

import os
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import holdfast

pytest.importorskip("pyspark", reason="pyspark is not installed")


def java_version():
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    said = subprocess.run([java, "-version"], capture_output=True, text=True) if java else None
    found = re.search(r'version "(\d+)', said.stderr) if said else None
    return int(found[1]) if found else None


if java_version() not in (17, 21):
    pytest.skip("Spark needs Java 17 or 21, and finds neither", allow_module_level=True)

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]  # pyspark's own


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "localhost")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
    yield session
    session.stop()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "shop": [f"s{k:04d}" for k in range(2000)],
            "state": rng.choice(["KS", "NE", "TX"], 2000),
            "visits": rng.negative_binomial(0.7, 0.1, 2000),
            "secret": rng.integers(0, 9, 2000),
        }
    )


OPTIONS = {"count": "visits", "category": "shop", "within": "state", "epsilon": 1, "seed": 5}


def test_a_spark_frame_is_released_as_the_same_table_in_memory_is(spark, table):
    release = holdfast.privatize(spark.createDataFrame(table), **OPTIONS)
    again = holdfast.privatize(table, **OPTIONS)
    assert (release.counts == again.counts).all() and (release.noisy == again.noisy).all()


def test_the_released_table_is_a_frame_of_the_same_session_without_what_is_withheld(spark, table):
    release = holdfast.privatize(spark.createDataFrame(table), **OPTIONS)
    assert release.table.sparkSession is spark or release.table.sparkSession == spark
    rows = release.table.collect()
    assert release.table.columns == ["shop", "state", "visits"]
    assert [row.visits for row in rows] == release.counts.tolist()


def test_its_bundle_is_verified(spark, table, tmp_path):
    release = holdfast.privatize(spark.createDataFrame(table), **OPTIONS)
    assert holdfast.verify(release.save(tmp_path / "release"))


def test_a_leak_is_refused_on_spark_too(spark, table):
    leaking = table.assign(copy=table.visits * 2)
    with pytest.raises(holdfast.LeakError):
        holdfast.privatize(spark.createDataFrame(leaking), **OPTIONS, keep=["copy"])
