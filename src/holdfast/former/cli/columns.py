"""What the command line says of columns: those of counts, and nothing withheld by surprise."""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, listed_names, one_line

if TYPE_CHECKING:
    from holdfast.former.tables.columns import Roles


def counts_named(names: Sequence[str] | None) -> dict[str, Any]:
    """The column of counts, and others that are released with it."""
    if not names:
        return {"count": None}
    first, *others = names
    return {"count": first, **({"other_counts": tuple(others)} if others else {})}


def roles_of(source: Any, names: dict[str, Any], *, streamed: bool) -> "Roles":
    """The parts of the columns of a table."""
    from holdfast.former.tables.columns import Wanted
    from holdfast.former.tables.stream.open import open_source
    from holdfast.former.tables.table import columns_of

    wanted = Wanted(**names)
    return open_source(source, wanted).roles if streamed else wanted.roles(columns_of(source))


def refuse_surprise(roles: "Roles", *, keep_none: bool) -> None:
    """Raise if columns that nobody mentioned would be withheld, before they are missed in a release
    that is paid for."""
    from holdfast.former.tables.columns import reads_as_number

    roles.refuse_header()
    if keep_none and roles.wanted.keep:
        raise HoldfastError("give `--keep` or `--keep-none`, not both.")
    left = [name for name in roles.withheld if name != roles.wanted.structural_zero]
    if not left or roles.wanted.keep or keep_none:
        return
    shown = not any(map(reads_as_number, left))
    which = f" ({listed_names(left)})" if shown else ""
    keep = ["--keep", left[0] if len(left) == 1 and shown else "COLUMN"]
    raise HoldfastError(
        f"columns other than the category are withheld unless they are named{which}. "
        "Nothing was drawn or spent. Hint: publish as it is what is public, such as a state or a "
        f"population, and never another count of people: {_command(keep)}\n"
        f"To withhold them all: {_command(['--keep-none'])}"
    )


@contextmanager
def naming_the_lines(file: Path, part: Mapping[str, Any]) -> Iterator[None]:
    """Where a table cannot be read and its file has more in it than one, say which lines it seems
    to be."""
    try:
        with numbering_rows(file, part):
            yield
    except HoldfastError as error:
        options = _lines_in(file, part)
        if not options:
            raise
        raise HoldfastError(
            f"{error}\nThe file has more in it than its table. Try it with {shlex.join(options)}."
        ) from None


@contextmanager
def numbering_rows(file: Path, part: Mapping[str, Any]) -> Iterator[None]:
    """Let an error number rows as an editor does, and as --leave-out and --last-row take them."""
    from holdfast.former.tables.files import rows_as_in_file

    try:
        yield
    except HoldfastError as error:
        error.args = (rows_as_in_file(str(error), file, part, "row {} of the file"),)
        raise


def _lines_in(file: Path, part: Mapping[str, Any]) -> list[str]:
    from holdfast.former.tables.files import find_part

    try:
        found = find_part(file)
    except HoldfastError:
        return []
    return [
        word
        for name, number in found.items()
        if name not in part
        for word in (f"--{name.replace('_', '-')}", str(number))
    ]


def _command(more: list[str]) -> str:
    return one_line(shlex.join(["holdfast", *sys.argv[1:], *more]))
