"""What a correction changes: labels beside the same counts, compared row by row."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from holdfast.errors import HoldfastError, listed_names, numbered
from holdfast.tables.subset import label_key

Labels = Iterable[str]
"""The category of each row as text, in the order in which rows are published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Correction:
    """The published release that another one corrects."""

    receipt: str | None
    """What it remembers of its spend."""
    labels: Labels | None
    """The labels that it published; None where it has no category."""


@dataclass(frozen=True)
class Relabelled:
    """The labels that are not those of an earlier release, with those that stood in their place."""

    before: tuple[str, ...]
    now: tuple[str, ...]

    @property
    def moved(self) -> list[str]:
        """Earlier labels that are now on other rows: where every row has a label of its own, one
        that changed its row is among those of before and of now."""
        then = set(map(label_key, self.before))
        return [label for label in self.now if label_key(label) in then]

    def __str__(self) -> str:
        pairs = zip(self.before, self.now, strict=True)
        changes = listed_names((f"{old} → {new}" for old, new in pairs), shown=20)
        return f"{numbered(len(self.now), 'label')} changed: {changes}" if self.now else ""


def relabelled(before: Labels, now: Labels) -> Relabelled:
    """Labels compared row by row; how they are spelt as numbers or with spaces does not matter.

    >>> str(relabelled(["Abott", "01", "Cole"], ["Abbott", "1", "Cole"]))
    "1 label changed: 'Abott → Abbott'"
    >>> relabelled("ABC", "BXC").moved
    ['B']
    """
    pairs = zip_longest(before, now, fillvalue="")
    changed = [(old, new) for old, new in pairs if label_key(old) != label_key(new)]
    return Relabelled(tuple(old for old, _ in changed), tuple(new for _, new in changed))


def refuse_moved(before: Labels | None, now: Labels | None) -> None:
    """Raise if a label that a release published stands in another row of what should correct it."""
    moved = [] if before is None or now is None else relabelled(before, now).moved
    if moved:
        raise HoldfastError(
            "`corrects`: labels of the release stand in other rows here: "
            f"{listed_names(moved, shown=4)}. That corrects nothing: the same measurements would "
            "be published of other rows. Nothing was spent. Hint: put the rows into their earlier "
            "order; rows that are not the same are measured and paid for without `corrects`."
        )
