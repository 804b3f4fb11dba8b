r"""Questions about two columns of counts of the same rows: correlation, a line, both zero, a ratio.

Noisy counts are unbiased, and the noises of two columns are independent. So with deviations from
the means, $\sum (y_1 - m_1)(y_2 - m_2)$ has the true sum of products as its mean, and
$\sum (y_1 - m_1)^2 - n v_1$ the true sum of squares, where $v_1$ is the noise's variance. These
rows are not a sample of anything: the error is that of the noise alone, which is known. For true
sums $A_{11}, A_{22}, A_{12}$ and noise with fourth moments $u$:

    Var(sum of squares)  = 4 v_1 A_11 + n (u_1 - v_1^2)
    Var(sum of products) = v_2 A_11 + v_1 A_22 + n v_1 v_2
    Cov(squares, products) = 2 v_1 A_12

Which part of the rows have such counts in both columns is read from a law of pairs, fitted to the
pairs of noisy counts through the noise and held to what is known of each column.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from holdfast.answers.answer import LEVEL, SIMULATED, About, Answer, Answers, Unit, check_level
from holdfast.answers.parts import DRAWS
from holdfast.answers.questions import condition
from holdfast.answers.selection import Groups, chosen_rows, where_words
from holdfast.arrays import Floats, Marks
from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.fit.parts import part_of

if TYPE_CHECKING:
    from holdfast.fit.cells import Cells
    from holdfast.release.release import Column, Release

SEED = 20_262  # public
FEWEST = 20  # rows that are answered about
CLIMBS = 60  # steps of expectation and maximisation
REFITS, STEPS = 30, 15  # of rows drawn again, for an interval
TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Means, variances and the covariance of two true counts; arrays for many draws of them."""

    means: Floats
    """Of shape (…, 2)."""
    squares: Floats
    """Variances and covariance, of shape (…, 3)."""

    def correlation(self) -> Floats:
        """Pearson's, within -1 and 1."""
        spread = np.sqrt(np.maximum(self.squares[..., 0] * self.squares[..., 1], TINY))
        return np.asarray(np.clip(self.squares[..., 2] / spread, -1.0, 1.0))

    def slope(self) -> Floats:
        """Of the least-squares line of the first count on the second."""
        return np.asarray(self.squares[..., 2] / np.maximum(self.squares[..., 1], TINY))

    def intercept(self) -> Floats:
        """Of the same line."""
        return np.asarray(self.means[..., 0] - self.slope() * self.means[..., 1])


LINES: dict[str, tuple[str, Callable[[Moments], Floats]]] = {
    "correlation": ("correlation of {0} and {1}", Moments.correlation),
    "slope": ("slope of the line of {0} on {1}", Moments.slope),
    "intercept": ("intercept of the line of {0} on {1}", Moments.intercept),
}
BOTH = ("both", "both zero")
PAIRS = (*LINES, *BOTH, "ratio")


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two columns of counts of some rows."""

    release: "Release" = field(repr=False)
    columns: "tuple[Column, Column]" = field(repr=False)
    marks: Marks = field(repr=False)
    """Rows in which both are known."""

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(np.count_nonzero(self.marks))

    def moments(self) -> tuple[Moments, Moments]:
        """The moments as estimated, and draws of them."""
        measured = self.marks & self.columns[0].measured & self.columns[1].measured
        noisy = np.array([c.noisy[measured] for c in self.columns], dtype=np.float64)
        size, rows = self.size, noisy.shape[1]
        v = np.array([c.measurement.noise.variance for c in self.columns])
        u = np.array([_fourth_moment(column) for column in self.columns])
        means = noisy.sum(axis=1) / size  # rows known to be zero add nothing
        away = noisy - means[:, None]
        sums = np.append((away**2).sum(axis=1) - rows * v, away[0] @ away[1])
        rest = (size - rows) * np.append(means**2, means[0] * means[1])
        a = np.append(np.maximum(sums[:2], 0.0), sums[2])
        covariance = np.diag(
            np.append(4 * v * a[:2] + rows * (u - v**2), v[::-1] @ a[:2] + rows * v.prod())
        )
        covariance[2, :2] = covariance[:2, 2] = 2 * v * a[2]
        generator = np.random.default_rng(SEED)
        noise = generator.multivariate_normal(np.zeros(3), covariance, size=DRAWS, method="eigh")
        shift = generator.standard_normal((DRAWS, 2)) * np.sqrt(rows * v) / size
        found = Moments(means=means, squares=(sums + rest) / size)
        return found, Moments(means=means + shift, squares=(sums + rest + noise) / size)

    def both(self, first: int, last: int | None) -> tuple[float, Floats]:
        """The share of rows with counts from `first` to `last` in both columns, and draws of it."""
        cells = tuple(column.estimate.cells for column in self.columns)
        measured = self.marks & self.columns[0].measured & self.columns[1].measured
        tally = _tally(self.columns, cells, measured)
        marginals = [_marginal(column, self.marks & measured) for column in self.columns]
        shares = [_inside(each, first, last) for each in cells]
        start = np.outer(*marginals)
        law = _climbed(start, tally, cells, marginals, CLIMBS)
        generator, rows = np.random.default_rng(SEED), tally.sum()
        draws = []
        for _ in range(REFITS):
            again = generator.multinomial(int(rows), tally.ravel() / rows).reshape(tally.shape)
            drawn = _climbed(law, again.astype(np.float64), cells, None, STEPS)
            draws.append(shares[0] @ drawn @ shares[1])
        estimate = float(shares[0] @ law @ shares[1])
        spread = float(np.std(draws, ddof=1))
        z = np.random.default_rng(SEED).standard_normal(DRAWS)
        known = float(first == 0)  # of rows known to be zero in both
        part = rows / self.size
        found = part * estimate + (1 - part) * known
        return found, np.clip(found + part * spread * z, 0.0, 1.0)


def ask_pair(
    release: "Release", question: str, of: Any = None, *, where: Any = None, by: Any = None,
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
            "`of` must name two columns of counts. "
            f"Hint: '{question} of A and B', or of=['A', 'B']."
        )
    columns = (release[names[0]], release[names[1]])
    if question == "both zero":
        question, options = "both", {"equal": 0}
    if question != "both" and options:
        raise HoldfastError(f"`{next(iter(options))}` does not fit this question.")
    level = check_level(level)
    known = ~columns[0].missing & ~columns[1].missing
    inside = chosen_rows(release, where, label)
    words = where_words(release, where, inside)

    def answer(marks: Marks, named: str) -> Answer:
        pair = Pair(release=release, columns=columns, marks=marks & known)
        if pair.size < FEWEST:
            raise HoldfastError(f"fewer than {FEWEST} rows say nothing of a pair. Hint: more rows.")
        missing = int(np.count_nonzero(marks & ~known))
        return _answer(pair, question, options, names, named, level, missing)

    if by is None:
        return answer(inside, words)
    groups = Groups.of(release, by)
    answers = {
        name: answer(marks, f", {groups.column} {one_line(str(name))}")
        for name, marks in groups.within(inside)
        if int(np.count_nonzero(marks & known)) >= FEWEST
    }
    if not answers:
        raise HoldfastError(f"no group has {FEWEST} rows. Hint: ask about larger ones.")
    return Answers(question=f"{_words(question, options, names)}{words}", by=groups.column,
                   answers=answers)  # fmt: skip


def _words(question: str, options: dict[str, Any], names: list[str]) -> str:
    plain = [one_line(name) for name in names]
    if question == "both":
        return f"share of rows in which {plain[0]} and {plain[1]} are {condition(options)[0]}"
    if question == "ratio":
        return f"total of {plain[0]} over that of {plain[1]}"
    return LINES[question][0].format(*plain)


def _answer(
    pair: Pair, question: str, options: dict[str, Any], names: list[str], words: str,
    level: float, missing: int,
) -> Answer:  # fmt: skip
    notes = []
    if missing:
        notes.append(f"{numbered(missing, 'row')} without both counts left out")
    if pair.release.promise.simulated:
        notes.append(SIMULATED)
    unit, estimate, draws = Unit.NUMBER, 0.0, np.zeros(DRAWS)
    if question == "both":
        unit = Unit.SHARE
        estimate, draws = pair.both(*condition(options)[1:])
    elif question == "ratio":
        return _ratio(pair, _words(question, options, names) + words, level, notes)
    else:
        moments, drawn = pair.moments()
        told = (moments.squares[:2] > 0).all() and (drawn.squares[:, :2] > 0).mean() > level
        if not told:
            raise HoldfastError(
                "the noise hides how much these counts differ from row to row, so a relation "
                "cannot be told. Hint: more rows."
            )
        estimate, draws = float(LINES[question][1](moments)), LINES[question][1](drawn)
    return Answer.of(
        _words(question, options, names) + words,
        estimate,
        draws,
        level=level,
        unit=unit,
        rows=pair.size,
        notes=tuple(notes),
        about=tuple(About(release=column, marks=pair.marks) for column in pair.columns),
    )


def _ratio(pair: Pair, words: str, level: float, notes: list[str]) -> Answer:
    """One total over the other, each as it is answered by itself."""
    from holdfast.answers.asking import answer_about
    from holdfast.answers.parts import Part
    from holdfast.answers.questions import total

    one, other = (
        answer_about(Part(release=pair.release, column=c, marks=pair.marks), total(), "", level)
        for c in pair.columns
    )
    return replace(one.ratio(other), question=words, notes=tuple(notes), rows=pair.size)


def _fourth_moment(column: "Column") -> float:
    noise = column.measurement.noise
    reach = noise.quantile(1 - 1e-13)
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    return float(x**4 @ noise.probability(x.astype(np.int64)))


def _tally(columns: "tuple[Column, ...]", cells: "tuple[Cells, ...]", marks: Marks) -> Floats:
    """How many rows have noisy counts in each pair of bins."""
    places = [
        np.searchsorted(each.bins, column.noisy[marks], side="right")
        for column, each in zip(columns, cells, strict=True)
    ]
    sizes = [len(each.bins) + 1 for each in cells]
    rows = np.bincount(places[0] * sizes[1] + places[1], minlength=sizes[0] * sizes[1])
    return np.asarray(rows.reshape(sizes), dtype=np.float64)


def _marginal(column: "Column", marks: Marks) -> Floats:
    """Shares of cells of one column in these rows."""
    values, rows = np.unique(column.noisy[marks], return_counts=True)
    every = len(marks) == len(column.noisy) and (marks == column.measured).all()
    estimate = column.estimate
    histogram = estimate.whole if every else part_of(estimate, values, rows.astype(np.int64))[0]
    place = np.searchsorted(estimate.cells.edges, histogram.values, side="right") - 1
    place = np.clip(place, 0, None)
    found = np.bincount(place, histogram.rows, minlength=len(estimate.cells.edges)) + 1e-6
    return np.asarray(found / found.sum())


def _inside(cells: "Cells", first: int, last: int | None) -> Floats:
    """Which part of the counts of each cell are meant; the open cell as its first count."""
    above = np.clip(cells.edges + cells.widths - first, 0, cells.widths)
    if last is not None:
        above = np.minimum(above, np.clip(last + 1 - cells.edges, 0, cells.widths))
    return np.asarray(above / cells.widths)


def _climbed(
    law: Floats, tally: Floats, cells: "tuple[Cells, ...]", marginals: list[Floats] | None,
    steps: int,
) -> Floats:  # fmt: skip
    """A law of pairs of cells after steps that each make the pairs of noisy counts likelier, and
    that hold it to the marginals where they are known."""
    first, second = cells[0].kernel, cells[1].kernel
    for _ in range(steps):
        likely = np.maximum(first.T @ law @ second, TINY)
        law = law * (first @ (tally / likely) @ second.T) / tally.sum()
        if marginals is not None:
            law = law * (marginals[0] / np.maximum(law.sum(axis=1), TINY))[:, None]
            law = law * (marginals[1] / np.maximum(law.sum(axis=0), TINY))
    return law
