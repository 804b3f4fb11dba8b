"""By what a ledger knows a release again; what counts as the same is in docs/ledger.md."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Content:
    """What identifies a release: it never leaves the process, a ledger keeps digests of it."""

    table: bytes
    """Parameters, counts, and all other cells."""
    counts: bytes
    """Parameters and counts in their order, and the groups that they are in."""
    category: bytes | None = None
    """The column whose labels tell every row from every other; None where there is none."""
    labels: bytes | None = None
    """The labels of that column whatever rows they stand in."""
    columns: tuple[bytes, ...] = ()
    """Each column but the counts."""
    alone: Mapping[str, bytes] = field(default_factory=dict)
    """The counts in their order and nothing else, by the name of their column."""


def joined(columns: Sequence[Content]) -> Content:
    """What identifies a release of several columns of counts, of which these are known."""
    return replace(
        columns[0],
        table=b"".join(one.table for one in columns),
        counts=b"".join(one.counts for one in columns),
        alone={name: counts for one in columns for name, counts in one.alone.items()},
    )


@dataclass(frozen=True, kw_only=True)
class RowPrints:
    """Digests, under a ledger's key, of the rows of a release without the rest of the table."""

    counts: str
    category: str | None = None
    labels: str | None = None
    columns: tuple[str, ...] = ()
    alone: Mapping[str, str] = field(default_factory=dict)

    def add_columns_to(self, earlier: "RowPrints") -> bool:
        """Whether this is an earlier table with columns added: the counts are the same, in the
        same order, and every row has the one label that only it had."""
        return (
            self.category is not None
            and (self.counts, self.category) == (earlier.counts, earlier.category)
            and set(earlier.columns) <= set(self.columns)
        )

    def moves_labels_of(self, earlier: "RowPrints") -> bool:
        """Whether the labels of an earlier table stand here in other rows: no correction, since the
        same draw would be published beside one label after another."""
        return (
            self.labels is not None
            and self.labels == earlier.labels
            and self.category != earlier.category
        )

    def to_body(self) -> dict[str, Any]:
        """As it stands in an entry."""
        return {
            "counts": self.counts,
            "category": self.category,
            "labels": self.labels,
            "columns": list(self.columns),
            "alone": dict(self.alone),
        }

    @staticmethod
    def from_body(body: dict[str, Any] | None) -> "RowPrints | None":
        """The inverse of `to_body`."""
        if body is None:
            return None
        return RowPrints(
            counts=body["counts"],
            category=body["category"],
            labels=body.get("labels"),
            columns=tuple(body["columns"]),
            alone=body.get("alone", {}),
        )
