import shutil
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError, Spent, spent_by
from holdfast.former.constructors import Heuristic
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.tables.stream import arrow_source, text_source

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


def swapped(path):
    """The same counts in the same order, but two rows of equal counts have changed places."""
    one, two = np.flatnonzero(COUNTS == 0)[:2]
    text = path.read_text().replace(f"s{one},", "x,").replace(f"s{two},", f"s{one},")
    path.write_text(text.replace("x,", f"s{two},"))


def test_rows_of_equal_counts_that_changed_places_are_not_shown_each_others_draws(ledger, tmp_path):
    path = source(tmp_path)
    holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    swapped(path)
    again = holdfast.privatize_stream(path, tmp_path / "b", **options(ledger))
    assert not again.repeated
    assert ledger.balance("visits").epsilon_left == 0


def test_a_query_is_paid_for_whenever_it_runs(ledger, tmp_path):
    with duckdb.connect() as connection:
        query = f"select * from '{source(tmp_path, 'parquet')}' order by shop"
        for name in "ab":
            made = holdfast.privatize_stream(
                connection.sql(query), tmp_path / name, **options(ledger)
            )
            assert not made.repeated
    assert ledger.balance("visits").epsilon_left == 0
    assert [spend.state for spend in ledger.spends("visits")] == ["done", "done"]


def test_a_file_whose_rows_move_between_the_passes_is_refused(ledger, tmp_path, monkeypatch):
    path, rewrite = source(tmp_path), text_source.TextSource.rewrite

    def moved(*given):
        swapped(path)
        return rewrite(*given)

    monkeypatch.setattr(text_source.TextSource, "rewrite", moved)
    with pytest.raises(HoldfastError, match="changed while it was read"):
        holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    assert not (tmp_path / "a").exists()
    assert [spend.state for spend in ledger.spends("visits")] == ["abandoned"]


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
    assert spent_by(failure.value) is Spent.YES
    assert ledger.balance("visits").states["abandoned"] == 1
    assert not (tmp_path / "a").exists()
    assert [path.name for path in (tmp_path / "budget.ledger.releases").iterdir()] == ["head"]


def test_a_simulated_stream_leaves_the_ledger_alone(ledger, tmp_path):
    release = holdfast.privatize_stream(source(tmp_path), tmp_path / "a", **options(ledger, seed=1))
    assert ledger.balance("visits").epsilon_spent == 0
    assert any("simulation" in note for note in release.notes)


def kept(ledger):
    (folder,) = ledger.path.with_name(ledger.path.name + ".releases").glob("0*-*")
    return folder


@pytest.mark.parametrize("other", [{"epsilon": "0.9"}, {"max_count": 11}, {"contributions": 2}])
def test_a_folder_with_another_release_is_not_shown_by_a_stream(ledger, tmp_path, other):
    path = source(tmp_path)
    holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    stranger = Ledger(tmp_path / "other.ledger")
    stranger.set_limit("visits", epsilon=2)
    holdfast.privatize_stream(path, tmp_path / "b", **options(stranger, **other))
    place = kept(ledger)
    shutil.rmtree(place)
    shutil.copytree(kept(stranger), place)
    with pytest.raises(HoldfastError, match="holds another release"):
        holdfast.privatize_stream(path, tmp_path / "c", **options(ledger))
    assert ledger.balance("visits").epsilon_spent == 1 and not (tmp_path / "c").exists()


def test_a_stream_notices_an_older_copy_of_the_ledger(ledger, tmp_path):
    path, older = source(tmp_path), ledger.path.read_bytes()
    holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    ledger.path.write_bytes(older)
    with pytest.raises(HoldfastError, match="is an older copy"):
        holdfast.privatize_stream(path, tmp_path / "b", **options(ledger))
    (tmp_path / "budget.ledger.releases" / "head").unlink()
    with pytest.raises(HoldfastError, match=r"does not know of\. Nothing was drawn or spent"):
        holdfast.privatize_stream(path, tmp_path / "b", **options(ledger))
    assert ledger.spends("visits") == []


def test_a_kept_stream_that_is_gone_or_damaged_is_not_drawn_again(ledger, tmp_path):
    path = source(tmp_path)
    holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    file = kept(ledger) / "table.csv"
    file.write_text(file.read_text() + "1\n")
    with pytest.raises(HoldfastError, match="is not a whole holdfast release"):
        holdfast.privatize_stream(path, tmp_path / "b", **options(ledger))
    shutil.rmtree(kept(ledger))
    with pytest.raises(HoldfastError, match="was stored, is gone"):
        holdfast.privatize_stream(path, tmp_path / "b", **options(ledger))
    assert ledger.balance("visits").epsilon_spent == 1


def test_a_stream_that_cannot_be_marked_is_given_kept_and_counted(ledger, tmp_path, monkeypatch):
    def busy(self, spend, state):
        raise HoldfastError("in use by other processes")

    path = source(tmp_path)
    monkeypatch.setattr(Ledger, "finish", busy)
    first = holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    assert ledger.balance("visits").states["open"] == 1
    monkeypatch.undo()
    again = holdfast.privatize_stream(path, tmp_path / "b", **options(ledger))
    assert again.repeated and (again.histogram == first.histogram).all()
    assert ledger.balance("visits").states == {"done": 1, "open": 0, "abandoned": 0}


def test_a_stream_shown_again_states_the_version_that_made_it(ledger, tmp_path, monkeypatch):
    path = source(tmp_path)
    monkeypatch.setattr("holdfast.former.release.facts._version", lambda: "0.0.7")
    holdfast.privatize_stream(path, tmp_path / "a", **options(ledger))
    monkeypatch.undo()
    again = holdfast.privatize_stream(path, tmp_path / "b", **options(ledger))
    assert again.repeated and again.summary()["holdfast"] == "0.0.7"
    assert again.load().made_with == "0.0.7"


def test_a_stream_with_a_private_max_count_has_one_part_for_both_stages(ledger, tmp_path):
    quantile = holdfast.PrivateQuantile("0.9", highest=20)
    path, asked = source(tmp_path), options(ledger, max_count=quantile)
    made = holdfast.privatize_stream(path, tmp_path / "a", **asked)
    bound = made.privacy.budget.quantile
    assert [part.epsilon for part in ledger.spends("visits")[0].charges] == [bound, 1 - bound]
    again = holdfast.privatize_stream(path, tmp_path / "b", **asked)
    assert again.repeated and again.max_count_found == made.max_count_found


def undeclared(target, *, epsilon):
    """A mechanism with a delta that nobody was told of, but where it is tried beforehand."""
    made = Heuristic(selector="max")(target, epsilon=epsilon)
    return made if np.ptp(target) == 0 else replace(made, delta=Fraction(1, 1000))


def test_a_stream_that_needs_more_than_was_paid_is_withheld(ledger, tmp_path):
    path, said = source(tmp_path), []
    asked = options(ledger, constructor=undeclared, progress=lambda what, _: said.append(what))
    with pytest.raises(HoldfastError, match="withheld") as caught:
        holdfast.privatize_stream(path, tmp_path / "a", **asked)
    assert spent_by(caught.value) is Spent.YES and "Drawing and writing" not in said
    assert ledger.balance("visits").states["abandoned"] == 1
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("kind", ["INTERVAL 3 DAY", "union_value(num := 2)"])
def test_a_column_that_parquet_cannot_hold_is_refused_before_anything_is_spent(
    ledger, tmp_path, kind
):
    relation = duckdb.connect().sql(f"SELECT i % 7 AS visits, {kind} AS odd FROM range(900) t(i)")
    with pytest.raises(HoldfastError, match="'odd' cannot be written as Parquet"):
        holdfast.privatize_stream(relation, tmp_path / "a", **options(ledger), keep=["odd"])
    assert ledger.balance("visits").epsilon_spent == 0
    assert not (tmp_path / "a").exists()
