"""All experiments by name, and the run of some of them into one folder with one report: a page that
makes no network requests, and the same as Markdown."""

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from holdfast.answers.report.document import (
    Block,
    Drawing,
    Heading,
    Paragraph,
    TableBlock,
    html_page,
    markdown,
)
from holdfast.errors import HoldfastError, whole_number
from holdfast.paper.experiments.accuracy import ACCURACY, FRONTIER, SQUARED
from holdfast.paper.experiments.claims import Claim, Verdict, sources
from holdfast.paper.experiments.datasets import is_stand_in
from holdfast.paper.experiments.drawing import Figure
from holdfast.paper.experiments.examples import BIRD_FLU, DATA_SETS, POLYTOPES
from holdfast.paper.experiments.experiment import QUICK, Experiment, read_rows
from holdfast.paper.experiments.privatizers import BY_SIZE, IN_PIPELINE
from holdfast.paper.experiments.published_draws import PUBLISHED
from holdfast.paper.experiments.runner import Row, run
from holdfast.paper.experiments.runtime import RUNTIME
from holdfast.paper.experiments.splits import OPTIMAL_SPLIT, OPTIMALITY_GAP
from holdfast.tables.formats import write_whole

TITLE = "The paper's experiments, run again by holdfast"
HEADER = ("what", "paper", "here", "ratio", "verdict", "why")
HOW = (
    "Two numbers agree if they differ by no more than three standard errors of their difference, "
    "and the rounding in print. Optimality gaps agree if, sampling error apart, they lie within "
    "0.05 of each other and within a factor of two; the fitted rule agrees within 15 %. "
    "± is one standard error of what was found here."
)
METHODS = (
    "Where the methods here are not those of the published code to the letter: all noise is "
    "discrete; the classic Laplace is shifted to the public total before negatives are clipped; "
    "the discrete Gaussian has the text's δ = 1/(N + 1), where the published code takes "
    "1/(Σ counts + 1), and the smallest σ that the exact condition of approximate privacy allows; "
    "simplex and interior point are both HiGHS's, where the published code's simplex is SciPy's "
    "old tableau method, which SciPy 1.11 removed, and its interior point HiGHS's; the sandwich "
    "selector is as printed, but for published-draws."
)
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid #ccc;
  padding-top: 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.9rem; }
th, td { border: 1px solid #ccc; padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
thead th { background: #f2f2f2; } th[scope=row] { font-weight: normal; }
.wide { overflow-x: auto; } img { max-width: 100%; min-width: 44rem; height: auto; }
tr > :first-child, td:nth-child(6):not(:empty) { min-width: 15rem; }
td:nth-child(3) { min-width: 8rem; } .small { font-size: 0.9rem; color: #444; }
"""


@dataclass(frozen=True, kw_only=True)
class Section:
    """What the report says of one experiment."""

    experiment: Experiment
    rows: Sequence[Row]
    figures: Sequence[Figure]
    claims: Sequence[Claim]


def write_report(
    sections: Sequence[Section],
    place: Path,
    *,
    effort: str,
    left_out: Sequence[str],
    missing: Sequence[str] = (),
) -> Path:
    """report.html and report.md in `place`; the path of the page."""
    blocks: list[Block] = [Heading(1, TITLE), *_summary(sections, effort)]
    absent = {
        "Left out because their data were not found": left_out,
        "These data sets were not found, so nothing is reported on them": missing,
    }
    blocks += [Paragraph(f"{words}: {', '.join(n)}.") for words, n in absent.items() if n]
    differ = [c for s in sections for c in s.claims if c.counts_as is Verdict.DIFFERS]
    if differ:
        blocks += [Heading(2, "Where paper and report differ"), _claims(differ)]
    where = sources([row for section in sections for row in section.rows])
    if where:
        table = TableBlock(header=("data set", "from"), rows=list(where.items()), texts=2)
        blocks += [Heading(2, "Data"), table]
    for section in sections:
        blocks += _section(section, place / "figures")
    write_whole(place / "report.md", markdown(blocks).encode())
    page = html_page(blocks, title=TITLE, style=STYLE)
    return write_whole(place / "report.html", page.encode())


def _summary(sections: Sequence[Section], effort: str) -> list[Block]:
    claims = [claim for section in sections for claim in section.claims]
    agree, differ, undecided, stand_in = (
        sum(claim.counts_as is verdict for claim in claims)
        for verdict in (
            Verdict.AGREES, Verdict.DIFFERS, Verdict.UNDECIDED, Verdict.NOT_COMPARABLE,
        )
    )  # fmt: skip
    words = (
        f"Effort: {effort}. Of {len(claims)} numbers and statements of the paper, {agree} "
        f"agree, {differ} differ, {undecided} are undecided with so few releases, and "
        f"{stand_in} are not counted because the data are a stand-in. {HOW}"
    )
    return [Paragraph(words), Paragraph(METHODS)]


def _section(section: Section, figures: Path) -> list[Block]:
    what, runs = section.experiment, section.rows[0].get("replications", 1)
    often = f" Replications: {runs}." if runs > 1 else ""
    times = "" if what.repeatable else " Another run gives other numbers here, and only here."
    return [
        Heading(2, what.title),
        Paragraph(f"{what.about}{often}{times} Results: {what.name}.csv."),
        *(block for figure in section.figures for block in _image(figure, figures)),
        *what.tables(section.rows),
        *([_claims(section.claims)] if section.claims else []),
    ]


def _image(figure: Figure, folder: Path) -> list[Block]:
    """A figure, inside the page and as a file beside the Markdown, and its caption."""
    name = f"{figure.name}.svg"
    data = base64.b64encode((folder / name).read_bytes()).decode()
    image = f'<img alt="{escape(figure.title)}" src="data:image/svg+xml;base64,{data}">'
    beside = f"![{figure.title}]({folder.name}/{name})"
    return [Drawing(image, beside), Paragraph(figure.caption, "small")]


def _claims(claims: Sequence[Claim]) -> TableBlock:
    rows = [(c.what, c.paper, c.here, c.ratio, c.verdict_words, c.why) for c in claims]
    return TableBlock(header=HEADER, rows=rows, texts=len(HEADER))


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
        _results(experiment, place)
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


def _results(experiment: Experiment, place: Path) -> Section:
    """Everything from the file of results alone."""
    rows = read_rows(place / f"{experiment.name}.csv")
    figures = experiment.draw(rows)
    for figure in figures:
        figure.save(place / "figures")
    claims = [_marked(claim, rows) for claim in experiment.claims(rows)]
    return Section(experiment=experiment, rows=rows, figures=figures, claims=claims)
