"""What stage 1 measured: as many integers as it must have, and z again from them.

The estimates and projections are written here a second time, in fractions. The one exception
is the smooth fit, which is too long to be written twice: it is repeated with the fit that
releases are made with, and left out where that cannot be had.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from holdfast.verify.record import Budget
from holdfast.verify.report import Damage, shown

SKIPPED = "no stage 1"
TOLERANCE = Fraction(1, 10**9)
LARGEST = 1 << 53
UNLIKELY = 200  # Laplace noise goes further than this many scales with a chance of e^-200
OTHER_FIT = 8  # standard deviations of stage 1's noise that another version's fit may be away
Histogram = list[Fraction]


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """How a stage 1 of this package measures and estimates."""

    size: Callable[[int, int], int]
    """How many integers, by n and the branching of a tree."""
    estimate: Callable[[Sequence[int], int, int, int], Histogram]
    """A histogram from them, n, the number of rows and the branching."""
    sensitivity: int | None = None
    """At the most, where the noise is Laplace."""


def check_measurement(
    record: dict[str, Any], target: list[Fraction], tally: list[int], budget: Budget
) -> str:
    """z is what stage 1 makes of the integers that it measured."""
    noisy, name = record["measurement"], record["methods"][0]
    if name == SKIPPED:
        return _check_released(record, target, tally)
    kind, options = _read_method(name)
    if kind is None:
        return f"not repeated: {shown(name, 40)} is unknown here"
    if noisy is None:
        raise Damage("measurement is null, but this stage 1 publishes what it measured.")
    n, rows, branching = record["max_count"] + 1, record["rows"], options.get("branching", 16)
    _check_integers(noisy, kind.size(n, branching), rows, kind.sensitivity, budget)
    if options["projection"] == "smooth":
        return _check_smooth(record, target, budget)
    project = {"clip": _clip, "simplex": _simplex, "isotonic": _isotonic}[options["projection"]]
    _compare(project(kind.estimate(noisy, n, rows, branching), rows), target)
    return f"z is what stage 1 makes of its {len(noisy)} integers, within 1e-9"


def _check_released(record: dict[str, Any], target: list[Fraction], tally: list[int]) -> str:
    if record["measurement"] is not None:
        raise Damage("measurement must be null where there is no stage 1.")
    drawn = [tally[0] - record["structural_zeros"], *tally[1:]]
    _compare([Fraction(rows, record["rows"]) for rows in drawn], target)
    return "no stage 1: z is the distribution of the released counts"


def _check_integers(
    noisy: list[int], size: int, rows: int, sensitivity: int | None, budget: Budget
) -> None:
    if len(noisy) != size:
        raise Damage(f"measurement has {len(noisy)} integers, this stage 1 measures {size}.")
    limit = Fraction(LARGEST)
    if sensitivity is not None and budget.stage_1:
        limit = min(limit, rows + UNLIKELY * sensitivity * budget.steps / budget.stage_1)
    if any(abs(number) > limit for number in noisy):
        raise Damage("measurement holds a number that is further off than noise goes.")


def _compare(found: Sequence[Fraction | float], target: list[Fraction]) -> None:
    for k, (share, stated) in enumerate(zip(found, target, strict=True)):
        if abs(Fraction(share) - stated) > TOLERANCE:
            raise Damage(f"target: the share of count {k} is not what stage 1 measured.")


def _check_smooth(record: dict[str, Any], target: list[Fraction], budget: Budget) -> str:
    """The smooth fit again, by the code that makes releases: see the top of this file."""
    try:
        from holdfast.privatizers.named import repeated_target
    except ImportError:
        return "the right number of integers; the smooth fit is not here to be repeated"
    unit = budget.stage_1 / budget.steps
    method, noisy, n = record["methods"][0], record["measurement"], record["max_count"] + 1
    found = repeated_target(method, noisy, record["rows"], n, unit).tolist()
    try:
        _compare(found, target)
    except Damage:
        if record["holdfast"] == _version():
            raise
        _compare_roughly(record, found, target, unit)
        made = shown(record["holdfast"], 20)
        return (
            f"the right number of integers; not repeated: holdfast {made} fitted otherwise, within "
            f"{OTHER_FIT} standard deviations of the noise"
        )
    return f"z is the smooth fit of its {len(noisy)} integers, within 1e-9"


def _compare_roughly(
    record: dict[str, Any], found: Sequence[float], target: list[Fraction], unit: Fraction
) -> None:
    """Two fits of the same integers differ by less than the noise that both smooth away."""
    from holdfast.privatizers.named import cumulative_deviation

    allowed = cumulative_deviation(record["methods"][0], len(target), unit)
    away = accumulate(float(stated) - share for share, stated in zip(found, target, strict=True))
    for k, (difference, deviation) in enumerate(zip(away, allowed, strict=False)):
        if abs(difference) * record["rows"] > OTHER_FIT * deviation + 1:
            raise Damage(
                f"target: the shares up to count {k} are more than {OTHER_FIT} standard deviations "
                "of the noise away from what stage 1 measured."
            )


def _version() -> str:
    from importlib.metadata import version

    return version("holdfast")


def _read_method(text: str) -> tuple[_Kind | None, dict[str, Any]]:
    """A stage 1 of this package and its options, read without running anything."""
    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None, {}
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None, {}
    options: dict[str, Any] = {
        str(key.arg): key.value.value
        for key in call.keywords
        if isinstance(key.value, ast.Constant)
    }
    known = options.get("projection") in ("clip", "simplex", "isotonic", "smooth")
    branching = options.get("branching", 16)
    if not known or type(branching) is not int or branching < 2:
        return None, {}
    return _KINDS.get(call.func.id), options


def _differences(noisy: Sequence[int], n: int, rows: int, branching: int) -> Histogram:
    ends = [0, *noisy, rows]
    return [Fraction(b - a) for a, b in pairwise(ends)]


def _shifted(noisy: Sequence[int], n: int, rows: int, branching: int) -> Histogram:
    return [number + Fraction(rows - sum(noisy), n) for number in noisy]


def _haar_nodes(n: int) -> list[int]:
    """How many nodes each level has, from the bins up to the root."""
    nodes = [n]
    while nodes[-1] > 1:
        nodes.append(-(-nodes[-1] // 2))
    return nodes


def _wavelet(noisy: Sequence[int], n: int, rows: int, branching: int) -> Histogram:
    """Every node with two halves measured left minus right; the root is the number of rows."""
    sums, end = [Fraction(rows)], len(noisy)
    for nodes in _haar_nodes(n)[-2::-1]:
        pairs = nodes // 2
        parts = noisy[end - pairs : end]
        halves = [
            (total + sign * part) / 2
            for total, part in zip(sums, parts, strict=False)
            for sign in (1, -1)
        ]
        sums, end = halves + sums[pairs:], end - pairs
    return sums


def _tree_sizes(n: int, branching: int) -> list[int]:
    sizes = [n]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // branching))
    return sizes


def _tree(noisy: Sequence[int], n: int, rows: int, branching: int) -> Histogram:
    """The consistent tree that is nearest in least squares; its root is the number of rows."""
    levels: list[tuple[Histogram, Histogram]] = []
    start = 0
    for size in _tree_sizes(n, branching)[:-1]:
        own = [Fraction(number) for number in noisy[start : start + size]]
        variance = [Fraction(1)] * size
        if levels:
            below, spread = (_sums(part, branching) for part in levels[-1])
            variance = [s / (1 + s) for s in spread]
            own = [
                (number * s + b) / (1 + s) for number, b, s in zip(own, below, spread, strict=True)
            ]
        levels.append((own, variance))
        start += size
    fixed = [Fraction(rows)]
    for own, variance in reversed(levels):
        sums, spreads = _sums(own, branching), _sums(variance, branching)
        missing = [
            (total - found) / s for total, found, s in zip(fixed, sums, spreads, strict=True)
        ]
        fixed = [
            number + share * missing[k // branching]
            for k, (number, share) in enumerate(zip(own, variance, strict=True))
        ]
    return fixed


def _sums(values: Histogram, branching: int) -> Histogram:
    """Over the children of each parent."""
    parents = range(0, len(values), branching)
    return [sum(values[k : k + branching], Fraction()) for k in parents]


def _clip(histogram: Histogram, rows: int) -> Histogram:
    kept = [max(number, Fraction(0)) for number in histogram]
    total = sum(kept, Fraction())
    return [number / total for number in kept]


def _simplex(histogram: Histogram, rows: int) -> Histogram:
    ordered = sorted(histogram, reverse=True)
    over = [total - rows for total in accumulate(ordered)]
    kept = max(k for k, number in enumerate(ordered) if (k + 1) * number > over[k])
    return [max(number - over[kept] / (kept + 1), Fraction(0)) / rows for number in histogram]


def _isotonic(histogram: Histogram, rows: int) -> Histogram:
    """Neighbouring cumulative sums that decrease are replaced by their mean, then clamped."""
    blocks: list[tuple[Fraction, int]] = []
    for value in list(accumulate(histogram))[:-1]:
        total, length = value, 1
        while blocks and blocks[-1][0] * length >= total * blocks[-1][1]:
            before = blocks.pop()
            total, length = total + before[0], length + before[1]
        blocks.append((total, length))
    fitted = [total / length for total, length in blocks for _ in range(length)]
    ends = [
        Fraction(0),
        *(min(max(c, Fraction(0)), Fraction(rows)) for c in fitted),
        Fraction(rows),
    ]
    return [(b - a) / rows for a, b in pairwise(ends)]


_LAPLACE = _Kind(sensitivity=1, size=lambda n, branching: n - 1, estimate=_differences)
_GAUSSIAN = _Kind(size=lambda n, branching: n - 1, estimate=_differences)
_KINDS = {
    "CumulativeSmooth": _LAPLACE,
    "CumulativeIsotonic": _LAPLACE,
    "CyclicLaplace": _LAPLACE,
    "CumulativeGaussian": _GAUSSIAN,
    "CyclicGaussian": _GAUSSIAN,
    "ClassicLaplace": _Kind(sensitivity=2, size=lambda n, branching: n, estimate=_shifted),
    "Privelet": _Kind(
        sensitivity=64,
        size=lambda n, branching: sum(nodes // 2 for nodes in _haar_nodes(n)[:-1]),
        estimate=_wavelet,
    ),
    "Hierarchical": _Kind(
        sensitivity=64,
        size=lambda n, branching: sum(_tree_sizes(n, branching)[:-1]),
        estimate=_tree,
    ),
}
