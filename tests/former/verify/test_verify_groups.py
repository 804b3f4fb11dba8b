"""A bundle by group: intact it passes, and every damage to groups and totals is found."""

import csv
import hashlib
import io
import json
import shutil
import struct
import zlib
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers.bundles import certify, forge, read_record, repair, replace_text, rewrite_texts

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.engines import by_group, stages

HEADER = struct.Struct("<8sIIQQ")
N, ROWS = 8, 240


def table():
    rng = np.random.default_rng(1)
    state = np.array(["AK", "NE", "=1+1", ""])[rng.integers(0, 4, ROWS)]
    counts = rng.poisson(1 + 2 * (state == "NE"))
    people = rng.integers(10, 500, ROWS)
    places = [f"p{i}" for i in range(ROWS)]
    return pd.DataFrame({"place": places, "state": state, "people": people, "n": counts})


def make(folder, **options):
    usual = {"epsilon": 1, "max_count": N - 1, "count": "n", "category": "place", "seed": 1}
    grouped = {"within": "state", "totals": True, "keep": ["people"]}
    return holdfast.privatize(table(), **usual | grouped | options).save(folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return make(tmp_path_factory.mktemp("groups") / "release")


@pytest.fixture
def bundle(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "release")


def test_a_release_whose_totals_steered_from_the_first_round_verifies(tmp_path, monkeypatch):
    fit = by_group.fit_measured
    monkeypatch.setattr(by_group, "fit_measured", partial(fit, sums_first=False))
    monkeypatch.setattr(stages, "WITH_TOTALS", stages.METHOD)
    early = make(tmp_path / "early")
    assert read_record(early)["methods"][0] == "JointSmooth()"
    assert holdfast.verify(early).passed
    forge(early, methods=["JointSmooth(sums_first=True)", "Optimal()"])
    assert not holdfast.verify(early).passed


def words(bundle):
    data = (bundle / "mechanism.groups").read_bytes()
    return np.frombuffer(zlib.decompress(data[HEADER.size :]), dtype="<i8").copy()


def write_words(bundle, numbers, **header):
    packed = zlib.compress(numbers.tobytes())
    parts = {"magic": b"holdfast", "version": 3, "n": N, "groups": 4, "length": len(packed)}
    data = HEADER.pack(*(parts | header).values()) + packed
    (bundle / "mechanism.groups").write_bytes(data)
    record = read_record(bundle)
    digest = hashlib.sha256(
        f"holdfast groups n={N} groups=4 epsilon={record['certificate']['epsilon']}\n".encode()
    )
    digest.update(numbers[1 : 5 + 3 * N * int(numbers[0])].tobytes())
    forge(bundle, mechanism_digest=digest.hexdigest())


def edit_words(bundle, at, change):
    numbers = words(bundle)
    numbers[at] = change(numbers[at])
    write_words(bundle, numbers)


def edit_groups(bundle, change):
    lines = list(csv.reader(io.StringIO((bundle / "groups.csv").read_text())))
    change(lines)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    (bundle / "groups.csv").write_text(text.getvalue())
    repair(bundle)
    rewrite_texts(bundle)


def put(row, column, value):
    def change(lines):
        lines[row][column] = value(lines[row][column]) if callable(value) else value

    return lambda bundle: edit_groups(bundle, change)


def move_a_row(bundle):
    lines = (bundle / "table.csv").read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if ",NE," in line)
    lines[at] = lines[at].replace(",NE,", ",AK,")
    (bundle / "table.csv").write_text("\n".join(lines) + "\n")
    repair(bundle)


def certify_totals(bundle, certified):
    privacy = read_record(bundle)["privacy"] | {"totals_certified": str(certified)}
    parts = ("bound", "totals", "stage_1", "stage_2")
    total = sum(Fraction(privacy[f"{part}_certified"]) for part in parts)
    forge(bundle, privacy=privacy | {"certified_epsilon_decimal": f"{float(total):.12g}"})


CURVES = 5  # the first turn
TARGETS = CURVES + 4 * 3 * N  # the first share, where all four groups differ
MEASURED = TARGETS + 4 * N
DAMAGES = {
    "a size": (put(1, 1, lambda rows: int(rows) + 1), "rows be 1 or more and add up to N"),
    "two sizes": (
        lambda b: edit_groups(
            b, lambda lines: [lines[1].__setitem__(1, int(lines[1][1]) + 1),
                              lines[2].__setitem__(1, int(lines[2][1]) - 1)]
        ),
        "another number of rows in group",
    ),
    "a label": (put(-1, 0, "WY"), "does not list every label of 'state'"),
    "a label twice": (put(2, 0, "NE"), "labels must differ"),
    "a header": (put(0, 0, "county"), "does not begin with the names of its columns"),
    "a line": (lambda b: edit_groups(b, lambda lines: lines.pop()), "a line for each"),
    "no number": (put(1, 1, "many"), "a value that is not a number"),
    "a total": (put(1, 2, lambda total: int(total) + 1), "does not follow from what was measured"),
    "an interval": (put(1, 3, 0), "interval of group 0 is not that of its noise"),
    "a measured total": (put(1, 5, lambda total: int(total) + 9), "does not follow from what"),
    "a row of another group": (move_a_row, "another number of rows in group"),
    "which mechanism": (lambda b: edit_words(b, 1, lambda k: 7), "which mechanism every group"),
    "swapped mechanisms": (
        lambda b: edit_words(b, [1, 2], lambda pair: pair[::-1]),
        "target is not the mean",
    ),
    "a height": (lambda b: edit_words(b, CURVES + N, lambda x: x // 3), "the fixed point fails in"),
    "a floor": (lambda b: edit_words(b, CURVES + 2 * N, lambda x: -1), "a floor lies outside"),
    "a target": (
        lambda b: edit_words(b, slice(TARGETS, TARGETS + 2), lambda pair: pair[::-1]),
        "the fixed point fails in group",
    ),
    "no distribution": (
        lambda b: edit_words(b, TARGETS, lambda _: np.float64(0.99).view(np.int64)),
        "is no distribution",
    ),
    "a measured sum": (
        lambda b: edit_words(b, MEASURED, lambda x: x + 25),
        "is not what was measured",
    ),
    "an absurd sum": (
        lambda b: edit_words(b, MEASURED, lambda x: x + 10**8),
        "further off than noise goes",
    ),
    "the smallest sum of 64 bits, whose negative is itself": (
        lambda b: edit_words(b, MEASURED, lambda x: -(2**63)),
        "further off than noise goes",
    ),
    "stage 1 certified for nothing": (
        lambda b: certify(b, stage_1_certified="0"),
        "stage_1 was certified for less",
    ),
    "a sum too few": (
        lambda b: write_words(b, words(b)[:-1]),
        "measures another number of integers",
    ),
    "a header of other groups": (
        lambda b: write_words(b, words(b), groups=5),
        "gives other counts or groups",
    ),
    "a group of the certificate": (
        lambda b: forge(b, certificate={"group": (read_record(b)["certificate"]["group"] + 1) % 4}),
        "worst ratio of these weights",
    ),
    "a group that is none": (lambda b: forge(b, certificate={"group": 9}), "that there is not"),
    "the table's total": (
        lambda b: forge(b, totals=read_record(b)["totals"] | {"total": 3}),
        "that of the table does not follow",
    ),
    "the level": (
        lambda b: forge(b, totals=read_record(b)["totals"] | {"level": "1/2"}),
        "level must be 9/10",
    ),
    "the budget": (lambda b: forge(b, privacy={"totals": "1/5"}), "do not add up to epsilon"),
    "what totals certify": (
        lambda b: forge(b, privacy={"totals_certified": "1/9"}),
        "totals was certified for more",
    ),
    "certified for nothing": (
        lambda b: certify_totals(b, Fraction(0)),
        "totals_certified is not what the noise",
    ),
    "certified for a little less": (
        lambda b: certify_totals(
            b, Fraction(read_record(b)["privacy"]["totals_certified"]) * Fraction(99, 100)
        ),
        "totals_certified is not what the noise",
    ),
    "the order of labels": (
        lambda b: edit_groups(
            b, lambda lines: lines.__setitem__(slice(1, 3), [lines[2], lines[1]])
        ),
        "the groups are not in their order",
    ),
    "a range too long for groups": (
        lambda b: forge(b, max_count=1_000_001),
        "with groups max_count must be at most 1000000",
    ),
    "more cells than groups may have": (
        lambda b: forge(b, within=read_record(b)["within"] | {"groups": 10**7}),
        "counts times groups at most 20000000",
    ),
    "more groups than rows": (
        lambda b: forge(b, within=read_record(b)["within"] | {"groups": ROWS + 1}),
        "within.groups is more than there are rows",
    ),
    "a share too few": (
        lambda b: forge(b, target=read_record(b)["target"][1:]),
        "target has 7 shares",
    ),
    "the column": (
        lambda b: forge(b, within=read_record(b)["within"] | {"columns": ["people"]}),
        "does not begin with the names",
    ),
    "a withheld column": (
        lambda b: forge(b, within=read_record(b)["within"] | {"columns": ["x"]}),
        "must name columns that are published",
    ),
    "classes": (
        lambda b: forge(b, within=read_record(b)["within"] | {"classes": [4]}),
        "'' is no class",
    ),
    "an older schema": (lambda b: forge(b, schema=3), "within is not a field of schema 3"),
    "another stage 1": (
        lambda b: forge(b, methods=["CumulativeSmooth(projection='smooth')", "Optimal()"]),
        "names the joint fit",
    ),
    "who vouches": (
        lambda b: forge(b, privacy={"stage_1_certified_by": "me"}),
        "stage_1_certified_by does not fit",
    ),
    "no groups.csv": (lambda b: (b / "groups.csv").unlink(), "groups.csv is missing"),
    "words": (lambda b: replace_text(b, "README.md", "4 groups", "5 groups"), "is not what"),
}  # fmt: skip


def test_an_intact_bundle_passes_and_loads(whole):
    report = holdfast.verify(whole)
    assert report and report.warnings == ()
    details = {check.name: check.detail for check in report.checks}
    assert "in 4 groups that follow from its columns" in details["table"]
    assert details["certificate"].startswith("in all 4 groups every ratio is at most e^")
    found = holdfast.load(whole)
    assert list(found.groups) == ["(missing)", "=1+1", "AK", "NE"]
    assert sum(total.value for total in found.totals.groups) == found.totals.whole.value
    assert "`groups.csv` has those of the groups" in (whole / "README.md").read_text()


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_to_groups_and_totals_is_found(bundle, damage):
    inflict, said = DAMAGES[damage]
    inflict(bundle)
    damages = holdfast.verify(bundle).damage
    assert any(said in words for words in damages), damages
    with pytest.raises(HoldfastError):
        holdfast.load(bundle)


def many_rows(folder):
    rng = np.random.default_rng(2)
    state = np.array(["AK", "NE"])[np.arange(4000) % 2]
    rows = pd.DataFrame({"state": state, "n": rng.poisson(1 + 4 * (state == "NE"))})
    options = {"epsilon": 2, "max_count": N - 1, "within": "state", "seed": 1}
    return holdfast.privatize(rows, count="n", **options).save(folder)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return many_rows(tmp_path_factory.mktemp("large") / "release")


@pytest.mark.parametrize(
    "forged",
    [lambda n: 0 * n, lambda n: 0 * n + N - 1, lambda n: np.random.default_rng(1).permutation(n)],
    ids=["all 0", "all at max_count", "shuffled across groups"],
)
def test_absurd_counts_within_groups_are_warned_of(large, tmp_path, forged):
    assert holdfast.verify(large).warnings == ()
    folder = shutil.copytree(large, tmp_path / "release")
    rows = pd.read_csv(folder / "table.csv", dtype={"state": str})
    rows.assign(n=forged(rows.n.to_numpy())).to_csv(
        folder / "table.csv", index=False, lineterminator="\n"
    )
    repair(folder)
    rewrite_texts(folder)
    warnings = holdfast.verify(folder).warnings
    assert any("mechanisms of the groups give" in words for words in warnings)


def test_labels_swapped_between_groups_are_found_for_labels_and_for_classes(large, tmp_path):
    classes = make(tmp_path / "classes", within=holdfast.classes("people", 3), totals=None)
    for number, folder in enumerate([shutil.copytree(large, tmp_path / "labels"), classes]):

        def swap(lines):
            lines[1][0], lines[2][0] = lines[2][0], lines[1][0]

        edit_groups(folder, swap)
        damage = holdfast.verify(folder).damage
        assert any("not in their order" in words for words in damage), number


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_classes_and_crossed_groups_follow_from_either_table(tmp_path, form):
    within = [holdfast.classes("people", 3), "state"]
    for index, parts in enumerate([within[:1], within, within[::-1]]):
        found = holdfast.privatize(
            table(), epsilon=1, max_count=N - 1, count="n", category="place", within=parts, seed=2
        )
        folder = found.save(tmp_path / f"{index}", table_format=form)
        assert holdfast.verify(folder)
        again = holdfast.load(folder)
        assert (again.groups.members == found.groups.members).all()
        assert again.groups.names == found.groups.names


def test_classes_that_are_not_those_of_the_rows_are_found(tmp_path):
    folder = make(tmp_path / "release", within=holdfast.classes("people", 3), totals=None)
    path = folder / "groups.csv"
    lines = path.read_text().splitlines()
    end = lines[1].split(" to ")[1].split(",")[0]
    path.write_text("\n".join([lines[0], lines[1].replace(end, f"{int(end) - 1}"), *lines[2:]]))
    repair(folder)
    assert any("are not those of its rows" in words for words in holdfast.verify(folder).damage)


def test_totals_without_groups_are_checked_too(tmp_path):
    folder = make(tmp_path / "release", within=None)
    assert holdfast.verify(folder) and read_record(folder)["schema"] == 4
    found = holdfast.load(folder)
    assert found.totals.whole.low <= found.totals.measured[0] <= found.totals.whole.high
    forge(folder, totals=read_record(folder)["totals"] | {"measured": found.totals.measured[0] + 1})
    assert any("does not follow" in words for words in holdfast.verify(folder).damage)


def test_a_plain_bundle_may_not_hold_a_list_of_groups(tmp_path):
    folder = make(tmp_path / "release", within=None, totals=None)
    assert json.loads((folder / "release.json").read_text())["schema"] == 3
    (folder / "groups.csv").write_text("state,rows\n")
    assert any(
        "'groups.csv', which is not a file" in words for words in holdfast.verify(folder).damage
    )


def test_structural_zeros_that_are_not_marked_leave_the_sizes_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("holdfast.former.release.bundle.intervals_record", lambda facts: None)
    known = table().assign(known=lambda t: t.index < 9, n=lambda t: t.n.where(t.index >= 9, 0))
    found = holdfast.privatize(
        known, epsilon=1, max_count=N - 1, count="n", category="place", structural_zero="known",
        within=["state", holdfast.classes("people", 2)], seed=1,
    )  # fmt: skip
    folder = found.save(tmp_path / "release")
    record = read_record(folder)
    del record["structural_zero_rows"]
    (folder / "release.json").write_text(json.dumps(record))
    repair(folder)
    assert holdfast.verify(folder)
    assert holdfast.load(folder).groups.members is None
