"""An experiment as a description: data, methods, grid, replications; one engine runs them all."""

import csv
import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from holdfast.answers.report.document import Block
from holdfast.paper.experiments.claims import Claim
from holdfast.paper.experiments.datasets import DataMissing, Dataset, dataset
from holdfast.paper.experiments.drawing import Figure
from holdfast.paper.experiments.runner import Row, Task, Work

QUICK, FULL = "quick", "full"
DIGITS = 10
Folder = str | None


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is measured on which data, by which methods, at which points, how often."""

    name: str
    """Names it on the command line, and the file of its results."""
    title: str
    """What it is, for the report."""
    about: str
    """What was done, in a sentence or two, for the report."""
    work: Callable[..., list[Row]]
    """(task, seed, folder=...) -> rows; at the top of a module."""
    data: tuple[str, ...] = ()
    """Data sets, by name; one that is not found leaves its tasks out."""
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """What varies, and over which values; every combination is a task."""
    replications: Mapping[str, int] = field(default_factory=lambda: {QUICK: 1, FULL: 1})
    """How often, by effort."""
    keep: Callable[[Task, str], bool] = lambda task, effort: True
    """Which combinations are carried out, by effort."""
    complete: Callable[[Task, Folder], Task] = lambda task, folder: task
    """What follows from a combination and belongs beside it."""
    draw: Callable[[Sequence[Row]], list[Figure]] = lambda rows: []
    """Figures, from the rows of its file."""
    tables: Callable[[Sequence[Row]], list[Block]] = lambda rows: []
    """Tables for the report, from the same rows, and what they show."""
    claims: Callable[[Sequence[Row]], list[Claim]] = lambda rows: []
    """What the paper says beside what was found, from the rows of its file."""
    jobs: int | None = None
    """At most how many processes."""
    repeatable: bool = True
    """Whether another run gives the same bytes; times do not."""
    from_files: bool = False
    """Whether data sets are left out that no file holds."""

    def tasks(self, folder: Folder, effort: str) -> list[Task]:
        """The tasks for the engine; none if the data were not found."""
        points = [
            dict(zip(("data", *self.grid), values, strict=True))
            for values in itertools.product(self._present(folder), *self.grid.values())
        ]
        return [
            self.complete(_described(point, folder), folder)
            | {"replications": self.replications[effort]}
            for point in points
            if self.keep(point, effort)
        ]

    def rounded(self, folder: Folder) -> Work:
        """Its work, with rows to ten digits: the last bits of a matrix can depend on where it lies
        in memory, and so on what its process did before."""
        return partial(_kept, work=partial(self.work, folder=folder))

    def missing(self, folder: Folder) -> list[str]:
        """Its data sets that were not found, on which nothing is reported."""
        return [name for name in self.data if not is_here(name, folder)]

    def _present(self, folder: Folder) -> list[str]:
        here = [name for name in self.data or ("",) if not name or is_here(name, folder)]
        return [name for name in here if not self.from_files or load(name, folder).from_file]


def _kept(task: Task, seed: int, work: Callable[[Task, int], list[Row]]) -> list[Row]:
    return [{name: _rounded(value) for name, value in row.items()} for row in work(task, seed)]


def _rounded(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def is_here(name: str, folder: Folder) -> bool:
    """Whether a data set is available; crime and bird flu need a file."""
    try:
        load(name, folder)
    except DataMissing:
        return False
    return True


@cache
def load(name: str, folder: Folder, bins: int | None = None) -> Dataset:
    """A data set, top-coded so that it has so many bins."""
    return dataset(name, folder, n=bins)


def _described(point: Task, folder: Folder) -> Task:
    """The point with what identifies its data, so that resuming never mixes two data sets."""
    name = point["data"]
    if not name:
        return {key: value for key, value in point.items() if key != "data"}
    data = load(name, folder)
    digest = hashlib.sha256(data.histogram.astype("<i8").tobytes()).hexdigest()[:12]
    return {"data": name, "source": data.source, "digest": digest} | point


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of results; numbers are numbers again.

    >>> [_value(cell) for cell in ("7", "0.5", "crime", "")]
    [7, 0.5, 'crime', '']
    """
    with path.open(newline="", encoding="utf-8") as lines:
        return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(lines)]


def _value(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell
