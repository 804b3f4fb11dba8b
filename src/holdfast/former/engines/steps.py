"""The paper's framework in its five steps, on rows in memory; `engines/stages.py` has the second
and the third. A stream takes the first and the fourth batch by batch."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from holdfast.arrays import Integers, exact_sum, halves, joined
from holdfast.former.engines.stages import Staged, Stages
from holdfast.former.ledger.recognition import Content
from holdfast.former.ledger.request import TableDigest, condensed_groups
from holdfast.former.mechanism.grouped import RowSampler
from holdfast.former.release.release import Release
from holdfast.former.tables.count_values import MISSING
from holdfast.former.tables.groups import Partition
from holdfast.former.tables.histogram import histogram_of_counts, top_code
from holdfast.former.tables.table import CountTable


def five_steps(
    rows: CountTable, stages: Stages, members: Integers | None = None
) -> tuple[Release, Staged]:
    """From a checked table to a release: everything that is drawn is drawn in here. `members` says
    of each row in which group it is; what the counts were drawn with is given back as well."""
    counts, own = rows.counts[rows.drawn], None if members is None else members[rows.drawn]
    histogram = histogram_by(own, counts, stages)  # 1: how many rows have each count
    totals = totals_by(own, counts, stages)
    staged = stages(histogram, totals)  # 2: z, for epsilon 1; 3: from z alone T
    capped = top_code(counts, staged.top)
    drawn = RowSampler(staged.mechanism)(capped, own, stages.source)  # 4: by T, for epsilon 2
    return published(rows, staged, drawn, members), staged  # 5: the table again, with z and T


def published(
    rows: CountTable, staged: Staged, drawn: Integers, members: Integers | None
) -> Release:
    """Step 5: users ask the released table, or z and T."""
    released = np.where(rows.missing, MISSING, 0)
    released[rows.drawn] = drawn
    facts = staged.facts(histogram_of_counts(drawn, staged.top))
    if staged.groups is not None:
        facts["groups"] = replace(staged.groups, members=members)
    return Release(
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
