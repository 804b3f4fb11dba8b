"""Regression by estimating equations that noise leaves unbiased."""

from functools import cache

import numpy as np
import pytest

from holdfast.answers.formula import Factor, parse_formula
from holdfast.errors import HoldfastError
from made_releases import counties
from private_tables import private_table

ROWS = 1500
GENERATOR = np.random.default_rng(8)
X = GENERATOR.normal(size=ROWS)
STATE = np.array(["IA", "NE"])[GENERATOR.integers(0, 2, ROWS)]
CELLS = {
    "county": [f"c{row}" for row in range(ROWS)],
    "state": STATE.tolist(),
    "x": [f"{value:.6f}" for value in X],
}
MEAN = np.exp(0.5 + 0.7 * X + 0.4 * (STATE == "NE"))
COUNTS = GENERATOR.poisson(MEAN * GENERATOR.gamma(2, 0.5, ROWS))  # more spread than Poisson
PRICE = 2 + 0.3 * np.log1p(COUNTS) + GENERATOR.normal(size=ROWS) * 0.2
CELLS["price"] = [f"{value:.6f}" for value in PRICE]


def truth(design, outcome):
    return np.linalg.lstsq(design, outcome, rcond=None)[0]


@cache
def release(seed, epsilon):
    return private_table(COUNTS, epsilon=epsilon, seed=seed, cells=CELLS)


def fits(formula, family, seeds=24, epsilon=1):
    return (release(seed, epsilon).regress(formula, family=family) for seed in range(seeds))


@pytest.mark.parametrize("family", ["poisson", "nb"])
def test_slopes_of_a_count_are_not_bent_by_noise_and_covered(family):
    found = list(fits("murders ~ x + state", family))
    for name, true in (("x", 0.7), ("state[NE]", 0.4)):
        values = [fit.params[name] for fit in found]
        assert np.mean(values) == pytest.approx(true, abs=3 * found[0].bse[name])
        covered = [low <= true <= high for low, high in (fit.interval(name) for fit in found)]
        assert np.mean(covered) > 0.6


def test_least_squares_on_noisy_counts_is_unbiased():
    true = truth(np.column_stack([np.ones(ROWS), X]), COUNTS)
    found = [fit.params["x"] for fit in fits("murders ~ x", "ols")]
    assert np.mean(found) == pytest.approx(true[1], abs=0.1)


@pytest.mark.parametrize("formula", ["price ~ log1p(murders)", "price ~ murders + x"])
def test_a_count_as_regressor_is_not_attenuated(formula):

    def slope(counts):
        columns = [np.log1p(counts)] if "log1p" in formula else [counts, X]
        return truth(np.column_stack([np.ones(ROWS), *columns]), PRICE)[1]

    name = "log1p(murders)" if "log1p" in formula else "murders"
    true, found = slope(COUNTS), list(fits(formula, None, epsilon=2))
    naive = np.mean([slope(release(seed, 2).counts) for seed in range(len(found))])
    ours = np.mean([fit.params[name] for fit in found])
    assert abs(ours - true) < 0.4 * abs(naive - true)


def test_two_columns_of_counts_can_be_outcome_and_regressor():
    both = {"murders": COUNTS, "rapes": GENERATOR.poisson(2 + COUNTS)}
    fit = private_table(both, epsilon=3, cells=CELLS).regress("rapes ~ murders", family="ols")
    true = truth(np.column_stack([np.ones(ROWS), COUNTS]), both["rapes"])
    assert fit.params["murders"] == pytest.approx(true[1], abs=0.1)


def test_results_have_the_names_that_statsmodels_has():
    pytest.importorskip("pandas")
    fit = next(fits("murders ~ x + state", None, seeds=1))
    assert list(fit.params.index) == ["Intercept", "x", "state[NE]"] == list(fit.bse.index)
    table = fit.conf_int()
    assert tuple(table.loc["x"]) == fit.interval("x", 0.9)
    assert tuple(fit.conf_int(alpha=0.05).loc["x"]) == fit.interval("x", 0.95)
    assert fit.rows == ROWS and fit.covariance.shape == (3, 3)
    assert "std err" in fit.summary() and "[0.05" in fit.summary()
    assert fit.tvalues["x"] > 2 and fit.pvalues["x"] < 0.05


def test_empty_cells_and_missing_counts_are_left_out_and_said():
    cells = CELLS | {"x": ["", *CELLS["x"][1:]]}
    some = private_table(COUNTS, cells=cells, missing=np.arange(ROWS) == 5)
    fit = some.regress("murders ~ x", where="state in (NE, IA)")
    assert fit.rows == ROWS - 2
    assert any("1 row with empty cells left out" in note for note in fit.notes)
    assert any("1 row without a count left out" in note for note in fit.notes)


@pytest.mark.parametrize(
    ("formula", "options", "message"),
    [
        ("x ~ state", {}, "uses none of the counts"),
        ("murders", {}, "it has no outcome"),
        ("log(murders) ~ x", {}, "must be the count itself"),
        ("murders ~ murders", {}, "its own regressor"),
        ("price ~ log(murders)", {}, "log1p"),
        ("price ~ C(murders)", {}, "cannot be taken as names"),
        ("murders ~ y", {}, "no published column"),
        ("murders ~ county", {}, "1,500 values as names"),
        ("murders ~ x + x:x - x", {}, "only the intercept"),
        ("murders ~ x + log(x)", {}, "has no value in some rows"),
        ("murders ~ x", {"family": "cox"}, "`family` must be one of"),
        ("murders ~ foo(x)", {}, "is not one of log"),
    ],
)
def test_formulas_that_cannot_be_answered_are_refused_in_words(formula, options, message):
    with pytest.raises(HoldfastError, match=message):
        release(0, 1).regress(formula, **options)


def test_numbers_with_marks_are_no_names_unless_somebody_says_so():
    marked = [f"{1 + row % 40},{row % 10:03d}" for row in range(ROWS)]
    some = private_table(COUNTS, cells=CELLS | {"people": ["7", *marked[1:]]})
    words = (
        rf"'people' holds no number, as it is written, in {ROWS - 1:,} rows of {ROWS:,}, such as "
    )
    for formula in ("murders ~ people", "murders ~ log(people)"):
        with pytest.raises(
            HoldfastError, match=words + r"'2,001'\. Hint: .*`thousands`, --thousands"
        ):
            some.regress(formula)
    assert len(some.regress("murders ~ C(people)").params) == 41
    few = private_table(COUNTS[:2], cells={"county": ["a", "b"], "state": ["NE", "KS"]})
    with pytest.raises(HoldfastError, match="has 2 rows for 2 coefficients"):
        few.regress("murders ~ state")


def test_a_formula_has_its_terms():
    formula = parse_formula("deaths ~ log(people)*old + C(`a state`) + offset(log(years)) - 1")
    assert [":".join(map(str, term)) for term in formula.terms] == [
        "log(people)", "old", "log(people):old", "C(a state)",
    ]  # fmt: skip
    assert formula.offset == Factor("years", "log") and not formula.intercept


def refused(releases, formula):
    """How many of these releases refuse a regression, in words."""
    number = 0
    for release in releases:
        try:
            release.regress(formula)
        except HoldfastError as error:
            number += "noise hides" in str(error)
    return number


def test_a_regressor_that_rests_on_noise_is_refused_whatever_the_noise():
    """Not where the noise happens to be high, which would bend what is answered."""
    cells = {"y": [str(row % 7) for row in range(200)]}
    flat = np.full(200, 3)
    releases = [private_table(flat, epsilon="0.1", cells=cells, seed=k) for k in range(12)]
    assert refused(releases, "y ~ murders") >= 11 and refused(releases, "y ~ log1p(murders)") >= 11


def test_what_noise_nearly_hides_is_said_to_be_bent():
    counts = np.random.default_rng(1).poisson(3, 200)
    cells = {"x": [f"{value}" for value in np.random.default_rng(2).normal(size=200)]}
    near, far = (private_table(counts, epsilon=e, cells=cells) for e in ("0.25", "2"))
    assert "bent by being answered" in near.regress("murders ~ x").notes[0]
    assert "bent" not in str(far.regress("murders ~ x"))


def test_equations_that_have_no_solution_are_refused_in_words():
    rare, cells = np.array([0] * 30 + [2] * 30), {"x": [str(row) for row in range(60)]}
    releases = [private_table(rare, epsilon="0.05", cells=cells, seed=k) for k in range(30)]
    assert 5 < refused(releases, "murders ~ x") < 30


def poisson_slopes(design, counts):
    """Coefficients of a Poisson regression of true counts."""
    beta = np.append(np.log(counts.mean()), np.zeros(design.shape[1] - 1))
    for _ in range(60):
        mean = np.exp(design @ beta)
        beta += np.linalg.solve((design * mean[:, None]).T @ design, design.T @ (counts - mean))
    return beta


def demo():
    """The demo's table, whose slope a likelihood of a Poisson law took for 0.958."""
    cells, counts = counties()
    return counts, cells, "murders ~ log(population)", [np.log(np.float64(cells["population"]))]


def schools():
    """Teachers of schools: more spread than Poisson, with schools that have none."""
    generator = np.random.default_rng(3)
    level = generator.choice(["elementary", "high", "middle"], 1500, p=[0.6, 0.2, 0.2])
    pupils = np.round(generator.lognormal(6.2, 0.9, 1500)) * (generator.random(1500) > 0.03)
    mean = np.exp(-1.6 + 0.84 * np.log1p(pupils) + 0.2 * (level == "high"))
    teachers = generator.poisson(mean * generator.gamma(6, 1 / 6, 1500))
    teachers[generator.random(1500) < 0.03] = 0
    cells = {"school": list(map(str, range(1500))), "level": level.tolist(),
             "enrollment": [f"{x:.0f}" for x in pupils]}  # fmt: skip
    columns = [np.log1p(pupils), level == "high", level == "middle"]
    return teachers, cells, "murders ~ log1p(enrollment) + level", columns


@pytest.mark.parametrize("table", [demo, schools])
def test_slopes_of_tables_that_follow_no_law_are_unbiased_and_covered(table):
    counts, cells, formula, columns = table()
    true = poisson_slopes(np.column_stack([np.ones(len(counts)), *columns]), counts)
    releases = (private_table(counts, cells=cells, epsilon=1, seed=seed) for seed in range(20))
    found = [release.regress(formula) for release in releases]
    slopes = np.array([fit.values[1] for fit in found])
    assert abs(slopes.mean() - true[1]) < 4 * slopes.std() / np.sqrt(20) < 0.02
    name = found[0].names[1]
    assert sum(low <= true[1] <= high for low, high in (f.interval(name) for f in found)) >= 17


def test_a_level_is_that_of_every_interval():
    few, many = (release(0, 1).ask("murders ~ x", level=level) for level in (0.5, 0.99))
    assert few.to_dict()["level"] == 0.5 and "0.75]" in str(few)
    assert few.interval("x")[0] > many.interval("x")[0] == many.interval("x", 0.99)[0]
