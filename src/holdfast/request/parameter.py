"""A parameter of a request: its panel, form, help and example; its value, read from words of a
command line and written as words again."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from fractions import Fraction
from typing import Any

from holdfast.errors import HoldfastError, decimal_or_fraction


class Panel(StrEnum):
    """The heading under which `--help` and the page show a parameter."""

    FIRST = "A first release"
    PROTECTED = "Who is protected"
    PUBLISHED = "What is published, and how"
    MEASURED = "What epsilon is spent on"
    LEDGER = "Ledger, years and corrections"
    FILE = "Which part of a file is the table"
    PEOPLE = "A file with a row for every person"


class Form(Enum):
    """How a value is written in words, and the type that Python takes for it."""

    TEXT = "str"
    COLUMN = "name of a column"
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
        by_column = (Form.WHOLE_BY_COLUMN, Form.NUMBER_BY_COLUMN, Form.GROUPS)
        return self.nothing == () or self in by_column

    @property
    def nothing(self) -> Any:
        """The usual default."""
        if self is Form.FLAG:
            return False
        return () if self in (Form.TEXTS, Form.CODES, Form.WHOLES) else None


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of `holdfast.privatize`."""

    form: Form
    help: str
    """One sentence."""
    example: tuple[str, ...]
    """Words for it on a command line or in a form; () for a flag."""
    panel: Panel
    takes: str
    """What stands after the option in `--help`, such as COLUMN; "" for a flag."""
    decides: bool = False
    """Whether two requests that differ in it are two releases to a ledger."""
    recorded: bool = True
    """Whether release.json says it."""
    name: str = ""
    default: Any = None
    required: bool = False

    @property
    def option(self) -> str:
        """Its name on a command line."""
        return f"--{self.name.replace('_', '-')}"

    def read(self, words: list[str]) -> Any:
        """The value for Python, from words of a command line or a form."""
        last = words[-1] if words else ""
        match self.form:
            case Form.FLAG:
                return True
            case Form.WHOLE:
                return whole(last, self.name)
            case Form.WHOLES:
                return [whole(word, self.name) for word in words]
            case Form.WHOLE_BY_COLUMN:
                return self._by_column(words, lambda word: whole(word, self.name))
            case Form.NUMBER_BY_COLUMN:
                return self._by_column(words, str)
            case Form.GROUPS:
                return [_group(word) for word in words]
            case Form.LABEL:
                return self._label(last)
            case Form.TEXTS | Form.CODES:
                return list(words)
            case _:
                return last

    def _label(self, word: str) -> dict[str, str]:
        column, sign, label = word.partition("=")
        if not sign:
            raise HoldfastError(
                f"`{self.name}` must be a column and a label of it. Hint: {self.option} state=NE."
            )
        return {column: label}

    def _by_column(self, words: list[str], read: Callable[[str], Any]) -> Any:
        """One value for all columns of counts, or `COLUMN=VALUE` for each."""
        if not any("=" in word for word in words):
            return read(words[-1])  # the last counts, as of every option that is given twice
        pairs = [word.rpartition("=") for word in words]
        values = {name: read(value) for name, sign, value in pairs if sign}
        if len(values) < len(pairs):
            raise HoldfastError(
                f"`{self.name}` must be given once, or once for each column of counts. "
                f"Hint: {self.option} COLUMN=VALUE."
            )
        return values


def parameter(form: Form, panel: Panel, takes: str, *example: str, help: str, **others: Any) -> Any:
    """A field of `Request`, whose metadata are a parameter; `others` are those of its attributes
    that are not the usual ones of its form and panel."""
    usual = {
        "default": form.nothing,
        "recorded": panel not in (Panel.LEDGER, Panel.FILE, Panel.PEOPLE),
    }
    about = Parameter(
        form=form, panel=panel, takes=takes, help=help, example=example, **usual | others
    )
    default = {} if about.required else {"default": about.default}
    return field(metadata={"parameter": about}, **default)


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


def in_words(value: Any) -> list[str]:
    """The words on a command line for a value in Python.

    >>> in_words({"state": "NE"}), in_words(True), in_words([-999, ""])
    (['state=NE'], ['yes'], ['-999', ''])
    """
    if value is True:
        return ["yes"]
    if isinstance(value, dict):
        return [f"{name}={number}" for name, number in value.items()]
    if isinstance(value, list | tuple):
        return [word for each in value for word in in_words(each)]
    return [str(value)]


def plain(value: Any) -> Any:
    """A checked value as Python takes it: text for exact numbers, paths and periods, lists.

    >>> plain((Fraction(1, 2), 3, None))
    ['0.5', 3, None]
    """
    if value is None or isinstance(value, bool | int | float | str | dict):
        return value
    if isinstance(value, Fraction | os.PathLike):
        return decimal_or_fraction(value) if isinstance(value, Fraction) else os.fspath(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value)
