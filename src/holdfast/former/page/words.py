"""All words of the page, from one file per language, and the glossary of some of them."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from markupsafe import Markup, escape

LANGUAGE = "en"
_TERM = re.compile(r"\[\[([a-z_]+)(?:\|([^\]]+))?\]\]")


@dataclass(frozen=True)
class Words:
    """The words of one language by their place: `words.file.title`."""

    content: dict[str, Any]

    @staticmethod
    @cache
    def of(language: str = LANGUAGE) -> "Words":
        """The words of a language that there is a file of."""
        path = files("holdfast.former.page") / "texts" / f"{language}.toml"
        return Words(tomllib.loads(path.read_text(encoding="utf-8")))

    def said(self, message: str) -> str:
        """A message of holdfast in the words of the page: fields instead of parameters.

        >>> Words.of().said("Hint: name another with `sheet`, --sheet.")
        'Hint: name another with “Sheet of a workbook” in step 1.'
        >>> Words.of().said("a larger max_count would tell more")
        'A larger highest count would tell more'
        """
        for phrase, words in self.content["phrases"].items():
            message = message.replace(phrase, words)
        names = self.content["names"]
        for pattern in self._parameters:
            message = pattern.sub(lambda found: names[found[1]], message)
        return message[:1].upper() + message[1:]

    @cached_property
    def _parameters(self) -> tuple[re.Pattern[str], ...]:
        """How holdfast writes a parameter: with a value, in backticks, or as an option of the
        command line after either."""
        names = "|".join(self.content["names"])
        value, rest = r"=(?:\[.*\]|\{.*\}|\w+)", r"(?=\.?$|; |\. |, or )"
        return (
            re.compile(rf"\b({names}){value}(?:, --[a-z-]+.*?{rest})?"),
            re.compile(rf"`({names})=?`(?:, --[a-z-]+)?"),
            re.compile(rf"\b((?=\w+_)(?:{names}))\b"),
        )

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
