"""Simulated releases by group, for `groups.py`: NumPy's noise, stage 2 in floats, scores."""

import csv
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import numpy as np

from holdfast.former.privatizers.groups import block_edges, fit_groups, group_sums, whole_share
from holdfast.former.privatizers.noisy import laplace_variance
from holdfast.former.privatizers.projection import Noise
from holdfast.former.privatizers.smooth import smooth_fit
from holdfast.former.privacy.budget import share_rule


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Top-coded counts, the group of each row, and a public number of each row."""

    counts: np.ndarray
    group: np.ndarray
    x: np.ndarray
    ordered: bool

    @property
    def histograms(self):
        tables = np.zeros((self.group.max() + 1, self.counts.max() + 1), dtype=np.int64)
        np.add.at(tables, (self.group, self.counts), 1)
        return tables


def demo(classes):
    """Homicides of 2,197 counties by class of population."""
    file = files("holdfast") / "data" / "county_homicides_1996.csv"
    rows = list(csv.DictReader(file.read_text().splitlines()))
    population = np.array([float(row["population"]) for row in rows])
    counts = np.minimum([int(row["homicides"]) for row in rows], 30)
    rank = np.argsort(np.argsort(population, kind="stable"), kind="stable")
    return Table(
        counts=counts, group=rank * classes // len(rows), x=np.log(population), ordered=True
    )


def states(folder):
    """Murders of 3,136 counties by state."""
    rows = list(csv.DictReader((Path(folder) / "crime_by_county.csv").open()))
    counts = np.minimum([int(float(row["MURDER"])) for row in rows], 50)
    group = np.unique([row["state"] for row in rows], return_inverse=True)[1]
    x = np.log1p([float(row["population"]) for row in rows])
    return Table(counts=counts, group=group, x=x, ordered=False)


def made(groups, rows, bins, seed=0):
    """Negative binomial counts whose mean grows from group to group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), rows)
    mean = 1 + 15 * (group + 0.5) / groups
    counts = np.minimum(rng.negative_binomial(0.7, 0.7 / (0.7 + mean)), bins - 1)
    counts[0] = bins - 1
    return Table(counts=counts, group=group, x=mean, ordered=False)


def noise(rng, epsilon, size):
    """Discrete Laplace noise of scale 1/epsilon."""
    share = 1 - np.exp(-epsilon)
    return rng.geometric(share, size) - rng.geometric(share, size)


def together(table, epsilon, rng):
    """Targets of all groups, fitted at once."""
    tables = table.histograms
    share = float(whole_share(len(tables), tables.shape[1]))
    own, bins = epsilon * (1 - share), tables.shape[1]
    noisy = [sums + noise(rng, own, len(sums)) for sums in group_sums(tables, own)]
    whole = None
    if share:
        cumulative = np.cumsum(tables.sum(axis=0))[:-1]
        sums = np.add.reduceat(cumulative, block_edges(bins)[:-1])
        whole = (sums + noise(rng, epsilon * share, len(sums)), epsilon * share)
    return fit_groups(noisy, tables.sum(axis=1), own, bins=bins, ordered=table.ordered, whole=whole)


def one_by_one(table, epsilon, rng):
    """Targets of all groups, each fitted alone as if it were the table."""
    return np.array([_smooth(h, epsilon, rng) for h in table.histograms])


def ungrouped(table, epsilon, rng):
    """The target of the whole table, for every group."""
    tables = table.histograms
    return np.tile(_smooth(tables.sum(axis=0), epsilon, rng), (len(tables), 1))


def known(table, epsilon, rng):
    """The distributions themselves: the limit."""
    shares = np.maximum(table.histograms, 1e-9)
    return shares / shares.sum(axis=1, keepdims=True)


def _smooth(histogram, epsilon, rng):
    cumulative = np.cumsum(histogram)[:-1] + noise(rng, epsilon, len(histogram) - 1)
    noisy = np.diff(np.append(cumulative, histogram.sum()), prepend=0)
    variance = np.full(len(cumulative), laplace_variance(epsilon))
    return smooth_fit(noisy, Noise(variance=variance, law="laplace"))


def optimal_kernel(z, epsilon):
    """The least-error mechanism with fixed point z: falling curves, docs/optimum.md."""
    n, a, i = len(z), np.exp(-epsilon), np.arange(len(z))
    d = np.arange(n + 1)[:, None] - i
    left = np.where(d > 0, a ** np.maximum(d, 0), 0) @ z
    right = np.where(d <= 0, a ** np.maximum(-d, 0), 0) @ z
    before, most = np.concatenate([[0], np.cumsum(z)]), 1 / (1 + a)
    curves = np.zeros((n + 1, n))
    for b in range(n - 1):
        W = before[b + 1]
        m = min(int(np.searchsorted(before + most * right - (1 - most) * left, W - 1e-15)), n)
        x = (W - before[m] + left[m]) / (left[m] + right[m])
        x = np.clip(x, 0 if m == 0 else a * most, 1 if m == n else most)
        falling = x * a ** np.maximum(i - m, 0)
        curves[b + 1] = np.where(i < m, 1 - (1 - x) * a ** np.maximum(m - i, 0), falling)
    curves[n] = 1
    T = np.maximum(np.diff(curves, axis=0).T, 0)
    return T / T.sum(axis=1, keepdims=True)


def by_class(rows, number, epsilon, seed, fine=32):
    """Mean change of a count and W1 within `fine` classes of population, for a release of so many
    rows of the homicides, drawn at random, in `number` classes."""
    rng, whole = np.random.default_rng(seed), demo(1)
    at = rng.choice(len(whole.counts), rows, replace=rows > len(whole.counts))
    rank = np.argsort(np.argsort(whole.x[at] + 1e-6 * rng.normal(size=rows)))
    counts = whole.counts[at]
    counts[0] = 30  # so that all tables have as many bins
    table = Table(counts=counts, group=rank * number // rows, x=whole.x[at], ordered=True)
    part = float(share_rule(Fraction(epsilon), rows=rows, bins=31, groups=number))
    targets = together(table, part * float(epsilon), rng)
    kernels = [optimal_kernel(z, (1 - part) * float(epsilon)) for z in targets]
    drawn = np.empty(rows, dtype=np.int64)
    for row, (group, count) in enumerate(zip(table.group, counts, strict=True)):
        drawn[row] = np.searchsorted(np.cumsum(kernels[group][count]), rng.random())
    off = np.zeros((fine, 32), dtype=np.int64)
    np.add.at(off, (rank * fine // rows, np.minimum(drawn, 30)), 1)
    np.add.at(off, (rank * fine // rows, counts), -1)
    within = np.abs(np.cumsum(off, axis=1)).sum() / rows
    return np.abs(drawn - counts).mean(), within


def released(table, targets, epsilon, rng):
    """Scores of one release: changes and slope expected, distributions drawn."""
    tables, n = table.histograms, table.histograms.shape[1]
    i, rows, drawn = np.arange(n), tables.sum(axis=1), np.zeros_like(tables)
    means, change = np.zeros(tables.shape), 0.0
    for g, histogram in enumerate(tables):
        T = optimal_kernel(targets[g], epsilon)
        change += (histogram @ (T * np.abs(i[:, None] - i))).sum()
        means[g] = T @ i
        drawn[g] = sum(rng.multinomial(histogram[k], T[k]) for k in np.flatnonzero(histogram))
    off = np.cumsum(drawn - tables, axis=1)
    y, x = means[table.group, table.counts], table.x - table.x.mean()
    return {
        "change": change / rows.sum(),
        "W1 within": np.abs(off).sum() / rows.sum(),
        "W1 whole": np.abs(off.sum(axis=0)).sum() / rows.sum(),
        "slope": x @ y / (x @ x),
        "totals": np.abs(off.sum(axis=1)).mean(),
        "zeros, %": 100 * (np.abs(off[:, 0]) / rows).mean(),
        "z within": _distance(targets, tables),
    }


def _distance(targets, tables):
    off = np.cumsum(targets * tables.sum(axis=1, keepdims=True) - tables, axis=1)
    return np.abs(off).sum() / tables.sum()
