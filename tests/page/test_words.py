"""All words stand in one file, and every one is used."""

import re
from importlib.resources import files

import pytest

from holdfast.page.words import Words

COMPUTED = ("expected_", "picture_", "spent_")
"""What keys begin with that a template puts together."""
PAGE = files("holdfast.page")
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
        if key.startswith("glossary."):
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
