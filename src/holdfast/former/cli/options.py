"""How commands declare their options, and read those that several have."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.errors import HoldfastError

_MARK = re.compile(r"[,. '\u2019\u00a0\u202f]")
_GROUPED = re.compile(rf"[1-9][0-9]{{0,2}}(?:{_MARK.pattern}[0-9]{{3}})+")
_EXPONENT = re.compile(r"[0-9]+[eE]\+?0?[0-9]")
Text = str | None
Texts = list[str] | None


def says(words: str, *names: str) -> Any:
    """An option that is explained by these words, with names where they are not the usual."""
    return typer.Option(*names, help=words)


Questions = Annotated[
    Text,
    says(
        "Such as zeros,mean,'above 10' (the default for 30), or shares as holdfast ask takes them."
    ),
]
Results = Annotated[Path | None, says("Results go here as they come; a killed run goes on.")]
Jobs = Annotated[Text, says("Processes; default: one per core.")]


def whole(text: str, name: str, hint: str = "digits only, such as 50") -> int:
    """A whole number written in digits.

    >>> whole("1,000", "max_count")
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: `max_count` must be a whole number, got '1,000'. Hint: write \
all digits and no marks, 1000 if that is meant.
    """
    try:
        return int(text)
    except ValueError:
        meant = _meant(text.strip())
        say = f"write all digits and no marks, {meant} if that is meant" if meant else hint
        raise HoldfastError(
            f"`{name}` must be a whole number, got {text!r:.40}. Hint: {say}."
        ) from None


def _meant(text: str) -> str | None:
    """The digits of a number that has marks between thousands, or an exponent."""
    if _GROUPED.fullmatch(text):
        return _MARK.sub("", text)
    return f"{float(text):.0f}" if _EXPONENT.fullmatch(text) else None


def listed(text: str | None) -> list[str] | None:
    """The parts of a list with commas; None stays None."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
