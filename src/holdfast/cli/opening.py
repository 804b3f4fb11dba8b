"""Releases that commands are given: of one count, of several, or of one column of those."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, listed_names

if TYPE_CHECKING:
    from holdfast.release.release import Release


def columns_in(directory: Path) -> dict[str, Path]:
    """The folders of the columns of a release of several counts; none of any other."""
    try:
        record = json.loads((directory / "release.json").read_bytes())
        places = record["counts"]
        return {place["column"]: directory / place["folder"] for place in places}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def load_column(directory: Path, column: str | None) -> "Release":
    """The release of one column."""
    import holdfast

    folders = columns_in(directory)
    if not folders and column is None:
        return holdfast.load(directory)
    if column not in folders:
        asked = "`--column` is missing" if column is None else "`--column` must be one of them"
        raise HoldfastError(
            f"{asked}: `{directory}` has the columns of counts {listed_names(folders) or 'of one'}."
            " Hint: name one."
        )
    return holdfast.load(folders[column])
