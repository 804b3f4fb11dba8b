"""δ of the discrete Gaussian: never below the truth, close to it; the smallest noise for it."""

from fractions import Fraction

import pytest

from holdfast.errors import HoldfastError
from holdfast.paper.privatizers import CyclicGaussian
from holdfast.paper.privatizers.gaussian import delta_bound, smallest_scale
from holdfast.privacy.gaussian import gaussian_measurement

CASES = [("10", "1e-2"), ("5", "1e-6"), ("1", "1e-6"), ("0.5", "1e-12"), ("0.05", "1e-9")]


def exact_delta(epsilon: Fraction, scale: float):
    """The sum over all events of P(x) - e^ε P(x + 1), in balls of 300 bits."""
    flint = pytest.importorskip("flint")
    flint.ctx.prec = 300
    twice = 2 * flint.arb(scale) ** 2
    reach = int(40 * scale + 40)
    f = [(-(flint.arb(x) ** 2) / twice).exp() for x in range(reach + 2)]
    growth = (flint.arb(epsilon.numerator) / epsilon.denominator).exp()
    excess = flint.arb(0)
    for x in range(-reach, reach + 1):
        difference = f[abs(x)] - growth * f[abs(x + 1)]
        if difference > 0:
            excess += difference
    return excess / (2 * sum(f[1:], flint.arb(0)) + 1)


@pytest.mark.parametrize(("epsilon", "scale"), [("1", 0.4), ("3", 0.7), ("1", 4.0), ("0.1", 30.0)])
def test_the_bound_lies_above_the_exact_delta_and_touches_it(epsilon, scale):
    exact = exact_delta(Fraction(epsilon), scale)
    bound = delta_bound(Fraction(epsilon), scale)
    assert exact * bound.denominator <= bound.numerator
    assert float(bound) == pytest.approx(float(exact.mid()), rel=1e-12)


def test_blocks_of_a_wide_noise_stay_above_and_close():
    """From σ = 1000 on the tail is summed in blocks; term by term it is the same."""
    exact = exact_delta(Fraction(1, 500), 1500.0)
    bound = delta_bound(Fraction(1, 500), 1500.0)
    assert exact * bound.denominator <= bound.numerator
    assert float(bound) == pytest.approx(float(exact.mid()), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_scale_is_the_smallest(epsilon, delta):
    scale = smallest_scale(Fraction(epsilon), Fraction(delta))
    assert delta_bound(Fraction(epsilon), scale) <= Fraction(delta)
    for factor in (1 - 1e-6, 0.99, 0.9, 0.7, 0.5):
        assert delta_bound(Fraction(epsilon), factor * scale) > Fraction(delta)


def test_delta_dips_and_the_first_dip_counts():
    """At ε = 5, σ = 0.32 keeps δ = 0.01 though σ = 0.4 does not."""
    five, percent = Fraction(5), Fraction(1, 100)
    assert smallest_scale(five, percent) < 0.32
    assert delta_bound(five, 0.4) > percent


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_the_exact_law_needs_less_noise_than_zcdp(epsilon, delta):
    """OpenDP's own way from zCDP to (ε, δ) states more than ε for the same noise."""
    import opendp.prelude as dp

    measurement = gaussian_measurement(smallest_scale(Fraction(epsilon), Fraction(delta)))
    stated = dp.c.make_zCDP_to_approxDP(measurement).map(1).epsilon(float(delta))
    assert stated > float(epsilon)


def test_an_independent_accountant_agrees():
    accounting = pytest.importorskip("dp_accounting.pld.privacy_loss_mechanism")
    scale = smallest_scale(Fraction(1), Fraction(1, 10**6))
    theirs = accounting.DiscreteGaussianPrivacyLoss(scale)
    assert theirs.get_delta_for_epsilon(1.0) == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize("kind", [CyclicGaussian])
@pytest.mark.parametrize("delta", [0, 1, -0.1, "x", None, True, float("nan"), "1e-200", "1/0"])
def test_a_delta_that_is_none_is_an_error(kind, delta):
    with pytest.raises(HoldfastError, match="`delta`"):
        kind(delta=delta)


def test_delta_is_exact():
    assert CyclicGaussian(delta=1e-6).delta == Fraction(1, 10**6)
    assert CyclicGaussian(delta="1/3000").delta == Fraction(1, 3000)


def test_noise_beyond_reason_is_refused():
    with pytest.raises(HoldfastError, match="so small"):
        smallest_scale(Fraction(1, 10**9), Fraction(1, 10**60))
