"""Patterns and ε-scales: the building blocks of every private count mechanism."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from holdfast.errors import HoldfastError, whole_number
from holdfast.paper.theory.epsilon import Array, growth, is_exact, numbers

Pattern = tuple[int, ...]
"""n - 1 steps: +1 where the scale rises, -1 where it falls."""
LARGEST_N = 16  # Ψ has 2^(n-1) columns


def patterns(n: int) -> Iterator[Pattern]:
    """All 2^(n-1) patterns, in the order in which Ψ has their scales.

    >>> list(patterns(3))
    [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    """
    whole_number(n, "n", least=1)
    return product((-1, 1), repeat=n - 1)


def pattern_index(pattern: Sequence[int]) -> int:
    """The column of Ψ that has this pattern.

    >>> [pattern_index(pattern) for pattern in patterns(3)]
    [0, 1, 2, 3]
    """
    index = 0
    for step in check_pattern(pattern):
        index = 2 * index + (step == 1)
    return index


def pattern_at(index: int, n: int) -> Pattern:
    """The pattern of column `index` of Ψ."""
    return tuple(1 if index >> (n - 2 - i) & 1 else -1 for i in range(n - 1))


def check_pattern(pattern: Sequence[int]) -> Pattern:
    """The pattern as a tuple of +1 and -1; raises for anything else."""
    steps = tuple(int(step) for step in pattern)
    if not set(steps) <= {-1, 1}:
        raise HoldfastError(f"`pattern` must hold +1 and -1 only, got {steps!r:.60}.")
    return steps


def single_peaked(n: int, peak: int) -> Pattern:
    """The pattern that rises up to row `peak` and falls after it.

    >>> single_peaked(4, 1)
    (1, -1, -1)
    """
    if not 0 <= peak < n:
        raise HoldfastError(f"`peak` must be a row from 0 to {n - 1}, got {peak}.")
    return (1,) * peak + (-1,) * (n - 1 - peak)


def scale(pattern: Sequence[int], epsilon: Any) -> Array:
    r"""The ε-scale with this pattern: $s_{i+1} = s_i e^{\epsilon p_i}$, $\sum_i s_i = 1$.

    >>> print(*scale((1, -1), "0.6931471805599453"))
    0.25 0.5 0.25
    """
    s = powers(heights(check_pattern(pattern)), epsilon)
    return np.asarray(s / s.sum())


def heights(pattern: Sequence[int]) -> list[int]:
    """log(s_i / max s) / ε: integers up to 0."""
    rows = [0]
    for step in pattern:
        rows.append(rows[-1] + step)
    top = max(rows)
    return [row - top for row in rows]


def powers(exponents: Sequence[int], epsilon: Any) -> Array:
    """e^(ε h) for every exponent h."""
    grow = growth(epsilon)
    return np.array([grow**h for h in exponents], dtype=object if is_exact(epsilon) else float)


def pattern_of(vector: Any, epsilon: Any, *, tolerance: float = 1e-9) -> Pattern:
    """The pattern of a positive multiple of an ε-scale; raises where a step is not one.

    >>> from holdfast.paper.theory import log
    >>> pattern_of([3, 6, 12], log(2))
    (1, 1)
    """
    s, grow = numbers(vector, epsilon, "vector"), growth(epsilon)
    slack = 0 if is_exact(epsilon) else tolerance
    steps = []
    for i in range(len(s) - 1):
        rise = [abs(s[i + 1] - grow * s[i]), abs(s[i] - grow * s[i + 1])]
        if min(rise) > slack * abs(s[i]) or s[i] <= 0:
            raise HoldfastError(
                f"not a multiple of an ε-scale: from row {i} to row {i + 1} it goes from "
                f"{s[i]} to {s[i + 1]}, not up or down by the factor {grow}."
            )
        steps.append(1 if rise[0] < rise[1] else -1)
    return tuple(steps)


def scale_matrix(n: int, epsilon: Any) -> Array:
    """Ψ: the n x 2^(n-1) matrix of all ε-scales, ordered as `patterns(n)`.

    >>> from holdfast.paper.theory import log, show
    >>> print(show(scale_matrix(3, log(2))))
    4/7 2/5 1/4 1/7
    2/7 1/5 1/2 2/7
    1/7 2/5 1/4 4/7
    """
    whole_number(n, "n", least=1, most=LARGEST_N, hint="Ψ has 2^(n-1) columns.")
    return np.stack([scale(pattern, epsilon) for pattern in patterns(n)], axis=1)


def peaked_matrix(n: int, epsilon: Any) -> Array:
    """Σ: column l is the single-peaked scale at row l."""
    whole_number(n, "n", least=1)
    return np.stack([scale(single_peaked(n, peak), epsilon) for peak in range(n)], axis=1)


def peaked_weights(n: int, epsilon: Any) -> Array:
    r"""ω: how much of each single-peaked scale makes all rows sum to one, Σω = 1.

    With $\alpha = e^{-\epsilon}$ and $Z_l = \sum_i \alpha^{|i-l|}$ it is
    $\omega_l = Z_l (1-\alpha)/(1+\alpha)$, and $Z_l/(1+\alpha)$ at both ends. (The paper
    prints other constants; those do not give Σω = 1.)

    >>> from holdfast.paper.theory import log
    >>> print(*peaked_weights(3, log(2)))
    7/6 2/3 7/6
    """
    one = Fraction(1) if is_exact(epsilon) else 1.0
    if n == 1:
        return np.array([one])
    alpha = 1 / growth(epsilon)
    totals = [powers([-abs(i - peak) for i in range(n)], epsilon).sum() for peak in range(n)]
    ends = (0, n - 1)
    return np.array(
        [z / (1 + alpha) * (one if j in ends else one - alpha) for j, z in enumerate(totals)]
    )


def walk(pattern: Sequence[int], epsilon: Any) -> str:
    """The scale as a walk: each step goes up or down by the same factor e^ε.

    >>> from holdfast.paper.theory import log
    >>> walk((1, 1, -1), log(2))
    '1/9 up 2/9 up 4/9 down 2/9'
    """
    rows = [f"{s}" if is_exact(epsilon) else f"{s:.4g}" for s in scale(pattern, epsilon)]
    steps = ["up" if step == 1 else "down" for step in check_pattern(pattern)]
    return " ".join(word for pair in zip(["", *steps], rows, strict=True) for word in pair).strip()
