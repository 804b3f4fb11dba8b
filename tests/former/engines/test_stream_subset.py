"""A subset over a stream: the release, byte for byte, is that of the same subset in memory."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError, LeakError
from holdfast.former.tables.stream import text_source
from holdfast.former.tables.table import labels_of

OPTIONS = {"count": "n", "category": "place", "epsilon": 1, "max_count": 9}
NE = {"subset": {"state": " ne"}}
WAYS = {
    "alone": {},
    "within": {"within": "side", "totals": True},
    "marked": {"structural_zero": "known", "missing": [-9], "keep": ["people"]},
}


def frame(rows=400):
    rng = np.random.default_rng(1)
    known, counts = rng.random(rows) < 0.1, rng.poisson(2, rows)
    counts = np.where(known, 0, np.where(rng.random(rows) < 0.05, -9, counts))
    return pd.DataFrame(
        {
            "place": [f'p "{i}"\nb' if i % 3 else f"p{i}" for i in range(rows)],
            "state": np.array(["KS", "NE", "Ne "])[np.arange(rows) // 50 % 3],
            "side": np.array(["a", "b"])[rng.integers(0, 2, rows)],
            "people": rng.permutation(rows),
            "known": known,
            "n": counts,
        }
    )


@pytest.fixture(params=["csv", "parquet"])
def file(request, tmp_path, monkeypatch):
    monkeypatch.setattr(text_source, "BLOCK", 1 << 10)  # many batches, some without such a row
    path = tmp_path / f"table.{request.param}"
    if request.param == "csv":
        frame().to_csv(path, index=False)
    else:
        frame().to_parquet(path, row_group_size=40)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_seeded_subset_of_a_stream_has_the_bytes_of_memory(file, tmp_path, way):
    options = OPTIONS | {"missing": [-9], "seed": 3} | NE | WAYS[way]
    streamed = holdfast.privatize_stream(file, tmp_path / "stream", **options)
    memory = holdfast.privatize(file, **options)
    memory.save(tmp_path / "memory", table_format=file.suffix[1:])
    names = sorted(path.name for path in (tmp_path / "memory").iterdir())
    assert sorted(path.name for path in streamed.folder.iterdir()) == names
    for name in set(names) - {"release.json", "table.parquet"}:  # the time it was made, the writer
        ours, theirs = ((tmp_path / kind / name).read_bytes() for kind in ("stream", "memory"))
        assert ours == theirs, name
    assert (streamed.load().counts == memory.counts).all()
    assert memory.notes == streamed.notes and "these are the rows whose state is ne" in memory.notes
    assert 0 < len(memory.counts) < 400 and holdfast.verify(tmp_path / "stream")


def test_a_subset_of_a_stream_is_written_in_the_order_of_a_column(file, tmp_path):
    options = OPTIONS | {"missing": [-9], "order_by": "people", "keep": ["people"], "seed": 3}
    streamed = holdfast.privatize_stream(file, tmp_path / "r", **options, **NE)
    people = holdfast.privatize(frame(), **options, **NE).table["people"].astype(int).tolist()
    assert list(map(int, labels_of(streamed.load().table, "people"))) == people == sorted(people)


def test_subsets_of_a_stream_are_charged_side_by_side_and_shown_again(file, tmp_path):
    ledger = tmp_path / "a.ledger"
    holdfast.Ledger(ledger).set_limit("d", epsilon=1)
    options = OPTIONS | {"missing": [-9], "ledger": ledger, "dataset": "d"}
    first = holdfast.privatize_stream(file, tmp_path / "first", **options, **NE)
    other = holdfast.privatize_stream(file, tmp_path / "ks", **options, subset={"state": "KS"})
    again = holdfast.privatize_stream(file, tmp_path / "again", **options, **NE)
    assert holdfast.Ledger(ledger).balance("d").epsilon_spent == 1
    assert again.repeated and not other.repeated
    assert (again.load().counts == first.load().counts).all()


def test_a_subset_that_cannot_be_streamed_is_refused_before_anything_is_drawn(file, tmp_path):
    options = OPTIONS | {"missing": [-9], "seed": 1}
    with pytest.raises(HoldfastError, match="no row has the label 'TX'"):
        holdfast.privatize_stream(file, tmp_path / "r", **options, subset={"state": "TX"})
    with pytest.raises(HoldfastError, match="must be a column of the table"):
        holdfast.privatize_stream(file, tmp_path / "r", **options, subset={"stat": "NE"})
    assert not (tmp_path / "r").exists()


def test_a_column_that_gives_the_counts_of_the_subset_alone_away_is_refused(tmp_path):
    table = frame().assign(n=lambda t: np.maximum(t.n, 0))
    table["copy"] = np.where(table.state == "KS", table.people % 5, table.n)
    table.to_csv(tmp_path / "t.csv", index=False)
    options, file = OPTIONS | {"keep": ["copy"], "seed": 1}, tmp_path / "t.csv"
    holdfast.privatize_stream(file, tmp_path / "ks", **options, subset={"state": "KS"})
    with pytest.raises(LeakError, match="'copy'"):
        holdfast.privatize_stream(file, tmp_path / "ne", **options, **NE)
