"""The extreme points that the paper counts in its worked examples."""

from collections.abc import Sequence

from holdfast.paper.experiments.claims import Claim, Estimate, number
from holdfast.paper.experiments.experiment import Experiment, Folder
from holdfast.paper.experiments.runner import Row, Task

PRINTED = {"F": "36", "R_F": "78", "U": "27", "R_U": "36"}


def count(task: Task, seed: int, folder: Folder) -> list[Row]:
    """The number of extreme points, enumerated exactly, for n = 3, ε = ln 2 and uniform z."""
    from holdfast.paper import theory

    fixed = task["polytope"] in ("F", "R_F")
    options = {"z": ["1/3"] * 3} if fixed else {"n": 3}
    found = theory.vertices(task["polytope"], epsilon=theory.log(2), **options)
    return [{"extreme_points": len(found)}]


def _claims(rows: Sequence[Row]) -> list[Claim]:
    return [
        number(
            f"extreme points of {row['polytope']} for n = 3, ε = ln 2, z uniform",
            PRINTED[row["polytope"]],
            Estimate(row["extreme_points"]),
        )
        for row in rows
    ]


POLYTOPES = Experiment(
    name="polytopes",
    title="Extreme points of the worked examples",
    about="Enumerated in exact arithmetic.",
    grid={"polytope": tuple(PRINTED)},
    work=count,
    claims=_claims,
)
