"""The compiled loops of the interior point method behind `Optimal`. See docs/optimum.md.

All arrays of a problem with n rows and m live columns are n x m (or (n-1) x m, one row per
step from row i to i+1), so that every recursion over the rows is vectorised over the columns.
Column j of T is z_j x_j, and its privacy constraints are

    u_i = x_{i+1} - a_i x_i >= 0    and    l_i = x_i - b_i x_{i+1} >= 0,    a_i b_i = e^(-2 eps),

with a = b = e^-eps unless the rows were scaled first; `rise` holds a, and `fall` b.

With D_u, D_l the ratios multiplier / slack, the Hessian of a column is H = G' diag(D) G,
tridiagonal. Its inverse is stored *twisted* at the row k that leaves least of z' H^-1 z to K:

    H^-1 = d c c' + K,    c_k = 1,    K zero in row and column k,

c falling away from k by the ratios `tau`. The recursions for d, c and K add, multiply and
divide positive numbers only, so every entry is relatively accurate however large the D are.
"""

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def factor(du, dl, z, rise, fall, room):
    """The twisted factors of every column: ratios tau, inverse pivots, twist row k, and d.

    `room` is 1 - a b. Forward pivots are delta_i = A_i + p_i with A = a^2 D_u + D_l, and
    p_{i+1} = (B_i p_i + D_u D_l room^2) / delta_i with B = D_u + b^2 D_l: no subtraction.
    Backward pivots likewise from the other end; p_i + p'_i is 1 / (H^-1)_ii.
    """
    n, m = du.shape[0] + 1, du.shape[1]
    rest, tail = np.zeros((n, m)), np.zeros((n, m))  # p', and what z above row i adds to it
    backward, forward = np.zeros((n, m)), np.zeros((n, m))
    for i in range(n - 2, -1, -1):
        a, b = rise[i], fall[i]
        for j in range(m):
            up, down, p = du[i, j], dl[i, j], rest[i + 1, j]
            pivot = 1.0 / (up + b * b * down + p)
            rest[i, j] = ((a * a * up + down) * p + up * down * room * room) * pivot
            tail[i, j] = (a * up + b * down) * pivot * (z[i + 1] + tail[i + 1, j])
            backward[i + 1, j] = pivot
    k = np.zeros(m, np.int64)
    d, best = 1.0 / rest[0], (z[0] + tail[0]) ** 2 / rest[0]
    p, head = np.zeros(m), np.zeros(m)
    for i in range(n - 1):
        a, b = rise[i], fall[i]
        for j in range(m):
            up, down = du[i, j], dl[i, j]
            pivot = 1.0 / (a * a * up + down + p[j])
            p[j] = ((up + b * b * down) * p[j] + up * down * room * room) * pivot
            head[j] = (a * up + b * down) * pivot * (z[i] + head[j])
            forward[i, j] = pivot
            here = 1.0 / (p[j] + rest[i + 1, j])
            along = head[j] + z[i + 1] + tail[i + 1, j]
            score = along * along * here  # the part of z' H^-1 z that c c' d would take
            better = score > best[j]
            k[j] = i + 1 if better else k[j]
            d[j] = here if better else d[j]
            best[j] = score if better else best[j]
    tau = np.empty((n - 1, m))
    for i in range(n - 1):
        a, b = rise[i], fall[i]
        for j in range(m):
            pivot = forward[i, j] if i < k[j] else backward[i + 1, j]
            tau[i, j] = (a * du[i, j] + b * dl[i, j]) * pivot
    for i in range(n):
        for j in range(m):
            if i >= k[j]:
                forward[i, j] = backward[i, j] if i > k[j] else 0.0
    return tau, forward, k, d


@njit(cache=True, error_model="numpy")
def outwards(tau, k):
    """c: 1 at row k, falling away from it by the ratios tau."""
    n, m = tau.shape[0] + 1, tau.shape[1]
    c = np.empty((n, m))
    for j in range(m):
        c[0, j] = 1.0 if k[j] == 0 else 0.0
    for i in range(n - 1):
        for j in range(m):
            c[i + 1, j] = tau[i, j] * c[i, j] if i >= k[j] else 0.0
            if i + 1 == k[j]:
                c[i + 1, j] = 1.0
    for i in range(n - 2, -1, -1):
        for j in range(m):
            if i < k[j]:
                c[i, j] = tau[i, j] * c[i + 1, j]
    return c


@njit(cache=True, error_model="numpy")
def solve(tau, inverse, k, g):
    """K g for every column, and c . g."""
    n, m = g.shape
    x = g.copy()
    for i in range(n - 1):
        for j in range(m):
            if i < k[j]:
                x[i + 1, j] += tau[i, j] * x[i, j]
    for i in range(n - 2, -1, -1):
        for j in range(m):
            if i >= k[j]:
                x[i, j] += tau[i, j] * x[i + 1, j]
    along = np.empty(m)
    for j in range(m):
        along[j] = x[k[j], j]
    for i in range(n):
        for j in range(m):
            x[i, j] *= inverse[i, j]
    for i in range(n - 1):
        for j in range(m):
            if i >= k[j]:
                x[i + 1, j] += tau[i, j] * x[i, j]
    for i in range(n - 2, -1, -1):
        for j in range(m):
            if i < k[j]:
                x[i, j] += tau[i, j] * x[i + 1, j]
    return x, along


@njit(cache=True, error_model="numpy")
def rank_two(c, q, d, z, share):
    """theta = c . z, kappa = z . q, and the columns f, g with share^2 (P - K) = -(f g' + g f') / 2.

    P is H^-1 less its part along z, which changes K by a rank of two, free of the large d.
    """
    n, m = c.shape
    theta, kappa = np.zeros(m), np.zeros(m)
    for i in range(n):
        for j in range(m):
            theta[j] += z[i] * c[i, j]
            kappa[j] += z[i] * q[i, j]
    plus, minus, weight = np.empty(m), np.empty(m), np.empty(m)
    for j in range(m):
        size = d[j] * theta[j] * theta[j] + kappa[j]
        plus[j] = d[j] * theta[j] + np.sqrt(d[j] * size)
        minus[j] = d[j] * kappa[j] / plus[j]
        weight[j] = share[j] * share[j] / size
    left, right = np.empty((n, m)), np.empty((n, m))
    for i in range(n):
        for j in range(m):
            left[i, j] = weight[j] * (q[i, j] - minus[j] * c[i, j])
            right[i, j] = q[i, j] + plus[j] * c[i, j]
    return theta, kappa, left, right


@njit(cache=True, error_model="numpy")
def inner_ratios(tau, inverse, k):
    """The diagonal of K, and the ratios of its neighbouring entries towards row 0 and row n-1."""
    n, m = inverse.shape
    diagonal = inverse.copy()
    for i in range(n - 1):
        for j in range(m):
            if i >= k[j]:
                diagonal[i + 1, j] += tau[i, j] * tau[i, j] * diagonal[i, j]
    for i in range(n - 2, -1, -1):
        for j in range(m):
            if i < k[j]:
                diagonal[i, j] += tau[i, j] * tau[i, j] * diagonal[i + 1, j]
    left, right = np.empty((n - 1, m)), np.empty((n - 1, m))
    for i in range(n - 1):
        for j in range(m):
            t, here, above = tau[i, j], diagonal[i, j], diagonal[i + 1, j]
            before = i < k[j]
            left[i, j] = t if before else t * here / above
            right[i, j] = t * above / here if before else t
    return diagonal, left, right


@njit(cache=True, error_model="numpy")
def half_products(diagonal, left, right, share, width, out):
    """For blocks of 2 * width rows: factors whose products are K between a block's two halves.

    With b the first row of the second half, K_ik = (K_ib / sqrt K_bb) (K_bk / sqrt K_bb).
    """
    n, m = diagonal.shape
    for b in range(width, n, 2 * width):
        for j in range(m):
            out[b, j] = share[j] * np.sqrt(diagonal[b, j])
        for i in range(b, min(b + width, n) - 1):
            for j in range(m):
                out[i + 1, j] = out[i, j] * right[i, j]
        for j in range(m):
            out[b - 1, j] = out[b, j] * left[b - 1, j]
        for i in range(b - 2, b - width - 1, -1):
            for j in range(m):
                out[i, j] = out[i + 1, j] * left[i, j]


@njit(cache=True, error_model="numpy")
def small_blocks(diagonal, left, share, width, row):
    """The sum of share^2 K over the columns, in the blocks of `width` rows on the diagonal.

    `row` is room to work in, of length m.
    """
    n, m = diagonal.shape
    out = np.zeros((n, n))
    for k in range(n):
        for j in range(m):
            row[j] = share[j] * share[j] * diagonal[k, j]
        out[k, k] = _total(row)
        for i in range(k - 1, k - k % width - 1, -1):
            for j in range(m):
                row[j] *= left[i, j]
            out[i, k] = out[k, i] = _total(row)
    return out


@njit(cache=True, error_model="numpy", fastmath=True)
def _total(row):
    """The sum of a row, several entries at a time.

    On its own, as the loop must not write: LLVM guards a vectorised loop that does with a test
    of whether its arrays come close in memory, and adds up in another order where they do.
    """
    total = 0.0
    for j in range(len(row)):
        total += row[j]
    return total
