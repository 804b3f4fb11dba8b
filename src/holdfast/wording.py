"""Numbers and names of others, written so that they say what they are and do nothing else."""

import re


def numbered(number: int, noun: str) -> str:
    """A number of things, in the plural where it must be.

    >>> numbered(1, "row"), numbered(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def one_line(text: str) -> str:
    """Text of others on one line, without signs that steer a screen.

    >>> one_line("a\\x1b[2J  b\\nc")
    'a [2J b c'
    """
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def code_span(text: str) -> str:
    """Text of others as code in Markdown, out of which it cannot break.

    >>> print(code_span("a"), code_span("a`b"))
    `a` `` a`b ``
    """
    flat = one_line(text)
    longest = max([0, *(len(run) for run in re.findall("`+", flat))])
    fence = "`" * (longest + 1)
    return f"{fence} {flat} {fence}" if longest or not flat else f"{fence}{flat}{fence}"


def markdown_text(text: str) -> str:
    r"""Text of others in Markdown as it is, whatever signs it has.

    >>> print(markdown_text("a <b> [c](d)"))
    a \<b\> \[c\](d)
    """
    return re.sub(r"([\\`*\[\]<>])", r"\\\1", one_line(text))
