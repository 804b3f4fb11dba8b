"""By what a ledger knows a release again; what counts as the same is in docs/ledger.md."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Integers, Marks


@dataclass(frozen=True, kw_only=True)
class Content:
    """What identifies a release: it never leaves the process, a ledger keeps digests of it."""

    table: bytes = b""
    """Words, counts, and all other cells."""
    counts: bytes = b""
    """Words and counts in their order, and the groups that they are in."""
    category: bytes | None = None
    """The column whose labels tell every row from every other; None where there is none."""
    columns: tuple[bytes, ...] = ()
    """Each column but the counts."""
    alone: Mapping[str, bytes] = field(default_factory=dict)
    """The counts in their order and nothing else, by the name of their column."""


class TableDigest:
    """The true counts of a table and their rows in order, condensed batch by batch.

    >>> whole, parts = TableDigest(["n"]), TableDigest(["n"])
    >>> whole.add({"n": np.arange(9)})
    >>> for part in np.split(np.arange(9), [2, 5]):
    ...     parts.add({"n": part})
    >>> whole.content("words", rows=b"") == parts.content("words", rows=b"")
    True
    """

    def __init__(self, columns: Sequence[str]) -> None:
        """`columns` are the names of the columns of counts."""
        self._columns = {name: hashlib.sha256() for name in columns}
        self._zeros, self._groups = hashlib.sha256(), hashlib.sha256()

    def add(
        self,
        counts: Mapping[Any, Integers],
        structural_zero: Marks | None = None,
        group: Integers | None = None,
    ) -> None:
        """Take in the next rows: counts by column, and the group of each row."""
        number = len(next(iter(counts.values())))
        for name, digest in self._columns.items():
            digest.update(_integers(counts[name]))
        marks = np.zeros(number, np.bool_) if structural_zero is None else structural_zero
        self._zeros.update(marks.astype(np.uint8).tobytes())
        self._groups.update(_integers(np.zeros(number, np.int64) if group is None else group))

    def content(
        self,
        words: str = "",
        *,
        rows: bytes = b"",
        groups: Sequence[Any] = (),
        category: bytes | None = None,
        columns: Sequence[bytes] = (),
    ) -> Content:
        """What identifies a release: words and table. Never leaves the process.

        `rows` condenses what tells whose a count is: without it, rows of equal counts that
        changed places would be shown each other's measurements, and so two of one count. The
        names of the columns tell of what they are counts: two columns that happen to be equal are
        two releases, or showing one for the other would tell that they are. `groups` are the
        labels of the groups, `category` and `columns` as in `Content`.
        """
        named = repr((words, list(self._columns), list(groups))).encode()
        parts = [self._zeros, self._groups, *self._columns.values()]
        counts = hashlib.sha256(named).digest() + b"".join(part.digest() for part in parts)
        return Content(
            table=counts + rows,
            counts=counts,
            category=category,
            columns=tuple(columns),
            alone={name: digest.digest() for name, digest in self._columns.items()},
        )


@dataclass(frozen=True, kw_only=True)
class Prints:
    """Digests of what identifies a release, under a ledger's own random key. They tell nothing
    without the ledger; whoever has the ledger can test a guess at the content with them."""

    table: str
    counts: str
    category: str | None
    columns: tuple[str, ...]
    alone: Mapping[str, str]

    @staticmethod
    def of(content: Content, key: bytes) -> "Prints":
        """Those of a content."""

        def print_of(what: str, part: bytes) -> str:
            return hmac.digest(key, f"{what}\n".encode() + part, "sha256").hex()

        category = content.category
        return Prints(
            table=print_of("table", content.table),
            counts=print_of("counts", content.counts),
            category=None if category is None else print_of("category", category),
            columns=tuple(sorted(print_of("column", each) for each in content.columns)),
            alone={name: print_of("alone", each) for name, each in content.alone.items()},
        )

    def add_columns_to(self, earlier: "Prints") -> bool:
        """Whether this is an earlier table with columns added: the counts are the same, in the
        same order, and every row has the one label that only it had."""
        return (
            self.category is not None
            and (self.counts, self.category) == (earlier.counts, earlier.category)
            and set(earlier.columns) <= set(self.columns)
        )

    def to_body(self) -> dict[str, Any]:
        """As it stands in an entry."""
        return vars(self) | {"columns": list(self.columns), "alone": dict(self.alone)}

    @staticmethod
    def from_body(body: dict[str, Any]) -> "Prints":
        """The inverse of `to_body`."""
        return Prints(**body | {"columns": tuple(body["columns"])})


def _integers(numbers: Integers) -> memoryview:
    return np.ascontiguousarray(numbers.astype("<i8", copy=False)).data
