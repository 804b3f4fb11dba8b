"""Names, labels and words of others are read and do nothing."""

import shutil
from html import escape

import pytest

import holdfast
from page_visitor import problem_of, visit

BAD = "<script>alert(1)</script>\"'><img src=x onerror=y>{{7*7777}}"


def is_harmless(page: str) -> bool:
    scripts = page.count("<script") == page.count('<script src="/static/page.js" defer>')
    return scripts and "<img" not in page and "onerror=y>" not in page and "54439" not in page


@pytest.fixture
def hostile(folder):
    """A table whose names and labels are markup, as CSV allows."""
    quoted = BAD.replace('"', '""')
    rows = "".join(f'"{quoted} {i}","{quoted} {i // 3 % 2}",{i * i * 7 % 6}\n' for i in range(40))
    (folder / "bad.csv").write_text(f'"a {quoted}","b {quoted}","n {quoted}"\n{rows}')
    return folder


def test_hostile_names_and_labels_are_escaped_on_the_whole_way(visitor, hostile, at_once):
    draft = visitor.start("bad.csv")
    page = visitor.get(draft).text
    assert is_harmless(page) and escape(f"n {BAD}")[:30] in page.replace("&#34;", "&quot;")
    names = {"count": f"n {BAD}", "category": f"a {BAD}", "keep": [f"b {BAD}"]}
    names |= {"within": [f"b {BAD}"], "epsilon": "2", "out": "out"}
    page = visitor.fill(draft, names)
    assert problem_of(page) == "" and is_harmless(page.text)
    page = visitor.press(draft)
    assert "The release is made" in page.text and is_harmless(page.text)
    at = visitor.post("/releases", {"path": "out"}).url.path
    assert is_harmless(visitor.get(at).text)
    for asked in ({"question": "mean", "by": f"b {BAD}"}, {"question": "top 5"}, {"question": BAD}):
        assert is_harmless(visitor.get(f"{at}/ask", params=asked).text), asked
    assert is_harmless(visitor.get("/").text)


@pytest.mark.parametrize("name", ("count", "category", "epsilon", "within", "out", "ledger"))
def test_what_is_typed_comes_back_as_text(visitor, name):
    page = visitor.fill(visitor.start(), **{name: BAD, f"{name}.others": BAD})
    assert problem_of(page) and is_harmless(page.text)


def test_a_hostile_name_of_a_dropped_file_is_a_plain_one(visitor, hostile):
    content = (hostile / "bad.csv").read_bytes()
    draft = visitor.drop(f"../../{BAD}.csv", content)
    assert is_harmless(visitor.get(draft).text) and is_harmless(visitor.get("/").text)


def test_a_name_with_an_end_of_line_can_be_chosen(visitor, folder, at_once):
    rows = "".join(f"C{i},{i * i * 7 % 6}\n" for i in range(40))
    (folder / "lines.csv").write_text(f'county,"deaths\nin 2026"\n{rows}')
    draft = visitor.start("lines.csv")
    as_sent = {"count": "deaths\r\nin 2026", "category": "county", "epsilon": "2", "out": "out"}
    assert problem_of(visitor.fill(draft, as_sent)) == ""
    assert "The release is made" in visitor.press(draft).text


def test_true_counts_are_nowhere_but_in_the_preview(visitor, folder, at_once):
    """Counts that could only be true ones: no page, recipe or address has them but the preview."""
    true = [100_000_007 + 1_000_003 * (i * i % 97) for i in range(60)]
    lines = [f"C{i:02d},{count}" for i, count in enumerate(true)]
    (folder / "large.csv").write_text("county,n\n" + "\n".join(lines) + "\n")
    draft = visitor.start("large.csv")
    fields = {"count": "n", "category": "county", "epsilon": "0.01", "out": "out"}
    page = visitor.fill(draft, fields | {"seed": "1"}).text  # no noise is 0 here
    after = page[page.index('id="form"') :]
    assert str(true[0]) in page and not any(str(count) in after for count in true)
    page = visitor.press(draft).text
    shown = {str(count) for count in true} | {f"{count:,}" for count in true}
    assert "The release is made" in page and not any(count in page for count in shown)


def test_a_release_of_somebody_else_with_markup_in_its_words_is_shown_as_text(folder, tmp_path):
    release = holdfast.privatize([0, 3, 1, 2, 0, 5], epsilon=1, seed=1)
    release.save(folder / "plain")
    shutil.copytree(folder / "plain", folder / "forged")
    readme = folder / "forged" / "README.md"
    readme.write_text(readme.read_text() + BAD)
    with visit(folder) as somebody:
        page = somebody.post("/releases", {"path": "forged"}).text
        assert "damaged" in page and is_harmless(page)
