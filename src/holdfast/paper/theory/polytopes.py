"""The polytopes U, F, R_U and R_F: their constraints, and what a matrix outside breaks."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError, whole_number
from holdfast.paper.theory.epsilon import Array, Number, growth, is_exact, numbers, zeros
from holdfast.paper.theory.scales import scale_matrix

NAMES = ("F", "U", "R_F", "R_U")
TOLERANCE = 1e-9  # relative, for floats; exact numbers have none


@dataclass(frozen=True, kw_only=True, eq=False)
class Polytope:
    """One of the four polytopes, for one n, z and ε."""

    name: str
    """F, U, R_F or R_U."""
    n: int
    """How many counts there are."""
    z: Array | None
    """The fixed point; None for U and R_U."""
    epsilon: Any
    """The budget."""

    @property
    def exact(self) -> bool:
        """Whether all numbers are Fractions."""
        return is_exact(self.epsilon)

    @property
    def grow(self) -> Number:
        """e^ε."""
        return growth(self.epsilon)

    @property
    def of_representations(self) -> bool:
        """Whether its elements are matrices B rather than T."""
        return self.name in ("R_F", "R_U")

    @property
    def tolerance(self) -> float:
        """What a constraint may be broken by, relatively: 0 for exact numbers."""
        return 0 if self.exact else TOLERANCE


def polytope(name: str, *, n: int | None = None, z: Any = None, epsilon: Any) -> Polytope:
    """The polytope with this name. F and R_F need `z`; U and R_U take `n`, or z's length.

    >>> polytope("F", z=[0.5, 0.25, 0.25], epsilon=1).n
    3
    """
    if name not in NAMES:
        raise HoldfastError(f"the polytope must be one of {', '.join(NAMES)}, got {name!r:.20}.")
    growth(epsilon)
    fixed = name in ("F", "R_F")
    if z is None and (fixed or n is None):
        raise HoldfastError(f"{name} needs `{'z' if fixed else 'n'}`.")
    target = None if z is None else _check_z(z, epsilon)
    size = len(target) if target is not None else n
    if size is None or size < 1:
        raise HoldfastError(f"`n` must be at least 1, got {n}.")
    if n is not None and n != size:
        raise HoldfastError(f"`n` is {n}, but `z` has {size} entries.")
    return Polytope(name=name, n=size, z=target if fixed else None, epsilon=epsilon)


def constraint_matrix(n: int, epsilon: Any) -> Array:
    r"""Π, (2n-2) x n, with rows $\pi_0^-, \pi_0^+, \pi_1^-, …$; v is private iff Πv ≤ 0.

    >>> from holdfast.paper.theory import log, show
    >>> print(show(constraint_matrix(2, log(2))))
    -1 1/2
     1  -2
    """
    whole_number(n, "n", least=1)
    grow, matrix = growth(epsilon), zeros((2 * n - 2, n), is_exact(epsilon))
    for i in range(n - 1):
        matrix[2 * i, i], matrix[2 * i, i + 1] = -1 * grow**0, 1 / grow
        matrix[2 * i + 1, i], matrix[2 * i + 1, i + 1] = grow**0, -grow
    return matrix


def is_indistinguishable(vector: Any, epsilon: Any) -> bool:
    """Whether neighbouring entries differ by a factor of at most e^ε.

    >>> from holdfast.paper.theory import log
    >>> is_indistinguishable([1, 2, 1], log(2)), is_indistinguishable([1, 3, 1], log(2))
    (True, False)
    """
    return broken_step(numbers(vector, epsilon, "vector"), epsilon) is None


def broken_step(v: Array, epsilon: Any) -> tuple[int, int] | None:
    """The first (higher, lower) pair of neighbouring rows that break the privacy bound."""
    grow, slack = growth(epsilon), 0 if is_exact(epsilon) else TOLERANCE
    for i in range(len(v) - 1):
        for high, low in ((i, i + 1), (i + 1, i)):
            if v[high] - grow * v[low] > slack * abs(v[high]):
                return high, low
    if len(v) and min(v) < 0:
        return int(np.argmin(v)), int(np.argmin(v))
    return None


def why_not(matrix: Any, name: str, *, z: Any = None, epsilon: Any) -> str | None:
    """Which constraint keeps `matrix` out of the polytope, and where; None if it is inside.

    >>> from holdfast.paper.theory import log
    >>> why_not([[1, 0], ["1/3", "2/3"]], "U", epsilon=log(2))
    'U: column 0 breaks π⁺_0: T[0, 0] = 1 is more than 2 times T[1, 0] = 1/3.'
    >>> why_not([["1/2", "1/2"]] * 2, "F", z=["1/3", "2/3"], epsilon=log(2))
    'F: column 0 breaks the fixed point: z·T_0 = 1/2, but z_0 = 1/3.'
    >>> why_not([["1/2", "1/2"]] * 2, "U", epsilon=log(2)) is None
    True
    """
    entries = numbers(matrix, epsilon, "matrix")
    if entries.ndim != 2:
        raise HoldfastError("`matrix` must have rows and columns.")
    where = polytope(name, n=entries.shape[1], z=z, epsilon=epsilon)
    reason = _why_not(entries, where)
    return None if reason is None else f"{name}: {reason}"


def is_member(matrix: Any, name: str, *, z: Any = None, epsilon: Any) -> bool:
    """Whether `matrix` is in the polytope with this name."""
    return why_not(matrix, name, z=z, epsilon=epsilon) is None


def check_member(matrix: Any, where: Polytope) -> Array:
    """The entries of an element of the polytope; raises with the constraint that it breaks."""
    entries = numbers(matrix, where.epsilon, "matrix")
    reason = _why_not(entries, where)
    if reason is not None:
        raise HoldfastError(f"not in {where.name}: {reason}")
    return entries


def _why_not(entries: Array, where: Polytope) -> str | None:
    n = where.n
    rows = 2 ** (n - 1) if where.of_representations else n
    if entries.shape != (rows, n):
        return f"it must be {rows} x {n}, and is {' x '.join(map(str, entries.shape))}."
    if where.of_representations:
        if (entries < -where.tolerance).any():
            i, j = np.argwhere(entries < -where.tolerance)[0]
            return f"B[{i}, {j}] = {entries[i, j]} is negative."
        return broken_sum(scale_matrix(n, where.epsilon) @ entries, where, "ΨB")
    return _broken_column(entries, where) or broken_sum(entries, where, "T")


def _broken_column(matrix: Array, where: Polytope) -> str | None:
    for j in range(where.n):
        broken = broken_step(matrix[:, j], where.epsilon)
        if broken is None:
            continue
        high, low = broken
        if high == low:
            return f"T[{high}, {j}] = {matrix[high, j]} is negative."
        sign = "⁺" if high < low else "⁻"
        return (
            f"column {j} breaks π{sign}_{min(broken)}: T[{high}, {j}] = {matrix[high, j]} is "
            f"more than {where.grow} times T[{low}, {j}] = {matrix[low, j]}."
        )
    return None


def broken_sum(matrix: Array, where: Polytope, letter: str) -> str | None:
    """Which row sum or which entry of the fixed point the matrix misses, if any."""
    for i, total in enumerate(matrix.sum(axis=1)):
        if abs(total - 1) > where.tolerance:
            return f"row {i} of {letter} sums to {total}, not to 1."
    if where.z is not None:
        for j, kept in enumerate(where.z @ matrix):
            if abs(kept - where.z[j]) > where.tolerance:
                return (
                    f"column {j} breaks the fixed point: z·{letter}_{j} = {kept}, "
                    f"but z_{j} = {where.z[j]}."
                )
    return None


def _check_z(z: Any, epsilon: Any) -> Array:
    target = numbers(z, epsilon, "z")
    slack = 0 if is_exact(epsilon) else TOLERANCE
    if target.ndim != 1 or len(target) == 0 or min(target) < 0 or abs(target.sum() - 1) > slack:
        raise HoldfastError("`z` must be a probability distribution: it must sum to 1.")
    return target
