"""`holdfast.verify`: everything that a bundle claims, computed again by code of its own."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from holdfast.former.verify.certificate import check_certificate
from holdfast.former.verify.chance import check_chance
from holdfast.former.verify.curve_table import CurveTable
from holdfast.former.verify.curves import read_curves
from holdfast.former.verify.folder import (
    GROUPS,
    LABELS,
    MATRIX,
    RECORD,
    WEIGHTS,
    check_folder,
    check_size,
    check_sizes,
    check_sums,
    find_mechanism,
    find_table,
    plain_files,
    read_small,
)
from holdfast.former.verify.group_chance import check_chances
from holdfast.former.verify.groups import (
    GroupTables,
    check_certificates,
    check_change,
    check_fixed_points,
    check_mean_target,
    check_measured,
    check_row_totals,
    group_sums,
    read_groups,
    split_measured,
)
from holdfast.former.verify.groups import check_possible as check_group_counts
from holdfast.former.verify.intervals import Law, check_form, check_lines, check_matrix
from holdfast.former.verify.mechanism import Floats, Integers, Mechanism, Sums
from holdfast.former.verify.members import Listed, Members, read_listed
from holdfast.former.verify.record import (
    check_budget,
    check_fields,
    check_version,
    claim_words,
    read_budget,
)
from holdfast.former.verify.relations import Before, Column, curves_of
from holdfast.former.verify.report import Check, Damage, Failure, Found, NotChecked, Verification
from holdfast.former.verify.row_prior import check_mixed, group_priors
from holdfast.former.verify.stage_one import check_measurement
from holdfast.former.verify.strict_json import parse_json
from holdfast.former.verify.table import check_possible, check_table
from holdfast.former.verify.target import (
    check_expected_change,
    check_fixed_point,
    read_target,
)
from holdfast.former.verify.texts import check_picture, check_texts, check_written
from holdfast.former.verify.totals import check_totals
from holdfast.former.verify.weights import read_weights

B = TypeVar("B")
Checks = dict[str, tuple[Callable[[B], str | Found], tuple[str, ...]]]
"""Every check by its name, and those that it needs."""


def verify_column(
    directory: str | os.PathLike[str], before: Before | None = None
) -> tuple[Verification, Column]:
    """Check a bundle with one column of counts; `before` is what is known of those that it was
    given. See `holdfast.verify`.
    """
    bundle = _Bundle(Path(directory), before)
    checks = run_checks(_CHECKS, bundle)
    simulated = bundle.record["privacy"]["simulated"] if checks["fields"].passed else None
    found = Verification(folder=bundle.path, checks=tuple(checks.values()), simulated=simulated)
    return found, bundle


def run_checks(every: Checks[B], bundle: B) -> dict[str, Check]:
    """All checks in their order; one that needs what failed is not made."""
    checks: dict[str, Check] = {}
    for name, (check, needs) in every.items():
        lost = [need for need in needs if checks[need].passed is not True]
        if lost:
            detail = f"not looked at: {lost[0]} failed"
            checks[name] = Check(name=name, passed=None, detail=detail)
        else:
            checks[name] = _once(_run(name, check, bundle), checks)
    return checks


def _once(check: Check, earlier: dict[str, Check]) -> Check:
    """One damage is one failure: where a check meets what another has found, it is left out."""
    for name, other in earlier.items():
        if check.passed is False and other.passed is False and other.detail == check.detail:
            return Check(name=check.name, passed=None, detail=f"not looked at: {name} failed")
    return check


def _run(name: str, check: Callable[[B], str | Found], bundle: B) -> Check:
    try:
        found = check(bundle)
    except NotChecked as lack:
        return Check(name=name, passed=None, detail=str(lack), failure=lack.failure)
    except Damage as damage:
        return Check(name=name, passed=False, detail=str(damage), failure=damage.failure)
    except (MemoryError, ImportError, OSError) as error:
        detail = f"the check of {name} could not be made here ({type(error).__name__})."
        return Check(name=name, passed=None, detail=detail, failure=Failure.MACHINE)
    except Exception as error:  # whatever a forger thought of: it did not pass
        detail = f"the check of {name} could not be made ({type(error).__name__})."
        return Check(name=name, passed=False, detail=detail, failure=Failure.DAMAGE)
    found = found if isinstance(found, Found) else Found(found)
    return Check(name=name, passed=True, **found._asdict())


class _Bundle:
    """A bundle while it is checked: what one check has read is there for those that need it."""

    record: dict[str, Any]
    mechanism: Mechanism
    sums: Sums
    target: Floats
    tally: list[int]
    groups: GroupTables
    group_sums: list[Sums]
    listed: Listed | None = None
    tallies: Integers
    before: Before | None
    """The columns that were drawn before this one, where they are known."""
    members: Integers | None = None

    def __init__(self, path: Path, before: Before | None = None) -> None:
        self.path, self.before = path, before

    @property
    def grouped(self) -> bool:
        """Whether each group of rows has a mechanism of its own."""
        return "within" in self.record

    def kernels(self) -> tuple[list[CurveTable], Floats, Floats]:
        """The mechanism of each group, the law of its true counts and that of the released."""
        if not self.grouped:
            z = np.array([self.target])
            return [curves_of(self.mechanism)], z, z
        found = self.groups
        parts = [found.parts[k] for k in found.index.tolist()]
        return parts, found.sources[found.index], found.targets[found.index]

    def find(self) -> str:
        if not self.path.is_dir():
            raise Damage("there is no folder here.")
        return "is there"

    def read_record(self) -> str:
        self.record = parse_json(read_small(self.path, RECORD), RECORD)
        return "release.json is one JSON object"

    @property
    def table_folder(self) -> Path:
        """Where the table is: that of several counts is in the folder above."""
        above = self.record.get("table_above") is True
        return self.path.absolute().parent if above else self.path

    @property
    def table_name(self) -> str:
        """The table as seen from the folder of the bundle."""
        name = find_table(self.table_folder)
        return name if self.table_folder == self.path else f"../{name}"

    def check_files(self) -> Found:
        return check_folder(self.path, above=self.record.get("table_above") is True)

    def check_sizes(self) -> str:
        return check_sizes(self.path, self.record)

    def check_hashes(self) -> str:
        return check_sums(self.path, self.record)

    def read_mechanism(self) -> str:
        name, n = find_mechanism(self.path), self.record["max_count"] + 1
        check_size(self.path, self.record, name)
        if (name == GROUPS) is not self.grouped:
            raise Damage(f"a release by group, and no other, has {GROUPS}.")
        if self.grouped:
            self.groups = read_groups(self.path, self.record)
            return f"{n:,} by {n:,} integers for each of {len(self.groups.index):,} groups"
        if name == WEIGHTS:
            self.mechanism = read_weights(self.path, self.record)
            return f"{n:,} by {n:,} integers"
        if self.record["schema"] == 2:
            raise Damage("a release of schema 2 has weights, not curves.")
        self.mechanism = read_curves(self.path, self.record)
        return f"{n:,} by {n:,} integers, which follow from 3 by {n:,}"

    def check_digest(self) -> str:
        integers = self.groups if self.grouped else self.mechanism
        found, stated = integers.digest(claim_words(self.record)), "mechanism_digest"
        if found != self.record[stated]:
            raise Damage(f"{stated} is not the digest of these integers and this epsilon.")
        return f"begins {found[:16]}"

    def check_row_totals(self) -> str:
        if self.grouped:
            return check_row_totals(self.groups)
        return self.mechanism.check_row_totals()

    def check_certificate(self) -> str:
        if self.grouped:
            return check_certificates(self.groups, self.record, read_budget(self.record))
        return check_certificate(self.mechanism, self.record, read_budget(self.record))

    def read_target(self) -> str:
        self.target = read_target(self.record)
        return f"a distribution over 0 to {len(self.target) - 1:,}"

    def check_measurement(self) -> str | Found:
        if self.listed is not None:
            budget = read_budget(self.record)
            return check_measured(self.groups, self.listed, self.record, budget, self.before)
        return check_measurement(self.record, self.target, self.tally, read_budget(self.record))

    def check_fixed_point(self) -> str:
        if self.grouped:
            if not self.record["fixed_point"]:
                raise Damage("a release by group keeps the distribution of every group.")
            self.group_sums = group_sums(self.groups)
            return check_fixed_points(self.groups, self.group_sums)
        self.sums = self.mechanism.sums(self.target)
        return check_fixed_point(self.sums, self.target, self.record)

    def check_expected_change(self) -> str:
        if self.listed is not None:
            check_mean_target(self.groups, self.listed, self.target)
            stated = self.record["expected_change_of_a_count"]
            return check_change(self.group_sums, self.groups, self.listed, stated)
        return check_expected_change(self.sums, self.target, self.record)

    def read_table(self) -> str:
        table = find_table(self.table_folder)
        if self.table_folder == self.path:
            check_size(self.path, self.record, table)
        members = None
        if self.listed is not None:
            members = Members(self.record, self.listed)
        self.tally = check_table(self.table_folder, table, self.record, members)
        if members is not None:
            self.tallies = members.tallies()
            self.members = members.rows
            return (
                f"{sum(self.tally):,} rows of whole numbers up to {len(self.tally) - 1:,}, in "
                f"{len(self.tallies):,} groups that follow from its columns"
            )
        return f"{sum(self.tally):,} rows of whole numbers up to {len(self.tally) - 1:,}"

    def check_written(self) -> Found:
        names = self.table_name, find_mechanism(self.path)
        groups = []
        if self.listed is not None:
            targets = self.groups.targets[self.groups.index]  # the laws of released counts
            groups = list(zip(self.listed.names, self.listed.sizes.tolist(), targets, strict=True))
        return check_written(self.path, self.record, self.tally, names, groups)

    def read_groups(self) -> str:
        if not self.grouped:
            return "none: one distribution for all rows"
        check_size(self.path, self.record, LABELS)
        self.listed = read_listed(self.path, self.record)
        return f"{len(self.listed.labels):,} of {int(self.listed.sizes.min()):,} rows or more"

    def check_totals(self) -> str:
        return check_totals(self.record, self.listed, read_budget(self.record))

    def check_chance(self) -> Found:
        if self.listed is not None:
            budget = read_budget(self.record)
            measured = split_measured(self.groups, self.listed, self.record, budget)
            return check_chances(self.groups, self.group_sums, self.tallies, measured)
        return check_chance(self.mechanism, self.sums, self.target, self.tally, self.record)

    def check_intervals(self) -> str:
        found = plain_files(self.path)
        check_form(self.record, found)
        if not found:
            return "none: no file has a line for each count or row"
        names = None if self.listed is None else self.listed.names
        laws = self._laws()
        if MATRIX in found:
            check_matrix(self.path, laws, names)
        drawn = self.tally.copy()
        if "structural_zero_rows" in self.record:
            drawn[0] -= self.record["structural_zeros"]
        counts = [count for count, rows in enumerate(drawn) if rows]
        table = self.table_folder, find_table(self.table_folder)
        return check_lines(self.path, table, self.record, laws, names, self.members, counts)

    def _laws(self) -> list[Law]:
        """What each mechanism, and what was known before, say of released counts."""
        stated, record, z = self.record["intervals"], self.record, self.target
        if self.listed is None:
            check_mixed(record)
            hidden = record["structural_zeros"] * ("structural_zero_rows" not in record)
            known = hidden / self.tally[0] if hidden else 0.0
            before = (1 - stated["mixed"]) * z + stated["mixed"] / len(z)
            return [Law(before, self.mechanism, stated, known)]
        parts = [self.groups.parts[k] for k in self.groups.index.tolist()]
        before_each = group_priors(self.groups.sources[self.groups.index], self.listed, z, record)
        return [Law(*pair, stated, 0.0) for pair in zip(before_each, parts, strict=True)]

    def check_counts(self) -> str:
        if self.grouped:
            return check_group_counts(self.groups, self.tallies)
        return check_possible(self.mechanism.possible(), self.tally, self.record)


_CHECKS: Checks[_Bundle] = {
    "folder": (_Bundle.find, ()),
    "record": (_Bundle.read_record, ("folder",)),
    "schema": (lambda bundle: check_version(bundle.record), ("record",)),
    "fields": (lambda bundle: check_fields(bundle.record), ("schema",)),
    "files": (_Bundle.check_files, ("schema",)),
    "sizes": (_Bundle.check_sizes, ("fields",)),
    "hashes": (_Bundle.check_hashes, ("sizes",)),
    "budget": (lambda bundle: check_budget(bundle.record), ("fields",)),
    "groups": (_Bundle.read_groups, ("fields",)),
    "table": (_Bundle.read_table, ("fields", "groups")),  # before the weights: either takes room
    "weights": (_Bundle.read_mechanism, ("fields", "groups")),
    "digest": (_Bundle.check_digest, ("weights",)),
    "row totals": (_Bundle.check_row_totals, ("weights",)),
    "certificate": (_Bundle.check_certificate, ("row totals", "budget")),
    "target": (_Bundle.read_target, ("fields",)),
    "fixed point": (_Bundle.check_fixed_point, ("row totals", "target")),
    "expected change": (_Bundle.check_expected_change, ("row totals", "target", "groups")),
    "measurement": (_Bundle.check_measurement, ("target", "budget", "table", "weights")),
    "totals": (_Bundle.check_totals, ("budget", "table")),
    "counts": (_Bundle.check_counts, ("row totals", "table")),
    "chance": (_Bundle.check_chance, ("fixed point", "measurement", "counts")),
    "intervals": (
        _Bundle.check_intervals,
        ("digest", "certificate", "target", "fixed point", "measurement", "counts"),
    ),
    "texts": (lambda bundle: check_texts(bundle.path, bundle.record), ("fields",)),
    "picture": (lambda bundle: check_picture(bundle.path), ("schema",)),
    "words": (_Bundle.check_written, ("texts", "picture", "table", "weights")),
}
