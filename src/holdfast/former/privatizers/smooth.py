"""A smooth density with spikes, fitted to a noisy cumulative histogram: docs/smooth-fit.md."""

from collections.abc import Iterator

import numpy as np

from holdfast.arrays import Floats
from holdfast.former.privatizers.pooling import running_mean, running_median
from holdfast.former.privatizers.projection import Noise, NoisyHistogram, isotonic

LOOSENESS = tuple(10.0**k for k in range(2, -6, -1))  # κ, how fast a slope may change
SPIKE_SCALE = 0.2  # of a spike's prior, in units of the noise
SPIKE_SHARE = 0.05  # of the bins
ROUNDS, TOLERANCE = 40, 0.02
WIDTH = 0.05  # how far a median of whole numbers may lie beside one, in units of the noise
LEAST = 0.005  # categories that are spread over all bins, so that none is empty
AFFORDABLE = 2e7  # steps for posterior medians


def smooth_fit(noisy: NoisyHistogram, noise: Noise) -> Floats:
    """The distribution under a smooth density, with sampling and spikes, fitted to the noise.

    Positive everywhere; isotonic where there is no usable fit. Cost: O(n), and the square of the
    noise's scale for each bin where that is affordable.
    """
    if len(noisy) <= 3:  # every bin is an end or beside one: there is nothing to smooth
        return _above_least(isotonic(noisy))
    total = max(float(noisy.sum()), 1.0)
    means, cumulatives, evidence, spiky = map(
        np.array, zip(*_fits(noisy, total, noise), strict=True)
    )
    usable = np.isfinite(np.column_stack([means, cumulatives, evidence])).all(axis=1)
    if not usable.any():
        return _above_least(isotonic(noisy))
    means, cumulatives, spiky = means[usable], cumulatives[usable], spiky[usable]
    weights = np.exp(evidence[usable] - evidence[usable].max())
    weights /= weights.sum()
    family = np.where(spiky == (weights @ spiky > 0.5), weights, 0)
    mean = family @ means / family.sum()
    cumulative = weights @ cumulatives
    shares = _medians(noisy, noise, mean, cumulative, weights @ spiky > 0.5)
    if shares is None:
        shares = isotonic(np.diff(cumulative, prepend=0.0)) * total
    shares += LEAST * (mean / mean.sum() + 1 / len(mean))
    return _above_least(shares / shares.sum())


def _above_least(shares: Floats) -> Floats:
    """No share below what stage 2 takes for zero."""
    raised = np.maximum(shares, 2.0**-38)
    return np.asarray(raised / raised.sum())


def _fits(
    noisy: NoisyHistogram, total: float, noise: Noise
) -> Iterator[tuple[Floats, Floats, float, bool]]:
    """With and without spikes, on a linear and a logarithmic scale, stiff and less stiff: the
    smooth part, the cumulative histogram, the log evidence, and whether there are spikes."""
    from holdfast.former.privatizers.smooth_kernel import fit

    n, y = len(noisy), np.cumsum(noisy).astype(np.float64)
    rate = float(np.sqrt(2 / noise.variance.mean()))
    variance = np.append(noise.variance, 1e-4)
    shares, starts = _starts(noisy, total, rate)
    spacings = (np.ones(n), np.log1p(1 / np.arange(1, n + 1)))
    for spacing in spacings:
        for spiky, start in starts.items():
            theta, R = start.copy(), variance.copy()
            x2 = (shares - np.exp(theta)) ** 2 + 1 / rate**2
            scale = SPIKE_SCALE / rate if spiky else 0.0
            model = (y, total, rate, noise.law == "laplace", spacing)
            for kappa in LOOSENESS:
                yield *fit(*model, kappa, scale, theta, R, x2, ROUNDS, TOLERANCE), spiky


def _starts(noisy: NoisyHistogram, total: float, rate: float) -> tuple[Floats, dict[bool, Floats]]:
    """Isotonic shares, and where fits begin: blurred, or as a running median beside spikes."""
    n = len(noisy)
    shares = isotonic(noisy) * total
    half = max(1, n // 20)
    blurred = running_mean(shares, half)
    middle = running_median(shares, min(half, 50))
    floor = min(total / (100 * n), 1 / rate) + 1e-3
    log = {False: np.log((shares + blurred) / 2 + floor), True: np.log(middle + floor)}
    return shares, log


def _medians(
    noisy: NoisyHistogram, noise: Noise, mean: Floats, cumulative: Floats, spiky: bool
) -> Floats | None:
    """Shares from posterior medians over whole numbers; None where they cost too much."""
    from holdfast.former.privatizers.smooth_kernel import whole_medians

    deviation = float(np.sqrt(noise.variance.mean()))
    reach = int(7 * deviation) + 5
    if noise.law == "other" or (2 * reach) ** 2 * len(mean) > AFFORDABLE:
        return None
    y, away = np.cumsum(noisy).astype(np.int64), np.arange(4 * reach)
    epsilon = 2 * np.arcsinh(np.sqrt(0.5) / deviation)
    log_weights = -epsilon * away if noise.law == "laplace" else -0.5 * (away / deviation) ** 2
    medians = whole_medians(
        y,
        log_weights,
        mean,
        SPIKE_SHARE if spiky else 0.0,
        max(SPIKE_SCALE / epsilon, 0.5),
        np.clip(cumulative, y - 0.8 * reach, y + 0.8 * reach),
        reach,
        min(1.0, WIDTH / epsilon),
    )
    return np.diff(medians, prepend=0.0) if np.isfinite(medians).all() else None
