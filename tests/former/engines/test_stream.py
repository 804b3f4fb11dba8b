import csv
import resource

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.constructors import Heuristic
from holdfast.former.tables import parquet_groups
from holdfast.former.tables.stream import arrow_source, text_source

# one order of columns: the repair of the default, "best", does not give the same matrix every time
OPTIONS = {"count": "visits", "epsilon": "1", "max_count": 20}
OPTIONS |= {"constructor": Heuristic(selector="max")}
KEEPING = OPTIONS | {"keep": ["shop", "price"]}
MANY = 9000


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(text_source, "BLOCK", 1 << 12)
    monkeypatch.setattr(arrow_source, "ROWS", 1000)
    monkeypatch.setattr(parquet_groups, "ROW_GROUP", 4000)


def table(rows=MANY):
    random = np.random.default_rng(1)
    return pa.table(
        {
            "shop": [f"s{i % 77}" for i in range(rows)],
            "visits": random.geometric(0.2, rows) - 1,
            "price": pa.array(np.where(np.arange(rows) % 7 == 0, None, np.arange(rows) / 3)),
        }
    )


def written(folder, suffix, data=None):
    path = folder / f"visits.{suffix}"
    data = table() if data is None else data
    if suffix == "parquet":
        pa.parquet.write_table(data, path, row_group_size=2500)
    else:
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(data.column_names)
            writer.writerows(zip(*(column.to_pylist() for column in data.columns), strict=True))
    return path


def nothing_is_left(folder, *known):
    assert sorted(p.name for p in folder.iterdir()) == sorted(known)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_seeded_stream_is_the_release_in_memory_byte_for_byte(suffix, tmp_path, small_batches):
    path = written(tmp_path, suffix)
    streamed = holdfast.privatize_stream(path, tmp_path / "a", **KEEPING, seed=3)
    whole = holdfast.privatize(path, **KEEPING, seed=3)
    whole.save(tmp_path / "b", table_format=suffix)
    names = {file.name for file in (tmp_path / "b").iterdir()}
    assert names == {file.name for file in (tmp_path / "a").iterdir()}
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    one, other = streamed.load(), holdfast.load(tmp_path / "b")
    assert one.cells.equals(other.cells) if suffix == "parquet" else one.cells == other.cells
    assert (one.counts == whole.counts).all() and (one.target == whole.target).all()
    assert one.summary() == other.summary() == streamed.summary() == whole.summary()
    assert holdfast.verify(tmp_path / "a").passed


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_two_batches_share_their_randomness(suffix, tmp_path, monkeypatch):
    step = 1000
    monkeypatch.setattr(arrow_source, "ROWS", step)
    monkeypatch.setattr(text_source, "BLOCK", 2 * step)  # a digit and a line end
    pattern = np.random.default_rng(1).integers(0, 10, step)  # the same counts in every batch
    path = tmp_path / f"visits.{suffix}"
    same = pa.table({"visits": np.tile(pattern, 20)})
    if suffix == "parquet":
        pa.parquet.write_table(same, path)
    else:
        path.write_text("visits\n" + "".join(f"{count}\n" for count in same["visits"].to_pylist()))
    release = holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS | {"epsilon": "0.5"})
    drawn = release.load().counts.reshape(20, step)
    chance = (release.mechanism.matrix[pattern] ** 2).sum(axis=1).mean()
    assert chance < 0.6
    for ahead in range(1, 5):
        agree = (drawn[:-ahead] == drawn[ahead:]).mean()
        assert agree == pytest.approx(chance, abs=0.05)  # over 8 standard deviations


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_stream_draws_from_the_same_law_with_the_systems_entropy(suffix, tmp_path, small_batches):
    path = written(tmp_path, suffix)
    streamed = holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS)
    again = holdfast.privatize_stream(path, tmp_path / "b", **OPTIONS)
    assert not streamed.privacy.simulated
    assert (streamed.load().counts != again.load().counts).any()
    counts = np.minimum(table()["visits"].to_numpy(), 20)
    eta = np.bincount(counts, minlength=21) / MANY
    for release in (streamed, again):
        expected = eta @ release.mechanism.matrix
        spread = np.sqrt(expected / MANY)
        assert np.abs(release.distribution - expected)[expected > 0.001] == pytest.approx(
            0, abs=7 * spread.max()
        )


def test_a_csv_is_quoted_as_in_memory_whatever_way_it_was(tmp_path, small_batches):
    start = b'\xef\xbb\xbf"na;me"; visits;"no ""te"\r\n'
    rows = [
        b'"a;b\r\n";%d;\r\n',
        b'x;"%d"; y \n',
        b'"q""q"; %d ;"\n"\r',
        b"\xc3\xa9;000%d;z\r\n",
        b"u;%d.00;\r\n",
    ]
    body = [rows[i % 5] % (i % 9) for i in range(2000)]
    path = tmp_path / "odd.csv"
    path.write_bytes(start + b"".join(body)[:-2] + b"\n\n \n")
    options = OPTIONS | {"count": " visits", "keep": ["na;me", 'no "te']}
    whole = holdfast.privatize(path, **options, seed=4)
    streamed = holdfast.privatize_stream(path, tmp_path / "a", **options, seed=4)
    told = iter(whole.counts.tolist())
    kept = [b'"a;b\r\n";%d;', b"x;%d; y ", b'"q""q";%d;"\n"', b"\xc3\xa9;%d;z", b"u;%d;"]
    lines = [kept[i % 5] % next(told) for i in range(2000)]
    start = b'\xef\xbb\xbf"na;me";" visits";"no ""te"'
    assert (tmp_path / "a" / "table.csv").read_bytes() == b"\r\n".join([start, *lines, b""])
    whole.save(tmp_path / "b")
    assert (tmp_path / "b" / "table.csv").read_bytes() == (
        tmp_path / "a" / "table.csv"
    ).read_bytes()
    assert holdfast.verify(tmp_path / "a").passed
    assert (streamed.load().counts == whole.counts).all()


def test_hive_partitions_become_columns(tmp_path, small_batches):
    data = table().append_column("year", pa.array(np.arange(MANY) % 3 + 2020))
    pa.dataset.write_dataset(
        data, tmp_path / "in", format="parquet", partitioning=["year"], partitioning_flavor="hive"
    )
    release = holdfast.privatize_stream(
        tmp_path / "in", tmp_path / "a", **OPTIONS, keep=["shop", "price", "year"], seed=1
    )
    out = pa.parquet.read_table(tmp_path / "a" / "table.parquet")
    assert out.column_names == ["shop", "visits", "price", "year"]
    assert sorted(set(out["year"].to_pylist())) == [2020, 2021, 2022]
    key = [("year", "ascending"), ("price", "ascending"), ("shop", "ascending")]
    there = data.select(["year", "price", "shop"]).cast(
        out.select(["year", "price", "shop"]).schema
    )
    assert out.select(["year", "price", "shop"]).sort_by(key).equals(there.sort_by(key))
    assert release.rows == MANY


def test_a_duckdb_query_is_run_batch_by_batch(tmp_path, small_batches):
    connection = duckdb.connect()
    relation = connection.from_arrow(table()).filter("shop <> 's3'").order("shop, price")
    release = holdfast.privatize_stream(relation, tmp_path / "a", **KEEPING, seed=2)
    whole = holdfast.privatize(relation, **KEEPING, seed=2)
    out = release.load().table
    assert (out["visits"].to_numpy() == whole.counts).all()
    assert out["shop"].to_pylist() == relation.to_arrow_table()["shop"].to_pylist()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_structural_zeros_pass_through(suffix, tmp_path, small_batches):
    data = table()
    known = (data["visits"].to_numpy() == 0) & (np.arange(MANY) % 2 == 0)
    path = written(tmp_path, suffix, data.append_column("closed", pa.array(known)))
    options = OPTIONS | {"structural_zero": "closed", "category": "shop"}
    options |= {"repeated_categories": True, "keep": ["closed", "price"]}
    streamed = holdfast.privatize_stream(path, tmp_path / "a", **options, seed=1)
    whole = holdfast.privatize(path, **options, seed=1)
    assert streamed.structural_zeros == known.sum() == whole.structural_zeros
    assert (streamed.load().counts == whole.counts).all()
    assert not streamed.load().counts[known].any()


def test_a_private_max_count_streams_too(tmp_path, small_batches):
    path = written(tmp_path, "csv")
    options = OPTIONS | {"max_count": holdfast.PrivateQuantile("0.95", highest=100)}
    streamed = holdfast.privatize_stream(path, tmp_path / "a", **options, seed=1)
    whole = holdfast.privatize(path, **options, seed=1)
    assert streamed.max_count_found == whole.max_count_found
    assert (streamed.load().counts == whole.counts).all()


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("-4", "is negative"),
        ("", "is missing"),
        ("2.5", "is not a whole number"),
        ("<5", "is text"),
        ("3.000", "may have a mark between thousands"),
        ("1e6", "is written with an exponent"),
        ("99999999999999999999", "is larger than 2\\^53"),
        ("inf", "is infinite"),
    ],
)
def test_a_bad_count_far_down_a_csv_is_named_by_file_and_row(
    cell, problem, tmp_path, small_batches
):
    path = tmp_path / "bad.csv"
    rows = ["a,1"] * MANY
    rows[MANY - 2] = f"a,{cell}"
    path.write_text("shop,visits\n" + "\n".join(rows))
    with pytest.raises(HoldfastError, match=rf"bad.csv.*data row {MANY - 1} {problem}"):
        holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS)
    nothing_is_left(tmp_path, "bad.csv")


def test_a_bad_count_in_a_folder_is_named_by_its_own_file(tmp_path, small_batches):
    (tmp_path / "in").mkdir()
    for name in ("a", "b", "c"):
        values = list(range(20)) * 200
        values[3456] = None if name == "b" else 1
        data = pa.table({"visits": pa.array(values, pa.int32())})
        pa.parquet.write_table(data, tmp_path / "in" / f"{name}.parquet")
    with pytest.raises(HoldfastError, match=r"b\.parquet.*data row 3457 is missing"):
        holdfast.privatize_stream(tmp_path / "in", tmp_path / "a", **OPTIONS)
    nothing_is_left(tmp_path, "in")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shop,visits\na,1\n\nb,2\n", "below data row 1 is an empty line"),
        ("shop,visits\na,1\nb,2,3\n", "data row 2 has 3 cells, the header has 2"),
        ('shop,visits\na,1\n"b,2\n', "cannot be read as CSV"),
        ('shop,visits\na,1\n"b"x,2\n', "cannot be read as CSV.*data row 2"),
        ("shop,visits\n", "no rows"),
        ("", "empty"),
        ("shop,visit\na,1\n", "did you mean 'visit'"),
    ],
)
def test_what_is_no_table_is_refused_as_it_is_in_memory(text, message, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(HoldfastError, match=message):
        holdfast.privatize_stream(path, tmp_path / "a", **OPTIONS)
    nothing_is_left(tmp_path, "bad.csv")


def during_the_second_pass(change):
    """A progress callback that does something once, when drawing has begun."""
    todo = [change]

    def progress(what, done):
        if what.startswith("Building") and todo:
            todo.pop()()

    return progress


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_source_that_vanishes_half_way_leaves_nothing(suffix, tmp_path, small_batches):
    path = written(tmp_path, suffix)
    with pytest.raises(HoldfastError, match=rf"visits.{suffix}.*cannot be read"):
        holdfast.privatize_stream(
            path, tmp_path / "a", **KEEPING, progress=during_the_second_pass(path.unlink)
        )
    nothing_is_left(tmp_path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_source_that_changes_between_the_passes_is_not_released(suffix, tmp_path, small_batches):
    path = written(tmp_path, suffix)
    other = table().set_column(1, "visits", pa.array(np.arange(MANY) % 3))

    def change():
        path.unlink()
        written(tmp_path, suffix, other)

    with pytest.raises(HoldfastError, match=r"changed while it was read|cannot be read"):
        holdfast.privatize_stream(
            path, tmp_path / "a", **KEEPING, progress=during_the_second_pass(change)
        )
    nothing_is_left(tmp_path, path.name)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_disk_that_is_full_is_named_and_leaves_nothing(tmp_path, suffix):
    path, room = written(tmp_path, suffix), resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(what, done):
        if what.startswith("Building"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, room[1]))

    with pytest.raises(HoldfastError, match="cannot be written to"):
        try:
            holdfast.privatize_stream(path, tmp_path / "a", **KEEPING, progress=limit)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, room)
    nothing_is_left(tmp_path, path.name)


@pytest.mark.parametrize("kind", ["csv", "parquet", "query"])
def test_progress_goes_from_nothing_to_all_in_both_passes(kind, tmp_path, small_batches):
    seen = {}
    query = duckdb.connect().from_arrow(table()) if kind == "query" else None
    holdfast.privatize_stream(
        query or written(tmp_path, kind),
        tmp_path / "a",
        **OPTIONS,
        progress=lambda what, done: seen.setdefault(what, []).append(done),
    )
    if kind == "query":  # how many rows it gives is known at the end of the first pass
        assert set(seen.pop("Reading")) == {None}
    for what in seen.keys() & {"Reading", "Drawing and writing"}:
        assert seen[what] == sorted(seen[what])
        assert seen[what][0] < 0.2 and seen[what][-1] == 1


def test_a_folder_that_exists_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(HoldfastError, match="exists already"):
        holdfast.privatize_stream("no such file.csv", tmp_path / "a", **OPTIONS)


@pytest.mark.parametrize("source", [[1, 2], "table.xlsx"])
def test_what_cannot_be_streamed_is_named(source, tmp_path):
    with pytest.raises(HoldfastError, match=r"path or a DuckDB|must be a folder or end"):
        holdfast.privatize_stream(source, tmp_path / "a", **OPTIONS)


def test_what_a_parquet_file_says_of_itself_stays_behind(tmp_path):
    said = table(100).replace_schema_metadata({"total": "1234 visits"})
    path = written(tmp_path, "parquet", said)
    holdfast.privatize_stream(path, tmp_path / "a", **KEEPING)
    assert b"1234 visits" in path.read_bytes()
    assert b"1234 visits" not in (tmp_path / "a" / "table.parquet").read_bytes()
    holdfast.privatize(path, **KEEPING).save(tmp_path / "b", table_format="parquet")
    assert b"1234 visits" not in (tmp_path / "b" / "table.parquet").read_bytes()


class Labelled(pa.ExtensionType):
    def __init__(self, said):
        self.said = said
        super().__init__(pa.int64(), "test.labelled")

    def __arrow_ext_serialize__(self):
        return self.said

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, said):
        return cls(said)


def test_notes_on_columns_inside_them_and_in_their_types_stay_behind(tmp_path, small_batches):
    inner = pa.struct([pa.field("x", pa.int64(), metadata={"a": "secret one"})])
    fields = [
        pa.field("visits", pa.int64(), metadata={"b": "secret two"}),
        pa.field("nested", inner),
        pa.field("typed", Labelled(b"secret three")),
    ]
    values = pa.array(np.arange(5000) % 9)
    typed = pa.ExtensionArray.from_storage(fields[2].type, pa.array(np.arange(5000) % 7))
    nested = pa.StructArray.from_arrays([values], fields=list(inner))
    path = tmp_path / "visits.parquet"
    pa.register_extension_type(Labelled(b""))
    try:
        data = pa.table([values, nested, typed], schema=pa.schema(fields))
        pa.parquet.write_table(data, path)
        holdfast.privatize_stream(
            path, tmp_path / "a", **OPTIONS, keep=["nested", "typed"], publish_anyway=["nested"]
        )
    finally:
        pa.unregister_extension_type("test.labelled")
    assert holdfast.verify(tmp_path / "a").passed
    out = pa.parquet.read_table(tmp_path / "a" / "table.parquet")
    assert out["typed"].to_pylist() == [row % 7 for row in range(5000)]
    assert out["nested"].to_pylist() == [{"x": value} for value in values.to_pylist()]


def test_a_name_in_place_of_a_stage_is_refused_before_anything_is_read(tmp_path):
    for stage in ({"constructor": "optimal"}, {"privatizer": "cumulative-smooth"}):
        with pytest.raises(HoldfastError, match="with its brackets"):
            holdfast.privatize_stream("no such file.csv", tmp_path / "a", **OPTIONS | stage)


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_files_of_a_folder_may_lack_a_column_or_hold_narrower_numbers(
    names, tmp_path, small_batches
):
    (tmp_path / "in").mkdir()
    data = table(1500)
    narrow = data.drop_columns(["price"]).set_column(1, "visits", data["visits"].cast(pa.int16()))
    for name, part in zip(names, (data, narrow), strict=True):
        pa.parquet.write_table(part, tmp_path / "in" / f"{name}.parquet")
    release = holdfast.privatize_stream(tmp_path / "in", tmp_path / "a", **KEEPING)
    out = release.load().table
    prices = [data["price"].to_pylist(), [None] * 1500]
    prices = prices if names == "ab" else prices[::-1]
    assert out["shop"].to_pylist() == data["shop"].to_pylist() * 2
    assert out["price"].to_pylist() == prices[0] + prices[1]


def test_folders_of_many_kinds_of_partitions_are_read(tmp_path, small_batches):
    for key in ("day=3/place=a%20b", "day=4/place=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / "in" / key).mkdir(parents=True)
        pa.parquet.write_table(table(1500), tmp_path / "in" / key / "x.parquet")
    (tmp_path / "in" / "_SUCCESS").touch()
    release = holdfast.privatize_stream(
        tmp_path / "in", tmp_path / "a", **OPTIONS, keep=["day", "place"]
    )
    out = release.load().table
    assert out["day"].to_pylist() == [3] * 1500 + [4] * 1500
    assert out["place"].to_pylist() == ["a b"] * 1500 + [None] * 1500


def test_a_single_file_gets_no_column_from_the_folder_it_lies_in(tmp_path):
    (tmp_path / "year=2024").mkdir()
    path = written(tmp_path / "year=2024", "parquet", table(100))
    release = holdfast.privatize_stream(path, tmp_path / "a", **KEEPING)
    assert release.unchanged_columns == holdfast.privatize(path, **KEEPING).unchanged_columns


def test_a_folder_of_columns_of_different_kinds_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    pa.parquet.write_table(table(10), tmp_path / "in" / "a.parquet")
    pa.parquet.write_table(pa.table({"visits": ["one"]}), tmp_path / "in" / "b.parquet")
    with pytest.raises(HoldfastError, match="columns of one kind"):
        holdfast.privatize_stream(tmp_path / "in", tmp_path / "a", **OPTIONS)
