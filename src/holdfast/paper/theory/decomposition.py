"""Lemma 1, made constructive: a private column as a sum of at most n scales."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.paper.constructors.construction import Representation
from holdfast.paper.theory.epsilon import Array, Number, growth, is_exact, numbers, zeros
from holdfast.paper.theory.polytopes import broken_step
from holdfast.paper.theory.scales import (
    Pattern,
    check_pattern,
    heights,
    pattern_at,
    pattern_index,
    powers,
    scale,
    single_peaked,
)

NEGLIGIBLE = 1e-14  # a float step this close to its bound, relatively, is bound
Piece = tuple[int, Pattern, Number]


@dataclass(frozen=True, kw_only=True, eq=False)
class Decomposition:
    """A representation matrix B, kept sparse: pieces (column, pattern, amount), ΨB = T."""

    n: int
    """Rows and columns of T."""
    epsilon: Any
    """The budget of the scales."""
    pieces: tuple[Piece, ...]
    """Every positive entry of B: its column, its scale's pattern, and the entry."""

    def __len__(self) -> int:
        return len(self.pieces)

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)

    def matrix(self) -> Array:
        """T = ΨB."""
        total = zeros((self.n, self.n), is_exact(self.epsilon))
        for column, pattern, amount in self.pieces:
            total[:, column] += amount * scale(pattern, self.epsilon)
        return total

    def dense(self) -> Array:
        """B itself, 2^(n-1) x n, its rows ordered as `scale_matrix` orders the scales."""
        b = zeros((2 ** (self.n - 1), self.n), is_exact(self.epsilon))
        for column, pattern, amount in self.pieces:
            b[pattern_index(pattern), column] += amount
        return b


def from_dense(representation: Any, epsilon: Any) -> Decomposition:
    """The pieces of a representation matrix B."""
    b = numbers(representation, epsilon, "representation")
    if b.ndim != 2 or b.shape[0] != 2 ** (b.shape[1] - 1):
        raise HoldfastError("`representation` must have n columns and 2^(n-1) rows.")
    n = b.shape[1]
    entries = np.argwhere(b != 0)[:, ::-1].tolist()
    pieces = ((j, pattern_at(u, n), b[u, j]) for j, u in sorted(entries))
    return Decomposition(n=n, epsilon=epsilon, pieces=tuple(pieces))


def as_decomposition(representation: Any, epsilon: Any) -> Decomposition:
    """Pieces, from pieces, a dense B, or a float `Representation` of a constructor."""
    if isinstance(representation, Decomposition):
        own = representation.epsilon
        if is_exact(own) != is_exact(epsilon) or growth(own) != growth(epsilon):
            raise HoldfastError(f"`epsilon` is {epsilon}, but the pieces are at {own}.")
        return merged(representation)
    if isinstance(representation, Representation):
        if is_exact(epsilon):
            raise HoldfastError("a constructor's amounts are floats. Hint: `exact_amounts`.")
        pieces = tuple((int(j), check_pattern(p.tolist()), float(a)) for j, p, a in representation)
        n = len(representation.bound_from) + 1
        return merged(Decomposition(n=n, epsilon=epsilon, pieces=pieces))
    return from_dense(representation, epsilon)


def merged(parts: Decomposition, zero: float = 0) -> Decomposition:
    """The entries of B that are not zero (in size above `zero`), each as one piece."""
    total: dict[tuple[int, Pattern], Number] = {}
    for column, pattern, amount in parts:
        place = (column, check_pattern(pattern))
        total[place] = total[place] + amount if place in total else amount
    pieces = tuple(
        (*place, amount) for place, amount in total.items() if not -zero <= amount <= zero
    )
    return Decomposition(n=parts.n, epsilon=parts.epsilon, pieces=pieces)


def decompose(matrix: Any, epsilon: Any) -> Decomposition:
    """A representation B of T: every column split by `decompose_column`, peaked at itself.

    >>> from holdfast.paper.theory import log, show
    >>> parts = decompose([["2/5", "3/5"], ["3/5", "2/5"]], log(2))
    >>> print(show(parts.dense()))
    1/5 4/5
    4/5 1/5
    >>> print(show(parts.matrix()))
    2/5 3/5
    3/5 2/5
    """
    entries = numbers(matrix, epsilon, "matrix")
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
        raise HoldfastError("`matrix` must be square.")
    n = len(entries)
    pieces = tuple(
        (j, pattern, amount)
        for j in range(n)
        for pattern, amount in decompose_column(entries[:, j], epsilon, peak=j, name=f"column {j}")
    )
    return Decomposition(n=n, epsilon=epsilon, pieces=pieces)


def decompose_column(
    column: Any, epsilon: Any, *, peak: int = 0, name: str = "the column"
) -> list[tuple[Pattern, Number]]:
    """At most n scales (pattern, amount) that add up to an indistinguishable column; O(n^2).

    Takes away as much as it can of the scale that has a peak at row `peak`, except that it
    follows the column where a privacy bound holds with equality already. Then one more bound
    holds, and stays; once all n - 1 do, the rest is a multiple of a scale.

    >>> from holdfast.paper.theory import log
    >>> decompose_column([1, 1, 1], log(2))
    [((-1, -1), Fraction(7, 6)), ((1, -1), Fraction(2, 3)), ((1, 1), Fraction(7, 6))]
    """
    r = numbers(column, epsilon, name)
    broken = broken_step(r, epsilon)
    if broken is not None:
        raise HoldfastError(f"{name} is not ε-neighbour indistinguishable at row {min(broken)}.")
    n, grow = len(r), growth(epsilon)
    steps = list(single_peaked(n, peak))
    bound = [False] * (n - 1)
    pieces: list[tuple[Pattern, Number]] = []
    while r.any():
        _bind(r, grow, steps, bound)
        r = _along_bound_steps(r, steps, bound, epsilon)
        s = powers(heights(steps), epsilon)
        limits = [
            (_slack(r, grow, i, steps) / _slack(s, grow, i, steps), i)
            for i in range(n - 1)
            if not bound[i]
        ]
        top = int(np.argmax(s))
        q, last = min(limits, default=(r[top] / s[top], None))
        if q > 0:  # rounding can leave a float step just beyond its bound
            pieces.append((tuple(steps), q * s.sum()))
            r = r - q * s
        if last is None:
            break
        steps[last], bound[last] = -steps[last], True
    return pieces


def _slack(r: Array, grow: Number, step: int, steps: Sequence[int]) -> Number:
    """How far r is from the bound that taking away a scale with these steps runs into."""
    low, high = (step, step + 1) if steps[step] == 1 else (step + 1, step)
    return grow * r[high] - r[low]  # type: ignore[no-any-return]


def _bind(r: Array, grow: Number, steps: list[int], bound: list[bool]) -> None:
    """Mark the steps of r that are at a bound, and let the scale follow them."""
    negligible = 0 if isinstance(grow, Fraction) else NEGLIGIBLE
    for i in range(len(bound)):
        if not bound[i]:
            for rise in (1, -1):
                if _slack(r, grow, i, [-rise] * len(steps)) <= negligible * max(r[i], r[i + 1]):
                    steps[i], bound[i] = rise, True


def _along_bound_steps(r: Array, steps: list[int], bound: list[bool], epsilon: Any) -> Array:
    """r with every run of bound steps derived from its top row; changes floats only."""
    if is_exact(epsilon):
        return r
    for first, last in runs(bound):
        h = heights(steps[first:last])
        r[first : last + 1] = r[first + int(np.argmax(h))] * powers(h, epsilon)
    return r


def runs(bound: Iterable[bool]) -> list[tuple[int, int]]:
    """The maximal runs of rows (first, last) that bound steps join.

    >>> runs([True, False, True])
    [(0, 1), (2, 3)]
    """
    segments, first, last = [], 0, 0
    for i, joined in enumerate(bound):
        if not joined:
            segments.append((first, i))
            first = i + 1
        last = i + 1
    return [*segments, (first, last)]
