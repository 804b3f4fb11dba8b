from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import holdfast
from holdfast.constructors import Heuristic
from holdfast.errors import HoldfastError
from holdfast.streaming import arrow_source, text_source

COUNTS = np.random.default_rng(1).geometric(0.3, 4000) - 1


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setattr(text_source, "BLOCK", 1 << 10)
    monkeypatch.setattr(arrow_source, "ROWS", 300)
    ledger = holdfast.Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("visits", epsilon=2)
    return ledger


def options(ledger, **others):
    fixed = {"count": "visits", "epsilon": 1, "max_count": 12, "constructor": Heuristic()}
    return fixed | {"ledger": ledger, "dataset": "visits"} | others


def source(folder, suffix="csv"):
    path = folder / f"visits.{suffix}"
    names = [f"s{i}" for i in range(len(COUNTS))]
    if suffix == "csv":
        rows = (f"{name},{count}\n" for name, count in zip(names, COUNTS.tolist(), strict=True))
        path.write_text("shop,visits\n" + "".join(rows))
    else:
        pa.parquet.write_table(pa.table({"shop": names, "visits": COUNTS}), path)
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_stream_that_was_paid_for_is_shown_again(ledger, tmp_path, suffix):
    path = source(tmp_path, suffix)
    first = holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    second = holdfast.privatize_stream(path, tmp_path / "b", **options(ledger))
    assert ledger.balance("visits").epsilon_left == 1
    assert (first.repeated, second.repeated) == (False, True)
    assert (first.load().counts == second.load().counts).all()
    name = f"table.{suffix}"
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert holdfast.verify(tmp_path / "b").passed


def test_streams_and_releases_in_memory_know_each_other(ledger, tmp_path):
    path = source(tmp_path)
    streamed = holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    assert (holdfast.privatize(path, **options(ledger)).counts == streamed.load().counts).all()
    whole = holdfast.privatize(path, **options(ledger, max_count=11))
    again = holdfast.privatize_stream(path, tmp_path / "b", **options(ledger, max_count=11))
    assert again.repeated and (again.load().counts == whole.counts).all()
    assert ledger.balance("visits").epsilon_left == 0


def test_what_cannot_be_afforded_is_not_drawn(ledger, tmp_path):
    with pytest.raises(HoldfastError, match="cannot afford"):
        holdfast.privatize_stream(source(tmp_path), tmp_path / "a", **options(ledger, epsilon=3))
    assert not (tmp_path / "a").exists()
    assert ledger.balance("visits").epsilon_spent == 0


def test_a_bad_row_is_found_before_anything_is_spent(ledger, tmp_path):
    path = source(tmp_path)
    path.write_text(path.read_text() + "last,-1\n")
    with pytest.raises(HoldfastError, match=r"visits.csv.*data row 4001 is negative"):
        holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    assert ledger.balance("visits").epsilon_spent == 0


def test_a_run_that_fails_after_it_was_paid_for_counts_and_leaves_no_release(ledger, tmp_path):
    path = source(tmp_path)

    def vanish(what, done):
        if what.startswith("Building"):
            assert ledger.balance("visits").epsilon_spent == Fraction(1)
            path.unlink()

    with pytest.raises(HoldfastError, match="cannot be read") as failure:
        holdfast.privatize_stream(path, tmp_path / "a", **options(ledger, progress=vanish))
    assert failure.value.__notes__
    assert ledger.balance("visits").states["abandoned"] == 1
    assert not (tmp_path / "a").exists()
    assert not list((tmp_path / "budget.ledger.releases").iterdir())


def test_a_simulated_stream_leaves_the_ledger_alone(ledger, tmp_path):
    release = holdfast.privatize_stream(source(tmp_path), tmp_path / "a", **options(ledger, seed=1))
    assert ledger.balance("visits").epsilon_spent == 0
    assert any("simulation" in note for note in release.notes)
