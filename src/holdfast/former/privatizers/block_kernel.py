"""The compiled part of the fit over long ranges; docs/long-ranges.md has the model."""

from math import exp, log, sqrt

import numpy as np

from holdfast.arrays import Floats
from holdfast.compiled import compiled
from holdfast.former.privatizers.smooth_kernel import (
    FITTED,
    LAST_C,
    LONGEST_STEP,
    SIZE,
    WORKSPACE,
    C,
    V,
    W,
    _smoothed,
)


def fit_blocks(
    y: Floats,
    rate: Floats,
    inside: Floats,
    uneven: Floats,
    log_span: Floats,
    du: Floats,
    kappa: float,
    theta: Floats,
    R: Floats,
    rounds: int,
    tolerance: float,
) -> tuple[Floats, float]:
    """A rising sequence seen at its places y, and the log evidence, for one stiffness 1/kappa.

    `theta` is the log of how fast it rises, over spans with the logs `log_span`; y is off by
    Laplace noise of `rate` and by a scatter of variance `inside`, and a rise of η scatters by
    η + `uneven` η². `theta` and `R`, the variances of y, are where the fit starts and are
    overwritten by where it ends.
    """
    eta, work = np.empty(len(y)), np.zeros((WORKSPACE, len(y)))
    model = (y, rate, inside, uneven, log_span, du, kappa)
    evidence = _fit_blocks(*model, theta, R, rounds, tolerance, eta, work)
    return work[C], evidence


@compiled(error_model="numpy")
def _fit_blocks(
    y, rate, inside, uneven, log_span, du, kappa, theta, R, rounds, tolerance, eta, work
):
    n = len(y)
    total = y[n - 1]
    _bring_to(total, theta, log_span, eta)
    c = 0.0
    for i in range(n):
        c += eta[i]
        work[LAST_C, i] = c
        work[SIZE, i] = 1.0 / rate[i]
    evidence = 0.0
    for _ in range(rounds):
        for i in range(n):
            work[W, i] = eta[i] + uneven[i] * eta[i] * eta[i] + 1e-12
        evidence = _smoothed(y, R, theta, eta, du, kappa, work)
        change = 0.0
        for i in range(n):
            move = min(max(work[FITTED, i] - theta[i], -LONGEST_STEP), LONGEST_STEP)
            theta[i] = max(theta[i] + move, -60.0)
            if i < n - 1:
                noise = R[i] - inside[i]
                evidence += 0.5 * log(noise) - 0.5 * rate[i] * work[SIZE, i]
                part = noise / R[i]
                miss = part * (y[i] - work[C, i])
                left = part * part * work[V, i] + noise * (1.0 - part)
                work[SIZE, i] = sqrt(miss * miss + left)
                R[i] = work[SIZE, i] / rate[i] + 1e-9 + inside[i]
            change = max(change, abs(work[C, i] - work[LAST_C, i]) * rate[i])
            work[LAST_C, i] = work[C, i]
        _bring_to(total, theta, log_span, eta)
        if change < tolerance:
            break
    return evidence


@compiled(error_model="numpy")
def _bring_to(total, theta, log_span, eta):
    """eta, the rises by theta, with theta moved so that they add up to the total."""
    mass = 0.0
    for i in range(len(theta)):
        eta[i] = exp(theta[i] + log_span[i])
        mass += eta[i]
    shift = log(total / mass)
    for i in range(len(theta)):
        theta[i] += shift
        eta[i] *= total / mass
