"""Compiled parts of the smooth fit; docs/smooth-fit.md has the model and the letters.

The kernels compile at their first use on a machine, which a user waits for: they are scalar loops
over arrays that the caller allocates, because an array expression costs seconds to compile.
"""

from math import exp, lgamma, log, log1p, pi, sqrt

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.compiled import compiled

END_JUMP = 25.0  # variance of log z's free jump at the first and the last bin
LONGEST_STEP = 2.0  # in log z, for one round
TAIL = 0.5  # degrees of freedom of a spike's prior
LOG_T = lgamma(0.75) - lgamma(0.25) - 0.5 * log(0.5 * pi)  # of Student's t for TAIL
SLACK = -(LOG_T - 0.75 * log(3.0) + 0.5 + 0.5 * log(2.0 * pi))

# rows of the workspace: what the filter leaves, what the smoother finds, what a round keeps
A, B, F, E = 0, 1, 2, 3
P0, P1, P2 = 4, 5, 6  # row 0 of the covariance, when y_i is seen
Q0, Q1, Q2 = 7, 8, 9  # row 1 of the covariance, before bin i is added to C
FITTED, R0, N00, C, V = 10, 11, 12, 13, 14
S, W, SIZE, LAST_C, LAST_ETA = 15, 16, 17, 18, 19
WORKSPACE = 20


@compiled(error_model="numpy")
def _smoothed(y, R, theta, eta, du, kappa, work):
    """Kalman filter and disturbance smoother of the model linearised at theta.

    The state at bin i is (C_i, theta_i, slope_i) with C_i = C_(i-1) + eta_i (1 + theta_i -
    theta0_i) + a disturbance of variance W_i, and y_i = C_i + noise of variance R_i. Leaves the
    smoothed theta, r and N of the disturbances, the smoothed C and its variance in rows FITTED
    to V of `work`, and returns the log likelihood but for a constant.
    """
    n = len(y)
    c, t, s = 0.0, theta[0], 0.0
    cc, ct, cs, tt, ts, ss = 0.0, 0.0, 0.0, 100.0, 0.0, 4.0
    loglik = 0.0
    for i in range(n):
        work[B, i], work[Q0, i], work[Q1, i], work[Q2, i] = t, ct, tt, ts
        h = eta[i]
        c += h * (1.0 + t - theta[i])
        cc += h * (2.0 * ct + h * tt) + work[W, i]
        ct += h * tt
        cs += h * ts
        work[A, i], work[P0, i], work[P1, i], work[P2, i] = c, cc, ct, cs
        f = cc + R[i]
        e = y[i] - c
        work[F, i], work[E, i] = f, e
        loglik -= 0.5 * (log(f) + e * e / f)
        c += cc / f * e
        t += ct / f * e
        s += cs / f * e
        tt = max(tt - ct / f * ct, 1e-15 * tt)
        ts -= ct / f * cs
        ss = max(ss - cs / f * cs, 1e-15 * ss)
        cc *= R[i] / f
        ct *= R[i] / f
        cs *= R[i] / f
        d = du[i]
        t += d * s
        ct += d * cs
        tt += d * (2.0 * ts + d * ss)
        ts += d * ss
        ss += kappa * d
        if i == 0 or i == n - 2:
            tt += END_JUMP
    a, b, g = 0.0, 0.0, 0.0
    aa, ab, ag, bb, bg, gg = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n - 1, -1, -1):
        d = du[i]
        g += d * b
        gg += d * (2.0 * bg + d * bb)
        ag += d * ab
        bg += d * bb
        f, p0, p1, p2 = work[F, i], work[P0, i], work[P1, i], work[P2, i]
        k0, k1, k2 = p0 / f, p1 / f, p2 / f
        x0 = k0 * aa + k1 * ab + k2 * ag
        x1 = k0 * ab + k1 * bb + k2 * bg
        x2 = k0 * ag + k1 * bg + k2 * gg
        a += work[E, i] / f - (k0 * a + k1 * b + k2 * g)
        aa += 1.0 / f - 2.0 * x0 + k0 * x0 + k1 * x1 + k2 * x2
        ab -= x1
        ag -= x2
        work[C, i] = work[A, i] + p0 * a + p1 * b + p2 * g
        spread = p0 * (p0 * aa + 2.0 * (p1 * ab + p2 * ag)) + p1 * (p1 * bb + 2.0 * p2 * bg)
        work[V, i] = max(p0 - spread - p2 * p2 * gg, 0.0)
        work[R0, i], work[N00, i] = a, aa
        h = eta[i]
        b += h * a
        bb += h * (2.0 * ab + h * aa)
        bg += h * ag
        ab += h * aa
        work[FITTED, i] = work[B, i] + work[Q0, i] * a + work[Q1, i] * b + work[Q2, i] * g
    return loglik


@compiled(error_model="numpy")
def _scaled(theta, eta, total, spike):
    """eta = exp(theta) brought to the total; with spikes, which may add to it, only from above."""
    mass = 0.0
    for i in range(len(theta)):
        eta[i] = exp(theta[i])
        mass += eta[i]
    scale = total / (max(mass, total) if spike > 0 else mass)
    for i in range(len(theta)):
        eta[i] *= scale
    return scale


def fit(
    y: Floats,
    total: float,
    rate: float,
    laplace: bool,
    du: Floats,
    kappa: float,
    spike: float,
    theta: Floats,
    R: Floats,
    x2: Floats,
    rounds: int,
    tolerance: float,
) -> tuple[Floats, Floats, float]:
    """The fit for one stiffness 1/kappa and one scale of spikes (0: none).

    `theta`, `R` and `x2` are where it starts, and are overwritten by where it ends. Returns the
    smooth part of the expected histogram, the smoothed C, and the log evidence.
    """
    eta, work = np.empty(len(y)), np.zeros((WORKSPACE, len(y)))
    evidence = _fit(
        y, total, rate, laplace, du, kappa, spike, theta, R, x2, rounds, tolerance, eta, work
    )
    return eta, work[C], evidence


@compiled(error_model="numpy")
def _fit(y, total, rate, laplace, du, kappa, spike, theta, R, x2, rounds, tolerance, eta, work):
    n = len(y)
    _scaled(theta, eta, total, spike)
    a2 = TAIL * spike * spike
    c = 0.0
    for i in range(n):
        theta[i] = log(eta[i])
        c += eta[i]
        work[LAST_C, i] = c
        work[SIZE, i] = 1.0 / rate
    evidence = 0.0
    for _ in range(rounds):
        extra = 0.0
        for i in range(n):
            if spike > 0:
                S_i = (a2 + x2[i]) / (TAIL + 1.0)
                extra += LOG_T - 0.5 * log(spike * spike) - 0.75 * log1p(x2[i] / a2)
                extra += 0.5 * x2[i] / S_i + 0.5 * log(2.0 * pi * S_i)
                work[S, i] = S_i
            work[W, i] = eta[i] + work[S, i] + 1e-12
        evidence = _smoothed(y, R, theta, eta, du, kappa, work) + extra
        change = 0.0
        for i in range(n):
            move = min(max(work[FITTED, i] - theta[i], -LONGEST_STEP), LONGEST_STEP)
            theta[i] = max(theta[i] + move, -60.0)
            if spike > 0:
                left = max(1.0 - work[S, i] * work[N00, i], 0.0)
                evidence += left * SLACK
                moved = work[S, i] * work[R0, i]
                x2[i] = moved * moved + work[S, i] * left
            if i < n - 1 and laplace:
                evidence += 0.5 * log(R[i]) - 0.5 * rate * work[SIZE, i]
                miss = y[i] - work[C, i]
                work[SIZE, i] = sqrt(miss * miss + work[V, i])
                R[i] = work[SIZE, i] / rate + 1e-9
            change = max(change, abs(work[C, i] - work[LAST_C, i]) * rate)
            work[LAST_C, i] = work[C, i]
            work[LAST_ETA, i] = eta[i]
        shift = log(_scaled(theta, eta, total, spike))
        for i in range(n):  # C hugs y long before a bin that holds little has settled
            theta[i] += shift
            last = work[LAST_ETA, i]
            change = max(change, min(abs(eta[i] - last) * rate, abs(eta[i] / last - 1.0)))
        if change < tolerance:
            break
    return evidence


def whole_medians(
    y: Integers,
    log_weights: Floats,
    mean: Floats,
    share: float,
    scale: float,
    centre: Floats,
    reach: int,
    width: float,
) -> Floats:
    """Posterior medians of C_0, …, C_(n-1) as whole numbers, by forward and backward passes.

    C_i - C_(i-1) has the law of `_steps`, and y_i - C_i has log weights by distance. Only
    values within `reach` of `centre` are considered. Each median is moved within ±width/2 by
    where in its value's probability it lies, so that medians never tie. An entry is NaN if
    nothing fits.
    """
    n, total, size = len(y), y[-1], 2 * reach + 3
    low = np.clip(np.floor(centre).astype(np.int64) - reach, 0, total)
    high = np.clip(np.ceil(centre).astype(np.int64) + reach, low, total)
    low[-1] = high[-1] = total
    weights = np.array([exp(log_weight) for log_weight in log_weights])
    forward, seen, steps = np.zeros((n, size)), np.ones((n, size)), np.empty((n, 2 * size))
    now, medians = np.empty(size), np.full(n, np.nan)
    _steps(mean, share, scale, low, high, steps)
    if _forward(y, weights, low, high, forward, seen, steps):
        medians[-1] = total
        _backward(low, high, width, forward, seen, steps, now, medians)
    return medians


@compiled(error_model="numpy")
def _steps(mean, share, scale, low, high, steps):
    """Leaves the chances of all steps from i - 1 to i, from the shortest on, in row i of `steps`:
    Poisson, or with `share` a spike of any size."""
    for i in range(len(mean)):
        least = low[i] - (high[i - 1] if i > 0 else 0)
        most = high[i] - (low[i - 1] if i > 0 else 0)
        log_mean = log(mean[i])
        for k in range(least, most + 1):
            p = 0.0
            if k >= 0:
                p = exp(k * log_mean - mean[i] - lgamma(k + 1.0))
                if share > 0.0:
                    spike = (1.0 + k / scale) ** -TAIL - (1.0 + (k + 1) / scale) ** -TAIL
                    p = (1.0 - share) * p + share * spike
            steps[i, k - least] = p


@compiled(error_model="numpy")
def _add(x, steps, sums):
    for k in range(min(len(steps), len(sums))):
        sums[k] += x * steps[k]


@compiled(error_model="numpy")
def _forward(y, weights, low, high, forward, seen, steps):
    """Leaves the law of C_i given y_0, …, y_i in row i of `forward`; whether anything fits."""
    n = len(y)
    for i in range(n):
        size = high[i] - low[i] + 1
        before, last = (low[i - 1], high[i - 1]) if i > 0 else (0, 0)
        for a in range(before, last + 1):
            b = max(a, low[i])
            x = forward[i - 1, a - before] if i > 0 else 1.0
            _add(x, steps[i, b - a - (low[i] - last) :], forward[i, b - low[i] : size])
        mass = 0.0
        for k in range(size):
            if i < n - 1:
                seen[i, k] = weights[min(abs(y[i] - low[i] - k), len(weights) - 1)]
            forward[i, k] *= seen[i, k]
            mass += forward[i, k]
        if not mass > 0.0:
            return False
        for k in range(size):
            forward[i, k] /= mass
    return True


@compiled(error_model="numpy")
def _backward(low, high, width, forward, seen, steps, now, medians):
    """Joins what is to come to `forward`, and finds the medians but for the last."""
    n = len(medians)
    now[: high[n - 1] - low[n - 1] + 1] = 1.0
    later = np.empty_like(now)
    for i in range(n - 1, 0, -1):
        first, last = low[i - 1], high[i - 1]
        for k in range(high[i] - low[i] + 1):
            later[k] = now[k] * seen[i, k]
        for k in range(last - first + 1):
            now[k] = 0.0
        for b in range(max(first, low[i]), high[i] + 1):  # steps[i] begins with low[i] - last
            most = b - first - (low[i] - last)
            _add(later[b - low[i]], steps[i, max(b - low[i], last - low[i]) : most + 1][::-1], now)
        mass = 0.0
        for k in range(last - first + 1):
            mass += now[k]
        half, below = 0.0, 0.0
        for k in range(last - first + 1):
            now[k] /= mass
            half += forward[i - 1, k] * now[k]
        half *= 0.5
        for k in range(last - first + 1):
            part = forward[i - 1, k] * now[k]
            if below + part >= half and part > 0.0:
                medians[i - 1] = first + k + width * ((half - below) / part - 0.5)
                break
            below += part
