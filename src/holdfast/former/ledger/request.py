"""What a ledger is asked to pay for, and by what it knows a release again."""

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.former.ledger.entries import Charge, sums_of
from holdfast.former.ledger.identity import identity
from holdfast.former.ledger.periods import Period
from holdfast.former.ledger.recognition import Content
from holdfast.former.tables.subset import Subset


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """A release that is about to be drawn: everything but the counts that decides its law."""

    rows: int
    """Rows that go through the mechanism."""
    structural_zeros: int
    """Rows that pass through."""
    charges: tuple[Charge, ...]
    """What it will spend."""
    simulated: bool
    """Whether a seed was given: then nothing is spent."""
    parameters: dict[str, Any]
    """The public parameters by name: plain values, privatizers, constructors."""
    subset: Subset | None = None
    """The rows that are read, where it is not all of them."""
    columns: tuple["Request", ...] = ()
    """What is asked of each column, where several columns of counts are released together."""
    period: Period | None = None
    """The days that the counts are of, where that is said."""
    corrects: Any = None
    """A release, or its folder, whose rows these are with other labels or columns."""
    same_counts: bool = False
    """Whether it may have the counts of another period: that is meant, and no wrong file."""

    @property
    def epsilon(self) -> Fraction:
        """What it will spend in all."""
        return sums_of(self.charges)[0]

    @property
    def delta(self) -> Fraction:
        """What it will spend of delta in all."""
        return sums_of(self.charges)[1]

    def in_words(self) -> str:
        """The parameters as JSON: the same in every process, and new at every call where a part
        cannot be known again."""
        named = {name: identity(value) for name, value in self.parameters.items()}
        if self.subset is not None:
            named["subset"] = identity((self.subset.column, self.subset.key))
        if self.period is not None:
            named["period"] = self.period.days
        return json.dumps(named | {"rows": self.rows + self.structural_zeros}, sort_keys=True)


class TableDigest:
    """Structural zeros, true counts and their rows in order, condensed."""

    def __init__(self) -> None:
        self._zeros, self._counts = hashlib.sha256(), hashlib.sha256()

    def add(self, counts: NDArray[np.int64], zeros: NDArray[np.bool_] | None) -> None:
        """Take in the next rows."""
        marks = np.zeros(len(counts), np.bool_) if zeros is None else zeros
        self._zeros.update(marks.astype(np.uint8).data)
        self._counts.update(np.ascontiguousarray(counts.astype("<i8", copy=False)).data)

    def content(self, words: str, rows: bytes, column: str | None, **known: Any) -> Content:
        """What identifies a release: parameters and table. Never leaves the process.

        `rows` condenses what tells whose a count is: without it, rows of equal counts that
        changed places would be shown each other's draws, and so two draws of one count. The name
        of the `column` tells of what they are counts: two columns that happen to be equal are two
        releases, or showing one for the other would tell that they are. The rest is what is
        `known` of the rows by themselves.
        """
        named = hashlib.sha256(repr(column).encode()).digest() if column is not None else b""
        counts = words.encode() + b"\n" + self._zeros.digest() + self._counts.digest()
        groups = known.pop("groups", b"")
        return Content(
            table=counts + rows + named,
            counts=counts + groups + named,
            alone=self.alone(column),
            **known,
        )

    def alone(self, column: str | None) -> dict[str, bytes]:
        """The counts in their order and nothing else, by the name of their column."""
        return {column or "": self._counts.digest()}


def condensed_groups(partition: Any, members: NDArray[np.int64] | None) -> bytes:
    """Which rows are in which group, and what these are called; nothing without groups."""
    if partition is None or members is None:
        return b""
    named = hashlib.sha256(repr(partition.labels).encode())
    named.update(np.ascontiguousarray(members.astype("<i8", copy=False)).data)
    return named.digest()
