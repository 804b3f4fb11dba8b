"""All experiments by name, and the run of some of them into one folder with one report."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.errors import HoldfastError, whole_number
from holdfast.paper.experiments.accuracy import ACCURACY, SQUARED
from holdfast.paper.experiments.claims import Claim, sources
from holdfast.paper.experiments.datasets import is_stand_in
from holdfast.paper.experiments.examples import BIRD_FLU, DATA_SETS, POLYTOPES
from holdfast.paper.experiments.experiment import QUICK, Experiment, read_rows
from holdfast.paper.experiments.frontier import FRONTIER
from holdfast.paper.experiments.privatizers import BY_SIZE, IN_PIPELINE
from holdfast.paper.experiments.published_draws import PUBLISHED
from holdfast.paper.experiments.report import Section, write_report
from holdfast.paper.experiments.runner import Row, run
from holdfast.paper.experiments.runtime import RUNTIME
from holdfast.paper.experiments.splits import OPTIMAL_SPLIT, OPTIMALITY_GAP

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        BIRD_FLU,
        BY_SIZE,
        DATA_SETS,
        ACCURACY,
        SQUARED,
        RUNTIME,
        OPTIMAL_SPLIT,
        OPTIMALITY_GAP,
        PUBLISHED,
        IN_PIPELINE,
        POLYTOPES,
        FRONTIER,
    )
}
"""In the order of the paper, and what is not the paper's last."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Where the report is, and its lines."""

    report: Path
    """The report as a page; report.md lies beside it."""
    claims: list[Claim]
    """Every line of "paper, here, ratio"."""
    left_out: list[str]
    """Experiments whose data were not found."""


def reproduce(
    names: Sequence[str] = (),
    *,
    out: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    effort: str = QUICK,
    jobs: int | None = None,
    resume: bool = False,
    progress: bool = False,
    experiments: Mapping[str, Experiment] = EXPERIMENTS,
) -> Outcome:
    """Run experiments (all by default) and write their report.

    Results are added to `out` as they come; with `resume` a killed run resumes where it stopped
    and ends with the same bytes, except for times.
    """
    chosen = _chosen(names, experiments)
    if jobs is not None:
        whole_number(jobs, "jobs", least=1)
    place = Path(out)
    _check_place(place, chosen, resume)
    folder = None if data is None else str(data)
    left_out, missing = [], dict.fromkeys(n for e in chosen for n in e.missing(folder))
    for experiment in chosen:
        tasks = experiment.tasks(folder, effort)
        if not tasks:
            left_out.append(experiment.name)
            continue
        at_most = min(jobs or os.cpu_count() or 1, experiment.jobs or 1_000)
        work = experiment.rounded(folder)
        run(experiment.name, tasks, work, folder=place, jobs=at_most, progress=progress)
    if len(left_out) == len(chosen):
        raise HoldfastError(
            f"there are no data for {', '.join(left_out)}. Hint: --data names their folder."
        )
    sections = [  # with those of earlier runs into this folder
        _section(experiment, place)
        for experiment in experiments.values()
        if experiment.name not in left_out and (place / f"{experiment.name}.csv").exists()
    ]
    report = write_report(sections, place, effort=effort, left_out=left_out, missing=list(missing))
    claims = [claim for section in sections for claim in section.claims]
    return Outcome(report=report, claims=claims, left_out=left_out)


def _chosen(names: Sequence[str], experiments: Mapping[str, Experiment]) -> list[Experiment]:
    unknown = [name for name in names if name not in experiments]
    if unknown:
        raise HoldfastError(
            f"there is no experiment {unknown[0]!r:.40}. Hint: the names are "
            f"{', '.join(experiments)}."
        )
    return [e for e in experiments.values() if not names or e.name in names]


def _check_place(place: Path, chosen: Sequence[Experiment], resume: bool) -> None:
    earlier = [e.name for e in chosen if (place / f"{e.name}.jsonl").exists()]
    if earlier and not resume:
        raise HoldfastError(
            f"`{place}` holds results of an earlier run ({', '.join(earlier)}). "
            "Hint: --resume goes on with them; or name another folder."
        )


def _marked(claim: Claim, rows: Sequence[Row]) -> Claim:
    """A claim over all data sets says which of them is a stand-in."""
    made = [name for name, source in sources(rows).items() if is_stand_in(source)]
    if not made or claim.source:
        return claim
    return replace(claim, why=f"{claim.why} {', '.join(made)}: stand-in data.".strip())


def _section(experiment: Experiment, place: Path) -> Section:
    """Everything from the file of results alone."""
    rows = read_rows(place / f"{experiment.name}.csv")
    figures = experiment.draw(rows)
    for figure in figures:
        figure.save(place / "figures")
    claims = [_marked(claim, rows) for claim in experiment.claims(rows)]
    return Section(experiment=experiment, rows=rows, figures=figures, claims=claims)
