"""The laws that a count may have given its regressors, and their slopes."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from holdfast.arrays import Floats


class Family(Protocol):
    """A law of counts with mean e^η and some further parameters of its own."""

    @property
    def extra(self) -> tuple[str, ...]:
        """Names of the further parameters, as they are estimated."""

    def logs(self, counts: Floats, eta: Floats, extra: Floats) -> tuple[Floats, Floats, Floats]:
        """The log probability of counts at η, its slope in η, its slopes in the extra ones."""

    def tail(self, top: int, eta: Floats, extra: Floats) -> tuple[Floats, Floats]:
        """The probability of `top` or more, and its slope in η."""


@dataclass(frozen=True)
class Poisson:
    """Variance equal to the mean."""

    extra: tuple[str, ...] = ()

    def logs(self, counts: Floats, eta: Floats, extra: Floats) -> tuple[Floats, Floats, Floats]:
        """i η - e^η - log i!."""
        from scipy.special import gammaln

        mean = np.exp(eta)
        log = counts * eta - mean - gammaln(np.maximum(counts, 0) + 1)  # of unblurred ones too
        return log, counts - mean, np.zeros((0, *log.shape))

    def tail(self, top: int, eta: Floats, extra: Floats) -> tuple[Floats, Floats]:
        """By the incomplete gamma function: exact however small."""
        from scipy.special import gammainc, gammaln

        mean = np.exp(eta)
        return np.asarray(gammainc(top, mean)), np.exp(top * eta - mean - gammaln(top))


@dataclass(frozen=True)
class NegativeBinomial:
    """Variance μ + α μ²."""

    extra: tuple[str, ...] = ("log(alpha)",)

    def logs(self, counts: Floats, eta: Floats, extra: Floats) -> tuple[Floats, Floats, Floats]:
        """With r = 1/α: Γ(i+r)/(Γ(r) i!) (r/(r+μ))^r (μ/(r+μ))^i."""
        from scipy.special import digamma, gammaln

        r, mean = float(np.exp(-extra[0])), np.exp(eta)
        whole = r + mean
        log = gammaln(counts + r) - gammaln(r) - gammaln(counts + 1)
        log = log + r * np.log(r / whole) + counts * np.log(mean / whole)
        shape = digamma(counts + r) - digamma(r) + np.log(r / whole) + 1 - (r + counts) / whole
        return log, (counts - mean) * r / whole, np.asarray(-r * shape)[None]

    def tail(self, top: int, eta: Floats, extra: Floats) -> tuple[Floats, Floats]:
        """By the incomplete beta function: exact however small."""
        from scipy.special import betainc, betaln

        r, mean = float(np.exp(-extra[0])), np.exp(eta)
        log = top * np.log(mean / (r + mean)) + r * np.log(r / (r + mean)) - betaln(top, r)
        return np.asarray(betainc(top, r, mean / (r + mean))), np.exp(log)
