r"""Questions about two columns of counts of the same rows: correlation, a line, both zero, a ratio.

Noisy counts are unbiased, and the noises of two columns are independent. So with deviations from
the means, $\sum (y_1 - m_1)(y_2 - m_2)$ has the true sum of products as its mean, and
$\sum (y_1 - m_1)^2 - n v_1$ the true sum of squares, where $v_1$ is the noise's variance. These
rows are not a sample of anything: the error is that of the noise alone, which is known. For true
sums $A_{11}, A_{22}, A_{12}$ and noise with fourth moments $u$:

    Var(sum of squares)  = 4 v_1 A_11 + n (u_1 - v_1^2)
    Var(sum of products) = v_2 A_11 + v_1 A_22 + n v_1 v_2
    Cov(squares, products) = 2 v_1 A_12

True sums are a matrix without negative eigenvalues. The estimate is the likeliest such matrix, and
an interval has the values of all that a likelihood ratio does not reject: up to -1 to 1, and for a
slope without an end, where noise hides how much a count differs from row to row.

Which part of the rows have such counts in both columns is read from a law of pairs. Chance makes
counts of rates (Poisson's law), and normal scores with the correlation that makes the noisy counts
most likely (a Gaussian copula) join the rates; some steps of expectation and maximisation carry the
law towards the pairs of noisy counts, far where noise is small, hardly where it is large, and hold
it to what is known of each column. Its draws have those of both columns, of the correlation, of
odds that are others than those of normal scores, and of the rows drawn again.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from holdfast.answers.answer import SIMULATED, Answer, Answers, check_level
from holdfast.answers.asking import DRAWS, LITTLE, ChosenRows, answer_about, answer_by
from holdfast.answers.laws import CombinedNoise
from holdfast.answers.selection import chosen_rows, picked_notes, where_words
from holdfast.arrays import Floats, Integers, Marks
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.fit.histogram import LEVEL
from holdfast.release.release import Column, Release
from holdfast.request.questions import QUESTIONS, Unit, condition

SEED = 20_262  # public
FEWEST = 20  # rows that are answered about
CLIMBS = 40  # steps of expectation and maximisation
REFITS = 30  # of rows drawn again, for an interval
GROWTH = 0.25  # of classes of counts, beside the count
QUANTILES = 24  # of a factor that two normal scores share
HIGHEST, POINTS = 0.99, 20  # correlation of scores, and points of a grid up to it
LEAST_ROWS = 1e-6  # in a class
RATES, LEAST_RATE, RATE_STEPS = 30, 0.03, 100  # of Poisson's law
OTHERWISE = 0.35  # deviation of log odds from those of normal scores
TINY = 1e-300
SPAN, GRID = 6.0, 161  # standard errors around the estimate, and points of each grid of matrices
FLAT = 1e-9  # a distance as small as this is none


LINES = {
    "correlation": "correlation of {0} and {1}",
    "slope": "slope of the line of {0} on {1}",
    "intercept": "intercept of the line of {0} on {1}",
}
PAIRS = (*LINES, "both", "both zero", "ratio")


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two columns of counts of some rows."""

    release: Release = field(repr=False)
    columns: tuple[Column, Column] = field(repr=False)
    marks: Marks = field(repr=False)
    """Rows in which both are known."""

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(np.count_nonzero(self.marks))

    @property
    def measured(self) -> Marks:
        """Rows that have a noisy count in both; in the others both are known to be zero."""
        return self.marks & self.columns[0].measured & self.columns[1].measured

    def line(self, question: str) -> tuple[float, Floats]:
        """Correlation, slope or intercept of the first count on the second, and draws of it."""
        noisy = np.array([c.noisy[self.measured] for c in self.columns], dtype=np.float64)
        size, rows = self.size, noisy.shape[1]
        v = np.array([c.measurement.noise.variance for c in self.columns])
        u = np.array([CombinedNoise([column]).fourth_moment for column in self.columns])
        means = noisy.sum(axis=1) / size  # rows known to be zero add nothing
        away = noisy - means[:, None]
        sums = np.append((away**2).sum(axis=1) - rows * v, away[0] @ away[1])
        rest = (size - rows) * np.append(means**2, means[0] * means[1])
        a = np.maximum(sums[:2], 0.0)
        covariance = np.diag(np.append(4 * v * a + rows * (u - v**2), v[::-1] @ a))
        covariance[2, 2] += rows * v.prod()
        product = np.clip(sums[2], -((a[0] * a[1]) ** 0.5), (a[0] * a[1]) ** 0.5)
        covariance[2, :2] = covariance[:2, 2] = 2 * v * product
        estimate, draws = _relation(sums + rest, covariance, slope=question != "correlation")
        if question != "intercept":
            return estimate, draws
        generator = np.random.default_rng(SEED)
        drawn = means + generator.standard_normal((DRAWS, 2)) * np.sqrt(rows * v) / size
        return float(means[0] - estimate * means[1]), drawn[:, 0] - draws * drawn[:, 1]

    def both(self, first: int, last: int | None) -> tuple[float, Floats]:
        """The share of rows with counts from `first` to `last` in both columns, and draws of it."""
        sides = [
            Side.of(ChosenRows(release=self.release, column=c, marks=self.measured), first, last)
            for c in self.columns
        ]
        rows, size = int(np.count_nonzero(self.measured)), len(sides[1].kernel[0])
        places = sides[0].places * size + sides[1].places
        tally = np.bincount(places, minlength=len(sides[0].kernel[0]) * size).astype(np.float64)
        shape = (-1, size)
        scores, error = _scores(sides, tally.reshape(shape))
        law = _climbed(_joined(sides, scores), tally.reshape(shape), sides)
        generator, draws = np.random.default_rng(SEED), np.zeros(REFITS)
        asked = np.outer(sides[0].inside, sides[1].inside)
        for k in range(REFITS):
            again = [side.drawn(k) for side in sides]
            drawn = float(np.clip(scores + error * generator.standard_normal(), -HIGHEST, HIGHEST))
            seen = generator.multinomial(rows, tally / rows).astype(np.float64).reshape(shape)
            bent = np.exp(OTHERWISE * generator.standard_normal() * asked)
            refit = _climbed(_joined(again, drawn) * bent, seen, again)
            draws[k] = sides[0].inside @ refit @ sides[1].inside
        estimate = float(sides[0].inside @ law @ sides[1].inside)
        spread = float(np.std(draws, ddof=1))
        z = np.random.default_rng(SEED).standard_normal(DRAWS)
        part, zero = rows / self.size, float(first == 0)  # others are known to be zero in both
        share = part * estimate + (1 - part) * zero
        return share, np.clip(share + part * spread * z, 0.0, 1.0)


def ask_pair(
    release: Release, question: str, of: Any = None, *, where: Any = None, by: Any = None,
    label: str | None = None, level: float = LEVEL, **options: Any,
) -> Answer | Answers:  # fmt: skip
    """The answer to a question about two columns of counts; see `Release.ask`."""
    if question not in PAIRS:
        raise HoldfastError(
            f"a question about two columns is one of {', '.join(PAIRS)}, got {question!r:.40}."
        )
    names = list(of) if isinstance(of, list | tuple) else []
    if len(names) != 2 or names[0] == names[1]:
        raise HoldfastError(
            f"the question must name two columns of counts. Hint: '{question} of A and B', or in "
            "Python of=['A', 'B']."
        )
    for name, other in (names, names[::-1]):
        if other in release.published and name not in release.published:
            raise HoldfastError(
                f"{other!r:.60} is a public column, no count. Hint: '{name} ~ {other}' has a slope."
            )
    columns = (release[names[0]], release[names[1]])
    if question == "both zero":
        question, options = "both", {"equal": 0}
    if question != "both" and options:
        raise HoldfastError(f"`{next(iter(options))}` does not fit this question.")
    level = check_level(level)
    counted = ~columns[0].missing & ~columns[1].missing
    inside = chosen_rows(release, where, label)
    which = where_words(release, where, inside)

    def answer(marks: Marks, which: str) -> Answer:
        pair = Pair(release=release, columns=columns, marks=marks & counted)
        if pair.size < FEWEST:
            raise HoldfastError(f"fewer than {FEWEST} rows say nothing of a pair. Hint: more rows.")
        missing = int(np.count_nonzero(marks & ~counted))
        return _answer(pair, question, options, f"{asked}{which}", level, missing)

    asked = _words(question, options, names)
    return answer_by(release, by, inside, which, asked, answer)


def _words(question: str, options: dict[str, Any], names: list[str]) -> str:
    plain = [one_line(name) for name in names]
    if question == "both":
        return f"share of rows in which {plain[0]} and {plain[1]} are {condition(options)[0]}"
    if question == "ratio":
        return f"total of {plain[0]} over that of {plain[1]}"
    return LINES[question].format(*plain)


def _answer(
    pair: Pair, question: str, options: dict[str, Any], words: str, level: float, missing: int,
) -> Answer:  # fmt: skip
    notes = [note for column in pair.columns for note in picked_notes(column, pair.marks)]
    if missing:
        notes.append(f"{numbered(missing, 'row')} without both counts left out")
    if pair.release.promise.simulated:
        notes.append(SIMULATED)
    if question == "ratio":
        return _ratio(pair, words, level, notes)
    both = pair.both(**condition(options)[1]) if question == "both" else None
    estimate, draws = both or pair.line(question)
    answer = Answer.of(
        words,
        estimate,
        draws,
        level=level,
        unit=Unit.SHARE if both else Unit.NUMBER,
        rows=pair.size,
        about=tuple((column, pair.marks) for column in pair.columns),
    )
    return _noted(answer, notes)


def _noted(answer: Answer, notes: list[str]) -> Answer:
    """The answer with notes, the first that it says little where it does."""
    low, high = answer.interval
    little = high == np.inf or low == -np.inf or (low < 0 and high - low > max(-low, high))
    return replace(answer, notes=(*[LITTLE] * little, *notes))


def _relation(sums: Floats, covariance: Floats, *, slope: bool) -> tuple[float, Floats]:
    r"""The likeliest correlation, or slope of the first count on the second, and draws of it.

    Matrices are $t\,(\cos^2 a, \sin^2 a, r \sin a \cos a)$ with the correlation r. For each a and
    r the best t is known, and with it how far the sums are from such a matrix. A draw is the least
    or the greatest value among matrices that are not farther than a normal number, squared.
    """
    from scipy.special import ndtri

    scale = np.maximum(sums[:2], np.diag(covariance)[:2] ** 0.5)
    scale = np.append(scale, (scale[0] * scale[1]) ** 0.5)
    weights = np.linalg.inv(covariance / np.outer(scale, scale))
    sums, far = sums / scale, float(np.trace(covariance / np.outer(scale, scale))) ** 0.5
    spread = np.maximum(sums[:2], far)
    near = np.linspace(-SPAN * far, SPAN * far, GRID)
    angles = np.arctan2(spread[1] ** 0.5, spread[0] ** 0.5) + near
    r = sums[2] / (spread[0] * spread[1]) ** 0.5 + near
    angles = np.append(np.linspace(0, np.pi / 2, GRID), np.clip(angles, 0, np.pi / 2))
    r = np.append(np.linspace(-1, 1, GRID), np.clip(r, -1, 1))[:, None]
    cos, sin = np.cos(angles), np.sin(angles)
    ways = np.stack(np.broadcast_arrays(cos**2, sin**2, r * cos * sin), axis=-1)
    along = np.maximum(ways @ weights @ sums, 0.0)
    away = -(along**2) / np.einsum("ijk,kl,ijl->ij", ways, weights, ways)
    values = np.broadcast_to(r, away.shape)
    if slope:
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = r * cos / sin * (scale[0] / scale[1]) ** 0.5
        values = np.nan_to_num(slopes, posinf=np.inf, neginf=-np.inf)
    order = np.argsort(away, axis=None)
    far_off = np.sqrt(away.ravel()[order] - away.min())
    z = ndtri((np.arange(DRAWS) + 0.5) / DRAWS)
    place = np.searchsorted(far_off, np.abs(z) + FLAT, side="right") - 1
    values = values.ravel()[order]
    lows, highs = np.minimum.accumulate(values), np.maximum.accumulate(values)
    tied = int(np.searchsorted(far_off, FLAT, side="right")) - 1
    middle = float((lows[tied] + highs[tied]) / 2) if lows[tied] > -np.inf else np.nan
    return middle, np.where(z < 0, lows[place], highs[place])


def _ratio(pair: Pair, words: str, level: float, notes: list[str]) -> Answer:
    """One total over the other, each as it is answered by itself."""
    sides = (ChosenRows(release=pair.release, column=c, marks=pair.marks) for c in pair.columns)
    first, second = (answer_about(side, QUESTIONS["total"], "", level) for side in sides)
    return _noted(replace(first.ratio(second), question=words, rows=pair.size), notes)


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """One column of a pair: what is known of it, in classes of counts and of noisy counts."""

    shares: Floats
    """Of the classes of counts."""
    draws: Floats
    """The same as draws."""
    kernel: Floats
    """P(class of noisy counts | class of counts)."""
    places: Integers
    """The class of each row's noisy count."""
    inside: Floats
    """Which classes of counts are asked for."""
    chances: Floats
    """P(class of counts | rate)."""
    rates: Floats
    """Shares of rates."""

    @staticmethod
    def of(chosen: ChosenRows, first: int, last: int | None) -> "Side":
        """Of these rows, in classes such that those asked for are whole classes."""
        drawn, noise = chosen.draws[0], chosen.column.measurement.noise
        table = chosen.in_table
        top = int(max(table.values[-1], drawn.support[-1]))
        edges = _classes(top, {first, top + 1 if last is None else min(last, top) + 1})
        draws = _in_classes(drawn.support, drawn.rows, edges)
        shares = draws.mean(axis=0)
        if chosen.declared is not None:
            shares = _in_classes(table.values, table.rows[None].astype(np.float64), edges)[0]
        reach = noise.quantile(1 - 1e-9)
        upto = np.unique(np.concatenate([-edges[edges <= reach], edges, [top + reach]]))
        inner = [np.linspace(low, high - 1, 5) for low, high in pairwise([*edges, top + 1])]
        counts = np.floor(np.array(inner)).astype(np.int64)
        below = noise.cumulative(upto[None, None] - 1 - counts[:, :, None]).mean(axis=1)
        kernel = np.diff(below, axis=1, prepend=0.0, append=1.0)
        inside = (edges >= first) & (edges <= (top if last is None else last))
        return Side(
            shares=shares,
            draws=draws,
            kernel=np.maximum(kernel, 0.0),
            places=np.searchsorted(upto, chosen.noisy, side="right").astype(np.int64),
            inside=inside.astype(np.float64),
            chances=(chances := _chances(edges, top)),
            rates=_rates(shares, chances),
        )

    def drawn(self, number: int) -> "Side":
        """The same with shares that are a draw."""
        shares = self.draws[number % len(self.draws)]
        return replace(self, shares=shares, rates=_rates(shares, self.chances))


def _classes(top: int, ends: set[int]) -> Integers:
    """Where classes of counts begin: each small count by itself, then wider and wider ones."""
    edges, at = set(ends), 0
    while at <= top:
        edges.add(at)
        at += max(int(at * GROWTH), 1)
    return np.array(sorted(edge for edge in edges if edge <= top), dtype=np.int64)


def _in_classes(values: Integers, rows: Floats, edges: Integers) -> Floats:
    """Shares of classes, of a histogram or of draws."""
    place = np.searchsorted(edges, np.maximum(values, 0), side="right") - 1
    sums = rows @ (place[:, None] == np.arange(len(edges))) + LEAST_ROWS
    return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def _joined(sides: list[Side], scores: float) -> Floats:
    """The law of pairs of counts that chance makes of rates, whose normal scores have this
    correlation.

    Given a factor that both share, the scores are independent: a sum over its quantiles.
    """
    from scipy.special import ndtr, ndtri

    factor = ndtri((np.arange(QUANTILES) + 0.5) / QUANTILES)[:, None]
    common, laws = abs(scores) ** 0.5, []
    for side, sign in zip(sides, (1.0, -1.0 if scores < 0 else 1.0), strict=True):
        upto = ndtri(np.clip(np.cumsum(side.rates)[:-1], 1e-12, 1 - 1e-12))
        chances = ndtr((upto - sign * common * factor) / (1 - abs(scores)) ** 0.5)
        laws.append(np.diff(chances, axis=1, prepend=0.0, append=1.0) @ side.chances)
    return np.asarray(laws[0].T @ laws[1] / QUANTILES)


def _chances(edges: Integers, top: int) -> Floats:
    """P(class of counts | rate) by Poisson's law, of rates that reach so far."""
    from scipy.special import pdtr

    rates = np.expm1(np.linspace(np.log1p(LEAST_RATE), np.log1p(max(top, 1)), RATES))[:, None]
    upto = pdtr(edges[1:] - 1, rates)
    return np.asarray(np.diff(upto, axis=1, prepend=0.0, append=1.0))


def _rates(shares: Floats, chances: Floats) -> Floats:
    """Shares of rates that make these shares of classes of counts most likely."""
    rates = np.ones(len(chances)) / len(chances)
    for _ in range(RATE_STEPS):
        rates = rates * (chances @ (shares / np.maximum(rates @ chances, TINY)))
    return np.asarray(rates / rates.sum())


def _scores(sides: list[Side], tally: Floats) -> tuple[float, float]:
    """The correlation of scores that makes the pairs of noisy counts most likely, and its error."""
    grid = np.linspace(-HIGHEST, HIGHEST, 2 * POINTS + 1)
    logs = np.zeros(len(grid))
    for place, scores in enumerate(grid):
        likely = sides[0].kernel.T @ _joined(sides, float(scores)) @ sides[1].kernel
        logs[place] = float((tally * np.log(np.maximum(likely, TINY))).sum())
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    best = float(weights @ grid)
    spread = float(weights @ (grid - best) ** 2) ** 0.5
    return best, max(spread, (grid[1] - grid[0]) / 4)


def _climbed(law: Floats, tally: Floats, sides: list[Side]) -> Floats:
    """The law after steps that each make the pairs of noisy counts likelier, held to the sides."""
    first, second = sides[0].kernel, sides[1].kernel
    for _ in range(CLIMBS):
        likely = np.maximum(first.T @ law @ second, TINY)
        law = law * (first @ (tally / likely) @ second.T) / tally.sum()
        law = law * (sides[0].shares / np.maximum(law.sum(axis=1), TINY))[:, None]
        law = law * (sides[1].shares / np.maximum(law.sum(axis=0), TINY))
    return law
