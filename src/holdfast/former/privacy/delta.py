"""Delta: the chance that a promise of epsilon fails; exact, and rounded up only."""

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from holdfast.errors import HoldfastError
from holdfast.former.privacy.budget import Budget
from holdfast.former.privacy.rational import exp_above, exp_below

DIGITS = 12
ROUNDED_UP = Fraction(1, 10**11)  # group_delta rounds up by less


def group_delta(delta: Fraction, epsilon: Fraction, steps: int) -> Fraction:
    r"""The delta of `steps` changes of one, each (epsilon, delta)-private; rounded up.

    Group privacy: $\delta \sum_{i<k} e^{i\epsilon} = \delta (e^{k\epsilon} - 1)/(e^\epsilon - 1)$.

    >>> group_delta(Fraction(1, 10**6), Fraction(1), 1)
    Fraction(1, 1000000)
    >>> float(group_delta(Fraction(1, 10**6), Fraction(1), 2))
    3.71828182846e-06
    """
    if delta == 0 or steps == 1:
        return delta
    whole, one = exp_above(steps * epsilon) - 1, exp_below(epsilon) - 1
    return Fraction(rounded_up(delta * whole / one, DIGITS))


def unit_delta(delta: Fraction, epsilon: Fraction, steps: int) -> Fraction:
    """What one change of one may take of a delta that is for `steps` of them: just below.

    >>> unit = unit_delta(Fraction(1, 10**6), Fraction(1), 2)
    >>> 0.999 < float(group_delta(unit, Fraction(1), 2) * 10**6) <= 1
    True
    """
    if delta == 0 or steps == 1:
        return delta
    return delta * (1 - ROUNDED_UP) / group_delta(Fraction(1), epsilon, steps)


def total_delta(budget: Budget, stage_1: Fraction, stage_2: Fraction = Fraction(0)) -> Fraction:
    """The delta of a release for one person, from that of each stage for a change of one in one
    row; both are enlarged for contributions.

    Raises if it is 1 or more: then nothing would be promised.
    """
    total = group_delta(stage_1, budget.unit_1, budget.steps)
    total += group_delta(stage_2, budget.unit_2, budget.steps)
    if total >= 1:
        raise HoldfastError(
            f"the total `delta` for one person is {rounded_up(total, 3)}: 1 or more promises "
            "nothing. Hint: declare a smaller delta, or allow fewer contributions."
        )
    return total


def rounded_up(number: Fraction, digits: int) -> Decimal:
    """A number that is not negative, to a few significant digits; never below it.

    >>> print(rounded_up(Fraction(1, 3), 3), rounded_up(Fraction(1, 10**6), 3))
    0.334 0.000001
    """
    context = Context(prec=digits, rounding=ROUND_CEILING, Emin=-999999, Emax=999999)
    return context.divide(Decimal(number.numerator), Decimal(number.denominator))


def promise_in_words(epsilon: Fraction, delta: Fraction) -> str:
    """Epsilon, and delta wherever there is one, both rounded up: never below the promise.

    >>> promise_in_words(Fraction(1, 2), Fraction(0))
    'epsilon = 0.5'
    >>> promise_in_words(Fraction(1, 3), Fraction(1, 3))
    'epsilon = 0.333334 with delta = 0.334'
    """
    extra = f" with delta = {rounded_up(delta, 3)}" if delta else ""
    return f"epsilon = {rounded_up(epsilon, 6)}{extra}"


def beyond_epsilon(delta: Fraction) -> str:
    """What a delta above 0 takes from the promise."""
    return (
        "This is not pure epsilon: probabilities with and without a person may differ by "
        f"delta = {rounded_up(delta, 3)} more than the factor e^epsilon allows."
    )
