"""The data sets of the experiments: read from a folder that the user names, or made with a seed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.paper.distributions import check_histogram, check_n, histogram_of_counts
from holdfast.tables.leaks.search import ROW_ORDER
from holdfast.tables.table import open_table

Generator = np.random.Generator

SEED = 2025
BY_DEFINITION = f"drawn from the paper's definition, seed {SEED}"


@dataclass(frozen=True, kw_only=True)
class Made:
    """A table of counts that is drawn rather than read."""

    name: str
    rule: Callable[[Generator], Integers]
    n: int
    source: str = BY_DEFINITION
    stand_in: bool = False
    """Whether it stands in for data that somebody else has."""

    def draw(self) -> Integers:
        """The counts, the same ones every time."""
        return self.rule(np.random.default_rng([SEED, *self.name.encode()]))


def _uniform(rng: Generator) -> Integers:
    return rng.integers(0, 30, 3000)


def _skewed(ratio: float) -> Callable[[Generator], Integers]:
    p = ratio ** np.arange(70.0)
    return lambda rng: rng.choice(70, size=10_000, p=p / p.sum())


def _bimodal(rng: Generator) -> Integers:
    return np.concatenate([rng.binomial(39, share, 10_000) for share in (0.7, 0.3)])


def _inflated(value: int, extra: int) -> Callable[[Generator], Integers]:
    return lambda rng: np.append(rng.integers(0, 80, 10_000 - extra), np.full(extra, value))


def _schools(rng: Generator) -> Integers:
    """Tiny schools, the hump of elementary and middle schools, and a tail of high schools."""
    tiny = rng.geometric(0.22, 7_700) - 1
    usual = rng.gamma(5.2, 6.1, 73_000)
    large = rng.lognormal(np.log(52), 0.55, 15_269)
    return np.asarray(np.rint(np.concatenate([tiny, usual, large])), dtype=np.int64)


MADE = {
    made.name: made
    for made in (
        Made(name="binomial", rule=lambda rng: rng.binomial(20, 0.5, 10_000), n=21),
        Made(name="uniform", rule=_uniform, n=30),
        Made(name="left-skewed", rule=_skewed(140 / 139), n=70),
        Made(name="right-skewed", rule=_skewed(139 / 140), n=70),
        Made(name="bimodal", rule=_bimodal, n=40),
        Made(name="zero-inflated", rule=_inflated(0, 200), n=80),
        Made(name="top-inflated", rule=_inflated(79, 100), n=80),
        Made(
            name="schools",
            rule=_schools,
            n=81,
            source=f"STAND-IN shaped like teachers of US public schools, not data, seed {SEED}",
            stand_in=True,
        ),
    )
}


def is_stand_in(source: str) -> bool:
    """Whether data from there stand in for real ones.

    >>> is_stand_in(MADE["schools"].source), is_stand_in(BY_DEFINITION)
    (True, False)
    """
    return any(made.stand_in and made.source == source for made in MADE.values())


SYNTHETIC = ("uniform", "left-skewed", "right-skewed", "bimodal", "zero-inflated", "top-inflated")
DATASETS = ("binomial", "crime", "schools", *SYNTHETIC, "bird-flu")


class DataMissing(HoldfastError):
    """A data set that cannot be made and that no file in the folder holds."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A histogram of counts for a study, and where it comes from."""

    name: str
    """One of `DATASETS`."""
    histogram: Integers
    """How many categories have count 0, 1, ..., n - 1."""
    source: str
    """The file that was read, or how the data were made."""
    from_file: bool
    """Whether a file was read."""

    @property
    def distribution(self) -> Floats:
        """The paper's zeta: the histogram over its total."""
        return np.asarray(self.histogram / self.histogram.sum())


@dataclass(frozen=True, kw_only=True)
class _TableFile:
    names: tuple[str, ...]
    column: str
    n: int


TABLES = {
    "crime": _TableFile(
        names=("crime_murder_by_county.csv", "crime_data_w_population_and_crime_rate.csv"),
        column="MURDER",
        n=51,
    ),
    "schools": _TableFile(names=("us-public-schools.csv",), column="FT_TEACHER", n=81),
    "bird-flu": _TableFile(names=("bird_flu_by_state.csv",), column="Bird_Flu_Cases", n=41),
}
HINTS = {
    "crime": "give the folder of crime_data_w_population_and_crime_rate.csv, which is the Kaggle "
    "data set mikejohnsonjr/united-states-crime-rates-by-county.",
    "bird-flu": "give the folder of bird_flu_by_state.csv, a table of `State, Bird_Flu_Cases`.",
}


def dataset(name: str, folder: str | Path | None = None, *, n: int | None = None) -> Dataset:
    """The data set of this name, from a file in `folder` if there is one.

    Histograms published with the paper are NAME_histogram.csv; crime, schools and bird-flu are
    tables. Without a file the synthetic sets are drawn from the paper's definitions with a fixed
    seed, and `schools` is a stand-in whose source says so. `n` top-codes further down (or, for a
    table, further up) than the paper did.

    >>> uniform = dataset("uniform")
    >>> len(uniform.histogram), uniform.histogram.sum(), uniform.source
    (30, np.int64(3000), "drawn from the paper's definition, seed 2025")
    """
    if name not in DATASETS:
        raise HoldfastError(f"`name` must be one of {', '.join(DATASETS)}, got {name!r:.40}.")
    place = None if folder is None else _existing(Path(folder))
    if name in TABLES:
        return _from_table(name, place, n)
    path = _found(place, (f"{name.replace('-', '_')}_histogram.csv",))
    if path is not None:
        histogram, source = _read_histogram(path), path.name
    else:
        histogram, source = _made(name, None)
    return Dataset(
        name=name,
        histogram=_top_coded(histogram, n),
        source=source,
        from_file=path is not None,
    )


def _from_table(name: str, place: Path | None, n: int | None) -> Dataset:
    file = TABLES[name]
    bins = file.n if n is None else check_n(n)
    path = _found(place, file.names)
    if path is not None:
        counts = _column(path, file.column)
        histogram, source = histogram_of_counts(counts, bins), f"{path.name}, {file.column}"
    elif name in MADE:
        histogram, source = _made(name, bins)
    else:
        raise DataMissing(f"the data set {name!r} was not found. Hint: {HINTS[name]}")
    return Dataset(name=name, histogram=histogram, source=source, from_file=path is not None)


def _made(name: str, bins: int | None) -> tuple[Integers, str]:
    made = MADE[name]
    return histogram_of_counts(made.draw(), made.n if bins is None else bins), made.source


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise HoldfastError(f"`folder` must be an existing folder, got {str(folder)!r:.200}.")
    return folder


def _found(place: Path | None, names: tuple[str, ...]) -> Path | None:
    paths = [place / name for name in names] if place is not None else []
    return next((path for path in paths if path.is_file()), None)


def _top_coded(histogram: Integers, n: int | None) -> Integers:
    counts = np.repeat(np.arange(len(histogram)), histogram)
    return histogram_of_counts(counts, len(histogram) if n is None else check_n(n))


def _column(path: Path, column: str) -> Integers:
    """The whole numbers of a column; empty cells and -999 mean missing and are left out."""
    table = open_table(path, count=(column,), missing=["-999", ""], publish_anyway=[ROW_ORDER])
    return np.concatenate(
        [batch.counts[column][~batch.missing[column]] for batch in table.batches()]
    )


def _read_histogram(path: Path) -> Integers:
    counts, categories = (_column(path, column) for column in ("count", "categories"))
    if not np.array_equal(counts, np.arange(len(counts))):
        raise HoldfastError(f"{path.name}: column `count` must be 0, 1, 2, ... in this order.")
    return check_histogram(categories)


PAPER_BUDGETS = tuple(float(value) for value in 10 ** np.linspace(-1, np.log10(5), 11))
"""Unrounded, as the published notebooks have them."""


def rounded(epsilon: float) -> str:
    """A budget to four digits: what studies spend, and how files of results name it.

    >>> rounded(0.47817624)
    '0.4782'
    """
    return f"{epsilon:.4g}"


BUDGETS = tuple(map(rounded, PAPER_BUDGETS))
"""The same to four digits, which is what is spent."""
