"""`holdfast.verify`: an intact bundle passes, and every damage on the shelf is named."""

import ast
import json
import re
import shutil
import subprocess
import sys
import tracemalloc
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdfast.former as holdfast
from bundles import COUNTS, certify, forge, make, repair, repair_sums, rewrite_texts
from damages import DAMAGES
from holdfast.errors import HoldfastError
from holdfast.former.release import bundle as bundle_module
from holdfast.former.release.row_marks import marks_to_text
from holdfast.former.verify.mechanism import WeightTable
from holdfast.former.verify.report import Failure
from holdfast.former.verify.target import check_fixed_point


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return make().save(tmp_path_factory.mktemp("whole") / "release")


@pytest.fixture
def bundle(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "release")


def test_an_intact_bundle_passes(bundle):
    report = holdfast.verify(bundle)
    assert report and report.passed and report.damage == ()
    assert len(report.checks) == 25 and all(check.passed for check in report.checks)


@pytest.fixture(scope="module")
def damaged(whole, tmp_path_factory):
    """A bundle with a damage, and what verification says; each is made and verified once."""

    @cache
    def make(name):
        folder = shutil.copytree(whole, tmp_path_factory.mktemp("damaged") / "release")
        DAMAGES[name][0](folder)
        return folder, holdfast.verify(folder)

    return make


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named(damaged, name, monkeypatch):
    words = DAMAGES[name][1]
    bundle, report = damaged(name)
    assert not report
    assert any(words in sentence for sentence in report.damage), report.damage
    found = {bundle: report}  # verified once: loading asks for the same again
    monkeypatch.setattr(bundle_module, "verify", found.__getitem__)
    with pytest.raises(HoldfastError, match=re.escape(words)):
        holdfast.load(bundle)


def test_loading_verifies(bundle):
    (bundle / "README.md").write_text("nothing")
    with pytest.raises(HoldfastError, match=re.escape(holdfast.verify(bundle).damage[0])):
        holdfast.load(bundle)


def test_every_check_finds_what_no_other_finds(whole, damaged):
    alone = set()
    for name in DAMAGES:
        failed = [check.name for check in damaged(name)[1].checks if check.passed is False]
        alone |= set(failed) if len(failed) == 1 else set()
    every = {check.name for check in holdfast.verify(whole).checks}
    assert every - alone == {
        "folder",
        "counts",
        "chance",
        "groups",
        "totals",
    }  # which have tests of their own


@pytest.mark.parametrize(
    ("schema", "hint"), [(6, "pip install --upgrade holdfast"), (1, "names under `holdfast`")]
)
def test_another_schema_is_no_damage_and_says_what_to_do(bundle, schema, hint):
    forge(bundle, schema=schema)
    with pytest.raises(HoldfastError, match="cannot be read by this holdfast") as refused:
        holdfast.load(bundle)
    assert hint in str(refused.value) and str(refused.value).count("Hint:") == 1


def test_damages_are_told_apart():
    words = {words for _, words in DAMAGES.values()}
    assert len(DAMAGES) >= 150 and len(words) >= 110


@pytest.mark.parametrize("name", ["swapped columns", "edited epsilon", "a row less"])
def test_a_repaired_sum_leaves_only_the_deeper_check(bundle, name):
    DAMAGES[name][0](bundle)
    results = {check.name: check.passed for check in holdfast.verify(bundle).checks}
    assert results["sizes"] and results["hashes"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, None),
        ({"epsilon": "1/9"}, "another epsilon or max_count"),
        ({"max_count": 9}, "another epsilon or max_count"),
        ({"q": "1/0"}, "max_count_found.q must be a fraction"),
        ({"q": "3/2"}, "a q above 0 and below 1"),
        ({"q": "1"}, "a q above 0 and below 1"),
        ({"highest": 0}, "a highest from max_count to 1000000"),
        ({"highest": 10**30}, "a highest from max_count to 1000000"),
        ({"secret": 1}, "max_count_found.'secret' is not a field"),
    ],
)
def test_how_max_count_was_found_must_fit_the_budget(tmp_path, change, words):
    quantile = holdfast.PrivateQuantile("0.9", epsilon="1/8", highest=20)
    bundle = make(max_count=quantile).save(tmp_path / "release")
    found = json.loads((bundle / "release.json").read_text())["max_count_found"]
    forge(bundle, max_count_found=found | change)
    damage = holdfast.verify(bundle).damage
    assert damage == () if words is None else words in damage[0]


def test_what_cannot_be_looked_at_is_not_passed(bundle):
    (bundle / "release.json").write_text("{}")
    checks = holdfast.verify(bundle).checks
    assert [check.passed for check in checks[:4]] == [True, True, False, None]
    assert checks[-2].detail == "not looked at: schema failed"


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints"])
def test_what_systems_leave_is_named_and_not_opened(bundle, name):
    if name.startswith(".i"):
        (bundle / name).mkdir()
    else:
        (bundle / name).symlink_to("/dev/zero")
    report = holdfast.verify(bundle)
    assert report and report.warnings == (f"the folder also holds {name}.",)
    assert holdfast.load(bundle).rows == 400


def test_a_stray_file_fails_one_check_and_stops_no_other(bundle):
    (bundle / "notes.txt").touch()
    results = {check.name: check.passed for check in holdfast.verify(bundle).checks}
    assert results.pop("files") is False and all(results.values())


def test_a_longer_text_leaves_everything_else_to_be_checked(bundle):
    with open(bundle / "README.md", "ab") as file:
        file.write(b"\n\n")
    results = {check.name: check.passed for check in holdfast.verify(bundle).checks}
    assert results["sizes"] is False
    assert all(
        results[name] for name in results if name not in ("sizes", "hashes", "texts", "words")
    )


def test_a_failure_inside_a_check_is_a_failed_check(bundle, monkeypatch):
    def fail(self):
        raise ZeroDivisionError

    monkeypatch.setattr(WeightTable, "check_row_totals", fail)
    report = holdfast.verify(bundle)
    assert not report
    assert report.damage == ("the check of row totals could not be made (ZeroDivisionError).",)


RELEASES = {
    "array": lambda: holdfast.privatize(COUNTS, epsilon=1, max_count=8),
    "contributions": lambda: make(contributions=3),
    "more contributions than counts": lambda: make(contributions=30, epsilon=8),
    "n = 2": lambda: make(max_count=1),
    "structural zeros": lambda: holdfast.privatize(
        COUNTS, epsilon=1, max_count=8, structural_zero=(COUNTS == 0).tolist()
    ),
    "dead columns": lambda: make(max_count=40, epsilon=5),
    "one value": lambda: holdfast.privatize(
        [3, 3],
        epsilon="0.01",
        max_count=4,
        privatizer=holdfast.privatizers.CumulativeIsotonic(),
        seed=2,
    ),
    "the default": lambda: make(privatizer=None),
    "a mechanism that keeps nothing": lambda: make(
        constructor=holdfast.baselines.TruncatedGeometric()
    ),
    "heuristic": lambda: make(constructor=holdfast.constructors.Heuristic(), max_count=30),
    "a third": lambda: make(epsilon="1/3"),
    "an index": lambda: holdfast.privatize(
        pd.DataFrame({"n": COUNTS}, index=[f"p{i}" for i in range(400)]),
        count="n", category="index", epsilon=1, max_count=8, seed=1,
    ),
    "odd names": lambda: holdfast.privatize(
        pd.DataFrame({'a "b", c;\n<d>': ["ü"] * 400, "SIMULATION": 1, "": 2, "n|\t": COUNTS}),
        count="n|\t", keep=['a "b", c;\n<d>', "SIMULATION", ""], epsilon=1, max_count=8,
    ),
}  # fmt: skip


@cache
def made(name):
    return RELEASES[name]()


@pytest.mark.parametrize("table_format", ["csv", "parquet"])
@pytest.mark.parametrize("name", RELEASES)
def test_whatever_is_saved_passes(tmp_path, name, table_format):
    release = made(name)
    folder = release.save(tmp_path / "release", table_format=table_format)
    report = holdfast.verify(folder)
    assert report.damage == () and report.warnings == ()
    assert holdfast.load(folder).summary() == release.summary()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_keeps_its_dialect_and_passes(tmp_path, encoding, newline, delimiter):
    lines = ["place,n", '"Doña\n ""Ana"", 2",3', "Ely,0", ",1"]
    text = newline.join(lines).replace(",", delimiter) + newline
    (tmp_path / "in.csv").write_bytes(text.encode(encoding))
    release = holdfast.privatize(
        tmp_path / "in.csv", count="n", category="place", epsilon=1, max_count=3
    )
    assert holdfast.verify(release.save(tmp_path / "release")).damage == ()


def test_a_count_that_the_mechanism_never_gives_is_found(tmp_path):
    release = make(max_count=40, epsilon=5)
    dead = int(np.flatnonzero(release.mechanism.weights[0] == 0)[0])
    bundle = release.save(tmp_path / "release")
    path = bundle / "table.csv"
    header, _, *rest = path.read_text().splitlines(keepends=True)
    path.write_text("".join([header, f"p0,{dead}\n", *rest]))
    rewrite_texts(bundle)
    words = f"the count {dead} was released, but the mechanism never gives it."
    assert holdfast.verify(bundle).damage == (words,)


@pytest.mark.parametrize(("small", "limit"), [(1, "1.0e-09"), (400, "1.7e-09")])
def test_the_fixed_point_states_the_limit_that_it_was_held_to(small, limit):
    columns = np.diag(np.full(small + 1, 1 << 62, dtype=np.uint64))
    z = np.array([2.0**-41] * small + [1 - small * 2.0**-41])
    sums = [WeightTable(order).sums(z) for order in (columns, columns[::-1])]
    said = check_fixed_point(sums[0], z, {"fixed_point": True})
    assert said == f"every share is kept within 0.0e+00; at most {limit} is allowed"
    with pytest.raises(HoldfastError, match=f"not kept within {limit}"):
        check_fixed_point(sums[1], z, {"fixed_point": True})


def test_structural_zeros_need_no_weight(tmp_path):
    counts = [0] * 5 + [1, 2, 3] * 200
    mask = [True] * 5 + [False] * 600
    stage_1 = holdfast.privatizers.CumulativeIsotonic()
    release = holdfast.privatize(
        counts,
        epsilon=8,
        max_count=3,
        split="paper",
        structural_zero=mask,
        privatizer=stage_1,
        seed=1,
    )
    assert not release.mechanism.weights[:, 0].any()
    bundle = release.save(tmp_path / "release")
    assert holdfast.verify(bundle)
    marks = marks_to_text(np.arange(605) < 4)
    forge(bundle, rows=601, structural_zeros=4, structural_zero_rows=marks)
    assert any("the count 0 was released" in words for words in holdfast.verify(bundle).damage)


STAGE_1 = [
    name(projection=projection, **options)
    for projection in ("clip", "simplex", "isotonic", "smooth")
    for name, options in (
        (holdfast.former.privatizers.CumulativeIsotonic, {}),
        (holdfast.former.privatizers.CyclicLaplace, {}),
        (holdfast.former.privatizers.ClassicLaplace, {}),
        (holdfast.former.privatizers.Privelet, {}),
        (holdfast.former.privatizers.Hierarchical, {"branching": 3}),
        (holdfast.former.privatizers.CumulativeGaussian, {"delta": "1e-6"}),
    )
]


@pytest.mark.parametrize("privatizer", STAGE_1, ids=repr)
def test_z_is_computed_again_from_what_stage_1_measured(tmp_path, privatizer):
    quick = holdfast.constructors.Heuristic(selector="sandwich")
    release = make(privatizer=privatizer, constructor=quick, contributions=2)
    bundle = release.save(tmp_path / "release")
    checks = {check.name: check for check in holdfast.verify(bundle).checks}
    assert checks["measurement"].passed and "within 1e-9" in checks["measurement"].detail
    for at, more in ((0, 20), (1, -60)):
        edited = release.measurement.tolist()
        edited[at] += more
        forge(bundle, measurement=edited)
        (damage,) = holdfast.verify(bundle).damage
        assert "is not what stage 1 measured" in damage
    forge(bundle, measurement=release.measurement.tolist()[:-1])
    assert "this stage 1 measures" in holdfast.verify(bundle).damage[0]


def test_a_smooth_fit_of_another_version_is_not_called_damage(tmp_path):
    release = make(privatizer=None)
    bundle = release.save(tmp_path / "release")
    edited = [number + 3 for number in release.measurement.tolist()]
    forge(bundle, measurement=edited, holdfast="0.0.9")
    check = next(c for c in holdfast.verify(bundle).checks if c.name == "measurement")
    assert check.passed and "not repeated: holdfast '0.0.9' fitted otherwise" in check.detail
    assert check.warning == "z was not computed again: another holdfast made it."


def test_another_version_word_hides_no_gross_edit(tmp_path):
    release = make(privatizer=None)
    bundle = release.save(tmp_path / "release")
    unit = float(release.privacy.budget.unit_1)
    edited = [number + round(40 / unit) for number in release.measurement.tolist()]
    forge(bundle, measurement=edited, holdfast="0.0.9")
    rewrite_texts(bundle)
    (damage,) = holdfast.verify(bundle).damage
    assert "8 standard deviations" in damage


@pytest.mark.parametrize("part", ["stage_1_certified", "bound_certified"])
def test_a_certificate_of_less_than_its_noise_spends_is_found(tmp_path, part):
    quantile = holdfast.PrivateQuantile("0.9", epsilon="1/8", highest=20)
    bundle = make(max_count=quantile).save(tmp_path / "release")
    certify(bundle, **{part: "1/100000"})
    name = part.removesuffix("_certified")
    said = f"the budget: {name} was certified for less than its noise spends."
    assert said in holdfast.verify(bundle).damage


@pytest.mark.parametrize("left", [0, 3, 12, 14])
def test_a_measurement_of_a_long_range_that_was_cut_off_is_damage(tmp_path, left):
    release = holdfast.privatize([0, 7, 1900, 3] * 25, epsilon=1, max_count=2000, seed=1)
    bundle = release.save(tmp_path / "release")
    forge(bundle, measurement=release.measurement.tolist()[:left])
    report = holdfast.verify(bundle)
    assert report.failure is Failure.DAMAGE
    assert any("as many integers as this stage 1 measures" in words for words in report.damage)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"certificate": {"epsilon": "1/10000000"}}, "certificate.epsilon must be 1/1000000"),
        ({"max_count": 10**6, "certificate": {"epsilon": "1/1000"}}, "so many counts at so small"),
    ],
)
def test_work_for_hours_is_refused_before_it_is_begun(bundle, changes, said):
    forge(bundle, **changes)
    report = holdfast.verify(bundle)
    assert any(said in words for words in report.damage)
    assert {check.name: check.passed for check in report.checks}["certificate"] is None


def test_without_a_stage_1_z_is_the_released_distribution(tmp_path):
    release = make(privatizer=None, split=None, constructor=holdfast.baselines.TruncatedGeometric())
    bundle = release.save(tmp_path / "release")
    assert holdfast.verify(bundle).damage == ()
    z = release.target.copy()
    z[1], z[2] = z[2], z[1]
    forge(bundle, target=z.tolist())
    assert any("is not what stage 1 measured" in words for words in holdfast.verify(bundle).damage)
    forge(bundle, target=release.target.tolist(), measurement=[1])
    assert "must be null where there is no stage 1" in holdfast.verify(bundle).damage[0]


PARQUET = {
    "cannot be read as Parquet": lambda table: b"PAR1" + bytes(99) + b"PAR1",
    "must have rows + structural_zeros rows": lambda table: table.slice(1),
    "count of data row 1 is above max_count": lambda table: with_counts(table, [9] * 400),
    "data row 3 is not a whole": lambda table: with_counts(table, [1, 1, None] + [1] * 397),
    "count of data row 1 is not a whole": lambda table: with_counts(table, [1.0] * 400),
    "columns are not those": lambda table: table.append_column("age", table["n"]),
}


def with_counts(table, counts):
    return table.set_column(1, "n", pa.array(counts))


@pytest.mark.parametrize("words", PARQUET)
def test_a_damaged_parquet_table_is_named(tmp_path, words):
    bundle = make().save(tmp_path / "release", table_format="parquet")
    path = bundle / "table.parquet"
    changed = PARQUET[words](pq.read_table(path))
    if isinstance(changed, bytes):
        path.write_bytes(changed)
    else:
        pq.write_table(changed, path)
    repair(bundle)
    assert words in holdfast.verify(bundle).damage[0]


def test_free_bytes_between_parquet_pages_are_found(tmp_path):
    bundle = make().save(tmp_path / "release", table_format="parquet")
    path = bundle / "table.parquet"
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    path.write_bytes(data[:footer] + b"the true counts" + data[footer:])
    assert pq.read_table(path).num_rows == 400
    repair(bundle)
    assert "belong to no page" in holdfast.verify(bundle).damage[0]


PARQUETS = {
    "plain": {},
    "without dictionaries": {"use_dictionary": False},
    "small pages": {"data_page_size": 64, "write_batch_size": 8},
    "second version of pages": {"data_page_version": "2.0", "compression": "zstd"},
    "many groups": {"row_group_size": 7},
    "check sums": {"write_page_checksum": True, "compression": "none"},
}


@pytest.mark.parametrize("name", PARQUETS)
def test_pages_of_any_kind_are_walked(tmp_path, name):
    bundle = make().save(tmp_path / "release", table_format="parquet")
    path = bundle / "table.parquet"
    pq.write_table(pq.read_table(path), path, **PARQUETS[name])
    repair(bundle)
    assert holdfast.verify(bundle).damage == ()


def test_a_parquet_table_that_claims_too_much_is_refused(tmp_path):
    bundle = make().save(tmp_path / "release", table_format="parquet")
    path = bundle / "table.parquet"
    table = pq.read_table(path)
    text = pa.array(["0" * 10_000] * 400)
    pq.write_table(table.set_column(1, "n", text), path, use_dictionary=False)
    repair(bundle)
    assert "more data than its rows can hold" in holdfast.verify(bundle).damage[0]


@pytest.mark.parametrize(
    "name",
    ["header of 10 GB", "header of 147 EB", "header of 800 MB that fits max_count",
     "header's length of 10 GB", "a bomb after the weights", "a record of 10 GB",
     "a table of 10 GB", "deep nesting"],
)  # fmt: skip
def test_hostile_sizes_fail_in_little_memory(bundle, name):
    DAMAGES[name][0](bundle)
    tracemalloc.start()
    try:
        assert not holdfast.verify(bundle)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


BORROWED = {  # nothing that a privacy claim rests on
    (
        "stage_one.py",
        "holdfast.former.privatizers.named",
    ): "the smooth fit, too long to be written twice",
    ("groups.py", "holdfast.former.privatizers.named"): "the joint fit, likewise",
    (
        "texts.py",
        "holdfast.former.release.text",
    ): "the words of a bundle, to compare every byte of them",
    ("texts.py", "holdfast.former.release.several_text"): "likewise, of several counts",
}


def test_verification_imports_nothing_that_makes_a_release():
    root = Path(holdfast.__file__).parent
    files = list((root / "verify").glob("*.py"))
    borrowed = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [a.name for a in node.names] if isinstance(node, ast.Import) else []
            own = ("holdfast.verify", "holdfast.errors")
            borrowed |= {
                (file.name, name)
                for name in names
                if name.startswith("holdfast") and not name.startswith(own)
            }
    assert len(files) > 15 and borrowed == set(BORROWED)


def test_verification_runs_without_the_rest_of_holdfast(bundle):
    code = f"""
import sys, types
package = types.ModuleType("holdfast")
package.__path__ = [{str(Path(holdfast.__file__).parent)!r}]
sys.modules["holdfast"] = package
from holdfast.former.verify import verify
report = verify({str(bundle)!r})
assert report, report.damage
loaded = {{m.split(".")[1] for m in sys.modules if m.startswith("holdfast.")}}
assert loaded == {{"verify", "arrays", "errors", "privacy", "release"}}, loaded
words = {{m.split(".")[2] for m in sys.modules if m.startswith("holdfast.former.release.")}}
assert words == {{"bins", "text", "deployment", "pictures", "group_pictures", "svg",
                 "codebook", "recipes", "share_recipes"}}, words
assert not {{"numba", "scipy", "opendp", "pickle5", "yaml"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_in_a_bundle_is_run_and_nothing_outside_is_opened(bundle, tmp_path):
    names = ["a pickle for weights", "a script in the picture", "path traversal: ../secret",
             "the count '=1+1'", "edited epsilon", "symlinked table"]  # fmt: skip
    for index, name in enumerate(names):
        folder = shutil.copytree(bundle, tmp_path / str(index) / "release")
        DAMAGES[name][0](folder)
    code = f"""
import sys, pyarrow.parquet
from pathlib import Path
from holdfast.former.verify import verify
import encodings.cp1252
verify({str(bundle)!r})  # so that everything is imported
seen = []
def watch(event, arguments):
    if event in ("exec", "compile", "import") or event.split(".")[0] in (
        "pickle", "subprocess", "os", "socket", "marshal", "ctypes", "shutil"
    ) and event not in ("os.scandir", "os.listdir"):
        seen.append((event, arguments))
    if event == "open" and not isinstance(arguments[0], int):  # a handle was seen when it was made
        path, mode, flags = arguments
        inside = any(Path(path).parent == folder for folder in folders)
        if not inside or (flags & 3):
            seen.append((event, arguments))
folders = [Path({str(tmp_path)!r}) / str(i) / "release" for i in range({len(names)})]
sys.addaudithook(watch)
results = [verify(folder).passed for folder in folders]
assert results == [False] * {len(names)}
assert not seen, seen
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    assert not (tmp_path / "executed").exists()


def test_the_sums_are_those_of_sha256sum(bundle):
    tool = shutil.which("sha256sum")
    if tool is None:
        pytest.skip("there is no sha256sum here")
    subprocess.run([tool, "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=bundle, check=True)


def test_a_report_is_plain_values(bundle):
    record = json.loads(json.dumps(holdfast.verify(bundle).to_dict()))
    assert record["passed"] is True and record["folder"] == str(bundle)
    assert record["checks"][0] == {"check": "folder", "passed": True, "detail": "is there"}


def test_the_docs_name_every_field_and_every_check(bundle):
    text = (Path(__file__).parents[2] / "docs" / "bundle.md").read_text(encoding="utf-8")
    record = json.loads((bundle / "release.json").read_text())
    keys = [*record, *record["privacy"], *record["certificate"]]
    assert [key for key in keys if f"`{key}`" not in text] == []
    table = text[text.index("## What is verified") :]
    assert [check.name for check in holdfast.verify(bundle).checks if check.name not in table] == []
    assert f"| {', '.join(['folder', 'record', 'schema', 'fields'])} |" in table


def test_any_flipped_bit_is_found(bundle):
    random = np.random.default_rng(5)
    for path in sorted(bundle.iterdir()):
        data = path.read_bytes()
        for place in random.integers(0, 8 * len(data), 10):
            flipped = bytearray(data)
            flipped[place // 8] ^= 1 << (place % 8)
            path.write_bytes(flipped)
            assert not holdfast.verify(bundle), (path.name, place)
        path.write_bytes(data)
    assert holdfast.verify(bundle)


@pytest.mark.parametrize("name", ["release.json", "mechanism.weights", "table.csv"])
def test_rubbish_with_the_right_sums_raises_nothing(bundle, name):
    random = np.random.default_rng(6)
    path = bundle / name
    data, record = path.read_bytes(), (bundle / "release.json").read_bytes()
    failed = 0
    for _ in range(30):
        changed = bytearray(data)
        for place in random.integers(0, len(data), random.integers(1, 4)):
            changed[place] = random.integers(0, 256)
        path.write_bytes(changed)
        repair(bundle) if name != "release.json" else repair_sums(bundle)
        failed += not holdfast.verify(bundle)
        (bundle / "release.json").write_bytes(record)
    assert failed > 15
