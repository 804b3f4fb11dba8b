"""Missing counts and the order of a public column mean in a stream what they mean in memory."""

import importlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError, LeakError
from holdfast.former.constructors import Heuristic
from holdfast.former.tables.csv import CsvTable
from holdfast.former.tables.files import write_file
from holdfast.former.tables.stream import arrow_source, sorted_rows, text_source

ROWS = 2500
RNG = np.random.default_rng(7)
COUNTS = RNG.poisson(2, ROWS)
GAPS, ZEROS = np.arange(ROWS) % 9 == 4, np.arange(ROWS) % 11 == 5
OPTIONS = {"count": "n", "category": "place", "epsilon": 1, "max_count": 6}
OPTIONS |= {"constructor": Heuristic(selector="max")}
SIZES = RNG.integers(0, 400, ROWS)
TABLE = {
    "size": [f"{size}" if size else "" for size in SIZES],
    "place": [f'p "{i}",\n' if i % 50 == 0 else f"p{i}" for i in RNG.permutation(ROWS)],
    "n": ["-999" if gap else str(0 if zero else n) for gap, zero, n in zip(GAPS, ZEROS, COUNTS)],  # noqa: B905
    "zero": [str(zero and not gap) for zero, gap in zip(ZEROS, GAPS, strict=True)],
}
CODED = [int(n) for n in TABLE["n"]]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(text_source, "BLOCK", 1 << 11)
    monkeypatch.setattr(arrow_source, "ROWS", 300)
    monkeypatch.setattr(sorted_rows, "RUN", 1 << 17)  # several runs in temporary files
    monkeypatch.setattr(sorted_rows, "CHUNK", 100)


def source(folder, kind, table=TABLE):
    path = folder / f"in.{kind}"
    if kind == "csv":
        rows = [list(row) for row in zip(*table.values(), strict=True)]
        write_file(CsvTable(tuple(table), rows), path)
    else:
        size = [int(cell) if cell else None for cell in table["size"]]
        zero = [cell == "True" for cell in table["zero"]]
        n = list(map(int, table["n"]))
        pa.parquet.write_table(pa.table(table | {"n": n, "size": size, "zero": zero}), path)
    return path


def columns(release):
    table = release.cells
    if isinstance(table, CsvTable):
        return {name: table.column(name) for name in table.columns}
    return {name: table[name].to_pylist() for name in table.column_names}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_missing_counts_are_left_out_of_a_stream_as_in_memory(kind, tmp_path):
    path = source(tmp_path, kind)
    options = OPTIONS | {"missing": [-999], "structural_zero": "zero", "seed": 1}
    whole = holdfast.privatize(path, **options)
    streamed = holdfast.privatize_stream(path, tmp_path / "a", **options)
    assert streamed.rows == whole.rows < ROWS - GAPS.sum()
    assert holdfast.verify(tmp_path / "a").passed
    again = streamed.load()
    assert (again.counts == whole.counts).all() and (again.missing_rows == GAPS).all()
    whole.save(tmp_path / "b", table_format=kind)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_a_single_column_of_counts_may_have_gaps(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b'n\r\n3\r\n\r\n"NA"\r\n""\r\n1\r\n \r\n2\r\n\r\n\r\n')
    options = OPTIONS | {"category": None, "missing": ["", "NA"], "seed": 1}
    streamed = holdfast.privatize_stream(path, tmp_path / "a", **options)
    whole = holdfast.privatize(path, **options)
    whole.save(tmp_path / "b")
    expected = [False, True, True, True, False, True, False]
    assert streamed.missing_rows.tolist() == whole.missing_rows.tolist() == expected
    table = (tmp_path / "a" / "table.csv").read_bytes()
    assert table == (tmp_path / "b" / "table.csv").read_bytes()
    assert holdfast.verify(tmp_path / "a").passed


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("order_by", ["size", "place"])
def test_a_stream_is_published_in_the_order_of_a_column_as_in_memory(kind, order_by, tmp_path):
    path = source(tmp_path, kind)
    options = OPTIONS | {"missing": [-999], "structural_zero": "zero", "keep": ["size", "zero"]}
    options |= {"order_by": order_by, "seed": 1, "publish_anyway": ["zero"]}
    whole = columns(holdfast.privatize(path, **options))
    release = holdfast.privatize_stream(path, tmp_path / "a", **options)
    assert holdfast.verify(tmp_path / "a").passed
    found = columns(release.load())
    for name in ("size", "place", "zero"):
        assert found[name] == whole[name]
    missing = [cell in ("", None) for cell in whole["n"]]
    assert release.missing_rows.tolist() == missing
    assert [cell in ("", None) for cell in found["n"]] == missing
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", path.name]


def test_an_order_that_follows_the_counts_is_refused_and_one_that_does_not_is_a_way_out(tmp_path):
    ranks = np.argsort(COUNTS, kind="stable")
    plain = {name: [TABLE[name][at] for at in ranks] for name in ("size", "place", "zero")}
    plain["n"] = [str(COUNTS[at]) for at in ranks]
    path = source(tmp_path, "csv", plain)
    with pytest.raises(LeakError, match="'row order' follows the counts"):
        holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS)
    holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS, order_by="place")
    rising = plain | {"size": [f"{number}" for number in range(ROWS)]}
    path = source(tmp_path / "a", "csv", rising)
    with pytest.raises(LeakError, match="'row order' follows the counts"):
        options = OPTIONS | {"keep": ["size"], "publish_anyway": ["size"], "order_by": "size"}
        holdfast.privatize_stream(path, tmp_path / "b", **options)


def test_a_stream_in_order_is_shown_again_by_a_ledger(tmp_path):
    path = source(tmp_path, "csv")
    book = holdfast.Ledger(tmp_path / "book")
    book.set_limit("d", epsilon=1)
    paid = OPTIONS | {"missing": [-999], "order_by": "place", "ledger": book, "dataset": "d"}
    holdfast.privatize_stream(path, tmp_path / "a", **paid)
    again = holdfast.privatize_stream(path, tmp_path / "b", **paid)
    assert again.repeated and book.balance("d").epsilon_left == 0
    tables = [(tmp_path / folder / "table.csv").read_bytes() for folder in "ab"]
    assert tables[0] == tables[1] and holdfast.verify(tmp_path / "b").passed


def test_the_errors_are_those_of_memory(tmp_path):
    path = source(tmp_path, "csv")
    for wrong, said in (
        ({}, "is negative"),
        ({"missing": ["-99"]}, "is negative"),
        ({"missing": [-999], "order_by": "size"}, "must name a column that is published"),
        ({"missing": [-999], "order_by": ""}, "got an empty name"),
    ):
        for run in (
            holdfast.privatize,
            lambda p, **o: holdfast.privatize_stream(p, tmp_path / "a", **o),
        ):
            with pytest.raises(HoldfastError, match=said):
                run(path, **OPTIONS, **wrong)
    path = tmp_path / "gaps.csv"
    path.write_text("place,n\na,\nb,\n")
    with pytest.raises(HoldfastError, match="no count that is known"):
        holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS, missing=[""])


def test_of_more_rows_than_can_be_marked_only_the_number_of_gaps_is_told(tmp_path, monkeypatch):
    for place in ("engines.stream.passes", "release.bundle"):
        monkeypatch.setattr(f"holdfast.{place}.MOST_ROWS", ROWS - 1)
    verifier = importlib.import_module(
        "holdfast.former.verify.table"
    )  # `holdfast.verify` is a function
    monkeypatch.setattr(verifier, "MOST_MARKED", ROWS - 1)
    path, options = source(tmp_path, "csv"), OPTIONS | {"missing": [-999], "seed": 1}
    release = holdfast.privatize_stream(path, tmp_path / "a", **options)
    holdfast.privatize(path, **options).save(tmp_path / "b")
    assert release.missing_rows is None and release.missing == GAPS.sum()
    for name in "ab":
        assert "missing_rows" not in (tmp_path / name / "release.json").read_text()
        assert holdfast.verify(tmp_path / name).passed
        assert (holdfast.load(tmp_path / name).missing_rows == GAPS).all()
    monkeypatch.setattr(verifier, "MOST_MARKED", ROWS)
    assert "do not go together" in holdfast.verify(tmp_path / "a").damage[0]
