r"""The law of two true counts together, from what was released of both.

A released pair (j, l) comes from a true pair (i, k) with probability $T_{ij} S_{kl}$: both columns
were drawn by themselves, the second by the mechanism of the class that the first one's released
count is in, where the relation between them is kept. So the law P of true pairs has the likelihood

$$\sum_{rows} \log \sum_{i,k} P_{ik} T_{ij} S_{kl},$$

which expectation and maximisation climbs: every step gives each row's pair its law under P, and
takes the mean of these laws as the next P.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.analysis.known_zeros import known_share
from holdfast.former.mechanism.mechanism import Mechanism
from holdfast.former.release.row_marks import row_kinds

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

STEPS = 200
MOST_CELLS = 200_000
LEAST = 1e-6  # of a pair's law at the start: what begins with 0 stays there


@dataclass(frozen=True, kw_only=True, eq=False)
class Channel:
    """What the released count of each row says of its true one."""

    likelihood: Floats = field(repr=False)
    """A column for each kind of row: how likely every true count makes what was released."""
    kinds: Integers = field(repr=False)
    """The kind of each row."""
    shown: Integers = field(repr=False)
    """The released count of each kind."""
    groups: Integers = field(repr=False)
    """The group whose mechanism drew it, by number; -1 for rows publicly known to be zero."""
    laws: Floats = field(repr=False)
    """For each kind, the law that the released counts of its group were to have."""
    prior: Floats = field(repr=False)
    """z."""

    def of(self, rows: Any) -> "Channel":
        """Of some rows."""
        return replace(self, kinds=self.kinds[rows])


def check_room_for_pairs(*sizes: int) -> None:
    """Refuse numbers of counts whose pairs are too many."""
    largest = sorted(sizes)[-2:]
    if largest[0] * largest[-1] > MOST_CELLS:
        raise HoldfastError(
            "two counts over such long ranges cannot be set beside each other. Hint: max_count "
            f"times max_count may be {MOST_CELLS:,}; with more, set the tables that `impute` gives "
            "of each column beside each other."
        )


def channel_of(release: "Release") -> Channel:
    """The channel of a column of counts, whatever mechanisms drew it."""
    if known_share(release):
        raise HoldfastError(
            "this bundle does not tell which rows are publicly known to be zero, so its counts "
            "cannot be set beside others."
        )
    n = len(release.target)
    seen, kinds = np.unique(row_kinds(release), return_inverse=True)
    likelihood, laws = np.zeros((n, len(seen))), np.zeros((len(seen), n))
    for place, kind in enumerate(seen.tolist()):
        group, count = divmod(kind, n + 1)
        if count == n:  # publicly known to be zero
            likelihood[0, place] = laws[place, 0] = 1
            continue
        drawn, _ = drawn_by(release, group)
        laws[place] = (
            release.target if release.groups is None else release.groups.at(group).released
        )
        likelihood[:, place] = np.maximum(drawn.expected(np.eye(1, n, count)[0]), 0.0)
    groups, counts = np.divmod(seen, n + 1)
    return Channel(
        likelihood=likelihood,
        kinds=kinds,
        shown=np.where(counts < n, counts, 0),
        groups=np.where(counts < n, groups, -1),
        laws=laws,
        prior=release.target,
    )


def drawn_by(release: "Release", group: int) -> tuple[Mechanism, Floats]:
    """What drew the rows of a group, and z of the group."""
    if release.groups is None:
        return release.mechanism, release.target
    found = release.groups.at(group)
    return found.mechanism, found.target


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Which pairs of kinds of rows occur, how often, and what they say of true counts."""

    one: Channel
    other: Channel
    first: Integers = field(repr=False)
    """The kind of each pair in the first column, in rising order."""
    second: Integers = field(repr=False)
    """The kind in the other one."""
    rows: Floats = field(repr=False)
    """How many rows have each pair."""

    @staticmethod
    def of(one: Channel, other: Channel) -> "Pairs":
        """Of two columns of the same rows."""
        check_room_for_pairs(len(one.likelihood), len(other.likelihood))
        kinds = other.likelihood.shape[1]
        seen, rows = np.unique(one.kinds * kinds + other.kinds, return_counts=True)
        first, second = np.divmod(seen, kinds)
        return Pairs(one=one, other=other, first=first, second=second, rows=rows.astype(np.float64))

    @property
    def start(self) -> Floats:
        """What is known before pairs are looked at: the first count's z, and for each of its values
        the law that the second was drawn to have beside it. That is z too where columns were drawn
        apart."""
        given = np.zeros((len(self.one.prior), len(self.other.prior)))
        np.add.at(
            given, self.one.shown[self.first], self.rows[:, None] * self.other.laws[self.second]
        )
        rows = given.sum(axis=1)
        seen = np.flatnonzero(rows > 0)
        nearest = seen[np.abs(np.arange(len(rows))[:, None] - seen).argmin(axis=1)]
        law = (self.one.prior + LEAST)[:, None] * (given[nearest] / rows[nearest, None] + LEAST)
        return np.asarray(law / law.sum())

    def fit(self, start: Floats, *, held: float = 0.0, steps: int = STEPS) -> Floats:
        """The law that makes what was released likely; `held` is how many rows the law that it
        starts from is worth beside them."""
        return np.asarray(self.fits(self.rows[None], start, held=held, steps=steps)[0])

    def fits(self, rows: Floats, start: Floats, *, held: float, steps: int = STEPS) -> Floats:
        """The same where pairs have other numbers of rows, a line for each time."""
        a, b = self.one.likelihood, self.other.likelihood.T[self.second]
        present, begins = np.unique(self.first, return_index=True)
        place = np.searchsorted(present, self.first)
        a = np.ascontiguousarray(a[:, present])
        law = np.broadcast_to(start, (len(rows), *start.shape))
        total = rows.sum(axis=1)[:, None, None] + held
        for _ in range(steps):
            expected = np.einsum("tpk,pk->tp", (a.T @ law)[:, place], b)
            ratio = rows / np.maximum(expected, 1e-300)
            back = np.add.reduceat(ratio[:, :, None] * b, begins, axis=1)
            law = (law * (a @ back) + held * start) / total
        return np.asarray(law)
