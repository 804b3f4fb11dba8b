"""Two answers side by side: their difference and their ratio, with intervals."""

from math import hypot, inf, sqrt

from holdfast.analysis.answer import Answer
from holdfast.errors import HoldfastError


def difference(one: Answer, other: Answer) -> Answer:
    r"""one - other, for answers whose errors are independent.

    The interval puts the two intervals' own sides together (Zou and Donner's MOVER):
    $d - \sqrt{(a-l_a)^2 + (u_b-b)^2}$ to $d + \sqrt{(u_a-a)^2 + (b-l_b)^2}$ with d = a - b, so that
    it is as lopsided as they are.
    """
    _check(one, other)
    a, b = _middle(one), _middle(other)
    low = a - b - hypot(a - one.interval[0], other.interval[1] - b)
    high = a - b + hypot(one.interval[1] - a, b - other.interval[0])
    error = None
    if one.standard_error is not None and other.standard_error is not None:
        error = hypot(one.standard_error, other.standard_error)
    return _joined(one, other, "less", one.estimate - other.estimate, (low, high), error)


def ratio(one: Answer, other: Answer) -> Answer:
    r"""one / other, for answers of 0 or more whose errors are independent.

    r is in the interval while 0 is in that of a - r b, put together as for a difference
    (Donner and Zou 2012). Where the other may be 0 there is no upper end.
    """
    _check(one, other)
    if one.interval[0] < 0 or other.interval[0] < 0 or other.estimate <= 0:
        raise HoldfastError("a ratio needs answers above 0.")
    a, b = _middle(one), _middle(other)
    (la, ua), (lb, ub) = one.interval, other.interval
    low, _ = _roots(a, b, a - la, ub - b)
    high = _roots(a, b, ua - a, b - lb)[1] if lb > 0 else inf
    value = one.estimate / other.estimate
    error = None
    if one.standard_error is not None and other.standard_error is not None:
        error = hypot(one.standard_error, value * other.standard_error) / other.estimate
    return _joined(one, other, "over", value, (max(low, 0.0), high), error)


def _roots(a: float, b: float, reach_a: float, reach_b: float) -> tuple[float, float]:
    """The r at which (a - r b)^2 = reach_a^2 + r^2 reach_b^2."""
    square = b * b - reach_b * reach_b
    if square <= 0:
        return 0.0, inf
    under = max((a * b) ** 2 - square * (a * a - reach_a * reach_a), 0.0)
    return (a * b - sqrt(under)) / square, (a * b + sqrt(under)) / square


def _middle(answer: Answer) -> float:
    """The estimate, or the nearest point of the interval to it."""
    low, high = answer.interval
    return min(max(answer.estimate, low), high)


def _check(one: Answer, other: Answer) -> None:
    if one.level != other.level:
        raise HoldfastError("the two answers have different levels. Hint: ask both at one level.")
    if one.percent != other.percent:
        raise HoldfastError("a share and a count cannot be compared.")
    if any(mine.meets(its) for mine in one.about for its in other.about):
        raise HoldfastError(
            "the two answers share rows, so their errors are not independent. Hint: compare parts "
            "that do not overlap, such as one with the rows that are not in it."
        )


def _joined(
    one: Answer,
    other: Answer,
    word: str,
    value: float,
    interval: tuple[float, float],
    error: float | None,
) -> Answer:
    low, high = min(interval[0], value), max(interval[1], value)
    return Answer(
        question=f"{one.question} {word} {other.question}",
        estimate=value,
        standard_error=error,
        interval=(low, high),
        level=one.level,
        estimator=one.estimator,
        method="likelihood",
        notes=tuple(dict.fromkeys(one.notes + other.notes)),
        percent=one.percent and word == "less",
        about=one.about + other.about,
    )
