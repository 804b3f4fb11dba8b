"""The groups of a release by name, and what each of them has."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, listed_names
from holdfast.fit.histogram import Histogram
from holdfast.tables.partition import Partition, name_of

if TYPE_CHECKING:
    from holdfast.release.release import Column

ALL_ROWS = "all rows"


def group_names(partition: Partition) -> tuple[str, ...]:
    """A name for each group, all of them different.

    >>> import numpy as np
    >>> from holdfast.tables.groups import Within
    >>> labels = (("a, b", "c"), ("a", "b, c"), ("", "x"))
    >>> group_names(Partition(within=Within(("k", "l")), labels=labels, sizes=np.ones(3, int)))
    ('a, b, c', 'a, b, c (2)', '(missing), x')
    """
    if not partition.within.parts:
        return (ALL_ROWS,)
    names, last = dict[str, None](), dict[str, int]()
    for name in map(name_of, partition.labels):
        unique, number = name, last.get(name, 1)
        while unique in names or unique == ALL_ROWS:
            number += 1
            unique = f"{name} ({number})"
        names[unique], last[name] = None, number
    return tuple(names)


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """One group of a release."""

    name: str
    number: int
    """In the order of the groups."""
    label: tuple[str, ...]
    """A text for each column of `within`."""
    columns: tuple["Column", ...]

    def __getitem__(self, column: str) -> Histogram:
        return next(
            each.histograms[self.number]
            for each in self.columns
            if column in (each.name, each.title)
        )

    @property
    def distribution(self) -> Histogram:
        """How many measured rows of the group have each released count; of the first column of
        counts where there are several, and `group["murder"]` of the others."""
        return self.columns[0].histograms[self.number]

    def __repr__(self) -> str:
        return f"Group({self.name!r}, {self.distribution.size:,} measured rows)"


class Groups(dict[str, Group]):
    """The groups of a release by name, in their order."""

    def __missing__(self, name: str) -> Group:
        raise HoldfastError(f"this release has no group {name!r:.60}. Hint: {listed_names(self)}.")
