"""What one field of a request says of itself: panel, form, help, example, and how it is checked."""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from enum import Enum, StrEnum
from typing import Any

from holdfast.errors import HoldfastError


class Panel(StrEnum):
    """Under which heading `--help` and the page show a field."""

    FIRST = "A first release"
    PROTECTED = "Who is protected"
    PUBLISHED = "What is published, and how"
    MEASURED = "What epsilon is spent on"
    LEDGER = "Ledger, years and corrections"
    FILE = "Which part of a file is the table"
    PEOPLE = "A file with a row for every person"


class Form(Enum):
    """How a value is written in words, and what Python takes for it."""

    TEXT = "str"
    TEXTS = "str or list of str"
    CODES = "value or list of values"
    NUMBER = "int, float, str, Decimal or Fraction"
    WHOLE = "int"
    WHOLES = "list of int"
    FLAG = "bool"
    SHARE = "bool or share"
    WHOLE_BY_COLUMN = "int, list, or dict by column"
    NUMBER_BY_COLUMN = "list, or dict by column"
    GROUPS = "str, holdfast.classes(...), or list of them"
    LABEL = "dict of a column and a label"
    ROWS = "str, boolean mask, or list of categories"
    PATH = "str or path"

    @property
    def repeated(self) -> bool:
        """Whether an option is given once for each of several values."""
        return self in _REPEATED


_REPEATED = {
    *(Form.TEXTS, Form.CODES, Form.WHOLES, Form.GROUPS),
    *(Form.WHOLE_BY_COLUMN, Form.NUMBER_BY_COLUMN),
}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One thing that a run can be asked."""

    form: Form
    help: str
    """One sentence."""
    example: tuple[str, ...]
    """What somebody would write on a command line or into a form; () for a flag."""
    panel: Panel
    takes: str
    """What stands after the option in `--help`, such as COLUMN; "" for a flag."""
    check: Callable[[Any, str], Any] = field(repr=False)
    """The checked value, from what was given and the name of the field."""
    decides: bool = False
    """Whether noise depends on it: then it is one of the words by which a ledger knows a run."""
    recorded: bool = True
    """Whether release.json says it."""
    name: str = ""
    default: Any = None
    required: bool = False

    @property
    def option(self) -> str:
        """Its name on a command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def first(self) -> bool:
        """Whether a steward sees it first."""
        return self.panel is Panel.FIRST

    def read(self, words: list[str]) -> Any:
        """What Python would be given, from words of a command line or a form."""
        return _from_words(self, words)


def asked(
    form: Form,
    panel: Panel,
    takes: str,
    help: str,
    *example: str,
    check: Callable[[Any, str], Any],
    default: Any = MISSING,
    decides: bool = False,
    recorded: bool = True,
) -> Any:
    """A field of `Request`, whose metadata say what it is."""
    about = Asked(
        form=form,
        panel=panel,
        takes=takes,
        help=help,
        example=example,
        check=check,
        decides=decides,
        recorded=recorded,
    )
    return field(default=default, metadata={"asked": about})


def _from_words(about: Asked, words: list[str]) -> Any:
    last = words[-1] if words else ""
    match about.form:
        case Form.FLAG:
            return True
        case Form.SHARE:
            return True if last.strip().lower() in ("", "yes", "true") else last
        case Form.WHOLE:
            return whole(last, about.name)
        case Form.WHOLES:
            return [whole(word, about.name) for word in words]
        case Form.WHOLE_BY_COLUMN:
            return _by_column(words, about, lambda word: whole(word, about.name))
        case Form.NUMBER_BY_COLUMN:
            return _by_column(words, about, str)
        case Form.GROUPS:
            return [_group(word) for word in words]
        case Form.LABEL:
            column, sign, label = last.partition("=")
            if not sign:
                raise HoldfastError(
                    f"`{about.name}` must be a column and a label of it. "
                    f"Hint: {about.option} state=NE."
                )
            return {column: label}
        case Form.TEXTS | Form.CODES:
            return list(words)
        case _:
            return last


def _by_column(words: list[str], about: Asked, read: Callable[[str], Any]) -> Any:
    """One value for all columns of counts, or `COLUMN=VALUE` for each."""
    if not any("=" in word for word in words):
        return read(words[-1])  # the last one counts, as of every option that is given twice
    pairs = [word.rpartition("=") for word in words]
    if not all(sign for _, sign, _ in pairs) or len({name for name, _, _ in pairs}) < len(pairs):
        raise HoldfastError(
            f"`{about.name}` must be given once, or once for each column of counts. "
            f"Hint: {about.option} COLUMN=VALUE."
        )
    return {name: read(value) for name, _, value in pairs}


def _group(word: str) -> Any:
    """A column, or classes of a column where a number of them follows a colon."""
    from holdfast.tables.groups import classes

    column, _, number = word.rpartition(":")
    if column and number.strip() == "auto":
        return classes(column)
    if column and number.strip().isdecimal():
        return classes(column, int(number))
    return word


def whole(word: str, name: str) -> int:
    """A whole number written in digits.

    >>> whole("1,000", "rows")
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: `rows` must be a whole number, got '1,000'. Hint: write all \
digits and no marks, such as 1000.
    """
    try:
        return int(word)
    except ValueError:
        raise HoldfastError(
            f"`{name}` must be a whole number, got {word!r:.40}. "
            "Hint: write all digits and no marks, such as 1000."
        ) from None
