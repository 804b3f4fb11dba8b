"""Files as people have them: each ends at the last step, or in a sentence that says what to do."""

import pytest

from page_visits import BUDGET, problem_of, words_of

ROWS = [(f"C{i}", "NE" if i % 2 else "IA", i * i * 31 % 7) for i in range(60)]
HEADER = "county,state,deaths\n"
BODY = "".join(f"{c},{s},{n}\n" for c, s, n in ROWS)
GERMAN = "county;state;deaths\r\n" + "".join(f"Kreis {c};{s};{n},0\r\n" for c, s, n in ROWS)
LARGE = "".join(f'{c},{s},"{n},204"\n' for c, s, n in ROWS if n) + "X,NE,3\n"
TOTAL = f"Total,,{sum(n for _, _, n in ROWS)}\n"
CODED = "".join(f"{c},{s},{'<5' if 0 < n < 5 else n}\n" for c, s, n in ROWS)
FILES = {
    "a title": ("Deaths by county, 2023\n" + HEADER + BODY, {}),
    "a title, a source, a blank line": ("Deaths\nSource: us\n\n" + HEADER + BODY, {}),
    "a title filled up": ("Deaths,,\n,,\n" + HEADER + BODY, {}),
    "years above the names": (",,2023\n" + HEADER + BODY, {}),
    "what Excel says of the delimiter": ("sep=,\n" + HEADER + BODY, {}),
    "blank lines at the end": (HEADER + BODY + "\n \n\n", {}),
    "blank cells at the end": (HEADER + BODY + ",,\n,,\n", {}),
    "notes below": (HEADER + BODY + "\nSource: us\n* provisional\n", {}),
    "notes filled up": (HEADER + BODY + "Source: us,,\n", {}),
    "a byte order mark": ("\ufeff" + HEADER + BODY, {}),
    "semicolons and decimal commas": (GERMAN, {"decimal": ","}),
    "thousands": (HEADER + LARGE, {"thousands": ","}),
    "three decimals": (HEADER + BODY.replace("\n", ".000\n"), {"decimal": "."}),
    "a total below": (HEADER + BODY + TOTAL, {"last_row": "61"}),
    "a total above": (HEADER + TOTAL + BODY, {"leave_out": "2"}),
    "codes": (HEADER + CODED, {"missing": "<5"}),
    "a column without a name": ("," + (HEADER + BODY[:-1]).replace("\n", "\n1,") + "\n", {}),
}  # fmt: skip
SENTENCES = {
    "thousands": (HEADER + LARGE, "say in step 1 whether the mark stands between thousands"),
    "decimal commas": (GERMAN, "say so in step 1"),
    "a total": (HEADER + BODY + TOTAL, "in step 1 under “Rows to leave out”"),
    "points between thousands": (HEADER + "A,NE,1.204\nB,NE,3\n", "may have a mark between"),
    "codes": (HEADER + CODED, "a code such as <5 that means not known is named below"),
    "a negative code": (HEADER + BODY + "X,NE,-999\n", "“Codes that mean: not known”"),
    "units below the names": (HEADER + "name,name,persons\n" + BODY, "row 2 is text"),
    "twice the same name": ("county,deaths,deaths\nA,1,2\n", "rename all but one"),
    "a blank line inside": (HEADER + BODY + "\n" + BODY, "below row 61 is an empty line"),
    "long rows": ("county,deaths\n" + BODY, "name its first and last row in step 1"),
    "counts twice": (HEADER + BODY + BODY, "choose in step 1 that a row is one person"),
    "no text at all": ("\x00\x01" * 99, "does not look like a text table"),
    "nothing": ("\n\n", "the file is empty"),
}


def columns_of(visitor, folder, text, encoding="utf-8", **fields):
    """The page after the second step of a file, and the address of its draft."""
    (folder / "messy.csv").write_bytes(text.encode(encoding))
    missing = {"missing": fields.pop("missing", "")}
    draft = visitor.start(path="messy.csv", **fields)
    first = visitor.get(f"{draft}/file")
    if problem_of(first):
        return first, draft
    roles = {"role:county": "category", "role:deaths": "count"}
    return visitor.post(f"{draft}/columns", roles | missing), draft


@pytest.mark.parametrize("case", FILES)
def test_a_messy_file_comes_to_the_last_step(visitor, folder, case):
    text, fields = FILES[case]
    page, draft = columns_of(visitor, folder, text, **fields)
    assert page.url.path == f"{draft}/protected", problem_of(page)
    visitor.post(f"{draft}/protected", {"contributions": "1"})
    page = visitor.post(f"{draft}/budget", BUDGET)
    assert page.url.path == f"{draft}/release"
    rows = text.count(",NE,") + text.count(",IA,") + text.count(";NE;") + text.count(";IA;")
    missing = text.count("<5")
    told = f"{rows} rows, of which {missing} without a count" if missing else f"{rows} rows"
    assert f"Published: {told}; counts from 0 to 4" in page.text


@pytest.mark.parametrize("encoding", ("cp1252", "utf-16", "utf-8-sig"))
def test_a_messy_file_may_be_in_any_of_the_usual_encodings(visitor, folder, encoding):
    text = "Fälle\n\n" + HEADER + BODY + "\nQuelle: Gemeinde Käfer\n"
    page, draft = columns_of(visitor, folder, text, encoding)
    assert page.url.path == f"{draft}/protected", problem_of(page)


@pytest.mark.parametrize("case", SENTENCES)
def test_what_cannot_be_read_is_said_with_what_to_do(visitor, folder, case):
    text, words = SENTENCES[case]
    page, _ = columns_of(visitor, folder, text)
    assert words in problem_of(page)


def test_the_lines_that_were_found_are_said_shown_as_a_command_and_can_be_changed(visitor, folder):
    text = "Deaths\n\n" + HEADER + BODY + "\nSource: us\n"
    page, draft = columns_of(visitor, folder, text)
    for step in ("file", "columns"):
        page = words_of(visitor.get(f"{draft}/{step}").text)
        assert "found in row 3" in page and "found to end in row 63" in page
    assert "--header-row 3 --last-row 63" in page
    assert "holdfast.read_csv('messy.csv', header_row=3, last_row=63)" in page
    fields = {"path": "messy.csv", "rows": "counts", "last_row": "43", "go": "stay"}
    page = words_of(visitor.post(f"{draft}/file", fields).text)
    assert "found in row 3" in page and "found to end" not in page
    assert "--header-row 3 --last-row 43" in page
