"""Groups and totals over a stream: the release is that of the same table in memory."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.tables.stream import text_source

OPTIONS = {"count": "n", "category": "place", "epsilon": 1, "max_count": 9}
WITHIN = {
    "labels": "state",
    "classes": holdfast.classes("people", 3),
    "crossed": ["state", holdfast.classes("people", 2)],
}


def frame(rows=400):
    rng = np.random.default_rng(1)
    state = np.array(["AK", "NE; a", ""], dtype=object)[rng.integers(0, 3, rows)]
    places, people = [f"p{i}" for i in range(rows)], rng.integers(10, 99, rows)
    counts = rng.poisson(1 + 3 * (state == "AK"))
    return pd.DataFrame({"place": places, "state": state, "people": people, "n": counts})


@pytest.fixture(params=["csv", "parquet"])
def file(request, tmp_path, monkeypatch):
    monkeypatch.setattr(text_source, "BLOCK", 1 << 10)  # many batches
    path = tmp_path / f"table.{request.param}"
    if request.param == "csv":
        frame().to_csv(path, index=False)
    else:
        frame().to_parquet(path, row_group_size=70)
    return path


@pytest.mark.parametrize("within", WITHIN)
def test_a_seeded_stream_draws_what_memory_draws(file, tmp_path, within):
    options = OPTIONS | {"within": WITHIN[within], "totals": True, "seed": 3}
    streamed = holdfast.privatize_stream(file, tmp_path / "release", **options)
    memory = holdfast.privatize(file, **options)
    assert holdfast.verify(tmp_path / "release")
    again = streamed.load()
    assert (again.counts == memory.counts).all()
    assert again.groups.names == memory.groups.names and again.totals.groups == memory.totals.groups
    assert (again.groups.members == memory.groups.members).all()
    assert again.drawn_with.digest == memory.drawn_with.digest


def test_rows_that_are_missing_or_known_to_be_zero_are_in_no_group_of_a_stream(tmp_path):
    table = frame().assign(known=lambda t: t.index % 7 == 0)
    table["n"] = table.n.where(~table.known, 0).astype(object)
    table.loc[[3, 5], "n"] = ""
    table.loc[3, "people"] = None
    table.to_csv(tmp_path / "table.csv", index=False)
    options = OPTIONS | {"within": WITHIN["classes"], "missing": [""], "seed": 1}
    options["structural_zero"] = "known"
    streamed = holdfast.privatize_stream(
        tmp_path / "table.csv", tmp_path / "release", order_by="place", **options
    )
    assert sum(group.rows for group in streamed.groups.values()) == streamed.rows
    assert holdfast.verify(tmp_path / "release")
    assert (streamed.load().groups.members == -1).sum() == 400 - streamed.rows


def test_a_ledger_shows_a_streamed_release_by_group_again(file, tmp_path):
    ledger = tmp_path / "a.ledger"
    holdfast.Ledger(ledger).set_limit("d", epsilon=1)
    options = OPTIONS | {"within": WITHIN["crossed"], "ledger": ledger, "dataset": "d"}
    options["totals"] = "1/5"
    first = holdfast.privatize_stream(file, tmp_path / "first", **options)
    again = holdfast.privatize_stream(file, tmp_path / "again", **options)
    assert again.repeated and not first.repeated
    assert (again.load().counts == first.load().counts).all()
    assert again.totals.whole == first.totals.whole
    assert holdfast.verify(tmp_path / "again")
    assert holdfast.Ledger(ledger).balance("d").epsilon_left == 0


def test_a_row_without_a_number_is_named_by_its_place_in_the_file(file, tmp_path):
    if file.suffix == ".parquet":
        pytest.skip("the text file has batches enough")
    lines = file.read_text().splitlines()
    lines[200] = lines[200].rsplit(",", 2)[0] + ",many,1"
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(HoldfastError, match="row 200 has none"):
        holdfast.privatize_stream(file, tmp_path / "release", within=WITHIN["classes"], **OPTIONS)
    assert not (tmp_path / "release").exists()


def test_totals_of_a_stream_are_those_of_the_whole_table(file, tmp_path):
    options = OPTIONS | {"totals": "1/2", "epsilon": 8, "seed": 1, "max_count": 2}
    streamed = holdfast.privatize_stream(file, tmp_path / "release", **options)
    assert abs(streamed.totals.whole.value - frame().n.sum()) < 12
    assert holdfast.verify(tmp_path / "release")


@pytest.mark.parametrize("way", ["memory", "stream"])
def test_every_group_is_drawn_by_its_own_mechanism(tmp_path, way):
    table, options = frame(12_000), OPTIONS | {"within": "state", "epsilon": 2}
    table.to_csv(tmp_path / "table.csv", index=False)
    if way == "memory":
        release = holdfast.privatize(table, **options)
    else:
        streamed = holdfast.privatize_stream(tmp_path / "table.csv", tmp_path / "r", **options)
        release = streamed.load()
    wrong = 0
    for number in range(3):
        rows = release.groups.members == number
        true = np.bincount(np.minimum(table.n[rows], 9), minlength=10)
        found = np.bincount(release.counts[rows], minlength=10)
        laws = [true @ group.mechanism.matrix for group in release.groups.values()]
        assert misfit(found, laws[number]) < chi2.isf(1e-7, 9)
        wrong += sum(misfit(found, law) > chi2.isf(1e-7, 9) for law in laws)
    assert wrong >= 4  # those of AK and of the others are told apart


def misfit(found, expected):
    used = expected > 5
    return float(((found - expected)[used] ** 2 / expected[used]).sum())
