"""All that leaves the room: noisy counts by group, noisy sums, noisy totals."""

from dataclasses import dataclass, replace
from typing import Any

from holdfast.arrays import Integers
from holdfast.errors import HoldfastError
from holdfast.measure.tally import Tally, frozen_integers
from holdfast.privacy.noise import Noise

__all__ = ["Measurement", "Sums", "Tally", "Totals"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    r"""Noisy sums of a cumulative histogram over blocks of counts.

    Block b holds the counts from `edges[b]` to `edges[b + 1] - 1`. Its value is
    $\sum_i C_i + X_b$ over the counts i in it, where $C_i$ rows have a count of i or less.
    """

    edges: Integers
    """Ascending; one more than there are blocks."""
    values: Integers
    """One for each block."""
    noise: Noise

    def __post_init__(self) -> None:
        for name in ("edges", "values"):
            object.__setattr__(self, name, frozen_integers(getattr(self, name)))
        if len(self.edges) != len(self.values) + 1 or len(self.values) == 0:
            raise HoldfastError("sums need one edge more than values, and a value at least.")
        check_edges(self.edges)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "edges": self.edges.tolist(),
            "values": self.values.tolist(),
            "noise": self.noise.to_dict(),
        }

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "Sums":
        """The inverse of `to_dict`."""
        noise = Noise.from_dict(record["noise"])
        return Sums(edges=record["edges"], values=record["values"], noise=noise)


def check_edges(edges: Integers) -> None:
    """Refuse blocks that overlap or hold no count."""
    if len(edges) and (edges[0] < 0 or (edges[1:] <= edges[:-1]).any()):
        raise HoldfastError("edges of blocks must be 0 or more and ascend.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Totals:
    """Noisy totals of the counts of each group, and of the whole table."""

    values: Integers
    """One for each group; none for groups that were chosen later."""
    noise: Noise
    """Of each group's."""
    whole: int | None = None
    """Measured beside many groups; None where the groups' say it as well."""
    whole_noise: Noise | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen_integers(self.values))
        if (self.whole is None) != (self.whole_noise is None):
            raise HoldfastError("a total of the whole needs its noise.")

    @property
    def of_all(self) -> tuple[float, float]:
        """The total of the whole table, and the variance of its noise."""
        if self.whole is not None and self.whole_noise is not None:
            return float(self.whole), self.whole_noise.variance
        return float(self.values.sum()), len(self.values) * self.noise.variance

    def of_whole(self) -> "Totals | None":
        """What is left for groups that are chosen later; nothing of totals of several groups."""
        none = self.values[:0]
        if self.whole is None and len(self.values) != 1:
            return None
        if self.whole is not None:
            return replace(self, values=none)
        return Totals(
            values=none, noise=self.noise, whole=int(self.values[0]), whole_noise=self.noise
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "values": self.values.tolist(),
            "noise": self.noise.to_dict(),
            "whole": self.whole,
            "whole_noise": self.whole_noise and self.whole_noise.to_dict(),
        }

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "Totals":
        """The inverse of `to_dict`."""
        whole_noise = record["whole_noise"]
        return Totals(
            values=record["values"],
            noise=Noise.from_dict(record["noise"]),
            whole=record["whole"],
            whole_noise=whole_noise and Noise.from_dict(whole_noise),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """Everything that was measured of one column of counts; the rest is post-processing."""

    column: str | None
    """Its name; None for a plain array."""
    noise: Noise
    """Of every single count."""
    tally: Tally
    """Rows by group and noisy count."""
    sums: tuple[Sums | None, ...]
    """Noisy sums of each group; None for a group of which none were measured."""
    whole: Sums | None = None
    """Noisy sums of the whole table beside those of its groups; None with one group."""
    totals: Totals | None = None

    def __post_init__(self) -> None:
        if len(self.sums) != self.tally.groups:
            raise HoldfastError("a measurement needs sums, or None, for every group.")
        if self.totals and len(self.totals.values) not in (0, self.tally.groups):
            raise HoldfastError("a measurement needs totals for every group, or none.")
        if self.whole and self.tally.groups == 1:
            raise HoldfastError("sums of the only group are those of the whole table.")

    @property
    def groups(self) -> int:
        """How many groups there are; a table without groups has one."""
        return self.tally.groups

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "column": self.column,
            "noise": self.noise.to_dict(),
            "tally": self.tally.to_dict(),
            "sums": [sums and sums.to_dict() for sums in self.sums],
            "whole": self.whole and self.whole.to_dict(),
            "totals": self.totals and self.totals.to_dict(),
        }

    @staticmethod
    def from_dict(record: dict[str, Any]) -> "Measurement":
        """The inverse of `to_dict`."""
        return Measurement(
            column=record["column"],
            noise=Noise.from_dict(record["noise"]),
            tally=Tally.from_dict(record["tally"]),
            sums=tuple(sums and Sums.from_dict(sums) for sums in record["sums"]),
            whole=record["whole"] and Sums.from_dict(record["whole"]),
            totals=record["totals"] and Totals.from_dict(record["totals"]),
        )
