"""Several columns of counts in one stream: the same release as in memory, in two passes."""

import numpy as np
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.tables.table import labels_of
from several_tables import NAMES, TOPS, three_counts

OPTIONS = {"category": "name", "max_count": TOPS, "epsilon": 3, "count": list(NAMES)}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    table = three_counts()
    path.write_text("\n".join(",".join(row) for row in (table.columns, *table.rows)) + "\n")
    return path


def parquet_of(file):
    import pandas as pd

    path = file.with_suffix(".parquet")
    pd.read_csv(file).to_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("within", [None, "group"])
def test_a_stream_releases_all_columns_in_one_bundle_that_verifies(tmp_path, file, kind, within):
    source = file if kind == "csv" else parquet_of(file)
    release = holdfast.privatize_stream(
        source, tmp_path / "out", **OPTIONS, within=within, seed=1, totals=True
    )
    assert holdfast.verify(tmp_path / "out").damage == ()
    loaded = release.load()
    assert loaded.privacy == release.privacy and release.privacy.epsilon == 3
    for name in NAMES:
        drawn = np.bincount(loaded[name].counts, minlength=TOPS[name] + 1)
        assert (drawn == release[name].histogram).all() and drawn.sum() == 300


def test_a_stream_measures_what_memory_measures(tmp_path, file):
    one = holdfast.privatize_stream(file, tmp_path / "out", **OPTIONS, seed=1)
    other = holdfast.privatize(file, **OPTIONS, seed=1)
    for name in NAMES:
        assert one[name].privacy == other[name].privacy
    assert (one["a"].measurement == other["a"].measurement).all()


def test_a_bad_count_in_a_further_column_is_named(tmp_path, file):
    file.write_text(file.read_text().replace("r7,y,", "r7,y,,", 1).replace(",,", ",x,", 1))
    lines = file.read_text().splitlines()
    cells = lines[5].split(",")
    lines[5] = ",".join([*cells[:3], "many", *cells[4:]])
    lines = [line for line in lines if line.count(",") == 4]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(HoldfastError, match=r"column 'b'.*row 5|row 5.*column 'b'"):
        holdfast.privatize_stream(file, tmp_path / "out", **OPTIONS, seed=1)


@pytest.fixture
def paid(tmp_path):
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("d", epsilon=4)
    return {"ledger": ledger, "dataset": "d"}


@pytest.mark.parametrize(("kind", "joint"), [("csv", False), ("parquet", True)])
def test_a_stream_of_several_is_paid_for_once_and_shown_again(tmp_path, file, kind, paid, joint):
    source = file if kind == "csv" else parquet_of(file)
    options = OPTIONS | paid | {"within": "group", "joint": joint}
    first = holdfast.privatize_stream(source, tmp_path / "first", **options)
    again = holdfast.privatize_stream(source, tmp_path / "again", **options)
    assert paid["ledger"].balance("d").epsilon_spent == 3
    assert again.repeated and not first.repeated and again.receipt == first.receipt
    one, other = ((tmp_path / name / f"table.{kind}").read_bytes() for name in ("first", "again"))
    assert one == other and holdfast.verify(tmp_path / "again").damage == ()
    with pytest.raises(HoldfastError, match="cannot afford"):
        holdfast.privatize_stream(source, tmp_path / "b", **options | {"joint": not joint})


def test_a_stream_without_groups_is_shown_again_from_counts_alone(tmp_path, file, paid):
    options = OPTIONS | paid | {"missing": ["-9"]}
    file.write_text(file.read_text().replace("r7,y,", "r7,y,-9,", 1).replace("-9,", "-9", 1))
    lines = [line.split(",") for line in file.read_text().splitlines()]
    lines[8][2:] = ["-9", "-9", "-9"]
    file.write_text("\n".join(",".join(line[:5]) for line in lines) + "\n")
    first = holdfast.privatize_stream(file, tmp_path / "first", **options)
    again = holdfast.privatize_stream(file, tmp_path / "again", **options)
    assert again.repeated and again.load()["b"].missing_rows.sum() == 1
    assert (first.load()["c"].counts == again.load()["c"].counts).all()


def test_a_kept_sum_is_refused_in_a_stream_too(tmp_path, file):
    first, *rest = file.read_text().splitlines()
    rows = [line.split(",") for line in rest]
    lines = [f"{first},sum", *(",".join([*r, str(sum(map(int, r[2:5])))]) for r in rows)]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(HoldfastError, match="sum"):
        holdfast.privatize_stream(file, tmp_path / "out", **OPTIONS, keep=["sum"], seed=1)


@pytest.mark.parametrize(("kind", "within"), [("csv", None), ("parquet", "group")])
def test_jointly_a_stream_gives_the_counts_of_memory(tmp_path, file, kind, within):
    source = file if kind == "csv" else parquet_of(file)
    options = OPTIONS | {"joint": True, "seed": 1, "totals": True, "within": within}
    one = holdfast.privatize_stream(source, tmp_path / "out", **options)
    other = holdfast.privatize(source, **options)
    assert holdfast.verify(tmp_path / "out").damage == ()
    other.save(tmp_path / "memory", table_format=kind)
    assert files_in(tmp_path / "out") == files_in(tmp_path / "memory")
    assert one.privacy == other.privacy and one["c"].given == ("a", "b")


def files_in(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_jointly_counts_must_be_missing_in_the_same_rows(tmp_path, file):
    lines = [line.split(",") for line in file.read_text().splitlines()]
    lines[8][3] = "-9"
    file.write_text("\n".join(",".join(line) for line in lines) + "\n")
    options = OPTIONS | {"missing": ["-9"], "seed": 1}
    with pytest.raises(HoldfastError, match="known in all columns or in none: in data row 8 "):
        holdfast.privatize_stream(file, tmp_path / "out", **options, joint=True)
    holdfast.privatize_stream(file, tmp_path / "out", **options)


@pytest.mark.parametrize("joint", [False, True])
def test_a_subset_of_several_counts_is_that_of_memory(tmp_path, file, paid, joint):
    options = OPTIONS | {"subset": {"group": "x"}, "joint": joint, "period": 2026}
    options |= {"rows": 2, "unit": "household"}
    release = holdfast.privatize_stream(file, tmp_path / "out", **options, **paid)
    memory = holdfast.privatize(file, **options, seed=1)
    assert release.first.rows == memory.first.rows == 150
    assert release.notes == memory.notes and "2026" in release.notes[0]
    assert release.notes[1] == "these are the rows whose group is x"
    assert (tmp_path / "out" / "README.md").read_text().count("Note: ") == len(release.notes)
    assert release.privacy.neighbours == memory.privacy.neighbours
    assert holdfast.verify(tmp_path / "out").damage == ()
    holdfast.privatize_stream(file, tmp_path / "y", **options | {"subset": {"group": "y"}}, **paid)
    assert paid["ledger"].balance("d").epsilon_spent == 3


def test_a_count_of_a_subset_that_is_given_away_is_refused_in_every_column(tmp_path, file):
    lines = [line.split(",") for line in file.read_text().splitlines()]
    also = [r[4] if r[1] == "x" else str(at % 7) for at, r in enumerate(lines[1:])]
    rows = [
        f"{','.join(lines[0])},also",
        *(",".join([*r, x]) for r, x in zip(lines[1:], also, strict=True)),
    ]
    file.write_text("\n".join(rows) + "\n")
    options = OPTIONS | {"keep": ["also"], "seed": 1}
    with pytest.raises(HoldfastError, match="'also' holds the counts"):
        holdfast.privatize_stream(file, tmp_path / "out", **options, subset={"group": "x"})
    holdfast.privatize_stream(file, tmp_path / "out", **options)


def test_labels_of_several_counts_are_corrected_in_a_stream_unpaid(tmp_path, file, paid):
    first = holdfast.privatize_stream(file, tmp_path / "first", **OPTIONS, **paid)
    file.write_text(file.read_text().replace("r7,", "r007,"))
    options = OPTIONS | paid | {"corrects": first}
    right = holdfast.privatize_stream(file, tmp_path / "right", **options)
    assert len(paid["ledger"].spends("d")) == 1 and right.repeated
    loaded, before = right.load(), first.load()
    assert "r007" in labels_of(loaded.table, "name")
    assert all((loaded[name].counts == before[name].counts).all() for name in NAMES)
    file.write_text(file.read_text().replace("r007,y,", "r007,y,1", 1))
    with pytest.raises(HoldfastError, match="this is another release"):
        holdfast.privatize_stream(file, tmp_path / "b", **options)
    assert not (tmp_path / "b").exists()
