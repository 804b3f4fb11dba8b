"""A document as a list of blocks, printed as one HTML page or as Markdown.

What others wrote (labels, names of columns, notes that quote them) can do nothing on the page: it
stands in cells, notes, quotations and `Code`, which are escaped. Paragraphs and bullets are our own
words; what stands between backticks in them is code.
"""

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from holdfast.errors import code_span, markdown_text, one_line

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class Tone(Enum):
    """How loud a paragraph is; the value is its class on the page."""

    PLAIN = ""
    SMALL = "small"
    ALARM = "alarm"


@dataclass(frozen=True)
class Code:
    """Text of others, shown as it is."""

    text: str


@dataclass(frozen=True)
class Marked:
    """A cell with a class of its own on the page."""

    text: str
    mark: str


@dataclass(frozen=True)
class Title:
    """The first heading, in the words of others."""

    text: str


@dataclass(frozen=True)
class Heading:
    """A heading of some level; it may end with a name that others gave."""

    level: int
    text: str
    name: str = ""


@dataclass(frozen=True)
class Paragraph:
    """Our own words."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Quotation:
    """A paragraph that may hold text of others."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list; each item is our own words, or begins with a name in bold."""

    items: Sequence[str | tuple[str, str]]


@dataclass(frozen=True)
class Notes:
    """What a reader should know, each thing once; small."""

    items: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of cells."""

    header: Sequence[str] = ()
    rows: Sequence[Sequence[str | Code | Marked]]
    numbers: Sequence[int] = ()
    """Columns of numbers, which are set to the right."""
    caption: str = ""
    folded: str = ""
    """On the page the table is behind these words."""
    kind: str = ""
    """Its class on the page."""


@dataclass(frozen=True)
class Drawing:
    """An SVG picture of what a table beside it says in numbers; on the page only."""

    svg: str
    words: str = ""
    """Above it, our own."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """A picture that is a file as well."""

    title: str
    caption: str
    link: str
    """Where the file is, from the document."""
    svg: bytes


Block = Title | Heading | Paragraph | Quotation | Bullets | Notes | Table | Drawing | Image


def html_page(blocks: Sequence[Block], *, title: str, style: str) -> str:
    """One file: no script, no request to any network."""
    body = "\n".join(map(_html, blocks))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{html.escape(title)}</title>'
        f"<style>{style}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def markdown(blocks: Sequence[Block]) -> str:
    """The same as Markdown.

    >>> print(markdown([Heading(1, "One"), Table(header=("a",), rows=[["x | y"]])]))
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
        case Title(text):
            return f"<h1>{_escaped(text)}</h1>"
        case Heading(level, text, name):
            named = f" <code>{_escaped(name)}</code>" if name else ""
            return f"<h{level}>{_prose(text)}{named}</h{level}>"
        case Paragraph(text, tone):
            return f"<p{_class(tone.value)}>{_prose(text)}</p>"
        case Quotation(text):
            return f"<p>{_escaped(text)}</p>"
        case Bullets(items):
            return f"<ul>{''.join(f'<li>{_html_item(item)}</li>' for item in items)}</ul>"
        case Notes(items):
            small = _class(Tone.SMALL.value)
            return "\n".join(f"<p{small}>{_escaped(_sentence(note))}</p>" for note in _once(items))
        case Table():
            return _html_table(block)
        case Drawing(svg, words):
            return f"<p>{_prose(words)}</p>\n{svg}" if words else svg
        case Image():
            data = base64.b64encode(block.svg).decode()
            image = f'<img alt="{html.escape(block.title)}" src="data:image/svg+xml;base64,{data}">'
            caption = f"<figcaption>{_prose(block.caption)}</figcaption>"
            return f'<figure><div class="wide">{image}</div>{caption}</figure>'


def _markdown(block: Block) -> str:
    match block:
        case Title(text):
            return f"# {markdown_text(text)}"
        case Heading(level, text, name):
            return f"{'#' * level} {text}" + (f" {code_span(name)}" if name else "")
        case Paragraph(text, tone):
            return f"**{text}**" if tone is Tone.ALARM else text
        case Quotation(text):
            return markdown_text(text)
        case Bullets(items):
            return "\n".join(f"- {_markdown_item(item)}" for item in items)
        case Notes(items):
            return "\n".join(f"- {markdown_text(_sentence(note))}" for note in _once(items))
        case Table():
            return _markdown_table(block)
        case Drawing():
            return ""
        case Image():
            return f"![{block.title}]({block.link})\n\n*{block.caption}*"


def _html_table(table: Table) -> str:
    rows = [_html_row(row, table.numbers) for row in table.rows]
    head = [_html_head(table.header, table.numbers)] if table.header else []
    inside = f"<table>{''.join([*head, *rows])}</table>"
    text = f"<div{_class(f'wide {table.kind}'.strip())}>{inside}</div>"
    if table.folded:
        text = f"<details><summary>{_prose(table.folded)}</summary>{text}</details>"
    return f"<p>{_prose(table.caption)}</p>{text}" if table.caption else text


def _html_head(cells: Sequence[str], numbers: Sequence[int]) -> str:
    named = [_html_cell('th scope="col"', c, i in numbers) for i, c in enumerate(cells)]
    return f"<thead><tr>{''.join(named)}</tr></thead>"


def _html_row(cells: Sequence[str | Code | Marked], numbers: Sequence[int]) -> str:
    """A line, whose first cell says what it is about."""
    tags = ['th scope="row"', *["td"] * (len(cells) - 1)]
    pairs = enumerate(zip(tags, cells, strict=True))
    return f"<tr>{''.join(_html_cell(tag, cell, i in numbers) for i, (tag, cell) in pairs)}</tr>"


def _html_cell(tag: str, cell: str | Code | Marked, number: bool) -> str:
    mark = cell.mark if isinstance(cell, Marked) else "n" if number else ""
    text = _escaped(cell if isinstance(cell, str) else cell.text)
    inside = f"<code>{text}</code>" if isinstance(cell, Code) else text
    return f"<{tag}{_class(mark)}>{inside}</{tag[:2]}>"


def _markdown_table(table: Table) -> str:
    width = len(table.rows[0]) if table.rows else len(table.header)
    header = [_markdown_cell(cell) for cell in table.header] or [""] * width
    lines = [header, ["---"] * width, *([_markdown_cell(c) for c in row] for row in table.rows)]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table.caption}\n\n{text}" if table.caption else text


def _markdown_cell(cell: str | Code | Marked) -> str:
    if isinstance(cell, Code):
        return code_span(cell.text).replace("|", "\\|")
    return markdown_text(cell if isinstance(cell, str) else cell.text).replace("|", "\\|")


def _html_item(item: str | tuple[str, str]) -> str:
    if isinstance(item, str):
        return _prose(item)
    return f"<b>{_escaped(item[0])}</b>: {_prose(item[1])}"


def _markdown_item(item: str | tuple[str, str]) -> str:
    return item if isinstance(item, str) else f"**{item[0]}**: {item[1]}"


def _prose(text: str) -> str:
    return re.sub("`([^`]*)`", r"<code>\1</code>", _escaped(text))


def _escaped(text: str) -> str:
    """For the page, with the index of ε_t set low.

    >>> _escaped("ε_t < 1")
    'ε<sub>t</sub> &lt; 1'
    """
    return re.sub(r"ε_(\w)", r"ε<sub>\1</sub>", html.escape(one_line(text)))


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:]}."


def _once(items: Sequence[str]) -> Sequence[str]:
    return list(dict.fromkeys(items))


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
