"""The data sets of the studies: read from a folder that the user names, or made with a seed."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from holdfast.arrays import Floats, Integers
from holdfast.errors import HoldfastError
from holdfast.paper.experiments.synthetic import MADE
from holdfast.tables.histogram import check_histogram, check_max_count, histogram_of_counts
from holdfast.tables.table import read_table

SYNTHETIC = ("uniform", "left-skewed", "right-skewed", "bimodal", "zero-inflated", "top-inflated")
DATASETS = ("binomial", "crime", "schools", *SYNTHETIC, "heaped", "bird-flu")


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
    max_count: int


TABLES = {
    "crime": _TableFile(
        names=("crime_murder_by_county.csv", "crime_data_w_population_and_crime_rate.csv"),
        column="MURDER",
        max_count=50,
    ),
    "schools": _TableFile(names=("us-public-schools.csv",), column="FT_TEACHER", max_count=80),
    "bird-flu": _TableFile(names=("bird_flu_by_state.csv",), column="Bird_Flu_Cases", max_count=40),
}
HINTS = {
    "crime": "give the folder of crime_data_w_population_and_crime_rate.csv, which is the Kaggle "
    "data set mikejohnsonjr/united-states-crime-rates-by-county.",
    "bird-flu": "give the folder of bird_flu_by_state.csv, a table of `State, Bird_Flu_Cases`.",
}


def dataset(
    name: str, folder: str | Path | None = None, *, max_count: int | None = None
) -> Dataset:
    """The data set of this name, from a file in `folder` if there is one.

    Histograms published with the paper are NAME_histogram.csv; crime, schools and bird-flu are
    tables. Without a file the synthetic sets are drawn from the paper's definitions with a fixed
    seed, and `schools` is a stand-in whose source says so. `max_count` top-codes further down
    (or, for a table, further up) than the paper did.

    >>> uniform = dataset("uniform")
    >>> len(uniform.histogram), uniform.histogram.sum(), uniform.source
    (30, np.int64(3000), "drawn from the paper's definition, seed 2025")
    """
    if name not in DATASETS:
        raise HoldfastError(f"`name` must be one of {', '.join(DATASETS)}, got {name!r:.40}.")
    place = None if folder is None else _existing(Path(folder))
    if name in TABLES:
        return _from_table(name, place, max_count)
    path = _found(place, (f"{name.replace('-', '_')}_histogram.csv",))
    if path is not None:
        histogram, source = _read_histogram(path), path.name
    else:
        histogram, source = _made(name, None)
    return Dataset(
        name=name,
        histogram=_top_coded(histogram, max_count),
        source=source,
        from_file=path is not None,
    )


def _from_table(name: str, place: Path | None, max_count: int | None) -> Dataset:
    file = TABLES[name]
    top = file.max_count if max_count is None else check_max_count(max_count)
    path = _found(place, file.names)
    if path is not None:
        counts = _read_column(path, file.column)
        histogram, source = histogram_of_counts(counts, top), f"{path.name}, {file.column}"
    elif name in MADE:
        histogram, source = _made(name, top)
    else:
        raise DataMissing(f"the data set {name!r} was not found. Hint: {HINTS[name]}")
    return Dataset(name=name, histogram=histogram, source=source, from_file=path is not None)


def _made(name: str, top: int | None) -> tuple[Integers, str]:
    made = MADE[name]
    return histogram_of_counts(made.draw(), made.max_count if top is None else top), made.source


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise HoldfastError(f"`folder` must be an existing folder, got {str(folder)!r:.200}.")
    return folder


def _found(place: Path | None, names: tuple[str, ...]) -> Path | None:
    paths = [place / name for name in names] if place is not None else []
    return next((path for path in paths if path.is_file()), None)


def _top_coded(histogram: Integers, max_count: int | None) -> Integers:
    top = len(histogram) - 1 if max_count is None else check_max_count(max_count)
    counts = np.repeat(np.arange(len(histogram)), histogram)
    return histogram_of_counts(counts, top)


def _read_histogram(path: Path) -> Integers:
    counts, categories = (_read_column(path, column) for column in ("count", "categories"))
    if not np.array_equal(counts, np.arange(len(counts))):
        raise HoldfastError(f"{path.name}: column `count` must be 0, 1, 2, ... in this order.")
    return check_histogram(categories)


def _read_column(path: Path, column: str) -> Integers:
    """The counts of a column; empty cells and -999 mean missing and are dropped."""
    try:
        read = read_table(path, count=column, missing=["", -999])
    except HoldfastError as error:
        raise HoldfastError(f"{path.name}: {error}") from None
    return read.counts[~read.missing]
