"""Names of columns and categories are shown, and do nothing, wherever they are shown."""

import html.parser
import json
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import holdfast
from holdfast.former.cli import main
from holdfast.former.constructors import Heuristic
from holdfast.former.tables.table import CsvTable

NAMES = (
    "`<script>alert(1)</script>`",
    '"><img src=x onerror=alert(1)>',
    "| a | b |",
    "x\n\n# Promise\n- Promise: epsilon = 0",
    "[click](javascript:alert(1))",
    "![pixel](http://example.org/x.png)",
    "```` ``` ` ````",
    "<!-- hidden",
    "\x1b[2J\x1b]0;owned\x07",
    "&lt;b&gt;&#0;",
    "SIMULATION, protects nobody",
    "\u202eesrever",
    "*b* **c** ~~d~~ \\",
    "a\rb",
    "",
)
COUNT = "n</code></td><script>alert(2)</script>`|`"
LABELS = [f"{name} {i}" for i in range(20) for name in NAMES]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    rows = [[*([label] * len(NAMES)), str(i % 4)] for i, label in enumerate(LABELS)]
    release = holdfast.privatize(
        CsvTable((*NAMES, COUNT), rows), count=COUNT, category=NAMES[0], keep=NAMES[1:],
        epsilon=2, max_count=3,        constructor=Heuristic(selector="sandwich"),
    )  # fmt: skip
    return release.save(tmp_path_factory.mktemp('na"<b>me') / 're"<i>lease')


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["holdfast", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code
        return capsys.readouterr().out

    return run


class Page(html.parser.HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.comments, self.words = [], set(), [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_data(self, data):
        self.words += data


def rendered(markdown):
    return Page(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))


def shown(name):
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())


def test_the_bundle_is_whole_and_not_called_a_simulation(bundle):
    report = holdfast.verify(bundle)
    assert report.damage == () and not report.simulated
    assert holdfast.load(bundle).unchanged_columns == NAMES


def test_the_bundles_readme_shows_names_and_obeys_none(bundle):
    page = rendered((bundle / "README.md").read_text(encoding="utf-8"))
    assert set(page.tags) == {"h1", "h2", "p", "ul", "li", "code", "pre"}
    assert page.tags.count("h1") == 1 and page.tags.count("h2") == 2
    assert page.attributes == {"class"} and not page.comments  # of code: its language
    for name in (*NAMES, COUNT):
        assert shown(name) in page.words


def test_the_codebook_shows_names_and_obeys_none(bundle):
    page = rendered((bundle / "codebook.md").read_text(encoding="utf-8"))
    assert set(page.tags) == {"h1", "h2", "code", "table", "thead", "tbody", "tr", "th", "td"}
    assert page.tags.count("h2") == 3 and not page.attributes and not page.comments
    for name in (*NAMES, COUNT):
        assert shown(name) in page.words


def test_the_markdown_report_shows_names_and_obeys_none(bundle, cli):
    text = cli("report", bundle, "--format", "md")
    assert "\x1b" not in text and "\u202e" not in text
    page = rendered(text)
    allowed = {"h1", "h2", "p", "ul", "li", "strong", "code"}
    assert set(page.tags) == allowed | {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.tags.count("h1") == 1 and page.tags.count("h2") == 8
    assert page.attributes <= {"style"} and not page.comments
    for name in (*NAMES, COUNT):
        assert shown(name) in page.words


def test_the_html_report_shows_names_and_obeys_none(bundle, cli):
    cli("report", bundle, "--out", "r.html")
    text = Path("r.html").read_text(encoding="utf-8")
    page = Page(text)
    assert not {"script", "img", "i", "td></td"} & set(page.tags) and not page.comments
    assert not {name for name in page.attributes if name.startswith("on")}
    assert page.tags.count("h1") == 1 and page.tags.count("h2") == 8
    for name in (*NAMES, COUNT):
        assert shown(name) in page.words
    assert "\u202e" not in text


def test_answers_steer_no_screen(bundle, cli):
    text = cli("ask", bundle, f"top {len(LABELS)}")
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert sum(not line.startswith("  ") for line in text.splitlines()) == len(LABELS) + 1
    rows = json.loads(cli("ask", bundle, f"top {len(LABELS)}", "--json"))["rows"]
    assert {row["label"] for row in rows} == set(LABELS)
