"""All words of the page, from one file, and messages of holdfast in them."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from holdfast.request import FIELDS

_NAMES = "|".join(name.replace("_", "[-_]") for name in sorted(FIELDS, key=len, reverse=True))
_FIELD = re.compile(rf"`({_NAMES})`|`?--({_NAMES})\b`?")
_IN_PYTHON = re.compile(rf"\b(?:{_NAMES})=(?:\[[^\]]*\]|\{{[^}}]*\}}|'[^']*'|\w+), (?=--)")


def label_of(name: str) -> str:
    """What a field is called on the page.

    >>> label_of("header_row")
    'Header row'
    """
    return name.replace("_", " ").replace("-", " ").capitalize()


@cache
def texts() -> dict[str, Any]:
    """All words by their place: `texts()["home"]["title"]`."""
    path = files("holdfast.page") / "texts" / "en.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def in_page_words(message: str) -> str:
    """A message of holdfast with fields called as the page calls them; a command at its end stays
    as it is.

    >>> in_page_words("`header_row` must be 3. Hint: --keep COLUMN, or `keep`.")
    '“Header row” must be 3. Hint: “Keep” COLUMN, or “Keep”.'
    >>> in_page_words("Hint: missing=['-9'], --missing -9; `keep`, --keep.")
    'Hint: “Missing” -9; “Keep”.'
    >>> in_page_words("count them: holdfast count a.csv --by state")
    'Count them: holdfast count a.csv --by state'
    """
    message, colon, command = message.partition(": holdfast ")
    message = _FIELD.sub(
        lambda name: f"“{label_of(name[1] or name[2])}”", _IN_PYTHON.sub("", message)
    )
    message = re.sub(r"(“[^”]*”), \1", r"\1", message)  # the same as Python and as an option
    return message[:1].upper() + message[1:] + colon + command
