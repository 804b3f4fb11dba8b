"""All words of the page, from one file per language, and the glossary of some of them."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from markupsafe import Markup, escape

from holdfast.request import FIELDS

LANGUAGE = "en"
_NAMES = "|".join(name.replace("_", "[-_]") for name in sorted(FIELDS, key=len, reverse=True))
_FIELD = re.compile(rf"`({_NAMES})`|`?--({_NAMES})\b`?")
_IN_PYTHON = re.compile(rf"\b(?:{_NAMES})=(?:\[[^\]]*\]|\{{[^}}]*\}}|'[^']*'|\w+), (?=--)")
_TERM = re.compile(r"\[\[([a-z_]+)(?:\|([^\]]+))?\]\]")


def label_of(name: str) -> str:
    """What a field is called on the page.

    >>> label_of("header_row")
    'Header row'
    """
    return name.replace("_", " ").replace("-", " ").capitalize()


@dataclass(frozen=True)
class PageWords:
    """The words of one language by their place: `words.file.title`."""

    content: dict[str, Any]

    @staticmethod
    @cache
    def of(language: str = LANGUAGE) -> "PageWords":
        """The words of a language that there is a file of."""
        path = files("holdfast.page") / "texts" / f"{language}.toml"
        return PageWords(tomllib.loads(path.read_text(encoding="utf-8")))

    def said(self, message: str) -> str:
        """A message of holdfast with fields called as the page calls them; a command at its end
        stays as it is.

        >>> PageWords.of().said("`header_row` must be 3. Hint: --keep COLUMN, or `keep`.")
        '“Header row” must be 3. Hint: “Keep” COLUMN, or “Keep”.'
        >>> PageWords.of().said("Hint: missing=['-9'], --missing -9; `keep`, --keep.")
        'Hint: “Missing” -9; “Keep”.'
        >>> PageWords.of().said("count them: holdfast count a.csv --by state")
        'Count them: holdfast count a.csv --by state'
        """
        message, colon, command = message.partition(": holdfast ")
        message = _FIELD.sub(
            lambda name: f"“{label_of(name[1] or name[2])}”", _IN_PYTHON.sub("", message)
        )
        message = re.sub(r"(“[^”]*”), \1", r"\1", message)  # the same as Python and as an option
        return message[:1].upper() + message[1:] + colon + command

    @cached_property
    def spaces(self) -> SimpleNamespace:
        """The same for templates: a key such as "copy" is never taken for a method."""
        return _spaces(self.content)

    def with_terms(self, text: str) -> Markup:
        """A text, with [[term]] and [[term|other words]] as links that explain themselves."""
        parts, at = [Markup()], 0
        for match in _TERM.finditer(text):
            parts += [escape(text[at : match.start()]), self._term(match[1], match[2])]
            at = match.end()
        return Markup("").join([*parts, escape(text[at:])])

    def _term(self, name: str, words: str | None) -> Markup:
        term = self.content["glossary"][name]
        link = Markup('<a class="term" href="/glossary#{}" data-says="{}">{}</a>')
        return link.format(name, term["says"], words or term["name"])


def _spaces(content: dict[str, Any]) -> SimpleNamespace:
    inside = {k: _spaces(v) if isinstance(v, dict) else v for k, v in content.items()}
    return SimpleNamespace(**inside)
