"""What a regression found, beside what the released counts alone would say."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.arrays import Floats
from holdfast.errors import HoldfastError, listed_names
from holdfast.former.analysis.answer import percent
from holdfast.former.analysis.markup import small, table
from holdfast.former.analysis.posterior import check_level
from holdfast.former.analysis.regression.formula import Formula


@dataclass(frozen=True, kw_only=True, eq=False)
class Coefficients:
    """Estimates and their covariance."""

    names: tuple[str, ...]
    values: Floats
    covariance: Floats = field(repr=False)

    @property
    def errors(self) -> Floats:
        """Standard errors."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Regression:
    """Coefficients that the noise of the release does not bend, with robust standard errors."""

    formula: Formula
    family: str
    method: str
    rows: int
    log_likelihood: float | None
    """Where a likelihood was maximised."""
    fitted: Coefficients
    naive: Coefficients
    """The same regression with the released counts taken for true ones."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""
    capped: Floats | None = field(default=None, repr=False)
    """The coefficients with the noise taken out and the highest count taken for itself; None where
    no rows to speak of have it, or the counts enter capped."""
    max_count: int | None = None
    """The highest count, which stands for all above it."""

    @property
    def coefficients(self) -> dict[str, float]:
        """By name."""
        return dict(zip(self.fitted.names, self.fitted.values.tolist(), strict=True))

    @property
    def standard_errors(self) -> dict[str, float]:
        """By name."""
        return dict(zip(self.fitted.names, self.fitted.errors.tolist(), strict=True))

    @property
    def p_values(self) -> dict[str, float]:
        """Of the coefficient being 0, by name."""
        from scipy.special import ndtr

        found = 2 * ndtr(-np.abs(self.fitted.values / np.maximum(self.fitted.errors, 1e-300)))
        return dict(zip(self.fitted.names, np.atleast_1d(found).tolist(), strict=True))

    def interval(self, name: str, level: float = 0.95) -> tuple[float, float]:
        """Of one coefficient, by its name."""
        from scipy.special import ndtri

        if name not in self.fitted.names:
            raise HoldfastError(
                f"`name` must be a coefficient, got {name!r:.60}. Hint: "
                f"fit.interval({self.fitted.names[-1]!r}, level=0.9); the names are "
                f"{listed_names(self.fitted.names)}."
            )
        level = check_level(level)
        reach = float(ndtri((1 + level) / 2)) * self.standard_errors[name]
        return self.coefficients[name] - reach, self.coefficients[name] + reach

    def summary(self, level: float = 0.95) -> str:
        """As statisticians read it."""
        tail = (1 - level) / 2
        head = f"{'':>22} {'coef':>9} {'std err':>8} {'z':>8} {'P>|z|':>6}"
        head += f" {f'[{tail:.3f}':>9} {f'{1 - tail:.3f}]':>9} {'naive':>9}"
        lines = [
            f"{'Regression through the release':^{len(head)}}",
            "=" * len(head),
            *self._facts(),
        ]
        lines += ["-" * len(head), head, "-" * len(head)]
        for name, its in zip(self.fitted.names, self.naive.values, strict=True):
            value, error = self.coefficients[name], self.standard_errors[name]
            low, high = self.interval(name, level)
            z = value / error if error > 0 else np.inf
            lines.append(
                f"{name[:22]:>22} {_number(value):>9} {_number(error):>8} {z:8.2f} "
                f"{self.p_values[name]:6.3f} {_number(low):>9} {_number(high):>9} "
                f"{_number(float(its)):>9}"
            )
        naive = "naive: the released counts taken for true ones"
        return "\n".join([*lines, "=" * len(head), naive, *self._gaps(), *self.notes])

    def _gaps(self) -> list[str]:
        """What of the gap to the naive fit is the noise, and what is the cap."""
        if self.capped is None:
            return []
        gaps = [
            f"  {name[:22]}: {noise:+.4f} by the noise, {cap:+.4f} by the cap"
            for name, noise, cap in zip(
                self.fitted.names,
                self.capped - self.naive.values,
                self.fitted.values - self.capped,
                strict=True,
            )
        ]
        top = f"{self.max_count:,}"
        head = f"its gap to coef (counts above {top} were published as {top})"
        return [f"{head}:", *gaps]

    def _facts(self) -> list[str]:
        left = [self.formula.text, f"family: {self.family}", self.method]
        right = [f"rows: {self.rows:,}", "standard errors: robust", ""]
        if self.log_likelihood is not None:
            right[2] = f"log likelihood: {self.log_likelihood:,.1f}"
        return [f"{a:<50} {b:>35}".rstrip() for a, b in zip(left, right, strict=True)]

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "family": self.family,
            "method": self.method,
            "rows": self.rows,
            "log_likelihood": self.log_likelihood,
            "coefficients": self.coefficients,
            "standard_errors": self.standard_errors,
            "p_values": self.p_values,
            "naive": dict(zip(self.naive.names, self.naive.values.tolist(), strict=True)),
            "capped": None
            if self.capped is None
            else dict(zip(self.fitted.names, self.capped.tolist(), strict=True)),
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        header = ["", "coefficient", "standard error", f"{percent(0.95)} interval", "naive"]
        rows = [
            (
                name,
                f"{self.coefficients[name]:.4f}",
                f"{self.standard_errors[name]:.4f}",
                "{:.4f} to {:.4f}".format(*self.interval(name)),
                f"{its:.4f}",
            )
            for name, its in zip(self.fitted.names, self.naive.values, strict=True)
        ]
        return table(header, rows) + small(self.notes)


def _number(value: float) -> str:
    """Four places, and fewer where the number is large.

    >>> _number(1.07166), _number(25621.09)
    ('1.0717', '25,621')
    """
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:,.0f}"
