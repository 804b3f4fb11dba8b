"""mechanism.groups: the curves, the target and the measurement of every group, checked again."""

import hashlib
import os
import struct
import zlib
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError, roughly
from holdfast.former.verify.borrowed import made_here, repeating
from holdfast.former.verify.certificate import check_certificate, worst_ratio
from holdfast.former.verify.curve_table import CurveTable
from holdfast.former.verify.curves import checked_curves, exact_powers
from holdfast.former.verify.exact import exp_from_below
from holdfast.former.verify.folder import GROUPS, opened
from holdfast.former.verify.mechanism import Floats, Integers, Sums
from holdfast.former.verify.members import Listed
from holdfast.former.verify.record import Budget, check_certified
from holdfast.former.verify.relations import Before
from holdfast.former.verify.report import Damage, Found
from holdfast.former.verify.target import SMALLEST_SHARE, TOLERANCE

METHOD, CONDITIONAL = "JointSmooth()", "ConditionalSmooth()"
WITH_TOTALS = "JointSmooth(sums_first=True)"  # of early releases with totals METHOD too
_CHUNK = 1 << 20
SINGLE_COUNTS = 10_001  # beyond, groups are measured in blocks alone
WHOLE_FROM, WHOLE_SHARE = 101, Fraction(1, 5)
WHOLE_FROM_BEYOND, WHOLE_SHARE_BEYOND = 21, Fraction(1, 3)
LARGEST = 1 << 53
UNLIKELY = 200  # Laplace noise goes further than this many scales with a chance of e^-200
SAME_FIT = 1e-6  # the joint fit is repeated by other machines with other sums of floats
_HEADER = struct.Struct("<8sIIQQ")


@dataclass(frozen=True, kw_only=True)
class GroupTables:
    """The mechanisms of all groups."""

    parts: list[CurveTable]
    index: Integers
    """Which of them each group has."""
    integers: Integers
    targets: Floats
    """The law of the released counts of each part, as rows."""
    sources: Floats
    """z, the law of the true counts of each part: the same but where a relation is kept."""
    measured: Integers
    """All that stage 1 measured: of the table, where it was, then of each group."""

    def digest(self, claim: str) -> str:
        """The SHA-256 sum of the integers and what is claimed of them."""
        n = self.targets.shape[1]
        digest = hashlib.sha256(
            f"holdfast groups n={n} groups={len(self.index)} {claim}\n".encode()
        )
        digest.update(self.index.astype("<i8", copy=False).data)
        digest.update(self.integers.astype("<i8", copy=False).data)
        return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What stage 1 measured, apart for each group."""

    groups: list[Integers]
    whole: Integers | None
    """Of the whole table, where it was measured."""
    epsilon: Fraction
    """Of the noise on the integers of a group."""
    widths: list[int]
    """How many counts each block has, where a group was measured in blocks."""


def read_groups(folder: Path, record: dict[str, Any]) -> GroupTables:
    """The numbers of the file, each in its range and the curves in their order."""
    n, number = record["max_count"] + 1, record["within"]["groups"]
    laws = 2 if record.get("given") else 1
    words = _words(folder, n, number, laws)
    K = int(words[0])
    ends = list(accumulate((1, number, 3 * n * K, laws * n * K), initial=0))
    if not 1 <= K <= number or ends[-1] > len(words):
        raise Damage(f"{GROUPS} does not hold as many numbers as its groups need.")
    index, integers, floats = (words[a:b] for a, b in pairwise(ends[1:]))
    if not np.array_equal(np.unique(index), np.arange(K)):
        raise Damage(f"{GROUPS} does not say which mechanism every group has.")
    powers = exact_powers(Fraction(record["certificate"]["epsilon"]), n)
    curves = integers.reshape(K, 3, n)
    parts = [checked_curves(*one, lift=0, powers=powers, name=GROUPS) for one in curves]
    z = floats.view(np.float64).reshape(K, laws, n)
    if (
        not np.isfinite(z).all()
        or z.min() < 0
        or np.abs(z.sum(axis=2) - 1).max() > float(TOLERANCE)
    ):
        raise Damage(f"{GROUPS}: the target of a group is no distribution.")
    return GroupTables(
        parts=parts,
        index=index,
        integers=curves,
        targets=z[:, 0],
        sources=z[:, -1],
        measured=words[ends[-1] :],
    )


def _words(folder: Path, n: int, number: int, laws: int) -> Integers:
    """All numbers of the file after its header."""
    most = 8 * (1 + number + (3 + laws) * n * number + (number + 1) * n)
    with opened(folder, GROUPS) as file:
        size, header = os.fstat(file.fileno()).st_size, file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            raise Damage(f"{GROUPS} is too short to have a header.")
        magic, version, counts, groups, length = _HEADER.unpack(header)
        if (magic, version) != (b"holdfast", 2 + laws):
            raise Damage(f"{GROUPS} does not begin as a file of groups does.")
        if (counts, groups) != (n, number):
            raise Damage(f"{GROUPS}: its header gives other counts or groups than release.json.")
        if length != size - _HEADER.size or length > most + (1 << 16):
            raise Damage(f"{GROUPS} does not have the length that its header gives.")
        data = _inflated(file.read(length), most)
    if not data or len(data) % 8:
        raise Damage(f"{GROUPS} does not hold whole numbers of 64 bits.")
    return np.frombuffer(data, dtype="<i8").astype(np.int64, copy=False)


def _inflated(packed: bytes, most: int) -> bytearray:
    """Piece by piece: in one go the whole would be there twice for a while."""
    inflater, data = zlib.decompressobj(), bytearray()
    try:
        while not inflater.eof and len(data) <= most:
            piece = inflater.decompress(packed, _CHUNK)
            packed = inflater.unconsumed_tail
            if not piece and not packed:
                break
            data += piece
    except zlib.error:
        raise Damage(f"{GROUPS} cannot be inflated: its bytes are damaged.") from None
    if not inflater.eof or inflater.unused_data or len(data) > most:
        raise Damage(f"{GROUPS} does not hold whole numbers of 64 bits.")
    return data


def check_row_totals(tables: GroupTables) -> str:
    """Every row of every mechanism adds up to 2^62."""
    for part in tables.parts:
        said = part.check_row_totals()
    return f"{said}, in {len(tables.parts):,} mechanisms"


def check_certificates(tables: GroupTables, record: dict[str, Any], budget: Budget) -> str:
    """The group that is named has the worst ratio, and no group a worse one."""
    group = record["certificate"]["group"]
    if not 0 <= group < len(tables.index):
        raise Damage("the certificate names a group that there is not.")
    worst = tables.parts[int(tables.index[group])]
    said = check_certificate(worst, record, budget)
    top, bottom = map(int, record["certificate"]["worst_ratio"].split("/"))
    bound = min(Fraction(top, bottom), exp_from_below(Fraction(record["certificate"]["epsilon"])))
    for k, part in enumerate(tables.parts):
        if part is not worst and worst_ratio(part)[0] > bound:
            where = int(np.flatnonzero(tables.index == k)[0])
            raise Damage(f"the certificate fails: group {where} has a worse ratio than is stated.")
    return f"in all {len(tables.index):,} groups {said}"


def group_sums(tables: GroupTables) -> list[Sums]:
    """What each mechanism makes of its source."""
    return [part.sums(z) for part, z in zip(tables.parts, tables.sources, strict=True)]


def check_fixed_points(tables: GroupTables, sums: list[Sums]) -> str:
    """z K is the law of the released counts in every group: z, or where a relation is kept w."""
    furthest = 0.0
    for k, (found, z) in enumerate(zip(sums, tables.targets, strict=True)):
        small = float(z[z < float(SMALLEST_SHARE)].sum())
        away = float(np.abs(np.diff(found.below, prepend=0.0) - z).max()) + 2 * found.error
        if away > float(TOLERANCE) + 4 * small:
            where = int(np.flatnonzero(tables.index == k)[0])
            raise Damage(f"the fixed point fails in group {where}.")
        furthest = max(furthest, away)
    return f"in all groups every share is kept within {furthest:.1e}"


def check_mean_target(tables: GroupTables, listed: Listed, target: Floats) -> None:
    """The whole table's z is the mean of the groups', by their rows."""
    mean = listed.sizes @ tables.sources[tables.index] / listed.sizes.sum()
    away = np.abs(mean - target)
    if away.max() > 1e-12:
        raise Damage("target is not the mean of the targets of all groups.")


def check_change(sums: list[Sums], tables: GroupTables, listed: Listed, stated: Any) -> str:
    """The expected change of a count, over all groups."""
    changes = np.array([float(found.crossing.sum()) for found in sums])
    change = float(listed.sizes @ changes[tables.index] / listed.sizes.sum())
    if stated is None or abs(stated - change) > 1e-6 * max(change, 1e-3):
        raise Damage("expected_change_of_a_count is not what z and the weights of groups give.")
    return f"a count is off by {roughly(change, 3)} on average"


def check_possible(tables: GroupTables, tallies: Integers) -> str:
    """Every released count has a positive weight in its group."""
    for k, part in enumerate(tables.parts):
        drawn = tallies[tables.index == k].sum(axis=0)
        odd = np.flatnonzero((drawn > 0) & ~part.possible())
        if len(odd):
            raise Damage(
                f"the count {odd[0]} was released, but its group's mechanism never gives it."
            )
    return f"all {int(tallies.sum()):,} counts are possible in their groups"


def check_measured(
    tables: GroupTables,
    listed: Listed,
    record: dict[str, Any],
    budget: Budget,
    before: Before | None = None,
) -> str | Found:
    """As many integers as stage 1 measures of these groups, and z of each from them; of a column
    that is given others also w, from what is known of those before it."""
    methods = {CONDITIONAL} if record.get("given") else {METHOD}
    if METHOD in methods and "totals" in record:
        methods.add(WITH_TOTALS)
    if record["methods"][0] not in methods or record["measurement"] is not None:
        raise Damage("a release by group names the joint fit, and keeps what it measured apart.")
    if record["privacy"]["stage_1_certified_by"] != "OpenDP's map":
        raise Damage("stage_1_certified_by does not fit the stage 1 that methods names.")
    check_certified(budget.stage_1_certified, budget.stage_1, "stage_1")
    found, unit = split_measured(tables, listed, record, budget), budget.stage_1 / budget.steps
    parts, rows, noise = found.groups, listed.sizes.tolist(), [found.epsilon] * len(listed.sizes)
    if found.whole is not None:
        parts, rows = [found.whole, *parts], [record["rows"], *rows]
        noise = [unit - found.epsilon, *noise]
    for part, most, epsilon in zip(parts, rows, noise, strict=True):
        limit = most * max(found.widths, default=1) + UNLIKELY / epsilon
        if len(part) and max(int(part.max()), -int(part.min())) > min(limit, LARGEST):
            raise Damage(f"{GROUPS} holds a number that is further off than noise goes.")
    if record.get("given"):
        return check_given(tables, listed, record, found, unit, before)
    return _check_fit(tables, listed, record, found, unit)


def split_measured(
    tables: GroupTables, listed: Listed, record: dict[str, Any], budget: Budget
) -> Measured:
    """What stage 1 measured of the table, where it did, and of each group."""
    n, unit = record["max_count"] + 1, budget.stage_1 / budget.steps
    number, fine = len(listed.sizes), n <= SINGLE_COUNTS
    share, least = (WHOLE_SHARE, WHOLE_FROM) if fine else (WHOLE_SHARE_BEYOND, WHOLE_FROM_BEYOND)
    share = share if number >= least else Fraction(0)
    own, widths = unit * (1 - share), block_widths(n)
    lengths = [len(widths)] if share else []
    lengths += [
        n - 1 if fine and _fine(rows, own, number) else len(widths)
        for rows in listed.sizes.tolist()
    ]
    if sum(lengths) != len(tables.measured):
        raise Damage(f"{GROUPS}: stage 1 measures another number of integers.")
    ends = list(accumulate(lengths, initial=0))
    parts = [tables.measured[a:b] for a, b in pairwise(ends)]
    whole = parts.pop(0) if share else None
    return Measured(groups=parts, whole=whole, epsilon=own, widths=widths)


def _fine(rows: int, epsilon: Fraction, groups: int) -> bool:
    return groups == 1 or epsilon >= Fraction(7, 10) or epsilon**2 * rows >= 25


def block_widths(n: int) -> list[int]:
    """How many counts each block has: 1.6 times the one before, at most a quarter of the range.

    >>> block_widths(31)
    [1, 1, 2, 4, 6, 7, 7, 2]
    """
    widths, width = list[int](), 1.0
    while sum(widths) < n - 1:
        widths.append(min(int(width), n - 1 - sum(widths)))
        width = min(1.6 * width, max((n - 1) / 4, 1.0))
    return widths


def _check_fit(
    tables: GroupTables,
    listed: Listed,
    record: dict[str, Any],
    measured: Measured,
    unit: Fraction,
) -> str | Found:
    """z again, by the fit that releases are made with."""
    classes = record["within"]["classes"]
    with repeating("joint"):
        from holdfast.former.privatizers.named import repeated_targets

        try:
            z = repeated_targets(
                groups=measured.groups,
                whole=measured.whole,
                sizes=listed.sizes,
                epsilon=unit,
                bins=record["max_count"] + 1,
                ordered=classes[0] is not None and len(classes) == 1,
                totals=_totals(listed, record),
                sums_first=record["methods"][0] == WITH_TOTALS,
            )
        except HoldfastError:
            raise Damage(f"{GROUPS}: stage 1 measures another number of integers.") from None
    return checked_laws([(z, tables.targets)], tables, record)


def checked_laws(
    laws: list[tuple[Floats, Floats]], tables: GroupTables, record: dict[str, Any]
) -> str | Found:
    """Laws of all groups that were fitted again, against those that the file has."""
    away = np.max(
        [np.abs(np.cumsum(z - own[tables.index], axis=1)).max(axis=1) for z, own in laws], axis=0
    )
    if away.max() <= SAME_FIT:
        return f"z of every group is the joint fit of its integers, within {SAME_FIT:g}"
    if made_here(record):
        raise Damage(
            f"{GROUPS}: the target of group {int(np.argmax(away))} is not what was measured."
        )
    said = "the right number of integers; not repeated: another holdfast fitted otherwise"
    return Found(said, "z of the groups was not computed again: another holdfast made it.")


def check_given(
    tables: GroupTables,
    listed: Listed,
    record: dict[str, Any],
    measured: Measured,
    unit: Fraction,
    before: Before | None,
) -> str | Found:
    """z and w again, by the fit that releases are made with, through the blur as it follows from
    the columns before."""
    if before is None:
        said = "the right number of integers; not repeated: it takes the columns before this one"
        return Found(
            said, "z was not computed again: verify the whole release, in the folder above."
        )
    cells, blur = before.blur(listed.labels, record)
    with repeating("joint"):
        from holdfast.former.privatizers.named import repeated_conditional

        z, w = repeated_conditional(
            groups=measured.groups,
            sizes=listed.sizes,
            epsilon=unit,
            bins=record["max_count"] + 1,
            blur=blur,
            cells=cells,
        )
    return checked_laws([(z, tables.sources), (w, tables.targets)], tables, record)


def _totals(listed: Listed, record: dict[str, Any]) -> tuple[list[int], Fraction] | None:
    if "totals" not in record:
        return None
    privacy, share = record["privacy"], Fraction(1, 5) if len(listed.sizes) > 30 else Fraction(0)
    unit = Fraction(privacy["totals"]) * (1 - share) / privacy["contributions"]
    unit /= privacy.get("person_rows", 1)
    return [line[3] for line in listed.totals], unit
