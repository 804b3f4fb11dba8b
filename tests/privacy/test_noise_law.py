"""The law of the noise and the thresholds of its draws, in arithmetic of the test's own."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise
from operator import mul

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.privacy.noise import Noise, least_width
from holdfast.privacy.sampler import BASE, WORD, Digit, Levels, Sampler

EPSILONS = ["1/1000000", "1/30000", "1/32", "1/10", "0.693147180559945309", "1", "7/3", "5", "20"]
SHIFTS = [1, 2, 3, 10, 100, 1000]
DIGITS = 400  # of the test's arithmetic
BITS = 1200  # of thresholds that are compared to so many digits


def level(x, shift, width):
    """The level of an integer, in the words of the definition."""
    return 0 if abs(x) < width else (abs(x) - width) // shift + 1


@cache
def exponential(x: Fraction) -> Decimal:
    """To the digits of the context; all tests that ask for it have as many."""
    return (Decimal(x.numerator) / Decimal(x.denominator)).exp()


def exact_probability(noise: Noise, x: int) -> Decimal:
    a = exponential(-noise.epsilon)
    weights = 2 * noise.width - 1 + 2 * noise.shift * a / (1 - a)
    return exponential(-noise.epsilon * level(x, noise.shift, noise.width)) / weights


@pytest.mark.parametrize("shift", SHIFTS)
def test_a_shift_of_up_to_k_changes_the_level_by_one_at_the_most(shift):
    for epsilon in EPSILONS:
        width = least_width(Fraction(epsilon), shift)
        x = np.arange(-4 * shift - 3, 4 * shift + 4)
        levels = np.array([level(int(place), shift, width) for place in x])
        for moved in range(1, shift + 1):
            assert np.abs(levels[moved:] - levels[:-moved]).max() <= 1
        assert np.abs(levels[shift + 1 :] - levels[: -shift - 1]).max() == 2  # k is the most


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_draws_are_put_together_to_exactly_the_law_that_is_stated(epsilon, shift):
    """The probability of x, from the thresholds of its parts at 1,200 bits, is that of the
    definition to 1e-340: what e^epsilon bounds is what is drawn."""
    noise = Noise.least(Fraction(epsilon), shift)
    sampler = Sampler(noise.epsilon, noise.shift, noise.width)
    laws = [sampler.levels.law, *(digit.law for digit in sampler.digits)]
    parts = [probabilities(law) for law in laws]
    places = {0, 1, noise.width - 1, noise.width, noise.width + 1, noise.width + shift - 1}
    places |= {noise.width + n * shift + d for n in (1, 2, 255, 256, 700) for d in (-1, 0, 1)}
    with localcontext(prec=DIGITS):
        for x in sorted(places | {-place for place in places}):
            drawn = probability_of_parts(x, noise, parts)
            exact = exact_probability(noise, x)
            assert abs(drawn - exact) <= Decimal("1e-340")


@cache
def probabilities(law):
    """Exact probabilities of a law, to 2^-1200 and in units of that, by value."""
    floors, first = law.floors(BITS)
    steps = pairwise([0, *floors, 1 << BITS])
    return {first + i: b - a for i, (a, b) in enumerate(steps)}


def probability_of_parts(x: int, noise: Noise, parts: list) -> Decimal:
    levels, *digits = parts
    if abs(x) < noise.width:
        return decimal(levels[0]) / (2 * noise.width - 1)
    rest = (abs(x) - noise.width) // noise.shift
    product = Decimal(1)
    for digit in digits:
        rest, value = divmod(rest, BASE)
        product *= decimal(digit[value])
    signed = (rest + 1) * (1 if x > 0 else -1)
    return product * decimal(levels.get(signed, 0)) / noise.shift


def decimal(number: int) -> Decimal:
    return Decimal(number) / Decimal(1 << BITS)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_thresholds_are_the_whole_parts_of_exact_probabilities(epsilon, shift):
    noise = Noise.least(Fraction(epsilon), shift)
    sampler = Sampler(noise.epsilon, noise.shift, noise.width)
    floors, first = sampler.levels.law.floors(WORD)
    assert len(floors) < 4000
    assert first == -len(floors) // 2
    with localcontext(prec=DIGITS):
        a, decay = exponential(-noise.epsilon), exponential(-noise.epsilon * sampler.step)
        side = noise.shift * a / (1 - a)
        below = 2**WORD * side / (2 * noise.width - 1 + 2 * side)
        powers = [Decimal(1), *accumulate([decay] * -first, mul)]  # right to 390 digits
        lower = [int(below * power) for power in powers[:-1]]
        upper = [int(2**WORD - below * power) for power in powers[:-1]]
        assert floors == lower[::-1] + upper
        assert lower[-1] == 0
        assert lower[-2] > 0
        assert int(below * powers[-1]) == 0  # beyond the table, thresholds are alike


@pytest.mark.parametrize("epsilon", ["1/1000000", "1/30000", "1/33", "1/4"])
def test_thresholds_of_digits_are_the_whole_parts_of_exact_probabilities(epsilon):
    floors, first = Digit(Fraction(epsilon), BASE).floors(WORD)
    with localcontext(prec=DIGITS):
        a = exponential(-Fraction(epsilon))
        exact = [2**WORD * (1 - a ** (d + 1)) / (1 - a**BASE) for d in range(BASE - 1)]
    assert (floors, first) == ([int(threshold) for threshold in exact], 0)


def test_one_wrong_threshold_is_seen():
    """What the tests above compare is not empty: they would see the last bit of one number."""
    law = Levels(Fraction(1), 1, 1, 1)
    floors, _ = law.floors(WORD)
    with localcontext(prec=DIGITS):
        a = exponential(Fraction(-1))
        exact = 2**WORD * (1 - a / (1 + a))
    assert floors[len(floors) // 2] == int(exact)
    assert floors[len(floors) // 2] != int(exact) + 1


def test_small_epsilon_is_drawn_in_digits_and_large_epsilon_is_not():
    counts = [len(Sampler(Fraction(e), 1, 1).digits) for e in ("1", "1/32", "1/33", "1/1000000")]
    assert counts == [0, 0, 1, 2]


# --- the width, and what follows from the law


@pytest.mark.parametrize("epsilon", [*EPSILONS, "10"])
@pytest.mark.parametrize("shift", [1, 2, 3, 4, 5, 7, 10, 31, 64])
def test_the_width_has_the_least_mean_of_all(epsilon, shift):
    chosen = Noise.least(Fraction(epsilon), shift)
    means = [
        Noise(epsilon=Fraction(epsilon), shift=shift, width=width).mean_absolute
        for width in range(1, 2 * shift + 2)
    ]
    assert chosen.mean_absolute <= min(means) * (1 + 1e-12)


@pytest.mark.parametrize("shift", [1000, 10**6])
def test_the_width_of_a_large_shift_is_no_worse_than_its_neighbours(shift):
    for epsilon in ("1/100", "1", "4", "20"):
        chosen = Noise.least(Fraction(epsilon), shift)
        for width in {max(1, chosen.width - 1), chosen.width + 1, max(1, chosen.width // 2)}:
            other = Noise(epsilon=Fraction(epsilon), shift=shift, width=width)
            assert chosen.mean_absolute <= other.mean_absolute * (1 + 1e-12)


def test_the_staircase_beats_discrete_laplace_by_what_the_notes_say():
    gains = {}
    for shift in (2, 5, 10):
        for epsilon in (1, 2, 4):
            laplace = Noise(epsilon=Fraction(epsilon, shift)).mean_absolute
            staircase = Noise.least(Fraction(epsilon), shift).mean_absolute
            gains[shift, epsilon] = round(100 * (1 - staircase / laplace))
    assert gains == {
        (2, 1): 3,
        (2, 2): 18,
        (2, 4): 61,
        (5, 1): 4,
        (5, 2): 15,
        (5, 4): 57,
        (10, 1): 4,
        (10, 2): 15,
        (10, 4): 45,
    }


@pytest.mark.parametrize("shift", [1, 2, 5, 40])
@pytest.mark.parametrize("epsilon", ["1/20", "1", "5", "20"])
@pytest.mark.parametrize("extra", [0, 3])
def test_moments_and_quantiles_are_those_of_the_probabilities(epsilon, shift, extra):
    noise = Noise(
        epsilon=Fraction(epsilon),
        shift=shift,
        width=least_width(Fraction(epsilon), shift) + extra,
    )
    reach = int(45 * shift / noise.epsilon) + noise.width + shift
    x = np.arange(-reach, reach + 1)
    p = noise.probability(x)
    assert p.sum() == pytest.approx(1, rel=1e-12)
    assert (p * np.abs(x)).sum() == pytest.approx(noise.mean_absolute, rel=1e-10, abs=1e-12)
    assert (p * x**2.0).sum() == pytest.approx(noise.variance, rel=1e-10, abs=1e-12)
    np.testing.assert_allclose(noise.cumulative(x), np.cumsum(p), rtol=1e-9, atol=1e-14)
    within = np.cumsum(p[reach:]) + np.cumsum(p[reach::-1]) - p[reach]
    for share in (0.001, 0.5, 0.9, 0.95, 0.999):
        assert noise.quantile(share) == np.argmax(within >= share)


def test_the_tail_is_exact_where_one_less_it_would_be_nothing():
    noise = Noise(epsilon=Fraction(1))
    assert noise.cumulative(-100) == pytest.approx(np.exp(-100) / (1 + np.exp(-1)))


@pytest.mark.parametrize(
    ("epsilon", "shift", "width", "name"),
    [
        (Fraction(0), 1, 1, "epsilon"),
        (Fraction(-1), 1, 1, "epsilon"),
        (1.0, 1, 1, "epsilon"),
        (Fraction(1), 0, 1, "shift"),
        (Fraction(1), 1, 0, "width"),
        (Fraction(1), 1.5, 1, "shift"),
        (Fraction(1, 10**13), 1, 1, "epsilon"),
        (Fraction(1, 10**6), 10**8, 1, "epsilon"),
    ],
)
def test_noise_that_cannot_be_is_refused(epsilon, shift, width, name):
    with pytest.raises(HoldfastError, match=f"`{name}`"):
        Noise(epsilon=epsilon, shift=shift, width=width)


@pytest.mark.parametrize("level", [0, 1, -1, 2])
def test_a_quantile_needs_a_level_between_0_and_1(level):
    with pytest.raises(HoldfastError, match="`level`"):
        Noise(epsilon=Fraction(1)).quantile(level)
