"""What stage 1 measured: as many integers as it must have, and z again from them.

The estimates and projections are written here a second time, in fractions. The exceptions are the
smooth fit and that of long ranges, which are too long to be written twice: they are repeated with
the fits that releases are made with.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.former.verify.borrowed import made_here, repeating
from holdfast.former.verify.mechanism import Floats
from holdfast.former.verify.methods import read_method
from holdfast.former.verify.record import Budget, check_certified
from holdfast.former.verify.report import Damage, Found, shown

SKIPPED = "no stage 1"
TOLERANCE = Fraction(1, 10**9)
NEARLY = 0.9e-9
LARGEST = 1 << 53
UNLIKELY = 200  # Laplace noise goes further than this many scales with a chance of e^-200
OTHER_FIT = 8  # standard deviations of stage 1's noise that another version's fit may be away
Histogram = list[Fraction]
_CLAIMED = re.compile(r"claimed by .{1,200}, not checked")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How a stage 1 of this package measures and estimates."""

    size: Callable[[int, int], int]
    """How many integers, by n and the branching of a tree."""
    estimate: Callable[[Sequence[int], int, int, int], Histogram]
    """A histogram from them, n, the number of rows and the branching."""
    sensitivity: int | None = None
    """At the most, where the noise is Laplace."""
    vouched_by: str = "OpenDP's map"
    """Who vouches for its epsilon."""
    sums: str = "cumulative"
    """What a cumulative sum is made of: itself, bins, or nodes of a tree; "regions" where it is
    not measured at all."""
    alone: bool = False
    """Whether each cumulative sum has one Laplace number of its own, and no other noise."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A stage 1 of this package, as a record names it."""

    kind: Kind
    projection: str
    branching: int
    delta: Fraction | None


def check_measurement(
    record: dict[str, Any], target: Floats, tally: list[int], budget: Budget
) -> str | Found:
    """z is what stage 1 makes of the integers that it measured."""
    noisy, name, method = record["measurement"], record["methods"][0], find_method(record)
    _check_voucher(record, method)
    if name == SKIPPED:
        return _check_released(record, target, tally)
    if method is None:
        unknown = (
            f"stage 1, {shown(name, 40)}, is not of holdfast: z was not computed again, and that "
            "it is private is its author's claim."
        )
        return Found(f"not repeated: {shown(name, 40)} is unknown here", unknown, claimed=True)
    if noisy is None:
        raise Damage("measurement is null, but this stage 1 publishes what it measured.")
    check_certified(budget.stage_1_certified, budget.stage_1, "stage_1")
    n, rows = record["max_count"] + 1, record["rows"]
    kind = method.kind
    size = len(noisy) if kind.sums == "regions" else kind.size(n, method.branching)
    largest = rows * (n - 1) if kind.sums == "regions" else rows
    _check_integers(noisy, size, largest, kind.sensitivity, budget)
    if method.projection == "smooth":
        return _check_smooth(record, target, budget)
    project = _PROJECTIONS[method.projection]
    _compare(project(kind.estimate(noisy, n, rows, method.branching), rows), target)
    return f"z is what stage 1 makes of its {len(noisy)} integers, within 1e-9"


def find_method(record: dict[str, Any]) -> Method | None:
    """The stage 1 that a record names, if it is one of this package."""
    called = read_method(record["methods"][0])
    if called is None or called[0] not in _KINDS:
        return None
    options = called[1]
    if _KINDS[called[0]].sums == "regions":
        options = {"projection": "smooth"} if not options else {}
    projection, branching = str(options.get("projection")), options.get("branching", 16)
    delta = options.get("delta", (0, 1))
    known = projection == "smooth" or projection in _PROJECTIONS
    if not known or type(branching) is not int or branching < 2:
        return None
    if type(delta) is not tuple or not delta[1]:
        return None
    delta = Fraction(*delta) or None
    return Method(kind=_KINDS[called[0]], projection=projection, branching=branching, delta=delta)


def _check_voucher(record: dict[str, Any], method: Method | None) -> None:
    """Whoever vouches for stage 1 is known here, or is said to be somebody else.

    So no text in the place of a method turns the checks of stage 1 off without being seen.
    """
    said = record["privacy"]["stage_1_certified_by"]
    if record["methods"][0] == SKIPPED:
        fits = said == "nothing was read"
    elif method is not None:
        fits = said == method.kind.vouched_by
    else:
        fits = _CLAIMED.fullmatch(said) is not None
    if record["schema"] > 2 and not fits:
        raise Damage("stage_1_certified_by does not fit the stage 1 that methods names.")


def _check_released(record: dict[str, Any], target: Floats, tally: list[int]) -> str:
    if record["measurement"] is not None:
        raise Damage("measurement must be null where there is no stage 1.")
    drawn = [tally[0] - record["structural_zeros"], *tally[1:]]
    _compare([Fraction(rows, record["rows"]) for rows in drawn], target)
    return "no stage 1: z is the distribution of the released counts"


def _check_integers(
    noisy: list[int], size: int, largest: int, sensitivity: int | None, budget: Budget
) -> None:
    if len(noisy) != size:
        raise Damage(f"measurement has {len(noisy)} integers, this stage 1 measures {size}.")
    limit = Fraction(LARGEST)
    if sensitivity is not None and budget.stage_1:
        limit = min(limit, largest + UNLIKELY * sensitivity * budget.steps / budget.stage_1)
    if any(abs(number) > limit for number in noisy):
        raise Damage("measurement holds a number that is further off than noise goes.")


def _compare(found: Sequence[Fraction | float], target: Floats) -> None:
    away = np.abs(np.array([float(share) for share in found]) - target)
    for k in np.flatnonzero(~(away < NEARLY)).tolist():  # the others need no fractions
        if abs(Fraction(found[k]) - Fraction(float(target[k]))) > TOLERANCE:
            raise Damage(f"target: the share of count {k} is not what stage 1 measured.")


def _check_smooth(record: dict[str, Any], target: Floats, budget: Budget) -> str | Found:
    """The smooth fit again, by the code that makes releases: see the top of this file."""
    noisy, unit = record["measurement"], budget.stage_1 / budget.steps
    found = _fitted(record, unit)
    try:
        _compare(found, target)
    except Damage:
        if made_here(record):
            raise
        _compare_roughly(record, found, target, unit)
        made = shown(record["holdfast"], 20)
        said = (
            f"the right number of integers; not repeated: holdfast {made} fitted otherwise, within "
            f"{OTHER_FIT} standard deviations of the noise"
        )
        return Found(said, "z was not computed again: another holdfast made it.")
    return f"z is the smooth fit of its {len(noisy)} integers, within 1e-9"


def _fitted(record: dict[str, Any], unit: Fraction) -> list[float]:
    name, n = record["methods"][0], record["max_count"] + 1
    with repeating("smooth"):
        from holdfast.former.privatizers.named import repeated_target

        try:
            z = repeated_target(name, record["measurement"], record["rows"], n, unit)
        except HoldfastError:
            raise Damage(
                "measurement must have as many integers as this stage 1 measures."
            ) from None
    return [float(share) for share in z]


def _compare_roughly(
    record: dict[str, Any], found: Sequence[float], target: Floats, unit: Fraction
) -> None:
    """Two fits of the same integers differ by less than the noise that both smooth away."""
    from holdfast.former.privatizers.named import cumulative_deviation

    allowed = cumulative_deviation(record["methods"][0], len(target), unit)
    away = accumulate(float(stated) - share for share, stated in zip(found, target, strict=True))
    for k, (difference, deviation) in enumerate(zip(away, allowed, strict=False)):
        if abs(difference) * record["rows"] > OTHER_FIT * deviation + 1:
            raise Damage(
                f"target: the shares up to count {k} are more than {OTHER_FIT} standard deviations "
                "of the noise away from what stage 1 measured."
            )


def share_spread(record: dict[str, Any], budget: Budget) -> float:
    """The largest standard deviation of stage 1's cumulative sums, as a share of the rows; 0 where
    stage 1 is unknown here. Other noise than one Laplace number a sum is borrowed."""
    method, unit = find_method(record), budget.stage_1 / budget.steps
    if method is None:
        return 0.0
    if method.kind.alone:
        return math.sqrt(0.5) / math.sinh(float(unit) / 2) / int(record["rows"])
    from holdfast.former.privatizers.named import cumulative_deviation

    found = cumulative_deviation(record["methods"][0], record["max_count"] + 1, unit)
    return float(found.max()) / int(record["rows"])


def _unknown(n: int, branching: int) -> int:
    raise NotImplementedError  # regions follow from what the first look found


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


def cumulative_noise(
    record: dict[str, Any], method: Method, budget: Budget
) -> tuple[NDArray[np.float64], float]:
    """Rows up to each count as they were measured, and a bound on their standard deviation.

    The bound is generous: it serves to call a release absurd, never to call one sound.
    """
    n, rows, kind = record["max_count"] + 1, record["rows"], method.kind
    histogram = kind.estimate(record["measurement"], n, rows, method.branching)
    measured = np.array([float(total) for total in accumulate(histogram)])[:-1]
    unit = float(budget.stage_1 / budget.steps)
    if method.delta is not None:
        return measured, (math.sqrt(2 * math.log(4 * budget.steps / method.delta)) + 4) / unit
    levels = n.bit_length() + 1
    terms = {"cumulative": 1, "bins": n, "tree": method.branching * levels}[kind.sums]
    sensitivity = {"cumulative": 1, "bins": 2, "tree": 2 * levels}[kind.sums]
    return measured, math.sqrt(2 * terms) * sensitivity / unit


_LAPLACE = Kind(sensitivity=1, size=lambda n, branching: n - 1, estimate=_differences)
_ALONE = replace(_LAPLACE, alone=True)
_GAUSSIAN = Kind(
    size=lambda n, branching: n - 1,
    estimate=_differences,
    vouched_by="the exact law of OpenDP's discrete Gaussian",
)
_PROJECTIONS = {"clip": _clip, "simplex": _simplex, "isotonic": _isotonic}
_KINDS = {
    "LongRange": Kind(sensitivity=20, sums="regions", size=_unknown, estimate=_differences),
    "CumulativeSmooth": _ALONE,
    "CumulativeIsotonic": _ALONE,
    "CyclicLaplace": _LAPLACE,
    "CumulativeGaussian": _GAUSSIAN,
    "CyclicGaussian": _GAUSSIAN,
    "ClassicLaplace": Kind(
        sensitivity=2, sums="bins", size=lambda n, branching: n, estimate=_shifted
    ),
    "Privelet": Kind(
        sensitivity=64,
        sums="tree",
        size=lambda n, branching: sum(nodes // 2 for nodes in _haar_nodes(n)[:-1]),
        estimate=_wavelet,
    ),
    "Hierarchical": Kind(
        sensitivity=64,
        sums="tree",
        size=lambda n, branching: sum(_tree_sizes(n, branching)[:-1]),
        estimate=_tree,
    ),
}
