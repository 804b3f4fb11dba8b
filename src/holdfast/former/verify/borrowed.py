"""What is made again by the code that makes releases; no privacy claim rests on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.former.verify.report import Damage, NotChecked


@contextmanager
def repeating(fit: str) -> Iterator[None]:
    """A fit that is made again here; where it cannot be, that is no fault of the release."""
    try:
        yield
    except Damage:
        raise
    except Exception as error:  # the compiler and its cache fail in ways of their own
        raise NotChecked(
            f"the {fit} fit could not be repeated here ({type(error).__name__}). "
            "Hint: verify again on another machine or with holdfast installed anew."
        ) from None


def made_here(record: dict[str, Any]) -> bool:
    """Whether the same holdfast made the release."""
    from importlib.metadata import version

    return bool(record["holdfast"] == version("holdfast"))
