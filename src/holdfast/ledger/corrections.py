"""What a correction changes: labels beside the same counts, compared row by row."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from holdfast.errors import HoldfastError, listed_names
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


def moved_labels(before: Labels, now: Labels) -> list[str]:
    """Labels of an earlier release that are now on other rows. Where every row has a label of its
    own, one that changed its row is among the changed ones of before and of now.

    How they are spelt as numbers or with spaces does not matter.

    >>> moved_labels(["Abott", "01", "Cole"], ["Abbott", "1", "Cole"]), moved_labels("ABC", "BXC")
    ([], ['B'])
    """
    pairs = [(label_key(old), new) for old, new in zip_longest(before, now, fillvalue="")]
    changed = [(old, new) for old, new in pairs if old != label_key(new)]
    earlier = {old for old, _ in changed}
    return [new for _, new in changed if label_key(new) in earlier]


def refuse_moved(before: Labels | None, now: Labels | None) -> None:
    """Raise if a label that a release published stands in another row of what should correct it."""
    moved = [] if before is None or now is None else moved_labels(before, now)
    if moved:
        raise HoldfastError(
            "`corrects`: labels of the release stand in other rows here: "
            f"{listed_names(moved, shown=4)}. That corrects nothing: the same measurements would "
            "be published of other rows. Nothing was spent. Hint: put the rows into their earlier "
            "order; rows that are not the same are measured and paid for without `corrects`."
        )
