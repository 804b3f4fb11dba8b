"""What a regression found, under the names that users of statsmodels know."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.answers.answer import check_level
from holdfast.answers.result import QuestionResult
from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, listed_names, one_line
from holdfast.fit.histogram import LEVEL

SMALL = 0.01  # below which a coefficient is written with three digits


@dataclass(frozen=True, kw_only=True, eq=False)
class Regression(QuestionResult):
    """Coefficients that the noise of the release does not bend, with robust standard errors.

    `params`, `bse`, `tvalues`, `pvalues` are pandas series by name where pandas is installed, and
    dictionaries where it is not; `conf_int` is a data frame or a dictionary.
    """

    formula: str
    family: str
    rows: int
    names: tuple[str, ...]
    """Of the coefficients."""
    values: Floats
    covariance: Floats = field(repr=False)
    alpha: float | None = None
    """Overdispersion of a negative binomial: the variance is mean + alpha mean^2."""
    notes: tuple[str, ...] = ()
    level: float = LEVEL
    """Of every interval, unless another is asked for."""

    @property
    def params(self) -> Any:
        """Coefficients by name."""
        return _series(self._named(self.values))

    @property
    def bse(self) -> Any:
        """Robust standard errors by name, of the noise and of the rows together."""
        return _series(self._named(self._errors))

    @property
    def tvalues(self) -> Any:
        """Coefficients over their standard errors."""
        return _series(self._named(self.values / np.maximum(self._errors, 1e-300)))

    @property
    def pvalues(self) -> Any:
        """Of a coefficient being 0, by name."""
        return _series(self._named(self._p_values))

    def conf_int(self, alpha: float | None = None, *, level: float | None = None) -> Any:
        """Intervals by name, of this level, or of 1 - alpha where alpha is given."""
        level = level if alpha is None else 1 - alpha
        ends = {name: self.interval(name, level) for name in self.names}
        try:
            import pandas
        except ImportError:
            return ends
        return pandas.DataFrame.from_dict(ends, orient="index", columns=[0, 1])

    def interval(self, name: str, level: float | None = None) -> tuple[float, float]:
        """Of one coefficient, by its name."""
        from scipy.special import ndtri

        level = check_level(self.level if level is None else level)
        if name not in self.names:
            raise HoldfastError(
                f"`name` must be a coefficient, got {name!r:.60}. "
                f"Hint: the names are {listed_names(self.names)}."
            )
        place = self.names.index(name)
        reach = float(ndtri((1 + level) / 2)) * float(self._errors[place])
        value = float(self.values[place])
        return value - reach, value + reach

    def summary(self, level: float | None = None) -> str:
        """As statisticians read it."""
        level = self.level if level is None else level
        tail = (1 - level) / 2
        head = f"{'':>22} {'coef':>9} {'std err':>8} {'z':>8} {'P>|z|':>6}"
        head += f" {f'[{tail:.3g}':>9} {f'{1 - tail:.3g}]':>9}"
        lines = [f"{'Regression through the release':^{len(head)}}", "=" * len(head)]
        method = f"family: {self.family}" + (f", alpha {self.alpha:.3g}" if self.alpha else "")
        pairs = ((self.formula, f"rows: {self.rows:,}"), (method, "standard errors: robust"))
        lines += [f"{one_line(a):<50} {b:>26}".rstrip() for a, b in pairs]
        lines += ["-" * len(head), head, "-" * len(head)]
        for place, name in enumerate(self.names):
            value, error = float(self.values[place]), float(self._errors[place])
            low, high = map(_number, self.interval(name, level))
            lines.append(
                f"{one_line(name)[:22]:>22} {_number(value):>9} {_number(error):>8} "
                f"{value / max(error, 1e-300):8.2f} {self._p_values[place]:6.3f} {low:>9} {high:>9}"
            )
        return "\n".join([*lines, "=" * len(head), *self.notes])

    @property
    def _errors(self) -> Floats:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    @property
    def _p_values(self) -> Floats:
        from scipy.special import ndtr

        z = np.abs(self.values) / np.maximum(self._errors, 1e-300)
        return np.atleast_1d(np.asarray(2 * ndtr(-z)))

    def _named(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.names, values.tolist(), strict=True))

    def __str__(self) -> str:
        return self.summary()

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table, a row for each coefficient."""
        ends = [self.interval(name) for name in self.names]
        return {
            "coefficient": list(self.names),
            "estimate": self.values.tolist(),
            "standard_error": self._errors.tolist(),
            "low": [end[0] for end in ends],
            "high": [end[1] for end in ends],
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "formula": self.formula,
            "family": self.family,
            "alpha": self.alpha,
            "rows": self.rows,
            "level": self.level,
            "params": self._named(self.values),
            "bse": self._named(self._errors),
            "pvalues": self._named(self._p_values),
            "conf_int": {name: list(self.interval(name)) for name in self.names},
            "notes": list(self.notes),
        }


def _series(values: dict[str, float]) -> Any:
    try:
        import pandas
    except ImportError:
        return values
    return pandas.Series(values)


def _number(value: float) -> str:
    """Four places, fewer where the number is large, three digits where it is small.

    >>> _number(1.07166), _number(25621.09), _number(-0.0000123)
    ('1.0717', '25,621', '-1.23e-05')
    """
    if 0 < abs(value) < SMALL:
        return f"{value:.3g}"
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:,.0f}"
