"""The report of a reproduction: one page that makes no network requests, and as Markdown."""

import base64
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import markdown_text, one_line
from holdfast.paper.experiments.claims import Claim, Verdict, sources
from holdfast.paper.experiments.drawing import Figure
from holdfast.paper.experiments.experiment import Experiment, Table
from holdfast.paper.experiments.runner import Row
from holdfast.tables.files import write_whole

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
td.agrees { background: #e6f4ea; } td.differs { background: #fdecd9; }
.wide { overflow-x: auto; }
.claims tr > :first-child, .claims td:nth-child(6):not(:empty) { min-width: 15rem; }
.claims td:nth-child(3) { min-width: 8rem; } sub { line-height: 0; }
figure { margin: 1.5rem 0; } img { max-width: 100%; min-width: 44rem; height: auto; }
figcaption { font-size: 0.9rem; color: #444; }
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"
content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,"><title>{title}</title><style>{style}</style></head>
<body>
{body}
</body></html>
"""


@dataclass(frozen=True, kw_only=True)
class Section:
    """What the report says of one experiment."""

    experiment: Experiment
    rows: Sequence[Row]
    figures: Sequence[Figure]
    claims: Sequence[Claim]


class Document:
    """A page and its Markdown, written side by side."""

    def __init__(self) -> None:
        self._html: list[str] = []
        self._markdown: list[str] = []

    def heading(self, level: int, text: str) -> None:
        """A heading of some level."""
        self._add(f"<h{level}>{escaped(text)}</h{level}>", f"{'#' * level} {text}")

    def paragraph(self, text: str) -> None:
        """A paragraph."""
        self._add(f"<p>{escaped(text)}</p>", text)

    def table(self, table: Table) -> None:
        """Rows of cells, of which one may be marked with a class of the page."""
        head = "".join(f'<th scope="col">{escaped(cell)}</th>' for cell in table.header)
        lines = "".join(_row(row, table.marks.get(k, {})) for k, row in enumerate(table.rows))
        self._add(
            (f"<p>{escaped(table.caption)}</p>" if table.caption else "")
            + f'<div class="wide {table.kind}"><table><thead><tr>{head}</tr></thead>{lines}</table>'
            "</div>",
            "\n".join(
                [_line(table.header), "| --- " * len(table.header) + "|", *map(_line, table.rows)]
            ),
            before=table.caption,
        )

    def image(self, figure: Figure, folder: Path) -> None:
        """A figure, inside the page and as a file beside the Markdown."""
        name = f"{figure.name}.svg"
        data = base64.b64encode((folder / name).read_bytes()).decode()
        image = f'<img alt="{html.escape(figure.title)}" src="data:image/svg+xml;base64,{data}">'
        caption = f"<figcaption>{escaped(figure.caption)}</figcaption>"
        self._add(
            f'<figure><div class="wide">{image}</div>{caption}</figure>',
            f"![{figure.title}]({folder.name}/{name})\n\n*{figure.caption}*",
        )

    def _add(self, block: str, text: str, before: str = "") -> None:
        self._html.append(block)
        self._markdown += [part for part in (before, text) if part]

    def write(self, place: Path) -> Path:
        """report.html and report.md; the path of the page."""
        write_whole(place / "report.md", ("\n\n".join(self._markdown) + "\n").encode())
        page = PAGE.format(title=escaped(TITLE), style=STYLE, body="\n".join(self._html))
        return write_whole(place / "report.html", page.encode())


def escaped(text: str) -> str:
    """For the page, with the index of ε_t set low.

    >>> escaped("ε_t < 1")
    'ε<sub>t</sub> &lt; 1'
    """
    return re.sub(r"ε_(\w)", r"ε<sub>\1</sub>", html.escape(one_line(text)))


def _line(cells: Sequence[str]) -> str:
    """A line of a table in Markdown."""
    return f"| {' | '.join(markdown_text(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _row(cells: Sequence[str], marks: Mapping[int, str]) -> str:
    first, *others = (escaped(cell) for cell in cells)
    rest = (
        f"<td{f' class={marks[k]!r}' if k in marks else ''}>{c}</td>"
        for k, c in enumerate(others, 1)
    )
    return f'<tr><th scope="row">{first}</th>{"".join(rest)}</tr>'


def write_report(
    sections: Sequence[Section],
    place: Path,
    *,
    effort: str,
    left_out: Sequence[str],
    missing: Sequence[str] = (),
) -> Path:
    """report.html and report.md in `place`; the path of the page."""
    document = Document()
    document.heading(1, TITLE)
    _summary(document, sections, effort)
    if left_out:
        document.paragraph(f"Left out because their data were not found: {', '.join(left_out)}.")
    if missing:
        document.paragraph(
            f"These data sets were not found, so nothing is reported on them: {', '.join(missing)}."
        )
    differ = [c for s in sections for c in s.claims if c.counts_as is Verdict.DIFFERS]
    if differ:
        document.heading(2, "Where paper and report differ")
        document.table(_claims(differ))
    where = sources([row for section in sections for row in section.rows])
    if where:
        document.heading(2, "Data")
        document.table(Table(header=("data set", "from"), rows=list(where.items())))
    for section in sections:
        _section(document, section, place / "figures")
    return document.write(place)


def _summary(document: Document, sections: Sequence[Section], effort: str) -> None:
    claims = [claim for section in sections for claim in section.claims]
    agree, differ, undecided, stand_in = (
        sum(claim.counts_as is verdict for claim in claims)
        for verdict in (
            Verdict.AGREES, Verdict.DIFFERS, Verdict.UNDECIDED, Verdict.NOT_COMPARABLE,
        )
    )  # fmt: skip
    document.paragraph(
        f"Effort: {effort}. Of {len(claims)} numbers and statements of the paper, {agree} "
        f"agree, {differ} differ, {undecided} are undecided with so few releases, and "
        f"{stand_in} are not counted because the data are a stand-in. {HOW}"
    )
    document.paragraph(METHODS)


def _section(document: Document, section: Section, figures: Path) -> None:
    what, runs = section.experiment, section.rows[0].get("replications", 1)
    often = f" Replications: {runs}." if runs > 1 else ""
    times = "" if what.repeatable else " Another run gives other numbers here, and only here."
    document.heading(2, what.title)
    document.paragraph(f"{what.about}{often}{times} Results: {what.name}.csv.")
    for figure in section.figures:
        document.image(figure, figures)
    for table in what.tables(section.rows):
        document.table(table)
    if section.claims:
        document.table(_claims(section.claims))


def _claims(claims: Sequence[Claim]) -> Table:
    marks = {Verdict.AGREES: "agrees", Verdict.DIFFERS: "differs"}
    return Table(
        header=HEADER,
        rows=[(c.what, c.paper, c.here, c.ratio, c.verdict_words, c.why) for c in claims],
        kind="claims",
        marks={k: {4: marks[c.counts_as]} for k, c in enumerate(claims) if c.counts_as in marks},
    )
