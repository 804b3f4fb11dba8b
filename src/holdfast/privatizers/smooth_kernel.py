"""Compiled parts of the smooth fit; docs/smooth-fit.md has the model and the letters."""

from math import lgamma

import numpy as np
from numba import njit

END_JUMP = 25.0  # variance of log z's free jump at the first and the last bin
LONGEST_STEP = 2.0  # in log z, for one round
TAIL = 0.5  # degrees of freedom of a spike's prior
LOG_T = lgamma(0.75) - lgamma(0.25) - 0.5 * np.log(0.5 * np.pi)  # of Student's t for TAIL
SLACK = -(LOG_T - 0.75 * np.log(3.0) + 0.5 + 0.5 * np.log(2.0 * np.pi))


@njit(cache=True)
def _smoothed(y, R, eta, theta, w, du, kappa):
    """Kalman filter and disturbance smoother of the model linearised at theta.

    The state at bin i is (C_i, theta_i, slope_i) with C_i = C_(i-1) + eta_i (1 + theta_i -
    theta0_i) + a disturbance of variance w_i, and y_i = C_i + noise of variance R_i. Returns
    the smoothed theta, r and N of the disturbances, the smoothed C, its variance, and the log
    likelihood but for a constant.
    """
    n = len(y)
    A = np.empty(n)
    B = np.empty(n)
    P = np.empty((n, 3))  # row 0 of the covariance, when y_i is seen
    Q = np.empty((n, 3))  # row 1 of the covariance, before bin i is added to C
    F = np.empty(n)
    v = np.empty(n)
    c, t, s = 0.0, theta[0], 0.0
    cc, ct, cs, tt, ts, ss = 0.0, 0.0, 0.0, 100.0, 0.0, 4.0
    loglik = 0.0
    for i in range(n):
        B[i], Q[i, 0], Q[i, 1], Q[i, 2] = t, ct, tt, ts
        h = eta[i]
        c += h * (1.0 + t - theta[i])
        cc += h * (2.0 * ct + h * tt) + w[i]
        ct += h * tt
        cs += h * ts
        A[i], P[i, 0], P[i, 1], P[i, 2] = c, cc, ct, cs
        f = cc + R[i]
        e = y[i] - c
        F[i], v[i] = f, e
        loglik -= 0.5 * (np.log(f) + e * e / f)
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
    fitted, r0, n00, C, V = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    a, b, g = 0.0, 0.0, 0.0
    aa, ab, ag, bb, bg, gg = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n - 1, -1, -1):
        d = du[i]
        g += d * b
        gg += d * (2.0 * bg + d * bb)
        ag += d * ab
        bg += d * bb
        f = F[i]
        k0, k1, k2 = P[i, 0] / f, P[i, 1] / f, P[i, 2] / f
        x0 = k0 * aa + k1 * ab + k2 * ag
        x1 = k0 * ab + k1 * bb + k2 * bg
        x2 = k0 * ag + k1 * bg + k2 * gg
        a += v[i] / f - (k0 * a + k1 * b + k2 * g)
        aa += 1.0 / f - 2.0 * x0 + k0 * x0 + k1 * x1 + k2 * x2
        ab -= x1
        ag -= x2
        p0, p1, p2 = P[i, 0], P[i, 1], P[i, 2]
        C[i] = A[i] + p0 * a + p1 * b + p2 * g
        spread = p0 * (p0 * aa + 2.0 * (p1 * ab + p2 * ag)) + p1 * (p1 * bb + 2.0 * p2 * bg)
        V[i] = max(p0 - spread - p2 * p2 * gg, 0.0)
        r0[i], n00[i] = a, aa
        h = eta[i]
        b += h * a
        bb += h * (2.0 * ab + h * aa)
        bg += h * ag
        ab += h * aa
        fitted[i] = B[i] + Q[i, 0] * a + Q[i, 1] * b + Q[i, 2] * g
    return fitted, r0, n00, C, V, loglik


@njit(cache=True)
def fit(y, total, rate, laplace, du, kappa, spike, theta, R, x2, rounds, tolerance):
    """The fit for one stiffness 1/kappa and one scale of spikes (0: none).

    `theta` and `R` are where it starts, and are overwritten by where it ends. Returns the
    smooth part of the expected histogram, the smoothed C, and the log evidence.
    """
    n = len(y)
    eta = np.exp(theta)
    if spike == 0 or eta.sum() > total:
        eta *= total / eta.sum()
    theta[:] = np.log(eta)
    a2 = TAIL * spike * spike
    S, w, s = np.zeros(n), np.empty(n), np.full(n, 1.0 / rate)
    before = np.cumsum(eta)
    C = before
    evidence = -np.inf
    for _ in range(rounds):
        extra = 0.0
        for i in range(n):
            if spike > 0:
                S[i] = (a2 + x2[i]) / (TAIL + 1.0)
                extra += LOG_T - 0.5 * np.log(spike * spike) - 0.75 * np.log1p(x2[i] / a2)
                extra += 0.5 * x2[i] / S[i] + 0.5 * np.log(2.0 * np.pi * S[i])
            w[i] = eta[i] + S[i] + 1e-12
        fitted, r0, n00, C, V, loglik = _smoothed(y, R, eta, theta, w, du, kappa)
        evidence = loglik + extra
        change = 0.0
        for i in range(n):
            move = min(max(fitted[i] - theta[i], -LONGEST_STEP), LONGEST_STEP)
            theta[i] = max(theta[i] + move, -60.0)
            if spike > 0:
                left = max(1.0 - S[i] * n00[i], 0.0)
                evidence += left * SLACK
                x2[i] = (S[i] * r0[i]) ** 2 + S[i] * left
            if i < n - 1 and laplace:
                evidence += 0.5 * np.log(R[i]) - 0.5 * rate * s[i]
                s[i] = np.sqrt((y[i] - C[i]) ** 2 + V[i])
                R[i] = s[i] / rate + 1e-9
            change = max(change, abs(C[i] - before[i]) * rate)
        last = eta
        eta = np.exp(theta)
        scale = total / (max(eta.sum(), total) if spike > 0 else eta.sum())
        eta *= scale
        theta += np.log(scale)
        for i in range(n):  # C hugs y long before a bin that holds little has settled
            change = max(change, min(abs(eta[i] - last[i]) * rate, abs(eta[i] / last[i] - 1.0)))
        before = C
        if change < tolerance:
            break
    return eta, C, evidence


@njit(cache=True)
def _increment(k, mean, share, scale):
    """Probability of k categories in a bin: Poisson, or with `share` a spike of any size."""
    if k < 0:
        return 0.0
    p = np.exp(k * np.log(mean) - mean - lgamma(k + 1.0))
    if share == 0.0:
        return p
    spike = (1.0 + k / scale) ** -TAIL - (1.0 + (k + 1) / scale) ** -TAIL
    return (1.0 - share) * p + share * spike


@njit(cache=True)
def _table(low, high, mean, share, scale):
    values = np.empty(high - low + 1)
    for k in range(low, high + 1):
        values[k - low] = _increment(k, mean, share, scale)
    return values


@njit(cache=True)
def whole_medians(y, log_weights, mean, share, scale, centre, reach, width):
    """Posterior medians of C_0, …, C_(n-1) as whole numbers, by forward and backward passes.

    C_i - C_(i-1) has the law of `_increment`, and y_i - C_i has log weights by distance. Only
    values within `reach` of `centre` are considered. Each median is moved within ±width/2 by
    where in its value's probability it lies, so that medians never tie. The first entry is
    NaN if nothing fits.
    """
    n, total = len(y), y[-1]
    size = 2 * reach + 3
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n - 1):
        low[i] = min(max(0, int(np.floor(centre[i])) - reach), total)
        high[i] = max(min(total, int(np.ceil(centre[i])) + reach), low[i])
    low[n - 1], high[n - 1] = total, total
    forward, seen = np.zeros((n, size)), np.ones((n, size))
    medians = np.full(n, np.nan)
    for i in range(n):
        first, last = (low[i - 1], high[i - 1]) if i > 0 else (0, 0)
        step = _table(low[i] - last, high[i] - first, mean[i], share, scale)
        mass = 0.0
        for b in range(low[i], high[i] + 1):
            x = 0.0
            if i == 0:
                x = step[b - low[i]]
            else:
                for a in range(first, min(last, b) + 1):
                    x += forward[i - 1, a - first] * step[b - a - low[i] + last]
            if i < n - 1:
                away = min(abs(y[i] - b), len(log_weights) - 1)
                seen[i, b - low[i]] = np.exp(log_weights[away])
            forward[i, b - low[i]] = x * seen[i, b - low[i]]
            mass += forward[i, b - low[i]]
        if not mass > 0.0:
            return medians
        forward[i] /= mass
    backward = np.ones(size)
    medians[n - 1] = total
    for i in range(n - 1, 0, -1):
        first, last = low[i - 1], high[i - 1]
        step = _table(low[i] - last, high[i] - first, mean[i], share, scale)
        backward *= seen[i]
        earlier = np.zeros(size)
        for a in range(first, last + 1):
            x = 0.0
            for b in range(max(a, low[i]), high[i] + 1):
                x += backward[b - low[i]] * step[b - a - low[i] + last]
            earlier[a - first] = x
        backward = earlier / earlier.sum()
        marginal = forward[i - 1] * backward
        half, below = 0.5 * marginal.sum(), 0.0
        for k in range(last - first + 1):
            if below + marginal[k] >= half and marginal[k] > 0.0:
                medians[i - 1] = first + k + width * ((half - below) / marginal[k] - 0.5)
                break
            below += marginal[k]
    return medians
