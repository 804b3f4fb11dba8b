"""Bundles that would take for ever, or all memory: they are refused, and soon."""

import numpy as np
import pandas as pd
import pytest

import holdfast
from forging import forged, of_lines, of_record, of_text
from holdfast.errors import HoldfastError
from holdfast.release import csv_files
from holdfast.tables.groups import Within
from holdfast.tables.partition import Partition
from holdfast.verify import record as records
from holdfast.verify.report import Failure

ROWS = 60


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    table = pd.DataFrame(
        {
            "place": [f"p{k}" for k in range(ROWS)],
            "state": ["x", "y", "z"] * (ROWS // 3),
            "n": np.random.default_rng(2).poisson(4, ROWS),
            "m": np.random.default_rng(3).poisson(1, ROWS),
        }
    )
    release = holdfast.privatize(
        table, count=["n", "m"], category="place", within="state", epsilon=2,
        weights={"n": 2, "m": 1},
    )  # fmt: skip
    return release.save(tmp_path_factory.mktemp("bombs") / "bundle")


def refusal(folder):
    """What `verify` says of a damaged bundle; `load` refuses it as well."""
    report = holdfast.verify(folder)
    assert report.failure is Failure.DAMAGE
    assert "could not be made" not in " ".join(report.damage)
    return " ".join(report.damage)


EXPONENT = "1e999999999"  # a billion digits, once it is read
NUMBERS = {
    "epsilon": lambda said: said["promise"].update(epsilon=EXPONENT),
    "a weight": lambda said: said["promise"]["persons"]["weights"].__setitem__(0, EXPONENT),
    "a budget": lambda said: said["promise"]["budgets"][0].update(whole=EXPONENT),
    "noise": lambda said: said["counts"][0]["noise"].update(epsilon=EXPONENT),
    "noise of sums": lambda said: said["counts"][0]["whole"]["noise"].update(epsilon=EXPONENT),
}


@pytest.mark.parametrize("place", NUMBERS)
def test_an_exact_number_of_a_billion_digits_is_not_written_out(bundle, tmp_path, place):
    folder = forged(bundle, tmp_path / "forged", of_record(NUMBERS[place]))
    assert "is not what it must be" in refusal(folder)
    with pytest.raises(HoldfastError, match="must be a finite number"):
        holdfast.load(folder)


def test_a_key_that_comes_again_is_found_among_many(bundle, tmp_path):
    keys = ", ".join(f'"k{number}": 0' for number in range(200_000))

    def change(folder):
        (folder / "release.json").write_text(f'{{{keys}, "k199999": 1}}')

    folder = tmp_path / "forged"
    with pytest.raises(KeyError):
        forged(bundle, folder, change)
    assert "'k199999' twice" in refusal(folder)
    with pytest.raises(HoldfastError, match="'k199999' twice"):
        holdfast.load(folder)


def test_backticks_that_are_closed_by_none_are_read_once(bundle, tmp_path):
    runs = " ".join("`" * length for length in range(1, 2_000))
    folder = forged(bundle, tmp_path / "forged", of_text("README.md", "\n", f"\n{runs}\n"))
    assert "README.md is not what the release makes it" in refusal(folder)


def test_groups_of_one_name_are_numbered_alike_by_both_sides():
    labels = [("a, a", "a"), ("a", "a, a"), ("a, a, a (2)", ""), ("b", ""), ("all rows", "")]
    labels = [tuple(label) for label in labels] + [("a", "a, a (3)"), ("a, a", "a (3)")]
    partition = Partition(within=Within(("k", "l")), labels=tuple(labels), sizes=np.ones(7, int))
    groups = {"columns": ["k", "l"], "labels": [list(label) for label in labels]}
    assert list(partition.names) == records._names_of(groups)
    assert len(set(partition.names)) == 7


def test_two_groups_with_one_label_are_none(bundle, tmp_path):
    def change(said):
        said["groups"].update(labels=[["x"], ["x"], ["z"]], names=["x", "x (2)", "z"])

    folder = forged(bundle, tmp_path / "forged", of_record(change))
    assert "two groups with one label" in refusal(folder)


def test_rows_of_a_histogram_that_come_round_to_the_right_sum_are_too_many(bundle, tmp_path):
    """Four times 2^62 is 0 in 64 bits."""

    def change(lines):
        count = int(lines[-1][2])
        lines += [[*lines[-1][:2], str(count + k), str(2**62), "0", "0", "0"] for k in range(1, 5)]

    folder = forged(bundle, tmp_path / "forged", of_lines("distribution.csv", change))
    assert "`distribution.csv` has more rows than the table" in refusal(folder)
    with pytest.raises(HoldfastError, match=r"`distribution\.csv` has more rows than the table"):
        holdfast.load(folder)


@pytest.mark.parametrize("name", ["rows.csv", "table.csv", "distribution.csv", "answers.csv"])
@pytest.mark.parametrize("cell", ["", "\n"])
def test_a_record_without_end_is_not_read_to_its_end(bundle, tmp_path, monkeypatch, name, cell):
    monkeypatch.setattr(csv_files, "LONGEST_RECORD", 5_000)

    def change(folder):
        with (folder / name).open("a") as file:
            file.write(f'"{cell}",' * 2_000)

    folder = forged(bundle, tmp_path / "forged", change)
    assert f"`{name}` has a record of more than 5,000 characters" in refusal(folder)


def test_answers_beyond_those_that_follow_are_not_all_read(bundle, tmp_path):
    def change(folder):
        with (folder / "answers.csv").open("a") as file:
            file.write("n,x,mean,1,0,2\n" * 300_000 + '"')  # what is never read can be no CSV

    folder = forged(bundle, tmp_path / "forged", change)
    assert "answers.csv is not what the release makes it" in refusal(folder)


@pytest.mark.parametrize("kind", ["texts", "lists"])
def test_a_column_of_parquet_that_unpacks_to_more_than_it_may_is_not_read(
    tmp_path, monkeypatch, kind
):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pd.DataFrame({"place": [f"p{k}" for k in range(ROWS)], "n": [3, 0, 1] * (ROWS // 3)})
    release = holdfast.privatize(table, count="n", category="place", keep_none=True, epsilon=2)
    whole = release.save(tmp_path / "bundle", table_format="parquet")
    monkeypatch.setattr("holdfast.release.parquet.BATCH_BYTES", 100_000)
    long = {"texts": ["x" * 200_000] + [None] * (ROWS - 1), "lists": [[7] * 5_000] * ROWS}[kind]

    def change(folder):
        there = parquet.read_table(folder / "table.parquet")
        there = there.set_column(0, "place", pa.array(long))
        parquet.write_table(there, folder / "table.parquet", use_dictionary=kind == "texts",
                            compression="gzip")  # fmt: skip

    folder = forged(whole, tmp_path / "forged", change)
    assert holdfast.verify(whole).passed and "more data than its rows can hold" in refusal(folder)
    with pytest.raises(HoldfastError, match="more data than"):
        holdfast.load(folder).cells  # noqa: B018


def test_cells_of_parquet_that_hold_several_values_are_not_read(tmp_path):
    """200 MB of lists fit into a file of a few thousand bytes, and take gigabytes as values."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pd.DataFrame({"place": [f"p{k}" for k in range(ROWS)], "n": [3, 0, 1] * (ROWS // 3)})
    release = holdfast.privatize(table, count="n", category="place", keep_none=True, epsilon=2)
    whole = release.save(tmp_path / "bundle", table_format="parquet")

    def change(folder):
        there = parquet.read_table(folder / "table.parquet")
        lists = there.set_column(0, "place", pa.array([[7]] * ROWS))
        parquet.write_table(lists, folder / "table.parquet", write_statistics=False)

    folder = forged(whole, tmp_path / "forged", change)
    assert "hold several values" in refusal(folder)
    with pytest.raises(HoldfastError, match="hold several values"):
        holdfast.load(folder).cells  # noqa: B018
