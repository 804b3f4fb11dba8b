"""The steps on rows in memory: of the whole table, and for steps 1 and 4 of one batch, what is
counted of it and the draw for each row; with groups and without."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from holdfast.arrays import Integers, exact_sum, halves, joined
from holdfast.engines.stages import Staged, Stages
from holdfast.errors import HoldfastError
from holdfast.ledger.recognition import Content
from holdfast.ledger.request import TableDigest, condensed_groups
from holdfast.mechanism.grouped import GroupedMechanism, GroupedSampler
from holdfast.mechanism.mechanism import Mechanism
from holdfast.mechanism.sampling import draw
from holdfast.privacy.randomness import Randomness
from holdfast.release.release import Release
from holdfast.tables.count_values import MISSING
from holdfast.tables.groups import Partition
from holdfast.tables.histogram import histogram_of_counts, top_code
from holdfast.tables.table import CountTable


def first_steps(rows: CountTable, stages: Stages, members: Integers | None = None) -> Staged:
    """Steps 1 to 3: the distribution of counts, z, and from z alone T."""
    counts, own = rows.counts[rows.drawn], None if members is None else members[rows.drawn]
    return stages(histogram_by(own, counts, stages), totals_by(own, counts, stages))


def last_steps(rows: CountTable, staged: Staged, members: Integers | None = None) -> Release:
    """Steps 4 and 5."""
    open_rows, source = rows.drawn, staged.stages.source
    own = None if members is None else members[open_rows]
    counts = top_code(rows.counts[open_rows], staged.top)
    released = np.where(rows.missing, MISSING, 0)
    released[open_rows] = draw_by(own, staged.mechanism, counts, source)  # step 4
    facts = staged.facts(histogram_of_counts(released[open_rows], staged.top))
    if staged.groups is not None:
        facts["groups"] = replace(staged.groups, members=members)
    return Release(  # step 5: users ask the released table, or z and T
        counts=released,
        cells=rows.replace(released),
        structural_zeros=int(rows.structural_zero.sum()),
        structural_zero_rows=rows.structural_zero if rows.structural_zero.any() else None,
        missing_rows=rows.missing if rows.missing.any() else None,
        count_column=rows.column,
        unchanged_columns=rows.others,
        category=rows.category,
        **facts | {"notes": (*rows.notes, *facts["notes"])},
    )


def content_of(
    rows: CountTable, words: str, groups: Partition | None, members: Integers | None
) -> Content:
    """The parameters, the counts, and whose they are, as a ledger knows them again."""
    digest, named = TableDigest(), rows.row_names
    digest.add(rows.counts, rows.structural_zero)
    cells, columns = rows.digests()
    return digest.content(
        words,
        cells,
        rows.of_what,
        groups=condensed_groups(groups, members),
        category=None if named is None else columns[named],
        labels=None if named is None else rows.label_digest(named),
        columns=tuple(columns),
    )


def histogram_by(members: Integers | None, counts: Integers, stages: Stages) -> Integers:
    """How many rows have each count; a line for each group, where rows are in groups."""
    top = stages.highest
    if members is None or stages.groups is None:
        return histogram_of_counts(counts, top)
    cells = members * (top + 1) + top_code(counts, top)
    number = len(stages.groups)
    return np.bincount(cells, minlength=number * (top + 1)).reshape(number, -1).astype(np.int64)


def totals_by(members: Integers | None, counts: Integers, stages: Stages) -> Sequence[int]:
    """The totals of uncapped counts, by group; none where none are to be measured."""
    if not stages.budget.totals:
        return ()
    if members is None or stages.groups is None:
        return [exact_sum(counts)]
    sums = np.zeros((2, len(stages.groups)), dtype=np.int64)
    for half, part in zip(sums, halves(counts), strict=True):
        np.add.at(half, members, part)
    return joined(*sums.tolist())


def draw_by(
    members: Integers | None,
    mechanism: Mechanism | GroupedMechanism,
    counts: Integers,
    source: Randomness,
) -> Integers:
    """One draw per count, by the mechanism of its group."""
    if isinstance(mechanism, GroupedMechanism):
        if members is None:
            raise HoldfastError("which group a row is in is not known.")
        return GroupedSampler(mechanism)(counts, members, source)
    return draw(mechanism, counts, source)
