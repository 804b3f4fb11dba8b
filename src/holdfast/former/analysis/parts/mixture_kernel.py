"""The most likely mixture of a kernel's rows: compiled, scalar loops over small arrays.

Maximises $\\sum_j w_j \\log (pK)_j$ over distributions p by Newton steps on the few rows that
matter: those that p uses, and those at which the gradient peaks above 1. The gradient's excess over
1 bounds what is left to gain.
"""

from math import log, sqrt

import numpy as np
from numba import njit

ROUNDS_BEFORE_NEWTON, ROUNDS, HALVINGS = 4, 400, 40
NEGLIGIBLE = 1e-14  # a share below it counts as 0
SLOPE = 1e-10  # a row whose gradient is less above 0 is not taken in
REORDERED = {"reassoc", "contract", "arcp"}  # sums in any order: four numbers at a time


@njit(cache=True, error_model="numpy", fastmath=REORDERED)
def _solve(hessian, right, chosen, k, lower, x):
    """x with hessian x = right on the chosen rows, by Cholesky's factors."""
    for a in range(k):
        for c in range(a + 1):
            left = hessian[chosen[a], chosen[c]]
            if a == c:
                left = left * (1 + 1e-10) + NEGLIGIBLE
            for t in range(c):
                left -= lower[a, t] * lower[c, t]
            lower[a, c] = sqrt(max(left, NEGLIGIBLE)) if a == c else left / lower[c, c]
    for a in range(k):
        left = right[chosen[a]]
        for t in range(a):
            left -= lower[a, t] * x[t]
        x[a] = left / lower[a, a]
    for a in range(k - 1, -1, -1):
        left = x[a]
        for t in range(a + 1, k):
            left -= lower[t, a] * x[t]
        x[a] = left / lower[a, a]


@njit(cache=True, error_model="numpy", fastmath=REORDERED)
def _shrink(hessian, right, q, free, chosen, lower, x):
    """Solves on the free rows, and lets go of those that would turn negative."""
    for _ in range(len(q) + 1):
        k = 0
        for i in range(len(q)):
            if free[i]:
                chosen[k] = i
                k += 1
        _solve(hessian, right, chosen, k, lower, x)
        step = 1.0
        for a in range(k):
            if x[a] <= 0:
                at = q[chosen[a]]
                step = min(step, at / (at - x[a]) if at > x[a] else 0.0)
        done = step >= 1
        for a in range(k):
            i = chosen[a]
            q[i] += step * (x[a] - q[i])
            if x[a] <= 0 and q[i] <= 1e-15:
                q[i] = 0.0
                free[i] = False
                done = False
        if done:
            return


@njit(cache=True, error_model="numpy", fastmath=REORDERED)
def _nonnegative(hessian, right, q):
    """Minimises q·Hq/2 - right·q over q >= 0, from q: Lawson and Hanson's active sets."""
    size = len(q)
    free = q > 0
    chosen, lower, x = np.empty(size, np.int64), np.zeros((size, size)), np.zeros(size)
    for _ in range(3 * size + 5):
        _shrink(hessian, right, q, free, chosen, lower, x)
        steepest, at = SLOPE, -1
        for i in range(size):
            if not free[i]:
                slope = right[i]
                for j in range(size):
                    slope -= hessian[i, j] * q[j]
                if slope > steepest:
                    steepest, at = slope, i
        if at < 0:
            return
        free[at] = True


@njit(cache=True, error_model="numpy", fastmath=REORDERED)
def _value(weights, mixed):
    total = 0.0
    for j in range(len(weights)):
        total += weights[j] * log(mixed[j]) if mixed[j] > 0 else -1e300
    return total


@njit(cache=True, error_model="numpy", fastmath=REORDERED)
def _mix(p, kernel, mixed):
    mixed[:] = 0.0
    for i in range(len(p)):
        if p[i] > 0:
            for j in range(len(mixed)):
                mixed[j] += p[i] * kernel[i, j]


@njit(cache=True, error_model="numpy", fastmath=REORDERED)
def _quadratic(weights, kernel, mixed, gradient, rows, k, hessian, right):
    """The objective's second-order model on some rows; its sum of shares finds itself."""
    for a in range(k):
        for c in range(a + 1):
            total = 0.0
            for j in range(len(weights)):
                total += (
                    weights[j] * kernel[rows[a], j] * kernel[rows[c], j] / (mixed[j] * mixed[j])
                )
            hessian[a, c] = total
            hessian[c, a] = total
        right[a] = 2 * gradient[rows[a]] - 1


@njit(cache=True, error_model="numpy", fastmath=REORDERED)
def _candidates(p, gradient, rows):
    """The rows that p uses, and the peaks of the gradient above 1."""
    k, n = 0, len(p)
    for i in range(n):
        peak = gradient[i] > 1 and (i == 0 or gradient[i] >= gradient[i - 1])
        peak = peak and (i == n - 1 or gradient[i] >= gradient[i + 1])
        if p[i] > 0 or peak:
            rows[k] = i
            k += 1
    return k


@njit(cache=True, error_model="numpy", fastmath=REORDERED)
def _newton(weights, kernel, p, mixed, gradient, rows, value):
    """One Newton step with as much of it as gains; whether it gained."""
    k = _candidates(p, gradient, rows)
    hessian, right, q = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    _quadratic(weights, kernel, mixed, gradient, rows, k, hessian, right)
    for a in range(k):
        q[a] = p[rows[a]]
    _nonnegative(hessian, right, q)
    total, slope = 0.0, 0.0
    for a in range(k):
        total += q[a]
    for a in range(k):
        q[a] = q[a] / total - p[rows[a]]
        slope += gradient[rows[a]] * q[a]
    if not slope > 0:
        return False
    step = 1.0
    for _ in range(HALVINGS):
        for a in range(k):
            p[rows[a]] += step * q[a]
        _mix(p, kernel, mixed)
        if _value(weights, mixed) >= value + 1e-4 * step * slope:
            return True
        for a in range(k):
            p[rows[a]] -= step * q[a]
        step /= 2
    return False


@njit(cache=True, error_model="numpy", fastmath=REORDERED)
def most_likely_mixture(weights, kernel, p, tolerance):
    """Moves p to the most likely mixture. Its value, and a bound on what is left to gain."""
    n, columns = kernel.shape
    mixed, gradient, rows = np.zeros(columns), np.zeros(n), np.empty(n, np.int64)
    value, most = 0.0, 2.0
    for at in range(ROUNDS):
        _mix(p, kernel, mixed)
        value = _value(weights, mixed)
        most = 0.0
        for i in range(n):
            gradient[i] = 0.0
            for j in range(columns):
                gradient[i] += kernel[i, j] * weights[j] / mixed[j]
            most = max(most, gradient[i])
        if most - 1 < tolerance:
            break
        # an EM step always gains: first a few of them, and wherever Newton's step does not
        if at < ROUNDS_BEFORE_NEWTON or not _newton(
            weights, kernel, p, mixed, gradient, rows, value
        ):
            for i in range(n):
                p[i] *= gradient[i]
        total = 0.0
        for i in range(n):
            p[i] = p[i] if p[i] > NEGLIGIBLE else 0.0
            total += p[i]
        for i in range(n):
            p[i] /= total
    return value, most - 1
