"""`release.regress`: a formula, a family, coefficients that the noise does not bend."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError, numbered
from holdfast.former.analysis.answer import SIMULATED
from holdfast.former.analysis.cautions import enters_capped, high_is_noted
from holdfast.former.analysis.combining import least_squares
from holdfast.former.analysis.imputation import Imputers, imputers, index_of
from holdfast.former.analysis.known_zeros import known_share
from holdfast.former.analysis.parts.part import members_of
from holdfast.former.analysis.posterior import prior
from holdfast.former.analysis.regression.families import Family, NegativeBinomial, Poisson
from holdfast.former.analysis.regression.formula import (
    Design,
    Formula,
    design,
    numbers_of,
    parse_formula,
)
from holdfast.former.analysis.regression.likelihood import Fitted, Likelihood, Near
from holdfast.former.analysis.regression.result import Coefficients, Regression
from holdfast.former.analysis.row_laws import by_columns, shape_of
from holdfast.former.analysis.selection import chosen_rows, published
from holdfast.former.analysis.stage_one import SEED
from holdfast.former.release.row_marks import row_kinds
from holdfast.former.tables.columns import suggest

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

FAMILIES: dict[str, Family | None] = {
    "poisson": Poisson(),
    "negative binomial": NegativeBinomial(),
    "gaussian": None,
}
IMPUTATIONS = 20
FAR = 25.0  # over ε2: a count is moved further once in 10^10 times
ROUNDS = 30  # of undoing the blur: at small counts and a small ε a few leave some of it
MOST_HELD = 100_000_000  # probabilities of true counts


def regress(release: "Release", text: str, *, family: str, where: Any = None) -> Regression:
    """The regression that a formula asks for, of all rows or of those that `where` chooses."""
    if family not in FAMILIES:
        raise HoldfastError(f"`family` must be one of {', '.join(FAMILIES)}, got {family!r:.40}.")
    formula = parse_formula(text)
    count = release.count_column or "count"
    inside = _rows(release, where)
    if formula.outcome.column == count:
        if count in formula.columns:
            raise HoldfastError("the count cannot be its own regressor.")
        found = _outcome(release, formula, family, inside)
    elif count in formula.columns:
        found = _regressor(release, formula, family, inside)
    else:
        raise HoldfastError(
            f"the formula does not use the released counts ({count!r:.60}). Hint: what is "
            "published unchanged can be regressed with any other software."
        )
    return found


def _rows(release: "Release", where: Any) -> Integers:
    """The rows whose counts were drawn, among those chosen."""
    if known_share(release):
        raise HoldfastError(
            "this bundle does not tell which rows are publicly known to be zero, so its counts "
            "cannot be regressed."
        )
    drawn = (release.counts >= 0) & (
        row_kinds(release) % (len(release.target) + 1) < len(release.target)
    )
    if where is not None:
        drawn = drawn & chosen_rows(release, where)
    if not drawn.any():
        raise HoldfastError("`where` chooses no row. Hint: look at release.table.")
    return np.flatnonzero(drawn)


def _outcome(release: "Release", formula: Formula, family: str, inside: Integers) -> Regression:
    if formula.outcome.function:
        raise HoldfastError(
            "the outcome must be the count itself. Hint: a Poisson or negative binomial family "
            "has the logarithm inside; for a function of the count use release.impute."
        )

    def columns(name: str) -> Sequence[Any]:
        cells = _published(release, name)
        return [cells[row] for row in inside]

    found = design(formula, columns, len(inside))
    rows = inside[found.used]
    shown, law = release.counts[rows], FAMILIES[family]
    notes = (*_top_only(found, shown, len(release.target) - 1), *_notes(release, inside, rows))
    if law is None:
        return _gaussian(release, formula, found, rows, notes)
    naive = _likely(law, found, shown, None, None)
    names, top = (*found.names, *law.extra), len(release.target) - 1
    if isinstance(law, Poisson) and by_columns(release) and not (shown == top).any():
        return _unblurred(release, formula, found, rows, naive, notes)
    kernel = _columns(release, rows)
    fitted = _likely(law, found, shown, kernel, naive.coefficients)
    capped = None
    if high_is_noted(release.target[-1]) and (shown == top).any():
        close = _likely(law, found, shown, kernel, fitted.coefficients, top_is_open=False)
        capped = close.coefficients
    return Regression(
        formula=formula,
        family=family,
        method="maximum likelihood through the mechanism",
        capped=capped,
        max_count=top,
        rows=len(rows),
        log_likelihood=fitted.log_likelihood,
        fitted=Coefficients(names=names, values=fitted.coefficients, covariance=fitted.covariance),
        naive=Coefficients(names=names, values=naive.coefficients, covariance=naive.covariance),
        notes=notes,
    )


def _unblurred(
    release: "Release",
    formula: Formula,
    found: Design,
    rows: Integers,
    naive: Fitted,
    notes: tuple[str, ...],
) -> Regression:
    r"""Poisson on a long range: $\sum_r x_r (w_{y_r} - e^{x_r \beta}) = 0$ with $T w = i$.

    w has the true count as its mean whatever law that has, as the count itself would: the
    likelihood takes rows that a Poisson law cannot have for moved ones, and bends with them.
    """
    counts = np.empty(len(rows))
    members = np.zeros(len(rows), np.int64)
    if release.groups is not None:
        members = members_of(release)[rows]
    every = np.arange(len(release.target), dtype=np.float64)
    for number in np.unique(members).tolist():
        chosen, w = members == number, every
        _, mechanism = prior(release, number)
        for _ in range(ROUNDS):
            w = w + (every - mechanism.expected(w))
        counts[chosen] = w[release.counts[rows[chosen]]]
    fitted = _likely(Poisson(), found, counts, None, naive.coefficients)
    return Regression(
        formula=formula,
        family="poisson",
        method="quasi-likelihood of counts with the blur undone",
        max_count=len(release.target) - 1,
        rows=len(rows),
        log_likelihood=None,
        fitted=Coefficients(
            names=found.names, values=fitted.coefficients, covariance=fitted.covariance
        ),
        naive=Coefficients(
            names=found.names, values=naive.coefficients, covariance=naive.covariance
        ),
        notes=notes,
    )


def _columns(release: "Release", rows: Integers) -> Floats | Near:
    """For each row, the column of the mechanism that drew it."""
    shown = release.counts[rows]
    if by_columns(release):
        return _near_columns(release, rows)
    if release.groups is None:
        return np.ascontiguousarray(release.mechanism.matrix.T[shown])
    found, members = np.empty((len(rows), len(release.target))), members_of(release)[rows]
    for number in np.unique(members).tolist():
        chosen = members == number
        found[chosen] = release.groups.at(number).mechanism.matrix.T[shown[chosen]]
    return found


def _near_columns(release: "Release", rows: Integers) -> Near:
    """The same on a long range, as far as a count is moved."""
    from holdfast.former.analysis.row_kernel import near_columns

    shown, reach = release.counts[rows], ceil(FAR / float(release.privacy.budget.unit_2))
    if len(rows) * (2 * reach + 1) > MOST_HELD:
        raise HoldfastError(
            "a regression of so many rows, whose counts are moved so far, takes too much memory. "
            "Hint: fewer rows, by `where`; or regress tables of release.impute."
        )
    members = np.zeros(len(rows), dtype=np.int64)
    if release.groups is not None:
        members = members_of(release)[rows]
    found = np.empty((len(rows), 2 * reach + 1))
    for number in np.unique(members).tolist():
        chosen = members == number
        _, mechanism = prior(release, number)
        found[chosen] = near_columns(*shape_of(mechanism), shown[chosen], reach)
        found[chosen] /= mechanism.total
    return Near(shown, found, len(release.target) - 1)


def _likely(
    law: Family,
    found: Design,
    shown: Integers | Floats,
    kernel: Floats | Near | None,
    start: Floats | None,
    top_is_open: bool = True,
) -> Fitted:
    return Likelihood(
        family=law, matrix=found.matrix, offset=found.offset, counts=shown, kernel=kernel,
        top_is_open=top_is_open,
    ).fit(start)  # fmt: skip


def _gaussian(
    release: "Release", formula: Formula, found: Design, rows: Integers, notes: tuple[str, ...]
) -> Regression:
    """Least squares on plausible true tables, drawn given the regressors; Rubin's rules."""
    shown, generator = release.counts[rows], np.random.default_rng(SEED)
    drawn = _imputers(release, found, rows)
    fits = [
        least_squares(found.matrix, drawn.draw(generator) - found.offset)
        for _ in range(IMPUTATIONS)
    ]
    values = np.array([fit[0] for fit in fits])
    within = np.mean([fit[1] for fit in fits], axis=0)
    between = np.atleast_2d(np.cov(values.T)) * (1 + 1 / IMPUTATIONS)
    naive = least_squares(found.matrix, shown - found.offset)
    return Regression(
        formula=formula,
        family="gaussian",
        method=f"least squares on {IMPUTATIONS} plausible tables",
        rows=len(rows),
        log_likelihood=None,
        fitted=Coefficients(
            names=found.names, values=values.mean(axis=0), covariance=within + between
        ),
        naive=Coefficients(names=found.names, values=naive[0], covariance=naive[1]),
        notes=notes + _enters_capped(release),
    )


def _enters_capped(release: "Release") -> tuple[str, ...]:
    top = len(release.target) - 1
    return (enters_capped(top),) if high_is_noted(release.target[-1]) else ()


def _imputers(release: "Release", found: Design, rows: Integers) -> Imputers:
    matrix = np.column_stack([np.ones(len(rows)), found.matrix, found.offset])
    return imputers(release, index_of(release.counts[rows], matrix), rows)


def _regressor(release: "Release", formula: Formula, family: str, inside: Integers) -> Regression:
    """The count's expected true value, given its released one and the other regressors."""
    count = release.count_column or "count"
    cells: dict[str, list[str]] = {}

    def columns(name: str) -> Sequence[Any]:
        every = cells[name] if name in cells else _published(release, name)
        return [every[row] for row in inside]

    outcome = numbers_of(formula.outcome, columns(formula.outcome.column))
    others = tuple(term for term in formula.terms if all(factor.column != count for factor in term))
    kept = inside[np.isfinite(outcome)]
    outcome, inside = outcome[np.isfinite(outcome)], kept
    shown = release.counts.astype(np.float64)
    expected = shown.copy()
    beside = design(Formula(formula.outcome, others), columns, len(inside))
    expected[inside[beside.used]] = _imputers(release, beside, inside[beside.used]).expected()
    fits = []
    for values in (expected, shown):
        cells[count] = [f"{value:.6g}" for value in values]
        found = design(formula, columns, len(inside))
        fits.append(_plain(family, found, outcome[found.used]))
    rows = inside[found.used]
    names = (*found.names, *(law.extra if (law := FAMILIES[family]) else ()))
    (fitted, covariance), (naive, its) = fits
    return Regression(
        formula=formula,
        family=family,
        method="the expected true count as regressor",
        rows=len(rows),
        log_likelihood=None,
        fitted=Coefficients(names=names, values=fitted, covariance=covariance),
        naive=Coefficients(names=names, values=naive, covariance=its),
        notes=_notes(release, inside, rows) + _enters_capped(release),
    )


def _plain(family: str, found: Design, outcome: Floats) -> tuple[Floats, Floats]:
    law = FAMILIES[family]
    if law is None:
        return least_squares(found.matrix, outcome - found.offset)
    if (outcome < 0).any() or (outcome % 1 != 0).any():
        raise HoldfastError(f"the family {family!r} needs an outcome of whole numbers.")
    fit = _likely(law, found, outcome.astype(np.int64), None, None)
    return fit.coefficients, fit.covariance


def _published(release: "Release", name: str) -> Sequence[Any]:
    if name not in release.unchanged_columns:
        raise HoldfastError(
            f"the formula names {name!r:.60}, which is not a column of the release. Hint: "
            f"{suggest(list(release.unchanged_columns), name)} A column of your own is put beside "
            "it by release.merge."
        )
    return published(release, name)


def _top_only(found: Design, shown: Integers, top: int) -> tuple[str, ...]:
    """What to say of groups all rows of which show the highest count: they may be any above it, so
    nothing holds their coefficient from above."""
    names = [
        name
        for name, column in zip(found.names, found.matrix.T, strict=True)
        if np.isin(column, (0, 1)).all() and not column.all() and (shown[column == 1] == top).all()
    ]
    if not names:
        return ()
    return (
        f"{', '.join(names)}: all rows were published as {top:,}, which means {top:,} or more, so "
        "nothing limits the coefficient from above: it says nothing",
    )


def _notes(release: "Release", inside: Integers, rows: Integers) -> tuple[str, ...]:
    left = len(inside) - len(rows)
    notes = (f"{numbered(left, 'row')} with empty cells left out",) if left else ()
    return (*notes, SIMULATED) if release.privacy.simulated else notes
