"""All words stand in one file, and every one is used."""

import ast
import re
from pathlib import Path

import pytest

import holdfast.former as holdfast
from holdfast.former.page.recipe import FLAGS, OPTIONS
from holdfast.former.page.source import MARKS
from holdfast.former.page.words import Words

COMPUTED = ("expected_", "mark_", "picture_", "spent_")
"""What keys begin with that a template puts together."""
PACKAGE = Path(holdfast.__file__).parent
PAGE = PACKAGE / "page"
TEMPLATES = {path.name: path.read_text() for path in (PAGE / "templates").iterdir()}
CODE = "".join(p.read_text() for p in PAGE.iterdir() if p.name.endswith(".py"))


def keys(content, prefix=""):
    for name, value in content.items():
        if isinstance(value, dict):
            yield from keys(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def test_templates_hold_no_words_of_their_own():
    for name, text in TEMPLATES.items():
        bare = re.sub(r"{%.*?%}|{{.*?}}|<pre.*?</pre>", "", text, flags=re.DOTALL)
        words = re.sub(r"<[^>]*>|/drafts//run", " ", bare)
        assert not re.search(r"[A-Za-z]{2,}", words), (name, words.split())


def test_every_word_is_used_and_every_term_is_explained():
    content = Words.of().content
    everything = CODE + "".join(TEMPLATES.values())
    for key, value in keys(content):
        if key.startswith(("glossary.", "names.", "phrases.")):
            continue
        section, _, name = key.rpartition(".")
        used = f"{section}.{name}".strip(".") in everything or f'"{name}"' in everything
        assert used or name.startswith(COMPUTED) or name.endswith("_words"), key
        for term in re.findall(r"\[\[([a-z_]+)", str(value)):
            assert term in content["glossary"], (key, term)


def test_a_language_is_one_file_with_the_same_keys_and_blanks():
    first = dict(keys(Words.of().content))
    languages = [path.name.removesuffix(".toml") for path in (PAGE / "texts").iterdir()]
    assert "en" in languages
    for language in languages:
        other = dict(keys(Words.of(language).content))
        assert other.keys() == first.keys()
        for key, value in first.items():
            blanks = set(re.findall(r"{\w+}", str(value)))
            assert set(re.findall(r"{\w+}", str(other[key]))) == blanks, key


def test_a_term_becomes_a_link_that_explains_itself_and_nothing_else_is_markup():
    text = Words.of().with_terms("<b>[[epsilon]]</b> and [[interval|a range]]")
    assert text.startswith('&lt;b&gt;<a class="term" href="/glossary#epsilon"')
    assert ">a range</a>" in text


@pytest.mark.parametrize("word", ("W1", "stage 1", "fixed point"))
def test_no_word_of_experts_is_among_ours(word):
    assert all(word not in str(value) for _, value in keys(Words.of().content))


SAYS = ("tables", "tables/leaks", "tables/stream", "privacy", "ledger", "engines", "engines/stream")
"""The packages whose messages the page shows to stewards."""
OFFERED = {
    *OPTIONS, *FLAGS, *MARKS, "epsilon", "max_count", "sheet", "header_row", "last_row",
    "leave_out", "by", "per", "categories", "where", "label",
}  # fmt: skip
"""The parameters that the page has fields for."""
WRITTEN = re.compile(
    "|".join(rf"`{name}=?`|\b{name}=|--{name.replace('_', '-')}\b" for name in OFFERED)
)


def text_of(node):
    """A text of the source, with X for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    return node.value if isinstance(node, ast.Constant) else "X"


def messages():
    """What holdfast says to people."""
    for package in SAYS:
        for path in (PACKAGE / package).glob("*.py"):
            for call in ast.walk(ast.parse(path.read_text())):
                if isinstance(call, ast.Call) and "Error" in ast.unparse(call.func) and call.args:
                    yield text_of(call.args[0])


def test_no_message_names_an_option_of_the_command_line_or_of_python():
    words = Words.of()
    assert words.content["names"].keys() >= OFFERED
    found = {message: words.said(message) for message in messages()}
    assert [said for said in found.values() if WRITTEN.search(said)] == []
    assert sum(bool(WRITTEN.search(message)) for message in found) > 40


def test_what_a_message_points_at_stands_on_the_page():
    content = Words.of().content
    own = {key: value for key, value in content.items() if key not in ("names", "phrases")}
    labels = " ".join(str(value) for _, value in keys(own))
    said = [*content["names"].values(), *content["phrases"].values()]
    for quoted in re.findall("“(.*?)”", " ".join(said)):
        assert quoted in labels, quoted


def test_every_phrase_is_one_that_holdfast_says():
    sources = [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE / "page"]
    written = re.sub(r'"\s+f?"', "", " ".join(path.read_text() for path in sources))
    for phrase in Words.of().content["phrases"]:
        assert phrase in written, phrase


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "name it: publish_anyway=['a b', 'x'], --publish-anyway 'a b' --publish-anyway x.",
            "Name it: “all the same” below.",
        ),
        ("Hint: a lower max_count, with totals=True for what it cuts off.", "Hint: a lower "
         "highest count, with “Measure totals as well” for what it cuts off."),
        ('Hint: subset={"state": "NE"}, --subset state=NE.', "Hint: “Only the rows where”."),
        ("`deaths.csv`: `missing` names 5", "`deaths.csv`: “Codes that mean: not known” names 5"),
    ],
)  # fmt: skip
def test_a_parameter_is_called_by_its_field_however_it_is_written(message, said):
    assert Words.of().said(message) == said
