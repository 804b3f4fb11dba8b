"""A mechanism for each group of rows: one certificate over all, one draw for all."""

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from holdfast.arrays import Floats, Integers
from holdfast.errors import CertificateError, HoldfastError
from holdfast.former.mechanism.curves import Curves
from holdfast.former.mechanism.mechanism import Certificate, Certified, Mechanism
from holdfast.former.mechanism.sampling import Sampler, drawn_in_batches
from holdfast.former.privacy.randomness import Randomness


class GroupedMechanism(Certified):
    """Certified mechanisms made of curves, and which group has which.

    A row goes through the mechanism of its group alone, and which group that is is public. So its
    privacy loss is that of one mechanism, and the certificate is the worst of all
    (docs/groups.md). Groups with the same target share one.

    >>> from holdfast.former.constructors import Optimal
    >>> parts = [Optimal()(z, epsilon=1).mechanism for z in ([0.9, 0.1], [0.5, 0.5])]
    >>> grouped = GroupedMechanism(parts, [0, 1, 1])
    >>> grouped.groups, grouped[2] is parts[1], grouped.certified_epsilon <= 1
    (3, True, True)
    """

    parts: tuple[Mechanism, ...]
    """The mechanisms that differ."""
    index: Integers
    """Which of them each group has."""
    epsilon: Fraction
    """Declared: the privacy loss for a change of one in one count of any group."""
    certificate: Certificate
    """The worst of all."""
    worst_group: int
    """The first group that has it."""
    digest: str
    """SHA-256 of all integers, which group has which, and epsilon."""

    def __init__(self, parts: Sequence[Mechanism], index: ArrayLike) -> None:
        which = np.array(index, dtype=np.int64)
        which.setflags(write=False)
        _check(parts, which)
        worst = max(range(len(parts)), key=lambda k: _ratio(parts[k]))
        vars(self).update(
            parts=tuple(parts),
            index=which,
            epsilon=parts[0].epsilon,
            certificate=parts[worst].certificate,
            worst_group=int(np.flatnonzero(which == worst)[0]),
            digest=_digest(parts, which),
        )

    def __reduce__(self) -> Any:
        """Pickled as its parts, so that a copy is certified before it exists."""
        return GroupedMechanism, (self.parts, self.index)

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, group: int) -> Mechanism:
        return self.parts[int(self.index[group])]

    @property
    def groups(self) -> int:
        """How many there are."""
        return len(self.index)

    @property
    def delta(self) -> Fraction:
        """0: pure differential privacy."""
        return Fraction(0)

    def verify(self) -> None:
        """Repeat all certificates on the integers as they are now; raise if anything changed."""
        for part in self.parts:
            Mechanism.verify(part)
        if _digest(self.parts, self.index) != self.digest:
            raise CertificateError("the mechanism was changed after it was certified.")

    @property
    def sources(self) -> Floats:
        """The law of the true counts of each group, as rows."""
        return np.array([source_of(part) for part in self.parts])[self.index]

    @property
    def targets(self) -> Floats:
        """The law of the released counts of each group, as rows; mostly that of the true ones."""
        return np.array([part.target for part in self.parts])[self.index]

    def count_errors(self, error: Any = "absolute") -> Floats:
        """Expected count error in each group, for counts distributed as its source."""
        errors = [part.count_error(source_of(part), error) for part in self.parts]
        return np.array(errors)[self.index]

    def __repr__(self) -> str:
        return (
            f"GroupedMechanism({self.groups} groups, n={len(self)}, "
            f"epsilon={float(self.epsilon):g}, "
            f"certified_epsilon={float(self.certified_epsilon):.6g})"
        )


class GroupedSampler:
    """A certified mechanism for each group, ready to draw; all certificates are repeated first.

    With u uniform in [0, 2^62) for every row, in row order, the released count is the first whose
    cumulative weight exceeds u.
    """

    def __init__(self, mechanism: GroupedMechanism) -> None:
        if type(mechanism) is not GroupedMechanism:
            raise CertificateError("only a certified mechanism can be sampled.")
        GroupedMechanism.verify(mechanism)
        curves = [_curves(part) for part in mechanism.parts]
        self._index = mechanism.index
        self._curves = (
            np.stack([one.turns for one in curves]),
            np.stack([one.heights for one in curves]),
            np.stack([np.cumsum(one.floors) for one in curves]),
            np.array([one.keep for one in curves], dtype=np.int64),
            curves[0].powers,
        )

    def __call__(self, counts: Integers, groups: Integers, source: Randomness) -> Integers:
        """One independent draw per count, each by the mechanism of its group."""
        from holdfast.former.mechanism.curve_kernel import draw_by_group

        which = self._index[groups]

        def batch(part: slice, drawn: Integers) -> None:
            bits = source.bits_62(len(drawn))
            draw_by_group(*self._curves, which[part], counts[part], drawn, bits)

        return drawn_in_batches(len(counts), source, batch)


class RowSampler:
    """Either kind of mechanism, ready to draw: one for all rows, or one for each group."""

    def __init__(self, mechanism: Mechanism | GroupedMechanism) -> None:
        self._draw: Sampler | GroupedSampler = (
            GroupedSampler(mechanism)
            if isinstance(mechanism, GroupedMechanism)
            else Sampler(mechanism)
        )

    def __call__(self, counts: Integers, groups: Integers | None, source: Randomness) -> Integers:
        """One independent draw per count, by the mechanism of its group where there are groups."""
        if isinstance(self._draw, Sampler):
            return self._draw(counts, source)
        if groups is None:
            raise HoldfastError("which group a row is in is not known.")
        return self._draw(counts, groups, source)


def _check(parts: Sequence[Mechanism], which: Integers) -> None:
    if not parts or any(type(part) is not Mechanism for part in parts):
        raise CertificateError("every group needs a holdfast.Mechanism.")
    alike = {(part.epsilon, part.delta, len(part)) for part in parts}
    plain = all(part.curves is not None and not part.curves.lift for part in parts)
    if len(alike) > 1 or parts[0].delta or not plain:  # they are drawn from without a lift
        raise CertificateError("all groups need curves for one epsilon and one max_count.")
    if any(part.target is None for part in parts):
        raise CertificateError("every group's mechanism must be for the group's distribution.")
    if which.ndim != 1 or not np.array_equal(np.unique(which), np.arange(len(parts))):
        raise CertificateError("`index` must name a mechanism for every group, and each of them.")


def source_of(part: Mechanism) -> Floats:
    """The law of the true counts that a mechanism is for."""
    law = part.target if part.source is None else part.source
    if law is None:
        raise CertificateError("every group's mechanism must be for the group's distribution.")
    return law


def _ratio(part: Mechanism) -> Fraction:
    worst = part.certificate.worst
    return Fraction(1) if worst is None else Fraction(worst[0], worst[1])


def _curves(part: Mechanism) -> Curves:
    if part.curves is None or part.curves.lift:
        raise CertificateError("all groups need curves of pure epsilon.")
    return part.curves


def _digest(parts: Sequence[Mechanism], index: Integers) -> str:
    words = f"holdfast groups n={len(parts[0])} groups={len(index)} epsilon={parts[0].epsilon}\n"
    digest = hashlib.sha256(words.encode())
    digest.update(index.astype("<i8", copy=False).data)
    for part in parts:
        curves = _curves(part)
        for array in (curves.turns, curves.heights, curves.floors):
            digest.update(array.astype("<i8", copy=False).data)
    return digest.hexdigest()
