"""The analyst's way: open, believe, ask, search, compare, take away."""

import io
import json
import re
import zipfile
from urllib.parse import urlencode

import pytest

import holdfast.former as holdfast
from holdfast.errors import HoldfastError
from holdfast.former.page.zips import unpack
from page_visits import visit, words_of

QUESTIONS = {
    "share at least 2": {"what": "share", "is": "at_least", "count": "2"},
    "share between 1 and 3": {"what": "share", "is": "between", "count": "1", "other": "3"},
    "share equal 0": {"what": "share", "is": "equal", "count": "0"},
    "mean": {"what": "mean"},
    "total": {"what": "total"},
    "median": {"what": "median"},
    "quantile 0.9": {"what": "quantile", "at": "0.9"},
    "gini": {"what": "gini"},
    "variance": {"what": "variance"},
    "released 4": {"what": "released", "released": "4"},
    "top 3": {"what": "top", "top": "3"},
    "compare C001 with C002": {"what": "compare", "first": "C001", "second": "C002"},
    "total of C001, C002": {"what": "total_of", "rows": "C001, C002"},
    "share above 2": {"what": "typed", "typed": "share above 2"},
}
NO_QUESTIONS = {
    "nothing filled in": {"what": "compare", "first": "C001", "second": " "},
    "not a question": {"what": "typed", "typed": "why"},
    "not a choice": {"what": "sql"},
    "no such row": {"what": "compare", "first": "C001", "second": "Atlantis"},
}


def test_the_overview_says_what_was_promised_and_that_it_holds(reader, opened):
    page = words_of(reader.get(opened).text)
    for words in ("recomputed and holds", "learns almost the same", "90% interval", "mean"):
        assert words in page
    assert "W1" not in page and "fixed point passed" in page


@pytest.mark.parametrize("asked", QUESTIONS)
def test_a_question_is_built_by_choosing(reader, opened, asked):
    page = words_of(reader.get(f"{opened}/ask?{urlencode(QUESTIONS[asked])}").text)
    assert f"You ask: {asked}" in page and f"holdfast ask first {asked!r}"[:18] in page
    assert "This needs another look" not in page


@pytest.mark.parametrize("case", NO_QUESTIONS)
def test_what_is_no_question_is_said_in_words(reader, opened, case):
    reply = reader.get(f"{opened}/ask?{urlencode(NO_QUESTIONS[case])}")
    assert reply.status_code == 200 and "This needs another look" in reply.text
    assert "You ask" not in reply.text


@pytest.fixture
def kept(visitor, folder):
    """A release with a state and a population beside the counts; its address."""
    rows = [f"C{i},{'AB'[i % 2]},{1000 + i * 7},{(i * i * 31) % 5}" for i in range(100)]
    (folder / "k.csv").write_text("county,state,population,deaths\n" + "\n".join(rows) + "\n")
    names = {"count": "deaths", "category": "county", "keep": ["state", "population"]}
    holdfast.privatize(folder / "k.csv", epsilon=2, max_count=4, **names).save(folder / "kept")
    return visitor.post("/releases", {"path": "kept"}).url.path


def test_a_question_may_be_about_some_rows_and_by_a_column(visitor, kept):
    asked = {"what": "mean", "where": "population < 1300", "by": "state"}
    page = words_of(visitor.get(f"{kept}/ask?{urlencode(asked)}").text)
    assert "You ask: mean, where population < 1300, by state" in page
    assert "--where 'population < 1300' --by state" in page
    page = visitor.get(f"{kept}/ask?{urlencode(asked | {'where': 'population <'})}").text
    assert "The condition cannot be read" in page


def test_a_regression_stands_beside_the_one_that_noise_bends(visitor, kept):
    asked = {"what": "regress", "formula": "deaths ~ log(population)"}
    page = words_of(visitor.get(f"{kept}/ask?{urlencode(asked)}").text)
    assert "log(population)" in page and "without correction" in page
    assert "counts (Poisson), 100 rows." in page and "95%" not in page and "90% interval" in page
    other = words_of(visitor.get(f"{kept}/ask?{urlencode(asked | {'family': 'gaussian'})}").text)
    assert "straight line (least squares), 100 rows." in other and "family='gaussian'" in other
    odd = visitor.get(f"{kept}/ask?{urlencode(asked | {'family': 'x'})}").text
    assert "no such regression" in odd
    page = visitor.get(f"{kept}/ask?{urlencode(asked | {'formula': 'deaths ~'})}").text
    assert "This needs another look" in page


def test_the_answer_is_that_of_the_command_line(reader, opened, bundle):
    page = words_of(reader.get(f"{opened}/ask?what=mean").text)
    assert str(holdfast.load(bundle).ask("mean")).splitlines()[0] in page


def test_the_table_is_searched_and_turned_by_pages(reader, opened):
    assert "80 of 80 rows" in reader.get(f"{opened}/table").text
    page = words_of(reader.get(f"{opened}/table?search=c00").text)
    assert "10 of 80 rows" in page and "deaths, as released true count, nine times in ten" in page
    assert "4 or more" in words_of(reader.get(f"{opened}/table").text) and "low_90" not in page
    assert "Page 2 of 2" in reader.get(f"{opened}/table?page=2").text
    for odd in ("0", "99", "x", "-1", "9" * 40):
        assert reader.get(f"{opened}/table?page={odd}").status_code == 200


def test_what_a_label_says_does_nothing_on_the_page(visitor, folder):
    rows = [f"<script>alert({i})</script>,{i % 4}" for i in range(40)]
    (folder / "evil.csv").write_text("county,deaths\n" + "\n".join(rows) + "\n")
    names = {"count": "deaths", "category": "county"}
    holdfast.privatize(folder / "evil.csv", epsilon=2, max_count=3, **names).save(folder / "evil")
    address = visitor.post("/releases", {"path": "evil"}).url.path
    for part in ("", "/table", "/ask?what=top&top=3", "/table?search=<script>"):
        assert "<script>alert" not in visitor.get(address + part).text


@pytest.fixture(scope="module")
def counties(tmp_path_factory):
    """A folder with releases of counties whose names repeat and of which two have no count: one
    of one count, by state and capped elsewhere, and one of two counts."""
    place = tmp_path_factory.mktemp("counties")
    rows = [f"C{i % 30},{'AB'[i // 30]},{(i * 31) % 8},{(i * 7) % 5}" for i in range(60)]
    rows[3], rows[40] = "C3,A,-9,1", "C10,B,-9,1"
    table = place / "k.csv"
    table.write_text("county,state,deaths,births\n" + "\n".join(rows) + "\n")
    how = {"category": "county", "keep": ["state"], "missing": [-9], "repeated_categories": True}
    one = holdfast.privatize(table, epsilon=3, max_count=4, count="deaths", **how)
    one.save(place / "one")
    holdfast.privatize(table, epsilon=3, max_count=6, count="deaths", **how).save(place / "two")
    both = holdfast.privatize(table, epsilon=3, max_count=4, count=["deaths", "births"], **how)
    both.save(place / "both")
    return place


@pytest.fixture(scope="module")
def guest(counties):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(counties.parent))
        with visit(counties) as somebody:
            yield somebody


@pytest.fixture(scope="module")
def capped(guest):
    return guest.post("/releases", {"path": "one"}).url.path


def choices_of(page):
    return {path: name for name, path in re.findall(r'<option value="(\w+)"[^>]*>([^<]*)<', page)}


def test_releases_with_other_caps_are_not_set_against_each_other(guest, capped):
    choices = choices_of(guest.get(f"{capped}/compare").text)
    page = guest.get(f"{capped}/compare?with={choices['two']}").text
    words = words_of(page)
    assert "Gini coefficient of the counts" in words
    assert "capped at 4" in words and "capped at 6" in words and "not the same thing" in words
    assert words.count("60 rows, of which 2 without a count") == 2
    assert page.count(">4+</text>") == 2 and ">6+</text>" not in page


def test_a_release_of_several_counts_is_compared_column_by_column(guest, capped):
    choices = choices_of(guest.get(f"{capped}/compare").text)
    assert not {"both", "one"} & choices.keys()
    column = next(path for path in choices if path.startswith("both/") and "deaths" in path)
    words = words_of(guest.get(f"{capped}/compare?with={choices[column]}").text)
    assert "mean count" in words and "not the same thing" not in words
    several = guest.post("/releases", {"path": "both"}).url.path.rpartition("/")[2]
    reply = guest.get(f"{capped}/compare?with={several}")
    assert reply.status_code == 200 and "both/" in reply.text


def test_two_counts_of_a_release_are_set_beside_each_other(guest, counties):
    address = guest.post("/releases", {"path": "both"}).url.path
    page = words_of(guest.get(address).text)
    assert "Two counts together" in page and "holdfast.load_table('both')" in page
    asked = {"what": "both_zero", "first": "deaths", "second": "births"}
    page = words_of(guest.get(f"{address}/together?{urlencode(asked)}").text)
    assert "share of rows with no deaths and no births: " in page
    assert "holdfast ask both 'both zero' --of deaths --of births" in page
    page = words_of(guest.get(f"{address}/together?{urlencode(asked | {'by': 'state'})}").text)
    assert "90% interval A " in page and " B " in page
    for odd in ({"what": "sql"}, {"second": "deaths"}, {"where": "state <"}):
        page = guest.get(f"{address}/together?{urlencode(asked | odd)}")
        assert page.status_code == 200 and "This needs another look" in page.text
    one = guest.post("/releases", {"path": "one"}).url.path
    assert guest.get(f"{one}/together").status_code == 400


def test_a_column_that_is_said_to_lie_elsewhere_is_not_offered(guest, capped, counties):
    (counties / "odd").mkdir()
    record = {"counts": [{"column": "x", "folder": "../one"}]}
    (counties / "odd" / "release.json").write_text(json.dumps(record))
    assert "one" not in choices_of(guest.get(f"{capped}/compare").text)


def test_rows_without_a_count_are_shown_as_such(guest, capped):
    words = words_of(guest.get(f"{capped}/table").text)
    assert "60 of 60 rows. 2 rows of the table have no count" in words and "not known" in words
    assert "60 rows, of which 2 without a count" in words_of(guest.get(capped).text)
    assert "2 rows without a count left out" in words_of(guest.get(f"{capped}/ask?what=mean").text)
    lines = guest.get(f"{capped}/get/intervals").text.splitlines()
    assert len(lines) == 61 and lines[4] == "C3,A,,,,,,"


def test_rows_of_the_same_name_are_told_apart(guest, capped):
    words = words_of(guest.get(f"{capped}/ask?what=top&top=5").text)
    assert re.search(r"C\d+ \([AB]\)", words)
    asked = {"what": "compare", "first": "C1 (A)", "second": "C1 (B)"}
    words = words_of(guest.get(f"{capped}/ask?{urlencode(asked)}").text)
    assert "C1 (A) has more than C1 (B) with probability" in words
    words = words_of(guest.get(f"{capped}/ask?{urlencode(asked | {'first': 'C1'})}").text)
    assert "such as 'C1 (A)'" in words
    words = words_of(guest.get(f"{capped}/ask?what=top&top=1&by=state").text)
    assert re.search(r"A C\d+ \(A\) .* B C\d+ \(B\)", words)


def test_two_releases_are_compared(visitor, released, folder, bundle):
    assert "no other release" in visitor.get(f"{released}/compare").text
    names = {"count": "deaths", "category": "county"}
    table = bundle.parent / "deaths.csv"
    holdfast.privatize(table, epsilon=2, max_count=4, **names).save(folder / "again")
    page = visitor.get(f"{released}/compare")
    other = re.search(r'<option value="(\w+)"', page.text)[1]
    page = words_of(visitor.get(f"{released}/compare?with={other}").text)
    assert "cannot be told" in page and "Both are about the same rows" in page
    assert visitor.get(f"{released}/compare?with=nowhere").status_code == 400


def test_everything_can_be_taken_away(reader, opened, bundle):
    table = reader.get(f"{opened}/get/table")
    assert table.content == (bundle / "table.csv").read_bytes()
    assert reader.get(f"{opened}/get/intervals").text.startswith("county,deaths,low_90,")
    report = reader.get(f"{opened}/report")
    assert report.text.startswith("<!doctype html>")
    assert reader.get(f"{opened}/get/nothing").status_code == 400
    archive = zipfile.ZipFile(io.BytesIO(reader.get(f"{opened}/get/zip").content))
    assert {"report.html", "first/table.csv", "first/release.json"} <= set(archive.namelist())
    assert reader.site.state.names("zips") == []


def test_excel_can_be_taken_away(reader, opened):
    pytest.importorskip("xlsxwriter")
    reply = reader.get(f"{opened}/get/excel")
    assert reply.content[:2] == b"PK" and "first.xlsx" in reply.headers["content-disposition"]


def test_the_zip_of_a_release_made_here_has_a_script_and_no_true_count(reader, made, bundle):
    folder, page = bundle.parent, reader.get(f"{made}/run").text
    address = re.search(r"/releases/\w+", page)[0]
    archive = zipfile.ZipFile(io.BytesIO(reader.get(f"{address}/get/zip").content))
    script = archive.read("again.py").decode()
    assert "holdfast privatize deaths.csv" in script and str(folder) not in script
    compile(script, "again.py", "exec")
    true = (folder / "deaths.csv").read_bytes()
    assert all(true not in archive.read(name) for name in archive.namelist())


@pytest.mark.parametrize("way", ("dropped", "in the folder"))
def test_a_zip_is_opened(reader, opened, bundle, way):
    data = reader.get(f"{opened}/get/zip").content
    if way == "dropped":
        page = reader.post("/releases", {"path": ""}, files={"upload": ("r.zip", data)})
    else:
        (bundle.parent / "r.zip").write_bytes(data)
        page = reader.post("/releases", {"path": "r.zip"})
    assert page.url.path != opened and "recomputed and holds" in page.text


def zipped(**files: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/"), data)
    return sink.getvalue()


HOSTILE = {
    "not a zip": b"hello",
    "empty": zipped(),
    "no release": zipped(a=b"1"),
    "two releases": zipped(**{"a__release.json": b"{}", "b__release.json": b"{}"}),
    "cut short": zipped(**{"a__release.json": b"{}" * 999})[:-40],
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_zip_is_refused(visitor, case):
    reply = visitor.post("/releases", {"path": ""}, files={"upload": ("r.zip", HOSTILE[case])})
    assert reply.status_code == 400 and "zip file" in reply.text


def test_a_zip_writes_nowhere_else(visitor, tmp_path):
    data = zipped(**{"..__..__release.json": b"{}", "..__..__evil.txt": b"x"})
    page = visitor.post("/releases", {"path": ""}, files={"upload": ("r.zip", data)})
    assert "damaged" in page.text
    assert [path.parent.name for path in tmp_path.rglob("evil.txt")] == ["release"]
    data = zipped(**{"release.json": b"{}", "..__release.json": b"{}", "..__evil.txt": b"x"})
    page = visitor.post("/releases", {"path": ""}, files={"upload": ("r.zip", data)})
    assert page.status_code == 400 and len(list(tmp_path.rglob("evil.txt"))) == 1


def test_a_bomb_is_not_unpacked(visitor, monkeypatch):
    monkeypatch.setattr("holdfast.former.page.zips.MOST_BYTES", 10_000)
    data = zipped(**{"release.json": b"{}", "table.csv": b"0" * 10_001})
    reply = visitor.post("/releases", {"path": ""}, files={"upload": ("r.zip", data)})
    assert reply.status_code == 400 and "too large" in reply.text


def test_a_damaged_zip_is_called_unreadable_and_leaves_nothing(tmp_path):
    whole = zipped(**{"release.json": b"{}" * 500, "table.csv": b"a,b\n" * 500})
    for at in range(0, len(whole), 3):
        data = bytearray(whole)
        data[at] ^= 0xFF
        place = tmp_path / str(at)
        try:
            unpack(io.BytesIO(data), place)
        except HoldfastError:
            assert not place.exists()


def test_a_zip_with_a_long_list_of_files_is_refused_before_it_is_read(tmp_path, monkeypatch):
    data = zipped(**{f"{number}.csv": b"" for number in range(20)})
    monkeypatch.setattr("holdfast.former.page.zips.MOST_LISTED", 1000)
    monkeypatch.setattr("zipfile.ZipFile", lambda *_: pytest.fail("was read"))
    with pytest.raises(HoldfastError, match="too large for the page"):
        unpack(io.BytesIO(data), tmp_path / "out")


def test_a_damaged_release_is_called_damaged_and_nothing_more_is_shown(visitor, released, folder):
    table = folder / "first" / "table.csv"
    table.write_text(table.read_text().replace("C001,", "C001,1"))
    page = words_of(visitor.get(released).text)
    assert "This release is damaged" in page and "Common questions" not in page
    for part in ("/ask", "/table", "/report", "/get/zip", "/get/table"):
        assert visitor.get(released + part).status_code == 400


def test_a_simulation_is_called_one_on_every_page(visitor, folder):
    counts = [0, 1, 2, 3] * 20
    holdfast.privatize(counts, epsilon=2, max_count=3, seed=1).save(folder / "sim")
    address = visitor.post("/releases", {"path": "sim"}).url.path
    for part in ("", "/ask", "/table", "/compare"):
        assert "SIMULATION" in visitor.get(address + part).text


def test_a_column_whose_table_is_outside_of_the_folder_is_not_opened(visitor, folder):
    (folder / "release.json").write_text('{"table_above": true}')
    reply = visitor.post("/releases", {"path": "."})
    assert reply.status_code == 400 and "outside of the page" in words_of(reply.text)


def test_a_folder_without_a_release_is_no_release(visitor, folder):
    (folder / "empty").mkdir()
    page = visitor.post("/releases", {"path": "empty"})
    assert "damaged" in page.text
    assert visitor.get("/releases/0000").status_code == 400
