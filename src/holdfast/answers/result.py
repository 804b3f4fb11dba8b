"""What every result of a question can do."""

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from html import escape
from math import isfinite
from typing import Any, Self

import numpy as np

from holdfast.errors import aligned

Cells = tuple[Sequence[str], list[Sequence[str]]]


class QuestionResult:
    """Something to print, to show in a notebook, to take on as columns and as plain values."""

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """The answer in a sentence, or what stands above its table."""
        return ""

    def cells(self) -> Cells:
        """The headings and lines of a table for people; none where a sentence says it all."""
        return (), []

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know beside it."""
        return getattr(self, "notes", ())

    def __str__(self) -> str:
        parts = [self.title, aligned(*self.cells()), *(f"  {note}." for note in self.remarks)]
        return "\n".join(filter(None, parts))

    def to_pandas(self) -> Any:
        """As a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; None for an open end."""
        return dict(plain(self))

    def noted(self, notes: Sequence[str]) -> Self:
        """The same with more to know about it."""
        mine: tuple[str, ...] = getattr(self, "notes", ())
        return replace(self, notes=(*mine, *notes))  # type: ignore[type-var]

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def plain(value: Any) -> Any:
    """A value as JSON has it: of a dataclass the fields that its repr shows; an open end, or a
    number that is not known, is None.

    >>> plain((float("inf"), np.int64(3), "a"))
    [None, 3, 'a']
    """
    if is_dataclass(value):
        shown = (each.name for each in fields(value) if each.repr)
        return {name: plain(getattr(value, name)) for name in shown}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value


def joined(tables: Iterable[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """The rows of several tables with the same columns, one table after the other."""
    columns: dict[str, list[Any]] = {}
    for table in tables:
        for name, cells in table.items():
            columns.setdefault(name, []).extend(cells)
    return columns
