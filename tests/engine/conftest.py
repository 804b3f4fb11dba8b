"""A session of Spark in local mode, where pyspark and Java are installed."""

import os
import re
import shutil
import subprocess
import sys
import warnings

import pytest


def java_version():
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    said = subprocess.run([java, "-version"], capture_output=True, text=True) if java else None
    found = re.search(r'version "(\d+)', said.stderr) if said else None
    return int(found[1]) if found else None


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if java_version() not in (17, 21):
        pytest.skip("Spark needs Java 17 or 21, and finds neither")
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
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "300")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
    yield session
    session.stop()
