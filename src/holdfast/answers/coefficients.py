"""What a regression found, under the names that users of statsmodels know."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from holdfast.answers.answer import check_level
from holdfast.answers.result import Cells, QuestionResult
from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, listed_names, one_line
from holdfast.fit.histogram import LEVEL

SMALL = 0.01  # below which a coefficient is written with three digits


@dataclass(frozen=True, kw_only=True, eq=False)
class Regression(QuestionResult):
    """Coefficients that the noise of the release does not bend, with robust standard errors.

    `params`, `bse`, `tvalues`, `pvalues` are pandas series by name where pandas is installed, and
    dictionaries where it is not; `conf_int` is a data frame or a dictionary.

    >>> import holdfast
    >>> table = {"n": [3, 1, 0, 9, 4, 2, 8, 1, 0, 5] * 4, "x": [2, 1, 0, 3, 2, 1, 3, 1, 0, 2] * 4}
    >>> import pandas
    >>> known = {"count": "n", "keep": ["x"], "publish_anyway": ["x"], "epsilon": 8, "seed": 1}
    >>> fitted = holdfast.privatize(pandas.DataFrame(table), **known).regress("n ~ x")
    >>> low, high = fitted.interval("x")
    >>> bool(low < fitted.params["x"] < high)
    True
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
        return _series(self._named(self._z))

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

    def cells(self) -> Cells:
        """A line for each coefficient, as statisticians read it."""
        low, high = f"[{(1 - self.level) / 2:.3g}", f"{(1 + self.level) / 2:.3g}]"
        return ("", "coef", "std err", "z", "P>|z|", low, high), [
            (
                one_line(name), *map(_number, (self.values[place], self._errors[place])),
                f"{self._z[place]:.2f}", f"{self._p_values[place]:.3f}",
                *map(_number, self.interval(name)),
            )
            for place, name in enumerate(self.names)
        ]  # fmt: skip

    @property
    def title(self) -> str:
        """What was regressed, and how."""
        alpha = f", alpha {self.alpha:.3g}" if self.alpha else ""
        return (
            f"Regression through the release: {self.formula}\n"
            f"family: {self.family}{alpha}; rows: {self.rows:,}; standard errors: robust, "
            "taking the rows for a sample of many\n"
        )

    def summary(self, level: float | None = None) -> str:
        """All of it as text, with intervals of this level."""
        return str(self if level is None else replace(self, level=check_level(level)))

    @property
    def _errors(self) -> Floats:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    @property
    def _z(self) -> Floats:
        return self.values / np.maximum(self._errors, 1e-300)

    @property
    def _p_values(self) -> Floats:
        from scipy.special import ndtr

        return np.atleast_1d(np.asarray(2 * ndtr(-np.abs(self._z))))

    def _named(self, values: Floats) -> dict[str, float]:
        return dict(zip(self.names, values.tolist(), strict=True))

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
