"""A shelf of mechanisms to audit: broken ones, each in a way that has happened, and sound ones.

Each claims epsilon = 1 and takes (table, size) as `holdfast.audit(..., batched=True)` asks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import holdfast.former as holdfast
from holdfast.former.studies.audit import RepeatedGroups, RepeatedRelease

EPSILON = 1.0
generator = np.random.default_rng(20)


@dataclass(frozen=True, kw_only=True)
class Item:
    name: str
    mechanism: Callable[..., Any]
    table: Any
    neighbour: Any
    delta: float = 0.0


def geometric(shape, epsilon=EPSILON):
    p = -np.expm1(-epsilon)
    return generator.geometric(p, shape) - generator.geometric(p, shape)


def laplace_from_floats(shape, bits=53, scale=1 / EPSILON):
    """Inverse of the distribution function at a uniform float, as in textbooks."""
    u = (generator.integers(1, 1 << bits, shape) / (1 << bits)) - 0.5
    return -scale * np.sign(u) * np.log1p(-2 * np.abs(u))


def histogram(counts, n=5):
    return np.bincount(np.minimum(counts, n - 1), minlength=n)


# sound


def noisy_count(count, size):
    return count + geometric(size)


def noisy_histogram(counts, size):
    """One person moves one row: two bins change by one."""
    return histogram(counts) + geometric((size, 5), EPSILON / 2)


def randomised_response(bit, size):
    keep = generator.random(size) < np.exp(EPSILON) / (1 + np.exp(EPSILON))
    return np.where(keep, bit, 1 - bit)


def constant(count, size):
    return np.full(size, 7)


def clamped_count(count, size):
    return np.clip(count + geometric(size), 0, 10)


def rounded_gaussian(count, size):
    """sigma for (1, 1e-3): sqrt(2 ln(1.25 / delta))."""
    return count + np.rint(generator.normal(0, np.sqrt(2 * np.log(1.25e3)), size))


# broken


def half_noise(count, size):
    return count + geometric(size, 2 * EPSILON)


def float_noise_with_zeros(count, size):
    return count + laplace_from_floats(size)


def coarse_float_noise(count, size):
    """The uniform has 12 bits: most floats cannot come out, and which depends on the count."""
    return count / 3 + laplace_from_floats(size, bits=12)


def missing_clamp(contributions, size):
    """Somebody adds 3 where at most 1 was assumed."""
    return sum(contributions) + geometric(size)


def reused_seed(count, size):
    p = -np.expm1(-EPSILON)
    fixed = np.random.default_rng(42)
    return count + fixed.geometric(p, size) - fixed.geometric(p, size)


def one_seed_per_call(count, size):
    return np.full(size, count + np.random.default_rng(42).geometric(0.6))


class NoStageOne(holdfast.former.privatizers.Privatizer):
    """A privatizer that publishes the true distribution of counts."""

    def __call__(self, histogram, *, epsilon, rng=None):
        return histogram / histogram.sum()

    def certified_epsilon(self, epsilon):
        return epsilon


stage_1_skipped = RepeatedRelease(epsilon=1, max_count=4, rows=3, privatizer=NoStageOne(), seed=5)


def off_by_one(count, size):
    """Top-coded at 4 by the noise, at 5 by the table: only a true 5 can give 5."""
    noisy = np.clip(count + geometric(size), 0, 4)
    return np.where(generator.random(size) < 0.1 * (count == 5), 5, noisy)


def bounded_noise(count, size):
    return count + np.clip(geometric(size), -2, 2)


def wrong_sensitivity(counts, size):
    return histogram(counts) + geometric((size, 5))


def empty_bins_without_noise(counts, size):
    bins = histogram(counts)
    return np.where(bins > 0, bins + geometric((size, 5), EPSILON / 2), 0)


def rounding_leak(values, size):
    """Whole noise on a mean: its decimals pass through."""
    return np.round(np.mean(values) + geometric(size), 2)


def exact_total(counts, size):
    noisy = np.asarray(counts) + geometric((size, len(counts)))
    return noisy, np.full(size, sum(counts))


def clamped_to_the_maximum(counts, size):
    return np.minimum(np.asarray(counts) + geometric((size, len(counts))), max(counts))


def mixing_lost(count, size):
    """A band matrix to which 0.3 of a uniform row should have been added."""
    return np.clip(count + generator.integers(-1, 2, size), 0, 6)


def one_noise_for_all(counts, size):
    return np.asarray(counts) + geometric(size)[:, None]


def one_fine_noise_for_all(counts, size):
    """No value comes twice, and each count by itself is private."""
    noise = np.rint(2.0**20 * generator.laplace(0, 1 / EPSILON, size)) / 2.0**20
    return np.asarray(counts) + noise[:, None]


def told_by_two_together(bit, size):
    """A secret in two shares, both published; each by itself is uniform."""
    share = generator.integers(0, 101, size)
    return share, (share + bit) % 101


def budget_spent_twice(count, size):
    return count + geometric(size), count + geometric(size)


def positive_noise_only(count, size):
    return count + generator.geometric(-np.expm1(-EPSILON), size)


def noise_scaled_to_the_data(counts, size):
    return sum(counts) + geometric(size, EPSILON / max(counts))


def few_seeds(count, size):
    """Noise from a table of 2000 prepared numbers."""
    prepared = np.random.default_rng(7).laplace(0, 1, 2000)
    return count / 7 + generator.choice(prepared, size)


def gaussian_sold_as_pure(count, size):
    return count + np.rint(generator.normal(0, 1, size))


WIDE = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4]
"""A table of 20 rows; its neighbour has one more in row 13."""
WIDE_NEIGHBOUR = [*WIDE[:13], WIDE[13] + 1, *WIDE[14:]]


def whole_table_now_and_then(counts, size):
    """One output in a thousand is the table itself."""
    noisy = np.asarray(counts) + geometric((size, len(counts)))
    return np.where(generator.random((size, 1)) < 0.001, counts, noisy)


def noise_shared_by_two_rows(counts, size):
    """Rows 9 and 13 have the same noise; each by itself is private."""
    noise = geometric((size, len(counts)))
    noise[:, 13] = noise[:, 9]
    return np.asarray(counts) + noise


def fine_noise_shared_by_two_rows(counts, size):
    """The same with noise of which no value comes twice."""
    noise = np.rint(2.0**20 * generator.laplace(0, 1 / EPSILON, (size, len(counts)))) / 2.0**20
    noise[:, 13] = noise[:, 9]
    return np.asarray(counts) + noise


def secret_in_two_of_many(counts, size):
    """Two uniform numbers among twenty differ by the one count that the neighbour changes."""
    found = generator.integers(0, 101, (size, len(counts)))
    found[:, 13] = (found[:, 2] + counts[13]) % 101
    return found


def noisy_rows(counts, size):
    return np.asarray(counts) + geometric((size, len(counts)))


SOUND = [
    Item(name="noisy count", mechanism=noisy_count, table=5, neighbour=6),
    Item(name="clamped count", mechanism=clamped_count, table=0, neighbour=1),
    Item(name="noisy histogram", mechanism=noisy_histogram, table=[0, 1, 1], neighbour=[0, 1, 2]),
    Item(name="randomised response", mechanism=randomised_response, table=0, neighbour=1),
    Item(name="many rows", mechanism=noisy_rows, table=WIDE, neighbour=WIDE_NEIGHBOUR),
    Item(name="a constant", mechanism=constant, table=0, neighbour=1),
    Item(name="Gaussian", mechanism=rounded_gaussian, table=5, neighbour=6, delta=1e-3),
]
BROKEN = [
    Item(name="half noise", mechanism=half_noise, table=5, neighbour=6),
    Item(name="float noise", mechanism=float_noise_with_zeros, table=0, neighbour=1),
    Item(name="coarse float noise", mechanism=coarse_float_noise, table=1, neighbour=2),
    Item(name="missing clamp", mechanism=missing_clamp, table=[1, 1], neighbour=[1, 1, 3]),
    Item(name="reused seed", mechanism=reused_seed, table=5, neighbour=6),
    Item(name="a seed per call", mechanism=one_seed_per_call, table=5, neighbour=6),
    Item(name="stage 1 skipped", mechanism=stage_1_skipped, table=[0, 1, 2], neighbour=[1, 1, 2]),
    Item(name="off by one", mechanism=off_by_one, table=4, neighbour=5),
    Item(name="bounded noise", mechanism=bounded_noise, table=5, neighbour=6),
    Item(name="wrong sensitivity", mechanism=wrong_sensitivity, table=[0, 1], neighbour=[0, 2]),
    Item(name="empty bins", mechanism=empty_bins_without_noise, table=[0, 1], neighbour=[0, 2]),
    Item(name="rounding leak", mechanism=rounding_leak, table=[1, 2, 3, 4], neighbour=[1, 2, 3, 5]),
    Item(name="exact total", mechanism=exact_total, table=[3, 4], neighbour=[3, 5]),
    Item(name="data maximum", mechanism=clamped_to_the_maximum, table=[3, 4], neighbour=[3, 5]),
    Item(name="mixing lost", mechanism=mixing_lost, table=3, neighbour=4),
    Item(name="one noise", mechanism=one_noise_for_all, table=[3, 4], neighbour=[3, 5]),
    Item(name="one fine noise", mechanism=one_fine_noise_for_all, table=[3, 4], neighbour=[3, 5]),
    Item(name="two shares", mechanism=told_by_two_together, table=0, neighbour=1),
    Item(name="budget spent twice", mechanism=budget_spent_twice, table=5, neighbour=6),
    Item(name="positive noise", mechanism=positive_noise_only, table=5, neighbour=6),
    Item(name="scaled to data", mechanism=noise_scaled_to_the_data, table=[1, 1], neighbour=[1, 4]),
    Item(name="few seeds", mechanism=few_seeds, table=1, neighbour=2),
    Item(name="Gaussian as pure", mechanism=gaussian_sold_as_pure, table=5, neighbour=6),
    *(
        Item(name=name, mechanism=mechanism, table=WIDE, neighbour=WIDE_NEIGHBOUR)
        for name, mechanism in (
            ("shared noise", noise_shared_by_two_rows),
            ("shared fine noise", fine_noise_shared_by_two_rows),
            ("two of many", secret_in_two_of_many),
        )
    ),
]
RARE = Item(
    name="whole table", mechanism=whole_table_now_and_then, table=WIDE, neighbour=WIDE_NEIGHBOUR
)
"""Broken too rarely for the draws that are enough for the others."""


def opendp_geometric(epsilon=EPSILON):
    """OpenDP's geometric mechanism, as many independent draws as asked for."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_geometric(*space, scale=1 / epsilon)

    def mechanism(count, size):
        return np.array(measurement([count] * size))

    return mechanism


def ours(target, epsilon=EPSILON):
    """Holdfast's optimal count mechanism, drawn with the operating system's entropy."""
    from holdfast.former.constructors import Optimal

    mechanism = Optimal()(target, epsilon=epsilon).mechanism
    return lambda count, size: mechanism.sample(np.full(size, count))


class OverlappingGroups(RepeatedGroups):
    """Every row is in two groups, its own and the next, and each is measured with all of ε1."""

    def histograms(self, counts):
        found = super().histograms(counts)
        return found + np.roll(found, 1, axis=0)
