"""Privatizers by the text that a release names them with."""

import ast
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.former.privatizers.conditional import fit_conditional
from holdfast.former.privatizers.joint import JointMeasurement, fit_measured
from holdfast.former.privatizers.noisy import Noisy
from holdfast.former.privatizers.own import OWN

NAMED = {kind.__name__: kind for kind in OWN}


def find_privatizer(text: str) -> Noisy | None:
    """The privatizer that a release names, read without running anything; None if unknown.

    >>> find_privatizer("CyclicLaplace(projection='clip')")
    CyclicLaplace(projection='clip')
    >>> find_privatizer("__import__('os').getcwd()") is None
    True
    """
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        kind = NAMED.get(call.func.id)
        given = {str(key.arg): _value(key.value) for key in call.keywords}
        return None if kind is None else kind(**given)
    except (
        AttributeError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError,
        ZeroDivisionError,
    ):  # fmt: skip
        return None


def repeated_target(
    text: str, noisy: Sequence[int], rows: int, bins: int, epsilon: Fraction
) -> Floats:
    """z once more, from what the named privatizer measured.

    >>> z = repeated_target("CumulativeIsotonic(projection='isotonic')", [6, 4], 8, 3, Fraction(1))
    >>> z.tolist()
    [0.625, 0.0, 0.375]
    """
    privatizer = find_privatizer(text)
    if privatizer is None:
        raise HoldfastError(f"{text!r:.40} is not a privatizer whose fit is known.")
    return privatizer.fit(np.array(noisy, dtype=np.int64), bins, rows, epsilon)


def repeated_targets(
    *,
    groups: Sequence[Integers],
    whole: Integers | None,
    totals: tuple[Sequence[int], Fraction] | None,
    sizes: Integers,
    epsilon: Fraction,
    bins: int,
    ordered: bool,
    sums_first: bool,
) -> Floats:
    """z of every group once more, from what was measured of them and of their totals."""
    return fit_measured(
        JointMeasurement(groups=tuple(groups), whole=whole),
        sizes,
        epsilon,
        bins=bins,
        ordered=ordered,
        totals=totals,
        sums_first=sums_first,
    )


def repeated_conditional(
    *,
    groups: Sequence[Integers],
    sizes: Integers,
    epsilon: Fraction,
    bins: int,
    blur: Floats,
    cells: Integers,
) -> tuple[Floats, Floats]:
    """The laws of the true and of the released counts of every cell once more, from what was
    measured of a column that was drawn given others."""
    fit = fit_conditional(groups, sizes, epsilon, bins=bins, blur=blur, cells=cells)
    return fit.sources, fit.targets


def cumulative_deviation(text: str, bins: int, epsilon: Fraction) -> Floats:
    """The standard deviation of the noise in each measured cumulative sum, in rows.

    >>> cumulative_deviation("CumulativeSmooth(projection='smooth')", 3, Fraction(1)).round(3)
    array([1.357, 1.357])
    """
    privatizer = find_privatizer(text)
    if privatizer is None:
        raise HoldfastError(f"{text!r:.40} is not a privatizer whose noise is known.")
    return np.asarray(np.sqrt(privatizer.cumulative_variance(bins, epsilon)))


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "Fraction" and not node.keywords:
        return Fraction(*(ast.literal_eval(part) for part in node.args))
    return ast.literal_eval(node)
