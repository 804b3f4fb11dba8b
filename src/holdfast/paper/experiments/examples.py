"""What the paper shows before it experiments: its first figure, its data sets, its polytopes."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.paper.experiments.claims import Claim, RunMean, number, sentence, sources
from holdfast.paper.experiments.datasets import TABLES
from holdfast.paper.experiments.drawing import Figure, bars, titled
from holdfast.paper.experiments.experiment import Experiment, Folder, load
from holdfast.paper.experiments.runner import Row, Task

SKEWS = {"crime": "5.83", "schools": "1.29"}
ERRATUM = (
    "Erratum: the counts have skewness 15.1 as they are and 4.2 top-coded at 50; 5.83 belongs to "
    "neither."
)
SIZES = {"binomial": "10000", "crime": "3136", "schools": "95969"}
BIRD_FLU_BINS = TABLES["bird-flu"].n
TOP_CODED = ("crime", "schools")
BINS = {"binomial": "21", "crime": "51", "schools": "81"}
EXTREME_POINTS = {"F": "36", "R_F": "78", "U": "27", "R_U": "36"}


def states(task: Task, seed: int, folder: Folder) -> list[Row]:
    """The table of bird flu cases itself."""
    file = TABLES["bird-flu"]
    path = next(Path(folder or "") / name for name in file.names)
    with path.open(newline="", encoding="utf-8-sig") as lines:
        rows = [(row["State"], int(row[file.column])) for row in csv.DictReader(lines)]
    return [{"state": state, "cases": cases} for state, cases in rows]


def histogram(task: Task, seed: int, folder: Folder) -> list[Row]:
    """A data set's histogram of counts."""
    eta = load(task["data"], folder).histogram
    return [{"count": count, "categories": int(many)} for count, many in enumerate(eta)]


def _bird_flu_figures(rows: Sequence[Row]) -> list[Figure]:
    cases = [row["cases"] for row in rows]
    shares = np.bincount(cases, minlength=BIRD_FLU_BINS) / len(cases)

    def tabled(axis: Any) -> None:
        axis.axis("off")
        axis.set_title(f"A. table of counts, {len(rows)} states", fontsize=9)
        third = -(-len(rows) // 3)
        for k, row in enumerate(rows):
            x, y = k // third / 3, 1 - (k % third + 0.5) / third
            axis.text(x, y, row["state"], fontsize=6.5, va="center")
            axis.text(x + 0.29, y, row["cases"], fontsize=6.5, va="center", ha="right")

    distribution = bars(shares, title="B. its distribution of counts", y="share of states")
    return [
        Figure(
            name="bird-flu",
            title=f"Bird flu cases by US state, February 27, 2025 ({rows[0]['source']})",
            caption="A table of counts (A) and its distribution of counts (B).",
            panels=[tabled, distribution],
            width=5.2,
            legend=False,
        )
    ]


def _bird_flu_claims(rows: Sequence[Row]) -> list[Claim]:
    cases = [row["cases"] for row in rows]
    return [
        number("bird flu: N, the number of states", "50", RunMean(len(cases))),
        sentence(
            "bird flu: n = 41 holds every count",
            max(cases) < BIRD_FLU_BINS,
            f"the largest is {max(cases)}",
        ),
    ]


def _histograms(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        data: np.array([row["categories"] for row in rows if row["data"] == data])
        for data in sources(rows)
    }


def _data_figures(rows: Sequence[Row]) -> list[Figure]:
    where = sources(rows)
    return [
        Figure(
            name="data-sets",
            title="Distributions of counts of the data sets",
            caption="The three data sets of the experiments: 10,000 draws from a binomial "
            "distribution, homicides in US counties, teachers in public schools.",
            panels=[
                bars(
                    eta / eta.sum(),
                    title=titled(data, where[data]),
                    y="share of categories",
                    top_coded=data in TOP_CODED,
                )
                for data, eta in _histograms(rows).items()
            ],
            legend=False,
        )
    ]


def skewness(eta: Any) -> float:
    """Third standardised moment of the counts behind a histogram.

    >>> round(skewness(np.array([3, 0, 1])), 3)
    1.155
    """
    counts, shares = np.arange(len(eta)), eta / eta.sum()
    centred = counts - shares @ counts
    return float(shares @ centred**3 / (shares @ centred**2) ** 1.5)


def _data_claims(rows: Sequence[Row]) -> list[Claim]:
    where, claims = sources(rows), []
    for data, eta in _histograms(rows).items():
        size, bins = RunMean(float(eta.sum())), RunMean(float(len(eta)))
        claims += [
            number(f"{data}: N, number of categories", SIZES[data], size, source=where[data]),
            number(f"{data}: n, one more than the top code", BINS[data], bins, source=where[data]),
        ]
        if data in SKEWS:
            claims.append(
                number(
                    f"{data}: skewness of the top-coded counts",
                    SKEWS[data],
                    RunMean(skewness(eta)),
                    source=where[data],
                    reason=ERRATUM if data == "crime" else "",
                )
            )
    if "crime" in where:
        eta = _histograms(rows)["crime"]
        zeros = 100 * float(eta[0] / eta.sum())
        what = "crime: share of counties without homicides"
        claims.append(number(what, "53%", RunMean(zeros), source=where["crime"]))
    return claims


BIRD_FLU = Experiment(
    name="bird-flu",
    title="The paper's first figure: bird flu cases and their distribution",
    about="The table of counts of the introduction.",
    data=("bird-flu",),
    work=states,
    draw=_bird_flu_figures,
    claims=_bird_flu_claims,
)
DATA_SETS = Experiment(
    name="data-sets",
    title="The three data sets",
    about="Read from the folder given, or made where no file is there; the figures say which.",
    data=("binomial", "crime", "schools"),
    work=histogram,
    draw=_data_figures,
    claims=_data_claims,
)


def count_vertices(task: Task, seed: int, folder: Folder) -> list[Row]:
    """The number of extreme points, enumerated exactly, for n = 3, ε = ln 2 and uniform z."""
    from holdfast.paper import theory

    fixed = task["polytope"] in ("F", "R_F")
    options = {"z": ["1/3"] * 3} if fixed else {"n": 3}
    points = theory.vertices(task["polytope"], epsilon=theory.log(2), **options)
    return [{"extreme_points": len(points)}]


def _vertex_claims(rows: Sequence[Row]) -> list[Claim]:
    return [
        number(
            f"extreme points of {row['polytope']} for n = 3, ε = ln 2, z uniform",
            EXTREME_POINTS[row["polytope"]],
            RunMean(row["extreme_points"]),
        )
        for row in rows
    ]


POLYTOPES = Experiment(
    name="polytopes",
    title="Extreme points of the worked examples",
    about="Enumerated in exact arithmetic.",
    grid={"polytope": tuple(EXTREME_POINTS)},
    work=count_vertices,
    claims=_vertex_claims,
)
