"""All of a release but its rows, and what its record says of it."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.former.mechanism.grouped import GroupedMechanism
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.privatizers.max_count import FoundMaxCount
from holdfast.former.privatizers.totals import Totals
from holdfast.former.release.groups import Groups
from holdfast.former.release.promise import Privacy
from holdfast.former.release.usefulness import expected_change

SCHEMA = 3
SCHEMA_WITH_GROUPS = 4  # or totals
SCHEMA_OF_SEVERAL = 5  # several counts, several rows of a person, or another unit than a person


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("holdfast")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseFacts:
    """All of a release but its rows: the target, the mechanism behind it, and the promise."""

    target: NDArray[np.float64] = field(repr=False)
    """z, the private distribution of counts; where one stage had all of the budget, the
    distribution of the released counts. With groups, the mean of theirs by their rows."""
    drawn_with: Mechanism | GroupedMechanism
    """The certified mechanism that every count went through, or one for each group."""
    privacy: Privacy = field(repr=False)
    """Promised and certified."""
    rows: int
    """N: rows that went through the mechanism."""
    structural_zeros: int
    """Rows that are publicly known to be zero."""
    methods: tuple[str, ...]
    """Stage 1, stage 2."""
    structural_zero_rows: NDArray[np.bool_] | None = field(default=None, repr=False)
    """Which rows those zeros are, in row order; None where there are none or it is not told."""
    missing_rows: NDArray[np.bool_] | None = field(default=None, repr=False)
    """Which rows have no count, because it is not known; None where there are none. Public."""
    missing: int | None = field(default=None, repr=False)
    """How many those are, where there may be too many rows to tell which."""
    measurement: NDArray[np.int64] | None = field(default=None, repr=False)
    """The noisy integers that stage 1 measured and made z from; None where it does not say."""
    count_column: str | None = None
    """Name of the count column; None for a plain array."""
    unchanged_columns: tuple[str, ...] = ()
    """Names of the other columns: published as they were."""
    other_counts: tuple[str, ...] = ()
    """Names of the other columns of counts, in a release of several."""
    given: tuple[str, ...] = ()
    """Those of them that were drawn before it, and its relation to which is kept."""
    later: tuple[str, ...] = ()
    """Those of them that were drawn after it, given its released counts."""
    category: str | None = None
    """Which of those says whose a row is; None where none was named as the category."""
    max_count_found: FoundMaxCount | None = None
    """How `max_count` was found; None where it was given."""
    groups: Groups | None = field(default=None, repr=False)
    """The groups within which the distribution holds, by name; None where there are none."""
    totals: Totals | None = field(default=None, repr=False)
    """The totals of the true counts, not capped; None where they were not measured."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    repeated: bool = False
    """Whether it was shown again from a ledger: then nothing was drawn or spent."""
    receipt: str | None = field(default=None, repr=False)
    """By what a ledger knows the spend that paid for it; None where no ledger was named."""
    made_with: str = field(default_factory=lambda: _version(), repr=False)
    """The version of holdfast that drew it."""

    @property
    def mechanism(self) -> Mechanism:
        """The certified mechanism that every count went through, where there is one for all."""
        if isinstance(self.drawn_with, GroupedMechanism):
            raise HoldfastError(
                "each group of this release has a mechanism of its own. "
                "Hint: release.groups[name].mechanism."
            )
        return self.drawn_with

    @property
    def released_histogram(self) -> NDArray[np.int64]:
        """How many rows have each released count, structural zeros included."""
        raise NotImplementedError

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The distribution of the released counts, without the structural zeros."""
        histogram = self.released_histogram.astype(np.float64)
        histogram[0] -= self.structural_zeros
        return histogram / self.rows

    @property
    def expected_change(self) -> float | None:
        """How far a released count is from the true one, capped at max_count, on average, by the
        mechanism and z."""
        if isinstance(self.drawn_with, GroupedMechanism) and self.groups is not None:
            return float(self.groups.sizes @ self.drawn_with.count_errors() / self.rows)
        return expected_change(self.mechanism, self.target)

    @property
    def gaps(self) -> int:
        """How many rows have no count, because it is not known."""
        marks = self.missing_rows
        return (self.missing or 0) if marks is None else int(marks.sum())

    def summary(self) -> dict[str, Any]:
        """What was done and promised, as plain values."""
        return {
            "schema": self._schema,
            "holdfast": self.made_with,
            "privacy": self.privacy.to_dict(),
            "rows": self.rows,
            "structural_zeros": self.structural_zeros,
            **({"missing": self.gaps} if self.gaps else {}),
            **self._groups_and_totals(),
            "max_count": self.drawn_with.max_count,
            "max_count_found": None
            if self.max_count_found is None
            else self.max_count_found.to_dict(),
            "methods": list(self.methods),
            "count_column": self.count_column,
            "unchanged_columns": list(self.unchanged_columns),
            **self._several(),
            **({} if self.category is None else {"category": self.category}),
            "expected_change_of_a_count": self.expected_change,
            "mechanism_digest": self.drawn_with.digest,
            "mechanism_delta": str(self.drawn_with.delta),
            "notes": list(self.notes),
            **({} if self.receipt is None else {"receipt": self.receipt}),
        }

    @property
    def _schema(self) -> int:
        if self.other_counts or not self.privacy.usual_persons:
            return SCHEMA_OF_SEVERAL
        return SCHEMA_WITH_GROUPS if self.groups or self.totals else SCHEMA

    def _several(self) -> dict[str, Any]:
        if not self.other_counts:
            return {}
        return {
            "other_counts": list(self.other_counts),
            "given": list(self.given),
            "later": list(self.later),
        }

    def _groups_and_totals(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.groups is not None:
            found["within"] = self.groups.within.to_dict() | {"groups": len(self.groups)}
        if self.totals is not None:
            whole = self.totals.whole
            alone = self.totals.measured[0] if self.groups is None else self.totals.measured_whole
            found["totals"] = {
                "total": whole.value,
                "low": whole.low,
                "high": whole.high,
                "level": str(whole.level),
                "measured": alone,
            }
        return found

    def __repr__(self) -> str:
        warning = "SIMULATION, protects nobody; " if self.privacy.simulated else ""
        return (
            f"{type(self).__name__}({warning}{self.rows} rows, counts 0 to "
            f"{len(self.target) - 1}, {self.privacy.promise} promised, "
            f"{float(self.privacy.certified_epsilon):.6g} certified)"
        )
