# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
"""Algorithm 1 in clock form: the kernel behind `Heuristic`. See docs/clock-form.md.

numba compiles it where it is installed (the extra `paper`); without it the same code runs as it is.

Rows are cut into *segments* by the steps that are not yet bound. Inside a segment r is a
fixed walk, so a segment is one number R at its top row and integer heights at its edges. On
every segment the scale of a column is the same walk times one factor S, so adding q of it
lowers all the clocks R/S on one side of the column by the same q.

A static binary tree over the steps keeps for every node, in the node's own frame: the
earliest binding time, the sums of z*s and of s, and what is still owed to the children.
Frames differ by integer powers of e^eps, so a number is a pair (m, e) that means
m * e^(eps*e): changing frames adds integers, and nothing under- or overflows.

One piece costs O(log n), and there are at most 2n - 1 pieces. Everything that is written
carries an estimate of its absolute error, and gives way only to something more accurate.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    from numba import njit
except ImportError:  # the extra `paper` is not installed
    njit = None


def compiled(function):
    """The function compiled, or as it is where numba is not installed."""
    if njit is None:
        return function
    try:
        return njit(cache=True)(function)
    except RuntimeError:  # there is no place for a cache
        return njit(function)


# Columns of the nodes' mantissas `x` and exponents `k`; add 1 for the walk to lower rows.
TIME, OWED, SUM_Z, SUM_1 = 0, 2, 4, 6
# Further columns of `k`: change of level across the node, and the step that binds first.
SHIFT, STEP = 8, 10
# Columns of the rows' mantissas `y` and exponents `w`: R of the segment with this top, its
# error, and the errors of the two times of the step above the row.
TOP, TOP_ERROR, TIME_ERROR = 0, 1, 2
# Further columns of `w`, valid at a segment's edges: its top, its other edge, and the
# height of its left edge, of its right edge.
TOP_ROW, OTHER, LEFT_H, RIGHT_H = 4, 5, 6, 7

TIE = 1e-12  # share of a column that may be missing or too much where it fills as a step binds
ROUNDING = 4e-16  # relative error of a number when it is written
UP, DOWN = 0, 1  # sides: towards higher rows, towards lower rows


class Clocks(NamedTuple):
    """The state of the algorithm, and the pieces so far."""

    x: NDArray[np.float64]
    k: NDArray[np.int64]
    y: NDArray[np.float64]
    w: NDArray[np.int64]
    power: NDArray[np.float64]  # power[reach + e] = e^(eps*e)
    growth: NDArray[np.float64]  # e^eps, e^(2 eps), e^(2 eps) - 1
    z: NDArray[np.float64]
    left: NDArray[np.float64]  # the paper's c: what each column still needs
    bound_from: NDArray[np.int64]  # first piece for which the step is bound
    bound_step: NDArray[np.int64]  # +1 if r rises there, -1 if it falls
    piece_x: NDArray[np.float64]  # amount in the frame s_column = 1; amount of the unit scale
    piece_k: NDArray[np.int64]  # exponent of the former; column
    done: NDArray[np.int64]  # pieces so far; columns not yet full


def start(z: NDArray[np.float64], epsilon: float) -> Clocks:
    """The state before the first column: r = 1, nothing bound."""
    n = len(z)
    size = 1 << max(1, (n - 1).bit_length())
    reach = max(2, min(4 * n + 4, int(600 / epsilon)))
    clocks = Clocks(
        x=np.zeros((2 * size, 8)),
        k=np.zeros((2 * size, 12), dtype=np.int64),
        y=np.full((size, 4), np.inf),
        w=np.zeros((size, 8), dtype=np.int64),
        power=np.exp(epsilon * np.arange(-reach, reach + 1)),
        growth=np.array([math.exp(epsilon), math.exp(2 * epsilon), math.expm1(2 * epsilon)]),
        z=z,
        left=z.copy(),
        bound_from=np.full(n - 1, np.iinfo(np.int64).max),
        bound_step=np.zeros(n - 1, dtype=np.int64),
        piece_x=np.zeros((2 * n, 2)),
        piece_k=np.zeros((2 * n, 2), dtype=np.int64),
        done=np.array([0, np.count_nonzero(z)]),
    )
    _plant(clocks.x, clocks.k, clocks.y, clocks.w, clocks.power, clocks.growth, z)
    return clocks


@compiled
def _power(power, e):
    reach = len(power) // 2
    if -reach <= e <= reach:
        return power[e + reach]
    if e < 0 and power[0] < 1e-250:
        return 0.0
    return math.exp(e * math.log(power[reach + 1]))


@compiled
def _plus(power, x1, e1, x2, e2):
    if x2 == 0.0:
        return x1, e1
    if x1 == 0.0:
        return x2, e2
    if e1 >= e2:
        return x1 + x2 * _power(power, e2 - e1), e1
    return x2 + x1 * _power(power, e1 - e2), e2


@compiled
def _minus(power, x1, e1, x2, e2):
    x, e = _plus(power, x1, e1, -x2, e2)
    if abs(x) < 1e-20 and x != 0.0:  # keep the mantissa near 1, so that no power overflows
        up = max(1, int(40.0 / math.log(power[len(power) // 2 + 1])))
        return x * _power(power, up), e - up
    return x, e


@compiled
def _less(power, x1, e1, x2, e2):
    if e1 >= e2:
        return x1 < x2 * _power(power, e2 - e1)
    return x1 * _power(power, e1 - e2) < x2


@compiled
def _plant(x, k, y, w, power, growth, z):
    n, size = len(z), len(y)
    k[:, STEP] = k[:, STEP + 1] = -1
    for i in range(n):
        v = size + i
        x[v, SUM_Z] = x[v, SUM_Z + 1] = z[i]
        x[v, SUM_1] = x[v, SUM_1 + 1] = 1.0
        y[i, TOP], y[i, TOP_ERROR] = 1.0, ROUNDING
        w[i, TOP_ROW] = w[i, OTHER] = i
    for i in range(n - 1):
        v = size + i
        _improve_times(x, k, y, w, power, growth, i)
        k[v, STEP] = k[v, STEP + 1] = i
        k[v, SHIFT] = k[v, SHIFT + 1] = k[v, SUM_Z + 1] = k[v, SUM_1 + 1] = -1
    for v in range(size - 1, 0, -1):
        _pull_times(x, k, power, v)
        _pull_sums(x, k, power, v)


@compiled
def _improve_times(x, k, y, w, power, growth, step):
    """Replace the binding times of an unbound step where its two segments know them better.

    R is the better source where the step lies deep below both tops; the time itself where
    r is nearly used up around the step.
    """
    below, above = w[step, TOP_ROW], w[step + 1, TOP_ROW]
    below_h, above_h = w[step, RIGHT_H], w[step + 1, LEFT_H]
    base = max(w[below, TOP] + below_h, w[above, TOP] + above_h)
    r_below = y[below, TOP] * _power(power, w[below, TOP] + below_h - base)
    r_above = y[above, TOP] * _power(power, w[above, TOP] + above_h - base)
    e_below = y[below, TOP_ERROR] * _power(power, w[below, TOP_ERROR] + below_h - base)
    e_above = y[above, TOP_ERROR] * _power(power, w[above, TOP_ERROR] + above_h - base)
    leaf = len(y) + step
    improved = False
    for side in (UP, DOWN):
        error = growth[1] * (e_below + ROUNDING * r_below) + growth[0] * e_above
        error /= growth[2]
        if _less(power, error, base, y[step, TIME_ERROR + side], w[step, TIME_ERROR + side]):
            # tau = (e^(2 eps) phi_near - phi_far) / (e^(2 eps) - 1), phi_far = e^eps r_far
            x[leaf, TIME + side] = (growth[1] * r_below - growth[0] * r_above) / growth[2]
            k[leaf, TIME + side] = base
            y[step, TIME_ERROR + side], w[step, TIME_ERROR + side] = error, base
            improved = True
        r_below, r_above, e_below, e_above = r_above, r_below, e_above, e_below
    return improved


@compiled
def _pull_times(x, k, power, v):
    near, far = 2 * v, 2 * v + 1  # in the order in which the walk of this side enters them
    for side in (UP, DOWN):
        best, best_k = near, k[near, TIME + side]
        if k[far, STEP + side] >= 0:
            far_k = k[far, TIME + side] - k[near, SHIFT + side]
            if k[near, STEP + side] < 0 or _less(
                power, x[far, TIME + side], far_k, x[near, TIME + side], best_k
            ):
                best, best_k = far, far_k
        k[v, STEP + side] = k[best, STEP + side]
        x[v, TIME + side], k[v, TIME + side] = x[best, TIME + side], best_k
        near, far = far, near


@compiled
def _pull_sums(x, k, power, v):
    near, far = 2 * v, 2 * v + 1
    for side in (UP, DOWN):
        shift = k[near, SHIFT + side]
        k[v, SHIFT + side] = shift + k[far, SHIFT + side]
        for total in (SUM_Z + side, SUM_1 + side):
            x[v, total], k[v, total] = _plus(
                power, x[near, total], k[near, total], x[far, total], k[far, total] + shift
            )
        near, far = far, near


@compiled
def _take(x, k, y, w, power, v, side, qx, qk):
    """Lower every clock below node v on this side by q, given in the node's frame."""
    if k[v, STEP + side] >= 0:
        x[v, TIME + side], k[v, TIME + side] = _minus(
            power, x[v, TIME + side], k[v, TIME + side], qx, qk
        )
    if v < len(y):
        x[v, OWED + side], k[v, OWED + side] = _plus(
            power, x[v, OWED + side], k[v, OWED + side], qx, qk
        )
    else:
        row = v - len(y)
        drop_k = qk + k[v, SHIFT + DOWN] if side == DOWN else qk
        y[row, TOP], w[row, TOP] = _minus(power, y[row, TOP], w[row, TOP], qx, drop_k)


@compiled
def _settle(x, k, y, w, power, row):
    """Pass on everything that is owed above this row's leaf."""
    leaf = len(y) + row
    depth = 0
    while leaf >> (depth + 1):
        depth += 1
    for d in range(depth, 0, -1):
        v = leaf >> d
        for side in (UP, DOWN):
            qx = x[v, OWED + side]
            if qx != 0.0:
                qk = k[v, OWED + side]
                near, far = 2 * v + side, 2 * v + 1 - side
                _take(x, k, y, w, power, near, side, qx, qk)
                _take(x, k, y, w, power, far, side, qx, qk + k[near, SHIFT + side])
                x[v, OWED + side], k[v, OWED + side] = 0.0, 0


@compiled
def _reset_times(x, k, y, w, power, growth, step):
    _settle(x, k, y, w, power, w[step, TOP_ROW])
    _settle(x, k, y, w, power, w[step + 1, TOP_ROW])
    _settle(x, k, y, w, power, step)
    if _improve_times(x, k, y, w, power, growth, step):
        v = (len(y) + step) >> 1
        while v:
            _pull_times(x, k, power, v)
            v >>= 1


@compiled
def _offer_top(y, w, power, row, rx, rk, ex, ek):
    """Take over an R with a smaller error. Only the error decides, never R: the value that
    comes from far below is the worst of them and can be anything, also less than nothing."""
    if _less(power, ex, ek, y[row, TOP_ERROR], w[row, TOP_ERROR]):
        y[row, TOP], w[row, TOP] = rx, rk
        y[row, TOP_ERROR], w[row, TOP_ERROR] = ex, ek


@compiled
def _bind(x, k, y, w, power, growth, n, step, rise):
    """Merge the two segments that meet at this step, under the higher of their tops.

    The new R is the most accurate of what the two segments and the step itself know: where
    a step binds, the time of its other direction is the r of its higher row.
    """
    leaf = len(y) + step
    low, high = w[step, OTHER], w[step + 1, OTHER]
    below, above = w[step, TOP_ROW], w[step + 1, TOP_ROW]
    _settle(x, k, y, w, power, below)
    _settle(x, k, y, w, power, above)
    _settle(x, k, y, w, power, step)
    gain = w[step, RIGHT_H] + rise - w[step + 1, LEFT_H]
    if gain > 0:
        top, old = above, below
        w[low, LEFT_H] -= gain
        w[step, RIGHT_H] -= gain
    else:
        top, old = below, above
        w[high, RIGHT_H] += gain
        w[step + 1, LEFT_H] += gain
    up = abs(gain)
    _offer_top(
        y, w, power, top, y[old, TOP], w[old, TOP] + up, y[old, TOP_ERROR], w[old, TOP_ERROR] + up
    )
    side, up = (DOWN, -w[step + 1, LEFT_H]) if rise > 0 else (UP, -w[step, RIGHT_H])
    tx, tk = x[leaf, TIME + side], k[leaf, TIME + side]
    ex, ek = _plus(
        power, y[step, TIME_ERROR + side], w[step, TIME_ERROR + side], ROUNDING * abs(tx), tk
    )
    _offer_top(y, w, power, top, tx, tk + up, ex, ek + up)
    w[low, TOP_ROW] = w[high, TOP_ROW] = top
    w[low, OTHER], w[high, OTHER] = high, low

    k[leaf, STEP] = k[leaf, STEP + 1] = -1
    k[leaf, SHIFT] = rise
    k[leaf, SHIFT + 1] = k[leaf, SUM_Z + 1] = k[leaf, SUM_1 + 1] = -rise
    v = leaf >> 1
    while v:
        _pull_times(x, k, power, v)
        _pull_sums(x, k, power, v)
        v >>= 1
    if low > 0:
        _reset_times(x, k, y, w, power, growth, low - 1)
    if high < n - 1:
        _reset_times(x, k, y, w, power, growth, high)


@compiled
def _look(x, k, y, w, power, j):
    """What column j sees, in the frame s_j = 1: the next step to bind, when; sum z*s, sum s."""
    _settle(x, k, y, w, power, j)
    v = len(y) + j
    step, tx, tk = k[v, STEP], x[v, TIME], k[v, TIME]
    zx, zk, ox, ok = x[v, SUM_Z], np.int64(0), 1.0, np.int64(0)
    level_up, level_down = k[v, SHIFT], np.int64(0)
    while v > 1:
        side, sibling = v & 1, v ^ 1
        level = level_down if side == DOWN else level_up
        if k[sibling, STEP + side] >= 0:
            cx, ck = x[sibling, TIME + side], k[sibling, TIME + side] - level
            if step < 0 or _less(power, cx, ck, tx, tk):
                step, tx, tk = k[sibling, STEP + side], cx, ck
        zx, zk = _plus(power, zx, zk, x[sibling, SUM_Z + side], k[sibling, SUM_Z + side] + level)
        ox, ok = _plus(power, ox, ok, x[sibling, SUM_1 + side], k[sibling, SUM_1 + side] + level)
        if side == DOWN:
            level_down += k[sibling, SHIFT + DOWN]
        else:
            level_up += k[sibling, SHIFT + UP]
        v >>= 1
    return step, tx, tk, zx, zk, ox, ok


@compiled
def _add_scale(x, k, y, w, power, j, qx, qk):
    """r <- r - q s, for column j's present scale with s_j = 1."""
    v = len(y) + j
    _take(x, k, y, w, power, v, np.int64(UP), qx, qk)  # of one type with the next call
    level_up, level_down = k[v, SHIFT], np.int64(0)
    while v > 1:
        side, sibling = v & 1, v ^ 1
        level = level_down if side == DOWN else level_up
        _take(x, k, y, w, power, sibling, side, qx, qk + level)
        if side == DOWN:
            level_down += k[sibling, SHIFT + DOWN]
        else:
            level_up += k[sibling, SHIFT + UP]
        v >>= 1
        _pull_times(x, k, power, v)


@compiled
def _is_at_bound(x, k, y, w, power, step, side):
    """Whether this step has reached its bound, as far as its accuracy can tell."""
    _settle(x, k, y, w, power, step)
    leaf = len(y) + step
    return not _less(
        power,
        y[step, TIME_ERROR + side],
        w[step, TIME_ERROR + side],
        x[leaf, TIME + side],
        k[leaf, TIME + side],
    )


@compiled
def _exhaust(x, k, y, w, power, bound_step, j):
    """The q that uses r up, once every step is bound."""
    top = w[0, TOP_ROW]
    _settle(x, k, y, w, power, top)
    level = np.int64(0)
    for i in range(min(j, top), max(j, top)):
        level += bound_step[i] if j < top else -bound_step[i]
    return y[top, TOP], w[top, TOP] - level


@compiled
def fill_column(clocks, j):
    """Add scales to column j until it is full; for the last column, until r is used up."""
    x, k, y, w = clocks.x, clocks.k, clocks.y, clocks.w
    power, growth, left, done = clocks.power, clocks.growth, clocks.left, clocks.done
    n, last, full = len(left), done[1] == 1, False
    while True:
        step, tx, tk, zx, zk, ox, ok = _look(x, k, y, w, power, j)
        side, rise = (UP, 1) if j <= step else (DOWN, -1)
        binds = step >= 0
        if binds and _is_at_bound(x, k, y, w, power, step, side):
            clocks.bound_from[step], clocks.bound_step[step] = done[0], rise
            _bind(x, k, y, w, power, growth, n, step, rise)
            continue
        if full:
            break
        if last:
            full = not binds
            qx, qk = (tx, tk) if binds else _exhaust(x, k, y, w, power, clocks.bound_step, j)
        else:
            qx, qk = left[j] / zx, -zk
            # a column that fills just as a step binds does both
            binds = binds and _less(power, tx * (1 - TIE), tk, qx, qk)
            full = not binds or not _less(power, tx * (1 + TIE), tk, qx, qk)
            if binds:
                qx, qk = tx, tk
        clocks.piece_k[done[0], 0], clocks.piece_k[done[0], 1] = qk, j
        clocks.piece_x[done[0], 0] = qx
        clocks.piece_x[done[0], 1] = qx * ox * _power(power, qk + ok)
        done[0] += 1
        _add_scale(x, k, y, w, power, j, qx, qk)
        left[j] -= qx * zx * _power(power, qk + zk)
        if binds:
            clocks.bound_from[step], clocks.bound_step[step] = done[0], rise
            _bind(x, k, y, w, power, growth, n, step, rise)
    left[j] = 0.0
    done[1] -= 1


@compiled
def fill_columns(clocks, order):
    """Fill the columns in this order."""
    for j in order:
        fill_column(clocks, j)


@compiled
def residual(clocks):
    """The paper's r: what each row still needs."""
    x, k, y, w, power = clocks.x, clocks.k, clocks.y, clocks.w, clocks.power
    n = len(clocks.z)
    r = np.empty(n)
    low = 0
    while low < n:
        high, top = w[low, OTHER], w[low, TOP_ROW]
        _settle(x, k, y, w, power, top)
        level = w[top, TOP] + w[low, LEFT_H]
        for i in range(low, high + 1):
            r[i] = y[top, TOP] * _power(power, level)
            if i < high:
                level += clocks.bound_step[i]
        low = high + 1
    return r


@compiled
def add_pieces(columns, clocks, first):
    """Add the pieces from `first` on to the transposed matrix: columns[j] is column j."""
    power, bound_from, bound_step = clocks.power, clocks.bound_from, clocks.bound_step
    n = len(clocks.z)
    for piece in range(first, clocks.done[0]):
        amount, j = clocks.piece_x[piece, 0], clocks.piece_k[piece, 1]
        column, level = columns[j], clocks.piece_k[piece, 0]
        column[j] += amount * _power(power, level)
        for i in range(j, n - 1):
            level += bound_step[i] if bound_from[i] <= piece else -1
            column[i + 1] += amount * _power(power, level)
        level = clocks.piece_k[piece, 0]
        for i in range(j - 1, -1, -1):
            level -= bound_step[i] if bound_from[i] <= piece else 1
            column[i] += amount * _power(power, level)
