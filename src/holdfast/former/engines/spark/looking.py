"""Everything before the payment: the columns, what is tallied of them, and their groups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.former.engines.spark.columns import Columns
from holdfast.former.engines.spark.groups import SeenGroups, check_kinds, tally_groups
from holdfast.former.engines.spark.place import Place, told_by_spark
from holdfast.former.engines.spark.tally import Seen, tally
from holdfast.former.engines.stages import Parameters
from holdfast.former.ledger.periods import Period, period_notes
from holdfast.former.tables.columns import Wanted
from holdfast.former.tables.count_values import check_codes
from holdfast.former.tables.groups import Partition


@dataclass(frozen=True, kw_only=True)
class Looked:
    """A DataFrame that was looked through, for each of its columns of counts."""

    columns: tuple[Columns, ...]
    seen: tuple[Seen, ...]
    groups: tuple[SeenGroups | None, ...]

    @property
    def rows(self) -> list[int]:
        """How many rows are drawn in each column."""
        return [one.rows for one in self.seen]

    @property
    def partitions(self) -> list[Partition | None]:
        """The groups of each column's rows."""
        return [None if one is None else one.partition for one in self.groups]


def look_through(
    df: Any,
    place: Place,
    wanted: Sequence[Wanted],
    parameters: Sequence[Parameters],
    period: Period | None,
) -> Looked:
    """Columns of counts of one DataFrame, tallied; what can be known to fail fails here."""
    for own, one in zip(wanted, parameters, strict=True):
        check_codes(own.missing, one.highest)
    columns = [Columns(df, own) for own in wanted]
    within, subset = parameters[0].within, wanted[0].subset
    if within is not None:
        check_kinds(columns[0], within)
    highest, notes = [one.highest for one in parameters], period_notes(period)
    with told_by_spark("read", "`df`"):
        seen = tally(columns, highest)
        if subset is not None:  # which must not follow from the counts of all rows either
            inside, notes = columns[0].only(subset), (*notes, subset.note)
            columns = [one.where(inside) for one in columns]
        notes = (*notes, *seen[0].notes)
        seen = seen if subset is None else tally(columns, highest)
        seen = tuple(replace(one, notes=notes) for one in seen)
        groups = [_groups(*pair) for pair in zip(columns, parameters, seen, strict=True)]
    with told_by_spark("write", f"`{place.path}`"):
        place.probe()
        columns[0].df.mapInArrow(lambda batches: batches, columns[0].released_schema())
    return Looked(columns=tuple(columns), seen=seen, groups=tuple(groups))


def _groups(columns: Columns, parameters: Parameters, seen: Seen) -> SeenGroups | None:
    settled = parameters.within_for(seen.rows)
    return None if settled is None else tally_groups(columns, settled, parameters.highest)
