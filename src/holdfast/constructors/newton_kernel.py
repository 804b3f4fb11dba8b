"""The compiled passes of one step of `Optimal`: right-hand sides, step lengths, the step itself.

A direction is held as dx and, per constraint, the force `aim / slack`; what it does to slacks
and multipliers is worked out where it is needed,

    ds = G dx,    dlam / lam = force / lam - 1 - ds / s,

which takes less time than to store it. Sums and minima are kept per column, so that the loops
over the columns are vectorised; so they are only where a division by 0 is not an exception.
Shapes as in `optimal_kernel`; `up` and `down` are the slacks u and l.
"""

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def slacks(x, rise, fall):
    """The privacy slacks u and l of x."""
    n, m = x.shape
    up, down = np.empty((n - 1, m)), np.empty((n - 1, m))
    for i in range(n - 1):
        a, b = rise[i], fall[i]
        for j in range(m):
            up[i, j] = x[i + 1, j] - a * x[i, j]
            down[i, j] = x[i, j] - b * x[i + 1, j]
    return up, down


@njit(cache=True, error_model="numpy")
def reduced(cost, y, share, z, mu):
    """share y + z mu - cost."""
    n, m = cost.shape
    out = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            out[i, j] = y[i] * share[j] + z[i] * mu[j] - cost[i, j]
    return out


@njit(cache=True, error_model="numpy")
def add_solution(tau, inverse, k, c, q, d, theta, kappa, z, share, g, lack, dx, dmu):
    """Add to dx the x with H x = g + z mu and z . x = lack in every column, and to dmu the mu.

    Overwrites g; returns dx times share.
    """
    n, m = g.shape
    along, inside = np.empty(m), np.zeros(m)
    for i in range(n - 1):
        for j in range(m):
            g[i + 1, j] += tau[i, j] * g[i, j] if i < k[j] else 0.0
    for i in range(n - 2, -1, -1):
        for j in range(m):
            g[i, j] += tau[i, j] * g[i + 1, j] if i >= k[j] else 0.0
    for j in range(m):
        along[j] = g[k[j], j]
        g[0, j] *= inverse[0, j]
    for i in range(n - 1):
        for j in range(m):
            g[i + 1, j] *= inverse[i + 1, j]
            g[i + 1, j] += tau[i, j] * g[i, j] if i >= k[j] else 0.0
    for j in range(m):
        inside[j] += z[n - 1] * g[n - 1, j]
    for i in range(n - 2, -1, -1):
        for j in range(m):
            g[i, j] += tau[i, j] * g[i + 1, j] if i < k[j] else 0.0
            inside[j] += z[i] * g[i, j]
    for j in range(m):
        size = d[j] * theta[j] * theta[j] + kappa[j]
        mu = (lack[j] - d[j] * theta[j] * along[j] - inside[j]) / size
        along[j] = d[j] * (kappa[j] * along[j] + theta[j] * (lack[j] - inside[j])) / size
        inside[j] = mu
        dmu[j] += mu
    for i in range(n):
        for j in range(m):
            dx[i, j] += g[i, j] + along[j] * c[i, j] + inside[j] * q[i, j]
    return dx @ share


@njit(cache=True, error_model="numpy")
def predicted(dx, rise, fall, up, down, lam_up, lam_down):
    """How far the step towards products of 0 can go, and the sum of products there.

    The products themselves are (1 + p r)(1 - d (1 + r)) s lam with r = ds / s.
    """
    n, m = dx.shape
    low, high = np.full(m, -1e-9), np.full(m, -1e-9)
    plain, once, twice = np.zeros(m), np.zeros(m), np.zeros(m)
    for i in range(n - 1):
        a, b = rise[i], fall[i]
        for j in range(m):
            product = up[i, j] * lam_up[i, j]
            r = (dx[i + 1, j] - a * dx[i, j]) / up[i, j]
            low[j], high[j] = min(low[j], r), min(high[j], -1.0 - r)
            plain[j] += product
            once[j] += product * r
            twice[j] += product * r * r
        for j in range(m):
            product = down[i, j] * lam_down[i, j]
            r = (dx[i, j] - b * dx[i + 1, j]) / down[i, j]
            low[j], high[j] = min(low[j], r), min(high[j], -1.0 - r)
            plain[j] += product
            once[j] += product * r
            twice[j] += product * r * r
    p, d = min(1.0, -1.0 / low.min()), min(1.0, -1.0 / high.min())
    first, second, third = plain.sum(), once.sum(), twice.sum()
    return first, first * (1 - d) + second * (p - d - p * d) - p * d * third


@njit(cache=True, error_model="numpy")
def corrected(base, dx, rise, fall, up, down, lam_up, lam_down, level, near, share):
    """The forces of the corrected step, and its right-hand side base + G' force.

    The aim of a product is level * near * share, less what the predicted step dx misses to
    second order, ds dlam = -lam ds (1 + ds / s), but never below 0.
    """
    n, m = dx.shape
    g = base.copy()
    force_up, force_down = np.empty((n - 1, m)), np.empty((n - 1, m))
    for i in range(n - 1):
        a, b, row = rise[i], fall[i], level * near[i]
        for j in range(m):
            ds = dx[i + 1, j] - a * dx[i, j]
            inverse = 1.0 / up[i, j]
            aim = row * share[j] + lam_up[i, j] * ds * (1.0 + ds * inverse)
            force_up[i, j] = max(aim, 0.0) * inverse
        for j in range(m):
            ds = dx[i, j] - b * dx[i + 1, j]
            inverse = 1.0 / down[i, j]
            aim = row * share[j] + lam_down[i, j] * ds * (1.0 + ds * inverse)
            force_down[i, j] = max(aim, 0.0) * inverse
        for j in range(m):
            g[i, j] += force_down[i, j] - a * force_up[i, j]
            g[i + 1, j] += force_up[i, j] - b * force_down[i, j]
    return g, force_up, force_down


@njit(cache=True, error_model="numpy")
def lengths(dx, rise, fall, up, down, lam_up, lam_down, force_up, force_down):
    """How far x and the multipliers can go before a slack or a multiplier is 0; at most 1."""
    n, m = dx.shape
    low, high = np.full(m, -1e-9), np.full(m, -1e-9)
    for i in range(n - 1):
        a, b = rise[i], fall[i]
        for j in range(m):
            r = (dx[i + 1, j] - a * dx[i, j]) / up[i, j]
            low[j] = min(low[j], r)
            high[j] = min(high[j], force_up[i, j] / lam_up[i, j] - 1.0 - r)
        for j in range(m):
            r = (dx[i, j] - b * dx[i + 1, j]) / down[i, j]
            low[j] = min(low[j], r)
            high[j] = min(high[j], force_down[i, j] / lam_down[i, j] - 1.0 - r)
    return min(1.0, -1.0 / low.min()), min(1.0, -1.0 / high.min())


@njit(cache=True, error_model="numpy")
def moved(dx, rise, fall, up, down, lam_up, lam_down, force_up, force_down, p, d):
    """Slacks and multipliers after a step of length p in x and d in the multipliers."""
    n, m = dx.shape
    new_up, new_down = np.empty((n - 1, m)), np.empty((n - 1, m))
    more_up, more_down = np.empty((n - 1, m)), np.empty((n - 1, m))
    for i in range(n - 1):
        a, b = rise[i], fall[i]
        for j in range(m):
            ds, s, lam = dx[i + 1, j] - a * dx[i, j], up[i, j], lam_up[i, j]
            new_up[i, j] = s + p * ds
            more_up[i, j] = lam + d * (force_up[i, j] - lam * (1.0 + ds / s))
        for j in range(m):
            ds, s, lam = dx[i, j] - b * dx[i + 1, j], down[i, j], lam_down[i, j]
            new_down[i, j] = s + p * ds
            more_down[i, j] = lam + d * (force_down[i, j] - lam * (1.0 + ds / s))
    return new_up, new_down, more_up, more_down
