"""Regressions through the mechanism, imputation, and Rubin's rules."""

import numpy as np
import pandas as pd
import pytest

import holdfast.former as holdfast
from holdfast.former.analysis.regression.formula import design, parse_formula

GENERATOR = np.random.default_rng(8)
ROWS = 1500
PEOPLE = np.exp(GENERATOR.normal(8, 1, ROWS))
X = np.log(PEOPLE) - 8
SIDE = np.where(GENERATOR.random(ROWS) < 0.5, "east", "west")
TRUE = GENERATOR.poisson(np.exp(0.3 + 0.8 * X + 0.4 * (SIDE == "west")))
COST = 3.0 * np.minimum(TRUE, 15) + X + GENERATOR.normal(0, 8, ROWS)
TABLE = pd.DataFrame(
    {"place": range(ROWS), "people": PEOPLE, "side": SIDE, "n": TRUE, "cost": COST}
)


def release_of(seed=1, epsilon="0.5", table=TABLE):
    return holdfast.privatize(
        table, epsilon=epsilon, max_count=15, count="n", category="place",
        keep=["people", "side", "cost"], seed=seed,
    )  # fmt: skip


@pytest.mark.parametrize("family", ["poisson", "negative binomial"])
def test_slopes_are_not_bent_by_the_noise(family):
    found = [release_of(seed).regress("n ~ log(people) + side", family=family) for seed in range(6)]
    slopes = [fit.coefficients["log(people)"] for fit in found]
    naive = [fit.naive.values[1] for fit in found]
    assert np.mean(slopes) == pytest.approx(0.8, abs=0.1)
    assert np.mean(naive) < 0.7
    low, high = found[0].interval("log(people)", 0.999)
    assert low < 0.8 < high and "naive" in str(found[0])


def test_the_gap_to_the_naive_fit_is_told_apart_by_noise_and_cap():
    release = holdfast.privatize(
        TABLE, epsilon=8, max_count=4, count="n", category="place", keep=["people"], seed=1
    )
    fit = release.regress("n ~ log(people)")
    naive, capped, slope = fit.naive.values[1], fit.capped[1], fit.coefficients["log(people)"]
    assert slope - capped > 0.2 > abs(capped - naive)  # hardly any noise, and a low cap
    assert slope == pytest.approx(0.8, abs=0.1)
    line = f"log(people): {capped - naive:+.4f} by the noise, {slope - capped:+.4f} by the cap"
    assert line in str(fit) and fit.to_dict()["capped"]["log(people)"] == capped
    assert release_of().regress("n ~ log(people)", family="gaussian").capped is None


def test_least_squares_through_plausible_tables():
    release = release_of()
    fit = release.regress("n ~ log(people)", family="gaussian")
    capped = np.minimum(TRUE, 15)
    truth = np.polyfit(np.log(PEOPLE), capped, 1)[0]
    assert fit.coefficients["log(people)"] == pytest.approx(truth, rel=0.12)
    assert fit.naive.values[1] < 0.9 * truth


def test_the_count_as_a_regressor_is_not_attenuated():
    fit = release_of().regress("cost ~ n", family="gaussian")
    truth = np.polyfit(np.minimum(TRUE, 15), TABLE["cost"], 1)[0]
    assert abs(fit.coefficients["n"] / truth - 1) < abs(fit.naive.values[1] / truth - 1)


def test_imputed_tables_are_tables_with_other_counts():
    release = release_of()
    tables = release.impute(4, given=["people", "side"])
    assert len(tables) == 4 and list(tables[0].columns) == list(release.table.columns)
    slopes = [np.polyfit(np.log(PEOPLE), t["n"], 1)[0] for t in tables]
    found = holdfast.combine(slopes, [0.05] * 4)
    truth = np.polyfit(np.log(PEOPLE), np.minimum(TRUE, 15), 1)[0]
    assert found.estimate == pytest.approx(truth, rel=0.15)
    assert found.standard_error > 0.05 and 0 < found.noise < 1


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("n log(people)", "no outcome ~ regressors"),
        ("n ~ sin(people)", "is not one of log"),
        ("n ~ log(people", "neither a column nor a function"),
        ("cost ~ people", "does not use the released counts"),
        ("n ~ n", "its own regressor"),
        ("log(n) ~ people", "must be the count itself"),
        ("n ~ people + people:people", None),
        ("n ~ peopel", "did you mean 'people'"),
        ("n ~ log(side)", "holds texts"),
        ("n ~ people - side", "only the intercept"),
    ],
)
def test_formulas_that_cannot_be_answered_are_refused_in_words(formula, words):
    if words is None:
        assert parse_formula(formula).terms[1][0].column == "people"
        return
    with pytest.raises(holdfast.HoldfastError, match=words):
        release_of().regress(formula)


def test_a_design_has_its_columns_by_name():
    cells = {"a": ["1", "2", "4", "5", "9"], "b": ["x", "y", "x", "z", "y"]}
    found = design(parse_formula("n ~ log(a) + b"), cells.__getitem__, 5)
    assert found.names == ("Intercept", "log(a)", "b[y]", "b[z]")
    assert found.matrix[:, 1] == pytest.approx(np.log([1, 2, 4, 5, 9]))


@pytest.mark.parametrize("groups", [False, True])
def test_poisson_on_a_long_range_fits_means_whatever_law_the_counts_have(groups):
    draw = np.random.default_rng(5)
    people = np.exp(draw.normal(9, 1, ROWS)).round(2)
    spread = draw.gamma(0.7, 1 / 0.7, ROWS)
    table = pd.DataFrame({"people": people, "side": SIDE})
    table["n"] = draw.poisson(spread * np.exp(0.8 * np.log(people) - 4.5))
    how = {"within": "side"} if groups else {}
    keep = {"count": "n", "keep": ["people"], "max_count": 20_000}
    sure, private = (
        holdfast.privatize(table, epsilon=epsilon, seed=1, **keep, **how).regress("n ~ log(people)")
        for epsilon in (10, "0.2")
    )
    truth, slope = (fit.coefficients["log(people)"] for fit in (sure, private))
    assert abs(slope - truth) < 0.05  # the likelihood of a Poisson law is off by 0.07 and 0.10
    assert "blur undone" in str(private) and private.log_likelihood is None
