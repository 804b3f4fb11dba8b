"""Spark in local mode, where pyspark and Java are installed: `pytest -m spark`."""

import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.stats import chi2

import holdfast.former as holdfast
from holdfast.errors import HoldfastError, LeakError
from holdfast.former.constructors import Heuristic

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")


def java_version():
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else None)
    said = subprocess.run([java, "-version"], capture_output=True, text=True) if java else None
    found = re.search(r'version "(\d+)', said.stderr) if said else None
    return int(found[1]) if found else None


if java_version() not in (17, 21):
    pytest.skip("Spark needs Java 17 or 21, and finds neither", allow_module_level=True)

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore"),  # pyspark's own
]
OPTIONS = {"count": "visits", "epsilon": 1, "max_count": 20, "constructor": Heuristic()}
KEEPING = OPTIONS | {"keep": ["id", "note"]}
ROWS = 200_000


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # executors cannot import it
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[2,4]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "localhost")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
    yield session
    session.stop()


def visits(spark, rows=ROWS, partitions=6):
    """id, visits, a note that is sometimes null: visits follow from id."""
    frame = spark.range(0, rows, 1, partitions)
    return frame.selectExpr(
        "id",
        "cast(floor(-ln(1 - pmod(hash(id), 100003) / 100003.0) * 4) as int) as visits",
        "case when id % 3 = 0 then null else concat('n', id) end as note",
    )


def histogram(frame, top=20):
    counts = np.zeros(top + 1)
    for value, rows in frame.groupBy("visits").count().collect():
        counts[min(value, top)] += rows
    return counts


def fits(observed, expected):
    kept = expected > 20
    o, e = np.append(observed[kept], observed[~kept].sum()), expected[kept]
    e = np.append(e, expected.sum() - e.sum()) + 1e-9
    statistic = ((o - e)[e > 5] ** 2 / e[e > 5]).sum()
    return statistic < chi2.isf(1e-6, (e > 5).sum())


def check_rows(release, frame):
    """Every row is there once, other columns are as they were, counts follow the mechanism."""
    assert release.table.columns == frame.columns
    rows = frame.count()
    assert release.table.count() == release.table.select("id").distinct().count() == rows
    kept = [name for name in frame.columns if name != "visits"]
    assert release.table.select(kept).exceptAll(frame.select(kept)).count() == 0
    law = histogram(frame) @ release.mechanism.matrix
    assert fits(release.histogram, law)
    assert not fits(release.histogram, law * (1 + 0.1 * (np.arange(21) == law.argmax())))


def test_counts_are_drawn_and_everything_else_is_kept(spark, tmp_path):
    frame = visits(spark)
    release = holdfast.spark.privatize(frame, str(tmp_path / "out"), **KEEPING)
    check_rows(release, frame)
    assert dict(release.table.dtypes) == {"id": "bigint", "visits": "bigint", "note": "string"}
    assert not release.privacy.simulated
    joined = release.table.join(frame.withColumnRenamed("visits", "truth"), "id")
    assert joined.where("visits <> truth").count() > ROWS / 10


def test_counts_up_to_a_million_are_drawn_near_what_they_were(spark, tmp_path):
    frame = spark.range(0, 3000, 1, 3).selectExpr(
        "id", "cast(exp(pmod(hash(id), 1000) / 1000.0 * 13.8) as int) as visits"
    )
    options = {"count": "visits", "keep": ["id"], "epsilon": 2, "max_count": 1_000_000}
    release = holdfast.spark.privatize(frame, str(tmp_path / "out"), **options)
    joined = release.table.join(frame.withColumnRenamed("visits", "truth"), "id")
    off = joined.selectExpr("count(*)", "avg(abs(visits - truth))", "max(truth)").first()
    assert off[0] == 3000 and 0 < off[1] < 10 and off[2] > 900_000
    assert len(release.target) == 1_000_001


def test_an_action_that_is_repeated_gives_one_version_of_every_row(spark, tmp_path):
    release = holdfast.spark.privatize(visits(spark), str(tmp_path / "out"), **KEEPING)
    first = dict(release.table.select("id", "visits").collect())
    second = dict(release.table.select("id", "visits").collect())
    third = dict(release.table.repartition(3).select("id", "visits").collect())
    assert len(first) == ROWS and first == second == third


def test_a_task_that_is_killed_and_retried_leaves_one_version_of_every_row(spark, tmp_path):
    mark = str(tmp_path / "killed once")

    def dies_once(batches):
        from pyspark import TaskContext

        for batch in batches:
            yield batch.slice(0, len(batch) // 2)
            here = f"{mark} in stage {TaskContext.get().stageId()}"  # once in each pass
            if not os.path.exists(here) and 150_000 in batch.column(0).to_pylist():
                Path(here).touch()
                os._exit(1)
            yield batch.slice(len(batch) // 2)

    frame = visits(spark)
    release = holdfast.spark.privatize(
        frame.mapInArrow(Later(dies_once, mark), frame.schema), str(tmp_path / "out"), **KEEPING
    )
    check_rows(release, frame)
    left = sorted(p.name for p in tmp_path.iterdir())
    assert left.pop() == "out" and len(left) > 2  # the first pass, a look at columns, the draws
    assert all(name.startswith("killed once") for name in left)


class Later:
    """Lets the passes before the draws through untouched: that of the histogram, and that which
    looks at the order; they write marks of their own."""

    def __init__(self, work, mark):
        self.work, self.first = work, mark + ".histogram"

    def __call__(self, batches):
        from pyspark import TaskContext

        stage, first = str(TaskContext.get().stageId()), Path(self.first)
        first.touch()
        if len({*first.read_text().split(), stage}) <= 2:
            with first.open("a") as file:
                file.write(f"{stage}\n")
        yield from batches if stage in first.read_text().split() else self.work(batches)


def test_skewed_and_empty_partitions_are_drawn(spark, tmp_path):
    frame = visits(spark).repartitionByRange(5, "visits").where("visits < 30")
    check_rows(holdfast.spark.privatize(frame, str(tmp_path / "out"), **KEEPING), frame)


def test_structural_zeros_pass_through(spark, tmp_path):
    frame = visits(spark).selectExpr("*", "visits = 0 and id % 2 = 0 as closed")
    known = frame.where("closed").count()
    options = OPTIONS | {"structural_zero": "closed", "keep": ["closed"]}
    release = holdfast.spark.privatize(frame, str(tmp_path / "out"), **options)
    assert release.structural_zeros == known > 0
    withheld = OPTIONS | {"structural_zero": "closed"}
    more = holdfast.spark.privatize(frame, str(tmp_path / "more"), **withheld)
    assert more.structural_zeros == known and more.table.columns == ["visits"]
    assert release.table.where("closed and visits <> 0").count() == 0


def gappy(spark, rows=3000):
    code = "case when id % 7 = 3 then -999 when id % 7 = 5 then null else visits end as visits"
    keys = "if(id % 5 = 0, null, string(pmod(id * 7919, 311))) as size"
    return visits(spark, rows).selectExpr("concat('p', id) as place", code, keys)


def test_missing_counts_and_the_order_of_a_column_mean_what_they_do_in_memory(spark, tmp_path):
    frame = gappy(spark)
    options = OPTIONS | {"category": "place", "keep": ["size"], "order_by": "size"}
    options |= {"missing": [-999, None]}
    release = holdfast.spark.privatize(frame, str(tmp_path / "out"), **options)
    whole = holdfast.privatize(frame.toPandas(), **options)
    assert (release.rows, release.missing) == (whole.rows, int(whole.missing_rows.sum()))
    bundle = release.save(tmp_path / "bundle")
    assert holdfast.verify(tmp_path / "bundle").passed
    table = bundle.load().table.to_pandas()
    assert table["place"].tolist() == whole.table["place"].tolist()
    assert table["visits"].isna().tolist() == whole.missing_rows.tolist()
    files = sorted((tmp_path / "out").glob("part-*.parquet"))
    order = [row for file in files for row in pa.parquet.read_table(file)["place"].to_pylist()]
    assert order == table["place"].tolist()


def test_rows_in_the_order_of_the_counts_are_refused_without_another_order(spark, tmp_path):
    frame = visits(spark, 3000).selectExpr("concat('p', id) as place", "visits").orderBy("visits")
    options = OPTIONS | {"category": "place"}
    with pytest.raises(LeakError, match="'row order' follows the counts"):
        holdfast.spark.privatize(frame, str(tmp_path / "out"), **options)
    with pytest.raises(HoldfastError, match=r"a row where it is missing|a negative number"):
        holdfast.spark.privatize(gappy(spark, 500), str(tmp_path / "out"), **options)
    assert not list(tmp_path.iterdir())
    holdfast.spark.privatize(frame, str(tmp_path / "out"), **options, order_by="place")


@pytest.mark.parametrize(
    ("visits_sql", "problem"),
    [
        ("case when id = 77 then null else visits end", "missing"),
        ("case when id = 77 then -1 else visits end", "negative"),
        ("case when id = 77 then 0.5D else visits end", "not whole"),
        ("case when id = 77 then 9007199254740993 else visits end", "above 2"),
        ("cast(visits as string)", "must hold numbers"),
    ],
)
def test_bad_counts_are_refused_and_nothing_is_written(spark, tmp_path, visits_sql, problem):
    frame = visits(spark, 1000).selectExpr("id", f"{visits_sql} as visits")
    with pytest.raises(HoldfastError, match=problem):
        holdfast.spark.privatize(frame, str(tmp_path / "out"), **OPTIONS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "copy", ["visits + 0D", "concat(' ', visits, '.0')", "cast(visits as decimal(9,2))"]
)
def test_a_copy_of_the_counts_is_refused_as_in_memory(spark, tmp_path, copy):
    frame = visits(spark, 5000)
    with pytest.raises(HoldfastError, match="'also' holds the counts"):
        copied = frame.selectExpr("*", f"{copy} as also")
        holdfast.spark.privatize(copied, str(tmp_path / "out"), **OPTIONS, keep=["also"])
    assert not list(tmp_path.iterdir())
    assert holdfast.spark.privatize(copied, str(tmp_path / "out"), **OPTIONS).rows == 5000
    near = frame.selectExpr("*", f"case when id = 77 then null else {copy} end as also")
    with pytest.raises(HoldfastError, match="'also' holds the counts in nearly all rows"):
        holdfast.spark.privatize(near, str(tmp_path / "near"), **OPTIONS, keep=["also"])
    same = spark.range(1000).selectExpr("3 as visits", "3 as week")
    assert (
        holdfast.spark.privatize(same, str(tmp_path / "same"), **OPTIONS, keep="week").rows == 1000
    )


def test_a_column_of_intervals_is_kept_and_is_no_number(spark, tmp_path):
    frame = visits(spark, 1000).selectExpr("*", "make_dt_interval(id) as stay")
    kept = ["id", "note", "stay"]
    release = holdfast.spark.privatize(frame, str(tmp_path / "out"), **OPTIONS, keep=kept)
    assert release.table.select(kept).exceptAll(frame.select(kept)).count() == 0
    with pytest.raises(HoldfastError, match="must hold numbers"):
        options = OPTIONS | {"count": "stay"}
        holdfast.spark.privatize(frame, str(tmp_path / "more"), **options)


def test_labels_that_repeat_are_told_of(spark, tmp_path):
    frame = visits(spark, 5000).selectExpr("*", "if(id = 4999, 7, id) as shop", "array(id) as list")
    options = OPTIONS | {"category": "id"}
    once = holdfast.spark.privatize(frame, str(tmp_path / "once"), **options)
    options |= {"category": "shop"}
    with pytest.raises(HoldfastError, match="If every row is a person"):
        holdfast.spark.privatize(frame, str(tmp_path / "twice"), **options)
    options |= {"repeated_categories": True}
    twice = holdfast.spark.privatize(frame, str(tmp_path / "twice"), **options)
    said = "shop has repeated values; every row is treated as a category of its own"
    assert said in twice.notes and not any("repeated" in note for note in once.notes)
    with pytest.raises(HoldfastError, match="'list' must hold labels such as text"):
        holdfast.spark.privatize(frame, str(tmp_path / "no"), **options | {"category": "list"})


def test_what_a_schema_says_of_itself_stays_behind(spark, tmp_path):
    from pyspark.sql import functions as F

    said = {"note": "1234 visits"}
    frame = visits(spark, 1000).withColumn("id", F.col("id").alias("id", metadata=said))
    frame = frame.withColumn("nested", F.struct(F.col("id").alias("x", metadata=said)))
    frame.write.parquet(str(tmp_path / "in"))
    holdfast.spark.privatize(frame, str(tmp_path / "out"), **OPTIONS, keep=["id", "nested"])
    for name, told in (("in", True), ("out", False)):
        files = [path.read_bytes() for path in (tmp_path / name).glob("*.parquet")]
        assert any(b"1234 visits" in data for data in files) == told


def test_a_job_that_fails_leaves_nothing_tells_no_cell_and_counts(spark, tmp_path):
    def fails(batches):
        for batch in batches:
            yield batch.slice(0, 10)
            raise ValueError(f"cell {batch.column(1)[0]}")

    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("visits", epsilon=1)
    frame = visits(spark, 1000, 1)
    failing = frame.mapInArrow(Later(fails, str(tmp_path / "mark")), frame.schema)
    paid = OPTIONS | {"ledger": ledger, "dataset": "visits"}
    with pytest.raises(HoldfastError, match="nothing was released") as caught:
        holdfast.spark.privatize(failing, str(tmp_path / "out"), **paid)
    assert "cell" not in str(caught.value) and caught.value.__cause__ is None
    assert ledger.balance("visits").states["abandoned"] == 1
    left = {p.name for p in tmp_path.iterdir()} - {"budget.ledger", "mark.histogram"}
    assert not any(name.startswith("out") for name in left)


def test_a_frame_that_changes_between_the_passes_is_not_released(spark, tmp_path):
    def loses_rows(batches):
        for batch in batches:
            yield batch.slice(1)

    frame = visits(spark)
    changing = frame.mapInArrow(Later(loses_rows, str(tmp_path / "mark")), frame.schema)
    with pytest.raises(HoldfastError, match="other rows"):
        holdfast.spark.privatize(changing, str(tmp_path / "out"), **OPTIONS)
    assert [p.name for p in tmp_path.iterdir()] == ["mark.histogram"]


def test_a_place_that_is_taken_is_refused_before_anything_is_drawn(spark, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(HoldfastError, match="exists already"):
        holdfast.spark.privatize(visits(spark, 100), str(tmp_path / "out"), **OPTIONS)


def test_the_bundle_is_that_of_a_release_in_memory_but_for_the_draws(spark, tmp_path):
    frame = visits(spark, 50_000)
    release = holdfast.spark.privatize(frame, str(tmp_path / "out"), **KEEPING)
    release.save(str(tmp_path / "bundle"))
    assert holdfast.verify(tmp_path / "bundle").passed
    table = pa.Table.from_pylist([row.asDict() for row in frame.collect()])
    whole = holdfast.privatize(table, **KEEPING)
    whole.save(tmp_path / "memory", table_format="parquet")
    one, other = release.summary(), holdfast.load(tmp_path / "memory").summary()
    drawn = {"privacy", "mechanism_digest", "expected_change_of_a_count", "methods", "notes"}
    assert one.keys() == other.keys()
    assert {k: v for k, v in one.items() if k not in drawn} == {
        k: v for k, v in other.items() if k not in drawn
    }
    assert holdfast.load(tmp_path / "bundle").rows == 50_000


def test_a_ledger_pays_before_spark_draws(spark, tmp_path):
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("visits", epsilon=1)
    paid = OPTIONS | {"ledger": ledger, "dataset": "visits"}
    holdfast.spark.privatize(visits(spark, 1000), str(tmp_path / "out"), **paid)
    assert ledger.balance("visits").epsilon_left == 0
    with pytest.raises(HoldfastError, match="cannot afford"):
        holdfast.spark.privatize(visits(spark, 1000), str(tmp_path / "more"), **paid)
    assert not (tmp_path / "more").exists()


def test_five_million_rows(spark, tmp_path):
    frame = visits(spark, 5_000_000, 8)
    release = holdfast.spark.privatize(frame, str(tmp_path / "out"), **KEEPING)
    assert release.rows == 5_000_000
    assert release.table.selectExpr("sum(id)").first()[0] == 5_000_000 * 4_999_999 // 2
    assert fits(release.histogram, histogram(frame) @ release.mechanism.matrix)


def test_the_documented_script_runs_under_spark_submit(spark, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")
    script = next(b for b in re.findall(r"```python\n(.*?)```", page, re.S) if "getOrCreate" in b)
    (tmp_path / "privatize_visits.py").write_text(script)
    visits(spark, 20_000).withColumnRenamed("id", "shop").write.parquet(str(tmp_path / "in"))
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    places = [str(tmp_path / name) for name in ("privatize_visits.py", "in", "out", "bundle")]
    options = ["--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    done = subprocess.run([submit, *options, *places], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "20000 rows" in done.stdout
    assert holdfast.verify(tmp_path / "bundle").passed


def grouped(spark, rows=20_000):
    """id, state with nulls, people, visits: visits are more where there are more people."""
    return spark.range(0, rows, 1, 4).selectExpr(
        "id",
        "element_at(array('AK', 'NE', NULL), CAST(id % 3 + 1 AS int)) AS state",
        "CAST(pmod(hash(id), 1000) AS int) AS people",
        "CAST(pmod(hash(id, 7), 5) + pmod(hash(id), 1000) DIV 200 AS int) AS visits",
    )


@pytest.mark.parametrize("within", ["state", "classes", "both"])
def test_groups_on_spark_are_those_of_memory_and_each_is_drawn_by_its_mechanism(
    spark, tmp_path, within
):
    classes = holdfast.classes("people", 4)
    chosen = {"state": "state", "classes": classes, "both": ["state", classes]}[within]
    options = {"count": "visits", "keep": ["id"], "epsilon": 3, "max_count": 8, "totals": True}
    release = holdfast.spark.privatize(
        grouped(spark), str(tmp_path / "out"), within=chosen, **options
    )
    truth = grouped(spark).toPandas()
    memory = holdfast.privatize(truth, within=chosen, seed=1, **options)
    assert release.groups.names == memory.groups.names
    assert release.groups.sizes.tolist() == memory.groups.sizes.tolist()
    assert abs(release.totals.whole.value - truth.visits.sum()) < 200
    loaded = release.save(str(tmp_path / "bundle")).load()
    true = truth.set_index("id").visits[np.array(loaded.table.column("id"))].to_numpy()
    for number, group in enumerate(loaded.groups.values()):
        rows = loaded.groups.members == number
        before = np.bincount(np.minimum(true[rows], 8), minlength=9)
        expected = before @ group.mechanism.matrix
        found = np.bincount(loaded.counts[rows], minlength=9)
        used = expected > 5
        statistic = ((found - expected)[used] ** 2 / expected[used]).sum()
        assert statistic < chi2.ppf(1 - 1e-7, used.sum())


def test_groups_of_long_ranges_are_released_on_spark(spark, tmp_path):
    frame = grouped(spark, 3000).selectExpr("id", "state", "visits * people AS visits")
    options = {"count": "visits", "keep": ["id"], "epsilon": 2, "max_count": 12_000}
    out = str(tmp_path / "out")
    release = holdfast.spark.privatize(frame, out, within="state", totals=True, **options)
    assert release.methods[0] == "JointSmooth(sums_first=True)"
    loaded = release.save(str(tmp_path / "bundle")).load()
    truth = frame.toPandas()
    true = truth.set_index("id").visits[np.array(loaded.table.column("id"))].to_numpy()
    assert np.abs(loaded.counts - true).mean() < 5
    assert loaded.ask("total").estimate == pytest.approx(true.sum(), rel=0.001)


def test_what_cannot_be_a_group_on_spark_is_refused_by_name(spark, tmp_path):
    frame = grouped(spark, 100).selectExpr("*", "CAST(id AS double) / 3 AS share")
    options = {"count": "visits", "keep": ["id"], "epsilon": 1, "max_count": 8}
    for within, words in (
        ("share", "must hold labels: text, whole numbers or booleans, not double"),
        (holdfast.classes("state", 3), "must hold numbers to have classes, not string"),
    ):
        with pytest.raises(HoldfastError, match=words):
            holdfast.spark.privatize(frame, str(tmp_path / "out"), within=within, **options)
    gaps = frame.selectExpr("id", "visits", "nullif(people, 7) AS people", "nullif(id, 3) AS few")
    with pytest.raises(HoldfastError, match="there is a row without one"):
        holdfast.spark.privatize(
            gaps, str(tmp_path / "out"), within=holdfast.classes("few", 3), **options
        )


def test_a_subset_on_spark_is_that_of_memory_and_is_charged_beside_others(spark, tmp_path):
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("visits", epsilon=1)
    options = {"count": "visits", "keep": ["id"], "epsilon": 1, "max_count": 8}
    paid = options | {"ledger": ledger, "dataset": "visits"}
    frame, within = grouped(spark, 6000), holdfast.classes("people", 2)
    for label in ("ak", "NE"):
        release = holdfast.spark.privatize(
            frame, str(tmp_path / label), subset={"state": label}, within=within, **paid
        )
        memory = holdfast.privatize(
            frame.toPandas(), seed=1, subset={"state": label}, within=within, **options
        )
        assert release.rows == memory.rows == 2000
        assert release.groups.sizes.tolist() == memory.groups.sizes.tolist()
        assert release.notes[0] == memory.notes[0]
        assert {row.state for row in release.table.collect()} == {label.upper()}
    assert ledger.balance("visits").epsilon_spent == 1
    with pytest.raises(HoldfastError, match="no row has the label 'TX'"):
        holdfast.spark.privatize(frame, str(tmp_path / "x"), subset={"state": "TX"}, **options)
    shares = frame.selectExpr("*", "CAST(id AS double) / 3 AS share")
    with pytest.raises(HoldfastError, match="`subset` column 'share' must hold labels"):
        holdfast.spark.privatize(shares, str(tmp_path / "x"), subset={"share": "1"}, **options)


COUNTS = ["a", "b", "c"]
SEVERAL = {"count": COUNTS, "category": "name", "epsilon": 3}
SEVERAL |= {"max_count": {"a": 6, "b": 9, "c": 7}, "missing": [None]}


def several(spark, rows=1500):
    """Three counts that grow with one another, of three types, none of them known in some rows."""
    level = "-ln(1 - pmod(hash(id), 1003) / 1003.0)"
    return spark.range(0, rows, 1, 2).selectExpr(
        "concat('r', id) as name",
        "element_at(array('x', 'y'), cast(id % 2 + 1 as int)) as side",
        f"cast(if(id % 50 = 7, null, floor({level} * 2)) as int) as a",
        f"cast(if(id % 50 = 7, null, floor({level} * 4) + pmod(hash(id, 3), 3)) as double) as b",
        f"cast(if(id % 50 = 7, null, floor({level} * 3) + pmod(hash(id, 5), 2)) as bigint) as c",
    )


@pytest.mark.parametrize("joint", [False, True])
def test_several_counts_on_spark_are_one_release_with_the_promise_of_memory(spark, tmp_path, joint):
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("d", epsilon=3)
    frame, options = several(spark), SEVERAL | {"joint": joint, "period": 2026, "rows": 2}
    options |= {"within": "side"} if joint else {"unit": "household"}
    paid = {"ledger": ledger, "dataset": "d"}
    release = holdfast.spark.privatize(frame, str(tmp_path / "out"), **options, **paid)
    truth = frame.toPandas()
    memory = holdfast.privatize(truth, **options, seed=1)
    assert ledger.balance("d").epsilon_spent == 3 == release.privacy.epsilon
    assert release.privacy.neighbours == memory.privacy.neighbours
    assert release.notes == memory.notes and not list(tmp_path.glob("out.partial-*"))
    loaded = release.save(str(tmp_path / "bundle")).load()
    assert holdfast.verify(tmp_path / "bundle").passed
    truth = truth.set_index("name").loc[loaded.table.column("name").to_pylist()]
    for name in COUNTS:
        mine, own = release[name], memory[name]
        assert mine.privacy.budget == own.privacy.budget
        assert (mine.rows, mine.missing) == (own.rows, int(own.missing_rows.sum()))
        assert (mine.given, mine.later) == (own.given, own.later)
        drawn = loaded[name].counts
        assert (
            np.bincount(drawn[drawn >= 0], minlength=10)[: len(mine.histogram)] == mine.histogram
        ).all()
        known = truth[name].notna().to_numpy()
        true, top = truth[name][known].to_numpy().astype(int), options["max_count"][name]
        assert (drawn[known] != np.minimum(true, top)).any() and (drawn[~known] < 0).all()
    known = truth.a.notna().to_numpy()
    kept = np.corrcoef(loaded["a"].counts[known], loaded["b"].counts[known])[0, 1]
    assert kept > 0.7 if joint else kept > 0.3


def test_what_several_counts_on_spark_cannot_be_is_refused_unpaid(spark, tmp_path):
    frame = several(spark, 300).selectExpr("*", "a + b + c as sum", "a + b as two")
    options, place = SEVERAL | {"keep": ["sum"]}, str(tmp_path / "out")
    with pytest.raises(LeakError, match="sum"):
        holdfast.spark.privatize(frame, place, **options)
    apart = SEVERAL | {"count": ["a", "b", "two"], "max_count": 20, "person_in": "one column"}
    with pytest.raises(HoldfastError, match="as a total does"):
        holdfast.spark.privatize(frame, place, **apart)
    gaps = frame.selectExpr("name", "a", "b", "if(name = 'r8', null, c) as c")
    with pytest.raises(HoldfastError, match="known in all columns or in none"):
        holdfast.spark.privatize(gaps, place, **SEVERAL, joint=True)
    assert not list(tmp_path.iterdir())


class _Key:
    value = b"a key of a run"


def test_counts_that_wait_for_their_draw_are_not_in_the_files_between():
    from holdfast.former.engines.spark.sealed import opening, sealing
    from holdfast.former.tables.count_values import Codes

    counts = [3, None, 0, 0, 7] * 2000
    batches = pa.table({"n": pa.array(counts, pa.int32())}).to_batches(max_chunksize=1700)
    sealed = pa.Table.from_batches(
        list(sealing(_Key, (0,), Codes((None,)), ("standing", "attempt"))(iter(batches)))
    )
    shown = np.array(sealed["n"].drop_null())
    assert len(set(shown.tolist())) == 8000 and abs(np.mean(shown > 0) - 0.5) < 0.05
    assert sealed["n"].null_count == 2000 and sealed["standing"].to_pylist() == list(range(10_000))
    opened = opening(_Key, 0)(iter(sealed.to_batches(max_chunksize=999)))
    assert pa.Table.from_batches(list(opened))["n"].to_pylist() == counts
