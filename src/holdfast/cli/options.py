"""How commands declare their options, and read those that several have."""

from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.errors import HoldfastError

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
    """A whole number written in digits."""
    try:
        return int(text)
    except ValueError:
        raise HoldfastError(
            f"`{name}` must be a whole number, got {text!r:.40}. Hint: {hint}."
        ) from None


def listed(text: str | None) -> list[str] | None:
    """The parts of a list with commas; None stays None."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
