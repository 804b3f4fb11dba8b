"""Labels and names of others in each format: one function for each, and they do nothing there.

A label is any text: of a hostile one nothing but its letters may reach a reader. Where lines and
control characters would steer a screen or break a file they become spaces.
"""

import re
from html import escape

from holdfast.errors import one_line

_NUMBER = r"[+-]?[0-9]*(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)? ?%?"
_FORMULA = re.compile(rf"'*(?!(?:{_NUMBER})\Z)[=+\-@\t\r].+", re.DOTALL)
_QUOTED = re.compile('[,;|\t"\r\n\ufeff]')


def code(text: str) -> str:
    """Text of others as code in Markdown, out of which it cannot break.

    >>> print(code("a"), code("a`b"))
    `a` `` a`b ``
    """
    flat = one_line(text)
    longest = max([0, *(len(run) for run in re.findall("`+", flat))])
    fence = "`" * (longest + 1)
    return f"{fence} {flat} {fence}" if longest or not flat else f"{fence}{flat}{fence}"


def markdown(text: str) -> str:
    r"""Text of others in Markdown, with every special character taken literally.

    >>> print(markdown("a <b> [c](d) | e &lt;"))
    a \<b\> \[c\]\(d\) \| e \&lt;
    """
    return re.sub(r"([\\`*\[\]<>()|~_#&!])", r"\\\1", one_line(text))


def table_code(text: str) -> str:
    r"""The same in a cell of a table, where a bar would end it.

    >>> print(table_code("a|b"))
    `a\|b`
    """
    return code(text).replace("|", "\\|")


def svg(text: str) -> str:
    """Text in an element of SVG, or of HTML.

    >>> svg("<script>\\x1b[2J & co")
    '&lt;script&gt; [2J &amp; co'
    """
    return escape(one_line(text))


def yaml(text: str) -> str:
    r"""Text as YAML, in double quotes.

    >>> print(yaml('say "ü"\n'))
    "say \"\u00fc\"\u000a"
    """
    return '"' + re.sub(r'["\\]|[^ -~]', _yaml_sign, text) + '"'


def _yaml_sign(match: re.Match[str]) -> str:
    sign, number = match[0], ord(match[0])
    if sign in '"\\':
        return "\\" + sign
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def csv_label(text: str) -> str:
    """Text for a cell of a CSV file, with an apostrophe where a spreadsheet would compute it.

    >>> csv_label("=1+1"), csv_label("'=1"), csv_label("-5"), csv_label("it's")
    ("'=1+1", "''=1", '-5', "it's")
    """
    return f"'{text}" if _FORMULA.fullmatch(text) else text


def from_csv_label(cell: str) -> str:
    """The inverse of `csv_label`.

    >>> from_csv_label("'=1+1"), from_csv_label("''=1"), from_csv_label("'tis")
    ('=1+1', "'=1", "'tis")
    """
    return cell[1:] if cell[:1] == "'" and _FORMULA.fullmatch(cell) else cell


def csv_cell(text: str) -> str:
    """A label as it is written between delimiters.

    >>> csv_cell('a "b" c'), csv_cell("Kent")
    ('"a ""b"" c"', 'Kent')
    """
    label = csv_label(text)
    return '"' + label.replace('"', '""') + '"' if _QUOTED.search(label) else label
