"""The report: one page that asks nothing of any network, and the same as Markdown."""

import base64
import html
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.studies.reproduce.claims import AGREES, DIFFERS, UNTOLD, Claim
from holdfast.studies.reproduce.drawing import Figure

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
th { background: #f2f2f2; } td.agrees { background: #e6f4ea; } td.differs { background: #fdecd9; }
.wide { overflow-x: auto; }
.claims td:first-child, .claims td:nth-child(6):not(:empty) { min-width: 15rem; }
.claims td:nth-child(3) { min-width: 8rem; } sub { line-height: 0; }
figure { margin: 1.5rem 0; } img { max-width: 100%; min-width: 44rem; height: auto; }
figcaption { font-size: 0.9rem; color: #444; }
"""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table of text."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Section:
    """What the report says of one experiment."""

    name: str
    title: str
    about: str
    replications: int
    sources: Mapping[str, str]
    figures: Sequence[Figure]
    tables: Sequence[Grid]
    claims: Sequence[Claim]
    beyond: Sequence[Claim]
    repeatable: bool


@dataclass(frozen=True)
class Heading:
    """A heading of some level."""

    level: int
    text: str


Block = Heading | str | Figure | Grid


def write_report(
    sections: Sequence[Section],
    place: Path,
    *,
    effort: str,
    left_out: Sequence[str],
    missing: Sequence[str] = (),
) -> Path:
    """report.html and report.md in `place`; the path of the page."""
    blocks = _document(sections, effort, left_out, missing)
    _write(place / "report.md", "\n\n".join(_markdown(block) for block in blocks) + "\n")
    body = "\n".join(_page_part(block, place / "figures") for block in blocks)
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{TITLE}</title><style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )
    return _write(place / "report.html", page)


def _document(
    sections: Sequence[Section], effort: str, left_out: Sequence[str], missing: Sequence[str]
) -> list[Block]:
    claims = [claim for section in sections for claim in section.claims]
    agree = sum(claim.verdict.startswith(AGREES) for claim in claims)
    differ = [claim for claim in claims if claim.verdict.startswith(DIFFERS)]
    untold = sum(claim.verdict.startswith(UNTOLD) for claim in claims)
    stand_in = len(claims) - agree - len(differ) - untold
    blocks: list[Block] = [
        Heading(1, TITLE),
        f"Effort: {effort}. Of {len(claims)} numbers and statements of the paper, {agree} agree, "
        f"{len(differ)} differ, {untold} are not told apart by so few releases, and {stand_in} are "
        f"not counted because the data are a stand-in. {HOW}",
        METHODS,
    ]
    if left_out:
        blocks.append(f"Left out because their data are not here: {', '.join(left_out)}.")
    if missing:
        blocks.append(
            f"Data sets that are not here, so that nothing is said of them: {', '.join(missing)}."
        )
    if differ:
        blocks += [Heading(2, "Where paper and report differ"), _claims(differ)]
    sources = {data: source for section in sections for data, source in section.sources.items()}
    if sources:
        blocks += [Heading(2, "Data"), _source_grid(sources)]
    for section in sections:
        blocks += _section(section)
    beyond = [claim for section in sections for claim in section.beyond]
    if beyond:
        blocks += [
            Heading(2, "Beyond the paper"),
            "holdfast's default: the smooth fit to the noisy cumulative histogram, its "
            "own split, the certified optimum. These rows are not claims of the paper.",
            _claims(beyond, BEYOND_HEADER),
        ]
    return blocks


def _section(section: Section) -> list[Block]:
    often = f" Replications: {section.replications}." if section.replications > 1 else ""
    times = "" if section.repeatable else " Another run gives other numbers here, and only here."
    blocks: list[Block] = [
        Heading(2, section.title),
        f"{section.about}{often}{times} Results: {section.name}.csv.",
        *section.figures,
        *section.tables,
    ]
    if section.claims:
        blocks.append(_claims(section.claims))
    return blocks


def _claims(claims: Sequence[Claim], header: Sequence[str] = HEADER) -> Grid:
    rows = [(c.what, c.paper, c.here, c.ratio, c.verdict, c.note) for c in claims]
    return Grid(caption="", header=header, rows=rows)


def _source_grid(sources: Mapping[str, str]) -> Grid:
    return Grid(caption="", header=("data set", "from"), rows=list(sources.items()))


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {block.text}"
    if isinstance(block, Figure):
        return f"![{block.title}](figures/{block.name}.svg)\n\n*{block.caption}*"
    if isinstance(block, Grid):
        lines = [block.header, ["---"] * len(block.header), *block.rows]
        text = "\n".join(
            "| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in lines
        )
        return f"{block.caption}\n\n{text}" if block.caption else text
    return block


def _page_part(block: Block, figures: Path) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_text(block.text)}</h{block.level}>"
    if isinstance(block, Figure):
        picture = base64.b64encode((figures / f"{block.name}.svg").read_bytes()).decode()
        return (
            f'<figure><div class="wide"><img alt="{html.escape(block.title)}" '
            f'src="data:image/svg+xml;base64,{picture}"></div>'
            f"<figcaption>{_text(block.caption)}</figcaption></figure>"
        )
    if isinstance(block, Grid):
        return _page_grid(block)
    return f"<p>{_text(block)}</p>"


def _page_grid(grid: Grid) -> str:
    head = "".join(f"<th>{_text(name)}</th>" for name in grid.header)
    rows = "\n".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in grid.rows)
    caption = f"<p>{_text(grid.caption)}</p>" if grid.caption else ""
    kind = "wide claims" if "verdict" in grid.header else "wide"
    return f'{caption}<div class="{kind}"><table><tr>{head}</tr>\n{rows}</table></div>'


def _cell(text: str) -> str:
    kind = next((word for word in (AGREES, DIFFERS) if text.startswith(word)), "")
    opening = f'<td class="{kind}">' if kind else "<td>"
    return f"{opening}{_text(text)}</td>"


def _text(text: str) -> str:
    """For the page, with the index of ε_t set low.

    >>> _text("ε_t < 1")
    'ε<sub>t</sub> &lt; 1'
    """
    return re.sub(r"ε_(\w)", r"ε<sub>\1</sub>", html.escape(text))


def _write(path: Path, text: str) -> Path:
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
    return path
