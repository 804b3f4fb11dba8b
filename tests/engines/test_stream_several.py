"""Several columns of counts in one stream: the same release as in memory, in two passes."""

import numpy as np
import pytest

import holdfast
from holdfast.errors import HoldfastError
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


def test_a_stream_of_several_is_paid_for_once(tmp_path, file):
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("d", epsilon=4)
    holdfast.privatize_stream(file, tmp_path / "out", **OPTIONS, ledger=ledger, dataset="d")
    assert ledger.balance("d").epsilon_spent == 3


def test_a_kept_sum_is_refused_in_a_stream_too(tmp_path, file):
    first, *rest = file.read_text().splitlines()
    rows = [line.split(",") for line in rest]
    lines = [f"{first},sum", *(",".join([*r, str(sum(map(int, r[2:5])))]) for r in rows)]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(HoldfastError, match="sum"):
        holdfast.privatize_stream(file, tmp_path / "out", **OPTIONS, keep=["sum"], seed=1)


def test_joint_is_for_memory(tmp_path, file):
    with pytest.raises(HoldfastError, match="joint"):
        holdfast.privatize_stream(file, tmp_path / "out", **OPTIONS, joint=True, seed=1)


def test_a_correction_of_several_counts_is_refused_in_a_stream_and_not_paid(tmp_path, file):
    ledger = holdfast.Ledger(tmp_path / "l.ledger")
    ledger.set_limit("t", epsilon=9)
    paid = {"ledger": ledger, "dataset": "t"}
    first = holdfast.privatize_stream(file, tmp_path / "first", **OPTIONS, **paid)
    with pytest.raises(HoldfastError, match="`corrects` of several counts"):
        holdfast.privatize_stream(file, tmp_path / "b", **OPTIONS, **paid, corrects=first)
    assert len(ledger.spends("t")) == 1 and not (tmp_path / "b").exists()
