"""The report of a reproduction: one page that makes no network requests, and as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.paper.experiments.document import (
    Block,
    Heading,
    Image,
    Marked,
    Paragraph,
    Table,
    html_page,
    markdown,
)
from holdfast.paper.experiments.claims import Claim, Verdict
from holdfast.paper.experiments.drawing import Figure
from holdfast.paper.experiments.experiment import Experiment
from holdfast.paper.experiments.means import sources
from holdfast.paper.experiments.runner import Row
from holdfast.tables.files import write_whole

TITLE = "The paper's experiments, run again by holdfast"
HEADER = ("what", "paper", "here", "ratio", "verdict", "why")
BEYOND_HEADER = ("what", "paper's method", "holdfast", "ratio", "verdict", "why")
HOW = (
    "Two numbers agree if they differ by no more than three standard errors of their difference, "
    "and the rounding in print (optimality gaps on crime: within 0.05, whatever the "
    "sampling error); the fitted rule agrees within 15 %. "
    "± is one standard error of what was found here."
)
METHODS = (
    "Where the methods here are not the paper's to the letter: all noise is discrete; the classic "
    "Laplace is shifted to the public total before negatives are clipped; the discrete Gaussian "
    "has the smallest σ that the exact condition of approximate privacy allows."
)
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid #ccc;
  padding-top: 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.9rem; }
th, td { border: 1px solid #ccc; padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
thead th { background: #f2f2f2; } th[scope=row] { font-weight: normal; }
td.agrees { background: #e6f4ea; } td.differs { background: #fdecd9; }
.wide { overflow-x: auto; }
.claims tr > :first-child, .claims td:nth-child(6):not(:empty) { min-width: 15rem; }
.claims td:nth-child(3) { min-width: 8rem; } sub { line-height: 0; }
figure { margin: 1.5rem 0; } img { max-width: 100%; min-width: 44rem; height: auto; }
figcaption { font-size: 0.9rem; color: #444; }
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
    blocks = _document(sections, place / "figures", effort, left_out, missing)
    write_whole(place / "report.md", markdown(blocks).encode())
    page = html_page(blocks, title=TITLE, style=STYLE)
    return write_whole(place / "report.html", page.encode())


def _document(
    sections: Sequence[Section],
    figures: Path,
    effort: str,
    left_out: Sequence[str],
    missing: Sequence[str],
) -> list[Block]:
    claims = [claim for section in sections for claim in section.claims]
    differ = [claim for claim in claims if claim.counts_as is Verdict.DIFFERS]
    agree, undecided, stand_in = (
        sum(claim.counts_as is verdict for claim in claims)
        for verdict in (Verdict.AGREES, Verdict.UNDECIDED, Verdict.NOT_COMPARABLE)
    )
    blocks: list[Block] = [
        Heading(1, TITLE),
        Paragraph(
            f"Effort: {effort}. Of {len(claims)} numbers and statements of the paper, {agree} "
            f"agree, {len(differ)} differ, {undecided} are undecided with so few releases, and "
            f"{stand_in} are not counted because the data are a stand-in. {HOW}"
        ),
        Paragraph(METHODS),
    ]
    if left_out:
        blocks.append(
            Paragraph(f"Left out because their data were not found: {', '.join(left_out)}.")
        )
    if missing:
        names = ", ".join(missing)
        blocks.append(
            Paragraph(f"These data sets were not found, so nothing is reported on them: {names}.")
        )
    if differ:
        blocks += [Heading(2, "Where paper and report differ"), _claims(differ)]
    where = sources([row for section in sections for row in section.rows])
    if where:
        blocks += [Heading(2, "Data"), Table(header=("data set", "from"), rows=list(where.items()))]
    for section in sections:
        blocks += _section(section, figures)
    beyond = [claim for section in sections for claim in section.experiment.beyond(section.rows)]
    if beyond:
        blocks += [
            Heading(2, "Beyond the paper"),
            Paragraph(
                "holdfast's default: the smooth fit to the noisy cumulative histogram, its "
                "own split, the certified optimum. These rows are not claims of the paper."
            ),
            _claims(beyond, BEYOND_HEADER),
        ]
    return blocks


def _section(section: Section, figures: Path) -> list[Block]:
    what, runs = section.experiment, section.rows[0].get("replications", 1)
    often = f" Replications: {runs}." if runs > 1 else ""
    times = "" if what.repeatable else " Another run gives other numbers here, and only here."
    blocks: list[Block] = [
        Heading(2, what.title),
        Paragraph(f"{what.about}{often}{times} Results: {what.name}.csv."),
        *(_image(figure, figures) for figure in section.figures),
        *what.tables(section.rows),
    ]
    if section.claims:
        blocks.append(_claims(section.claims))
    return blocks


def _claims(claims: Sequence[Claim], header: Sequence[str] = HEADER) -> Table:
    rows = [(c.what, c.paper, c.here, c.ratio, _verdict(c), c.why) for c in claims]
    return Table(header=header, rows=rows, kind="claims")


def _verdict(claim: Claim) -> Marked:
    mark = {Verdict.AGREES: "agrees", Verdict.DIFFERS: "differs"}.get(claim.counts_as, "")
    return Marked(claim.verdict_words, mark)


def _image(figure: Figure, folder: Path) -> Image:
    name = f"{figure.name}.svg"
    return Image(
        title=figure.title,
        caption=figure.caption,
        link=f"{folder.name}/{name}",
        svg=(folder / name).read_bytes(),
    )
