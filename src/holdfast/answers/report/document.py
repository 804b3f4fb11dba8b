"""Documents made of blocks, as a page of HTML and as Markdown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from holdfast.errors import one_line
from holdfast.release import escape as escaped

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title. Words of others may be in it."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Text that may hold words of others; `kind` is its class on a page: "", alarm or small."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Bullets:
    """Points, one each."""

    items: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class TableBlock:
    """Rows of cells; all columns but `texts` of them at the left are numbers."""

    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]]
    texts: int = 1
    folded: str = ""
    """On the page the table is behind these words."""


@dataclass(frozen=True)
class Drawing:
    """A picture of what a table beside it says in numbers, as an element of a page."""

    svg: str
    instead: str = ""
    """What Markdown has in its place."""


Block = Heading | Paragraph | Bullets | TableBlock | Drawing


def html_page(blocks: Sequence[Block], *, title: str, style: str) -> str:
    """One file: no script, no request to any network."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(one_line(title))}</title>'
        f"<style>{style}</style></head>\n<body>\n{html_of(blocks)}\n</body></html>\n"
    )


def html_of(blocks: Sequence[Block]) -> str:
    """Blocks one after the other, as elements of a page."""
    return "\n".join(map(_html, blocks))


def markdown(blocks: Sequence[Block]) -> str:
    """The same as Markdown.

    >>> print(markdown([Heading(1, "One"), TableBlock(header=("a",), rows=[["x | y"]])]))
    # One
    <BLANKLINE>
    | a |
    | --- |
    | x \\| y |
    <BLANKLINE>
    """
    return "\n\n".join(filter(None, map(_markdown, blocks))) + "\n"


def _html(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{_text(text)}</h{level}>"
        case Paragraph(text, kind):
            return f"<p{_class(kind)}>{_text(text)}</p>"
        case Bullets(items):
            return f"<ul>{''.join(f'<li>{_text(item)}</li>' for item in items)}</ul>"
        case TableBlock():
            return _html_table(block)
        case Drawing(svg, _):
            return f'<div class="wide">{svg}</div>'


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {escaped.markdown(text)}"
        case Paragraph(text, kind):
            plain = escaped.markdown(text)
            return f"**{plain}**" if kind == "alarm" else plain
        case Bullets(items):
            return "\n".join(f"- {escaped.markdown(item)}" for item in items)
        case TableBlock():
            lines = [block.header or [""] * len(block.rows[0]), *block.rows]
            written = [" | ".join(map(escaped.markdown, line)) for line in lines]
            written.insert(1, " | ".join(["---"] * len(lines[0])))
            return "\n".join(f"| {line} |" for line in written)
        case Drawing(_, instead):
            return instead


def _html_table(table: TableBlock) -> str:
    head = ""
    if table.header:
        cells = (
            f'<th scope="col"{_class("n" * (k >= table.texts))}>{_text(cell)}</th>'
            for k, cell in enumerate(table.header)
        )
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    body = "".join(_html_row(row, table.texts) for row in table.rows)
    text = f'<div class="wide" tabindex="0"><table>{head}<tbody>{body}</tbody></table></div>'
    if not table.folded:
        return text
    return f"<details><summary>{_text(table.folded)}</summary>{text}</details>"


def _html_row(cells: Sequence[str], texts: int) -> str:
    """A line, whose first cell says what it is about."""
    first = f'<th scope="row">{_text(cells[0])}</th>'
    others = (
        f"<td{_class('n' * (k >= texts))}>{_text(cell)}</td>" for k, cell in enumerate(cells) if k
    )
    return f"<tr>{first}{''.join(others)}</tr>"


def _text(text: str) -> str:
    """Text on a page; what stands in backticks as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(one_line(text)))


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
