"""Columns, an order and rows that give the counts away are refused before anything is paid."""

import numpy as np
import pandas as pd
import pytest

from holdfast.errors import HoldfastError, LeakError
from holdfast.tables.leaks import watch
from holdfast.tables.leaks.search import find_leaks
from holdfast.tables.leaks.watch import SAMPLE, Watch
from open_tables import open_table, replaced

ROWS = 3000
RNG = np.random.default_rng(3)
Y = RNG.poisson(RNG.gamma(0.6, 5, ROWS))
A, B = RNG.integers(0, 900, ROWS), RNG.integers(1000, 90_000, ROWS)
OPTIONS = {"count": "n", "category": "place"}


def spoilt(x):
    return np.where(np.arange(ROWS) % 17 == 0, 1, x)


LEAKS = {
    "equal": {"x": Y},
    "as text": {"x": [f" {y}.0" for y in Y]},
    "inside of text": {"x": [f"{y} cases" for y in Y]},
    "the second number of a text": {
        "x": [f"zone {a}: {y} cases" for a, y in zip(A, Y, strict=True)]
    },
    "the third": {
        "x": [f"{k:03d} / {b:05d} ({y})" for k, (b, y) in enumerate(zip(B, Y, strict=True))]
    },
    "scaled": {"x": 3 * Y},
    "shifted": {"x": Y + 1000},
    "sum of two": {"x": A - Y, "a": A},
    "difference of two": {"x": A + Y, "a": A},
    "sum of three": {"x": A + B + Y, "a": A, "b": B},
    "ratio": {"x": np.round(100_000 * Y / B, 2), "b": B},
    "product": {"x": Y * B, "b": B},
    "monotone": {"x": np.log1p(Y)},
    "falling": {"x": -(Y.astype(float) ** 3)},
    "nearly all rows of a copy": {"x": spoilt(Y)},
    "nearly all rows of a sum": {"x": spoilt(A + Y), "a": A},
    "nearly all rows of a monotone function": {"x": spoilt(np.sqrt(Y))},
    "flag": {"x": np.where(Y > 0, "yes", "no")},
    "rare flag": {"x": np.quantile(Y, 0.99) < Y},
    "class": {"x": np.array(["low", "high", "middle"])[np.digitize(Y, [2, 6])]},
    "code": {"x": [f"k{(y * 7919) % 101}" for y in Y]},
}


@pytest.mark.parametrize("kind", LEAKS)
def test_columns_that_give_the_counts_away_are_found(kind):
    told = find_leaks(Y, {"region": RNG.integers(0, 9, ROWS), **LEAKS[kind]})
    assert [set(leak.names) for leak in told] == [set(LEAKS[kind])]


NOTES = np.where(Y > 0, np.round(5 + RNG.random(ROWS), 2), np.nan)
RATES = {
    "per inhabitant": np.round(100_000 * Y / B, 1),
    "inhabitants per case": [round(b / y, 1) if y else None for y, b in zip(Y, B, strict=True)],
    "mean of the cases": NOTES,
}


@pytest.mark.parametrize("kind", RATES)
def test_a_rate_is_found_by_its_zeros_without_what_it_is_divided_by(kind):
    (leak,) = find_leaks(Y, {"region": RNG.integers(0, 9, ROWS), "rate": RATES[kind]})
    assert leak.names == ("rate",) and "as a rate is" in leak.how


def test_a_rate_of_counts_without_zeros_is_found_by_a_withheld_column():
    y = Y + 5
    rate = np.round(100_000 * y / B, 2)
    assert find_leaks(y, {"rate": rate}) == []  # nothing in the file tells
    (leak,) = find_leaks(y, {"rate": rate, "people": B, "other": A}, withheld=["people", "other"])
    assert leak.names == ("rate",) and "of 'people', which is withheld" in leak.how
    kept = find_leaks(y, {"people": B, "rate": rate}, withheld=["rate"])
    assert kept == []  # who keeps the population and withholds the rate does right


def test_a_kept_rate_is_refused_and_may_be_meant():
    table = frame(people=B, rate=np.round(1000 * (Y + 5) / B, 4)).assign(n=Y + 5)
    with pytest.raises(LeakError, match="'rate' gives the counts as a rate of 'people'") as error:
        open_table(table, **OPTIONS, keep=["rate"])
    assert error.value.names == ("rate",)
    open_table(table, **OPTIONS, keep=["rate"], publish_anyway=["rate"])
    open_table(table, **OPTIONS, keep=["people"])


LARGE = np.round(RNG.lognormal(8, 1.2, ROWS)).astype(int)
NEAR_COPIES = {
    "scaled": np.round(3.2 * LARGE + RNG.uniform(-5, 5, ROWS), 1),
    "noisy": LARGE + RNG.integers(-6, 7, ROWS),
    "falling": 10**6 - LARGE + RNG.integers(-6, 7, ROWS),
    "a rank": np.argsort(np.argsort(LARGE + RNG.normal(0, 4, ROWS))),
    "rounded": np.round(LARGE, -1),
    "of counts far from 0": 10**6 + LARGE + RNG.integers(-6, 7, ROWS),
}


@pytest.mark.parametrize("kind", NEAR_COPIES)
def test_a_near_copy_of_large_counts_is_found(kind):
    columns = {"region": RNG.integers(0, 9, ROWS), "x": NEAR_COPIES[kind]}
    (leak,) = find_leaks(LARGE, columns)
    assert leak.names == ("x",)
    seen = Watch(list(columns))
    for part in np.array_split(np.arange(ROWS), 7):  # as a stream sees them
        seen.see(LARGE[part], lambda at, part=part: [c[part[at]] for c in columns.values()])
    assert [leak.names for leak in seen.leaks()] == [("x",)]


GO_WITH_LARGE = {
    "last year": RNG.poisson(0.8 * LARGE),
    "a population": np.round(30 * LARGE * RNG.lognormal(0, 0.1, ROWS)),
    "some of the people": RNG.binomial(LARGE, 0.7),
    "nothing": RNG.permutation(LARGE),
}


@pytest.mark.parametrize("kind", GO_WITH_LARGE)
def test_a_column_as_close_to_large_counts_as_another_count_passes(kind):
    assert find_leaks(LARGE, {"x": GO_WITH_LARGE[kind]}) == []


MIXED = RNG.poisson(RNG.lognormal(1.4, 2.2, ROWS))  # half are below 5, a tenth above 60
NEAR_WHERE_LARGE = {
    "plus or minus 1, not below 0": np.maximum(MIXED + RNG.integers(-1, 2, ROWS), 0),
    "plus 0, 1 or 2": MIXED + RNG.integers(0, 3, ROWS),
    "rounded to 10": np.round(MIXED, -1),
    "scaled, with a little noise": 1.03 * MIXED + RNG.integers(0, 4, ROWS),
}


@pytest.mark.parametrize("kind", NEAR_WHERE_LARGE)
def test_a_near_copy_is_found_where_many_counts_are_small(kind):
    columns = {"region": RNG.integers(0, 9, ROWS), "x": NEAR_WHERE_LARGE[kind]}
    (leak,) = find_leaks(MIXED, columns)
    assert leak.names == ("x",) and "nearly holds the" in leak.how


GO_WITH_MIXED = {
    "last year": RNG.poisson(0.8 * MIXED + 0.5),
    "as many people again": RNG.poisson(MIXED + 0.2),
    "a population": np.round(30 * (MIXED + RNG.gamma(2, 2, ROWS)) * RNG.lognormal(0, 0.1, ROWS)),
    "some of the people": RNG.binomial(MIXED, 0.7),
    "most of the people": RNG.binomial(MIXED + 1, 0.85),
    "nothing": RNG.permutation(MIXED),
}


@pytest.mark.parametrize("kind", GO_WITH_MIXED)
def test_another_count_passes_where_many_counts_are_small(kind):
    assert find_leaks(MIXED, {"x": GO_WITH_MIXED[kind]}) == []


def test_counts_that_hardly_differ_are_not_told_by_any_column():
    counts = 10**6 + RNG.integers(0, 300, ROWS)
    assert find_leaks(counts, {"x": RNG.random(ROWS), "last year": RNG.poisson(counts)}) == []


INNOCENT = {
    "constant": np.zeros(ROWS),
    "number of the row": np.arange(ROWS),
    "region": RNG.integers(0, 12, ROWS).astype(str),
    "population": np.round((Y + RNG.gamma(2, 2, ROWS)) * RNG.lognormal(5, 0.5, ROWS)),
    "last year": RNG.poisson(Y),
    "likelier where counts are high": RNG.random(ROWS) < 0.2 + 0.6 * (Y > 2),
    "missing": [None] * ROWS,
    "lists": [[1]] * ROWS,
    "huge": [10**400, *[1e308] * (ROWS - 1)],
}


def test_columns_that_go_with_the_counts_but_do_not_tell_them_pass():
    assert find_leaks(Y, INNOCENT) == []


@pytest.mark.parametrize("rows", range(1, 12))
def test_a_few_rows_that_rise_together_by_chance_pass(rows):
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        columns = {name: rng.integers(0, 50, rows) for name in "abcd"}
        found += len(find_leaks(rng.integers(0, 40, rows), columns))
    assert found <= (30 if rows == 1 else 1)


def test_counts_that_are_mostly_zero_are_not_told_by_zeros():
    y = np.where(np.arange(ROWS) % 50 == 0, 1 + np.arange(ROWS) % 7, 0)
    assert find_leaks(y, {"zeros": np.zeros(ROWS), "other": RNG.permutation(y)}) == []
    assert find_leaks(y, {"copy": y, "zeros": np.zeros(ROWS)})[0].names == ("copy",)


def test_batches_are_seen_as_a_whole_and_few_cells_are_fetched():
    y = np.tile(Y, 40)
    x, fetched = y + 1, []

    def cells(start):
        def chosen(rows):
            fetched.append(len(rows))
            return [x[start + rows].tolist()]

        return chosen

    watch = Watch(["x"])
    for start in range(0, len(y), 5000):
        watch.see(y[start : start + 5000], cells(start))
    assert [leak.names for leak in watch.leaks()] == [("x",)]
    assert sum(fetched) < 8 * SAMPLE


def frame(**columns):
    return pd.DataFrame({"place": [f"p{i}" for i in range(ROWS)], "n": Y} | columns)


def test_a_sample_of_many_batches_keeps_cells_with_their_counts(monkeypatch):
    monkeypatch.setattr(watch, "SAMPLE", 40)
    looking = Watch(["name"])
    for start in range(0, 20_000, 500):
        counts = np.arange(start, start + 500) % 50
        looking.see(counts, lambda rows, start=start: [[f"r{start + row}" for row in rows]])
    looking.leaks()
    zeros, others = (sample.counts for sample in looking._samples)
    (no_names,), (names,) = (sample.cells for sample in looking._samples)
    assert len(zeros) == len(others) == len(set(names)) == len(no_names) == 40
    assert [int(name[1:]) % 50 for name in names] == others.tolist()
    assert {int(name[1:]) % 50 for name in no_names} == set(zeros.tolist()) == {0}
    assert len(set(others.tolist())) > 20


def test_the_schools_whose_teachers_were_a_difference_are_refused():
    students = RNG.integers(20, 900, ROWS)
    table = frame(population=students + Y, enrollment=students)
    assert open_table(table, **OPTIONS).others == ("place",)
    assert open_table(table, **OPTIONS, keep="population").others == ("place", "population")
    both = OPTIONS | {"keep": ["population", "enrollment"]}
    for some in ([], ["enrollment"], ["population"]):
        advice = "leave one of them out: with all of them, anybody can compute every count"
        with pytest.raises(LeakError, match=f"'population' with 'enrollment'.*{advice}") as error:
            open_table(table, **both, publish_anyway=some)
        assert set(error.value.names) == {"population", "enrollment"}
    assert not open_table(table, **both, publish_anyway=["enrollment", "population"]).notes


@pytest.mark.parametrize("name", ["keep", "publish_anyway"])
def test_names_of_columns_must_be_names(name):
    for wrong in ({"a": 1}, 5, [3], ["no such column"]):
        with pytest.raises(HoldfastError, match=f"`{name}` must"):
            open_table(frame(), **OPTIONS, **{name: wrong})
    with pytest.raises(HoldfastError, match=r"`keep` must not name the column of counts"):
        open_table(frame(), **OPTIONS, keep=["n"])
    with pytest.raises(HoldfastError, match="`keep` names a column, but `table` has none"):
        open_table([1, 2], keep=["place"])


def test_rows_known_to_be_zero_are_no_leak():
    table = frame(closed=(Y == 0))
    options = OPTIONS | {"structural_zero": "closed", "keep": ["closed"]}
    assert open_table(table, **options).others == ("place", "closed")
    with pytest.raises(LeakError, match="'closed' is a flag"):
        open_table(table, **OPTIONS, keep=["closed"])


ORDERS = {
    "falling": np.argsort(-Y, kind="stable"),
    "rising": np.argsort(Y, kind="stable"),
    "equal counts together": np.lexsort((Y, Y * 7919 % 101)),
    "falling within regions": np.lexsort((-Y, np.arange(ROWS) % 20)),
}


@pytest.mark.parametrize("kind", ORDERS)
def test_an_order_that_follows_the_counts_is_refused(kind):
    table = frame().iloc[ORDERS[kind]].reset_index(drop=True)
    with pytest.raises(LeakError, match=r"'row order' follows the counts.*`order_by`"):
        open_table(table, **OPTIONS)
    back = replaced(open_table(table, **OPTIONS, order_by="place"), Y)
    assert back["place"].tolist() == sorted(table["place"])
    anyway = replaced(open_table(table, **OPTIONS, publish_anyway=["row order"]), Y)
    assert anyway["place"].tolist() == table["place"].tolist()


def test_value_counts_are_refused():
    people = pd.Series(np.repeat([f"p{i}" for i in range(ROWS)], Y))
    with pytest.raises(LeakError, match="'row order' follows the counts"):
        open_table(people.value_counts().reset_index(drop=True))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_are_refused_for_orders_and_totals_as_well(suffix, tmp_path):
    path = tmp_path / f"in.{suffix}"

    def written(table):
        table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path)
        return path

    with pytest.raises(LeakError, match="'row order' follows the counts"):
        open_table(written(frame().iloc[ORDERS["falling"]]), **OPTIONS)
    table = frame()
    table.loc[5, "place"] = "Total"
    with pytest.raises(LeakError, match="a row is named like a total"):
        open_table(written(table), **OPTIONS)
    table.loc[5, "place"], table.loc[5, "n"] = "p5", Y.sum() - Y[5]
    with pytest.raises(LeakError, match="a row is the sum"):
        open_table(written(table), **OPTIONS)
    assert open_table(path, **OPTIONS, publish_anyway=["totals"]).rows == ROWS


@pytest.mark.parametrize("name", [None, "fips"])
def test_a_series_with_labels_in_its_index_is_refused_for_no_column_of_them_is_named(name):
    labels = pd.Index([f"p{i}" for i in range(ROWS)] if name is None else range(ROWS), name=name)
    with pytest.raises(HoldfastError, match=r"labels in its index.*reset_index"):
        open_table(pd.Series(Y, index=labels))


def test_the_numbers_of_the_rows_of_a_series_are_not_published():
    back = replaced(open_table(pd.Series(Y, index=Y)), Y)
    assert back.tolist() == Y.tolist() and back.index.tolist() == list(range(ROWS))


WRITTEN = {
    "thousands commas": lambda number: f"{number:,}",
    "thousands points": lambda number: f"{number:,}".replace(",", "."),
    "thousands spaces": lambda number: f"{number:,}".replace(",", "\u00a0"),
    "decimal commas": lambda number: f"{number},0",
}


@pytest.mark.parametrize("way", WRITTEN)
def test_numbers_give_the_counts_away_however_they_are_written(way):
    rng = np.random.default_rng(4)
    counts, people = rng.poisson(3, 400), rng.integers(300, 9000, 400)
    columns = {"people": people, "others": people - counts}
    written = {name: [WRITTEN[way](int(x)) for x in cells] for name, cells in columns.items()}
    (leak,) = find_leaks(counts, written)
    assert leak.names == ("people", "others")
    assert not find_leaks(rng.permutation(counts), written)


@pytest.mark.parametrize(("off", "told"), [(0, "is the sum"), (9, "is nearly the sum"), (99, None)])
def test_a_row_that_is_nearly_the_sum_of_the_others_is_told(off, told):
    watch, counts = Watch([]), np.random.default_rng(3).permutation(np.arange(1, 40))
    watch.see(np.append(counts, counts.sum() + off), lambda rows: [])
    said = [str(leak) for leak in watch.leaks()]
    assert any(told in words for words in said) if told else not said
