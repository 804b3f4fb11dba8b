"""The files of a release by group: `mechanism.groups` and `groups.csv`.

docs/bundle.md is the specification of both; `holdfast.verify` reads them with code of its own.
"""

import csv
import io
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.mechanism.curves import Curves
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.privatizers.groups import block_edges, fine_groups, group_epsilon, whole_share
from holdfast.former.privatizers.joint import JointMeasurement
from holdfast.former.privatizers.totals import Totals
from holdfast.former.release.groups import Groups
from holdfast.former.release.mechanism_file import packed, unpacked
from holdfast.former.privacy.budget import Budget
from holdfast.former.tables.csv import csv_text
from holdfast.former.tables.groups import Partition, Within

VERSION, VERSION_WITH_SOURCES = 3, 4  # their number is that of groups


def encode_groups(groups: Groups) -> bytes:
    """The integers of all mechanisms, the targets, and what was measured, deflated."""
    mechanism, n = groups.mechanism, len(groups.mechanism)
    curves = [part.curves for part in mechanism.parts if part.curves is not None]
    integers = np.array([[one.turns, one.heights, one.floors] for one in curves], dtype="<i8")
    laws = np.array([_laws(part) for part in mechanism.parts], dtype="<f8")
    whole = groups.measurement.whole
    measured = np.concatenate([*([] if whole is None else [whole]), *groups.measurement.groups])
    head = np.array([len(curves), *mechanism.index], dtype="<i8")
    parts = (head, integers, laws, measured.astype("<i8"))
    version = VERSION if laws.shape[1] == 1 else VERSION_WITH_SOURCES
    return packed(version, n, mechanism.groups, b"".join(part.tobytes() for part in parts))


def decode_groups(
    data: bytes, epsilon: Fraction, unit_1: Fraction, sizes: Integers
) -> tuple[GroupedMechanism, JointMeasurement]:
    """The inverse of `encode_groups`, for a file that `holdfast.verify` has found in order."""
    version, n, number, content = unpacked(data)
    laws = {VERSION: 1, VERSION_WITH_SOURCES: 2}.get(version, 0)
    if not laws or number != len(sizes):
        raise HoldfastError("this is not a file of groups.")
    words = np.frombuffer(content, dtype="<i8").astype(np.int64)
    K = int(words[0])
    ends = list(accumulate((1, number, 3 * n * K, laws * n * K), initial=0))
    index, integers, floats = (words[a:b] for a, b in pairwise(ends[1:]))
    parts = [
        _mechanism(curve, own, epsilon)
        for curve, own in zip(
            integers.reshape(K, 3, n), floats.view("<f8").reshape(K, laws, n), strict=True
        )
    ]
    measured = _measurement(words[ends[-1] :], n, unit_1, sizes)
    return GroupedMechanism(parts, index), measured


def _laws(part: Mechanism) -> list[Floats]:
    """The law of the released counts and, where that is another, that of the true ones."""
    return [law for law in (part.target, part.source) if law is not None]


def _mechanism(curve: Integers, laws: Floats, epsilon: Fraction) -> Mechanism:
    turns, heights, floors = curve
    curves = Curves(turns=turns, heights=heights, floors=floors, epsilon=epsilon)
    source = laws[1] if len(laws) > 1 else None
    return Mechanism(curves=curves, epsilon=epsilon, target=laws[0], source=source)


def _measurement(numbers: Integers, n: int, unit_1: Fraction, sizes: Integers) -> JointMeasurement:
    share, blocks = whole_share(len(sizes), n), len(block_edges(n)) - 1
    fine = fine_groups(sizes, group_epsilon(unit_1, len(sizes), n), n)
    whole = blocks if share else 0
    ends = list(accumulate([whole, *(n - 1 if one else blocks for one in fine)]))
    if ends[-1] != len(numbers):
        raise HoldfastError(
            "this is not a file of groups: another number of integers was measured."
        )
    return JointMeasurement(
        whole=numbers[:whole] if share else None,
        groups=tuple(numbers[a:b] for a, b in pairwise(ends)),
    )


def groups_csv(groups: Groups) -> str:
    """A line for each group: its labels, its rows and, where they were measured, its totals."""
    totals = groups.totals
    extra = [] if totals is None else ["total", "total_low", "total_high", "total_measured"]
    lines: list[list[Any]] = [[*groups.within.columns, "rows", *extra]]
    for number, label in enumerate(groups.partition.labels):
        line: list[Any] = [*label, int(groups.sizes[number])]
        if totals is not None:
            found = totals.groups[number]
            line += [found.value, found.low, found.high, totals.measured[number]]
        lines.append(line)
    return csv_text(lines)


def read_groups_csv(text: str, within: Within) -> tuple[Partition, tuple[int, ...]]:
    """The groups, and the noisy totals where there are any."""
    _, *lines = csv.reader(io.StringIO(text, newline=""))
    k = len(within.parts)
    labels = tuple(tuple(line[:k]) for line in lines)
    sizes = np.array([int(line[k]) for line in lines], dtype=np.int64)
    measured = tuple(int(line[k + 4]) for line in lines if len(line) > k + 1)
    return Partition(within=within, labels=labels, sizes=sizes), measured


def read_groups(folder: Path, record: dict[str, Any], budget: Budget) -> Groups:
    """The groups of a bundle that `holdfast.verify` found in order."""
    text = (folder / "groups.csv").read_bytes().decode("utf-8")
    partition, measured = read_groups_csv(text, Within.from_dict(record["within"]))
    mechanism, measurement = decode_groups(
        (folder / "mechanism.groups").read_bytes(),
        Fraction(record["certificate"]["epsilon"]),
        budget.unit_1,
        partition.sizes,
    )
    totals = None
    if record.get("totals"):
        totals = Totals(
            measured=measured,
            measured_whole=record["totals"]["measured"],
            epsilon=budget.totals,
            moved=budget.moved,
        )
    return Groups(partition=partition, mechanism=mechanism, measurement=measurement, totals=totals)
