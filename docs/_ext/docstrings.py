"""Docstrings as Markdown: parameters become lists, examples become code."""

import ast
import inspect
import re
import textwrap
from typing import Any

_PARAMETER = re.compile(r"(\w+(?:, \w+)*): (.*)")
_SECTION = re.compile(r"(\w+)\n-{3,}\n(.*)", re.DOTALL)


def markdown(text: str) -> str:
    """A docstring as Markdown.

    >>> print(markdown('''Does it.\\n\\nParameters:\\n    a: The first\\n        of all.'''))
    Does it.
    <BLANKLINE>
    **Parameters**
    <BLANKLINE>
    - `a`: The first of all.

    >>> print(markdown('''Does it.\\n\\nReturns\\n-------\\nint\\n    A number.'''))
    Does it.
    <BLANKLINE>
    **Returns**
    <BLANKLINE>
    - `int`: A number.
    """
    parts = re.split(r"\n{2,}", inspect.cleandoc(text))
    return "\n\n".join(map(_part, _joined(parts)))


def _joined(parts: list[str]) -> list[str]:
    """Paragraphs; those of one example stay together."""
    found: list[str] = []
    for part in parts:
        if found and found[-1].startswith(">>>") and part.startswith(">>>"):
            found[-1] += "\n" + part
        else:
            found.append(part)
    return found


def _part(part: str) -> str:
    if part.startswith(">>>"):
        return f"~~~python\n{part}\n~~~"
    section = _SECTION.fullmatch(part)
    if section is not None:
        return f"**{section[1]}**\n\n{_entries(section[2])}"
    head, _, entries = part.partition(":\n")
    if head in ("Parameters", "Returns", "Raises") and entries.startswith("    "):
        return f"**{head}**\n\n{_parameters(textwrap.dedent(entries))}"
    if part.startswith("    "):
        return f"~~~\n{textwrap.dedent(part)}\n~~~"
    return part


def _entries(text: str) -> str:
    """Entries of a section: a name with its type, and below it what is said; or an example."""
    if text.startswith(">>>"):
        return _part(text)
    items: list[str] = []
    for line in text.splitlines():
        if line.startswith(" ") and items:
            items[-1] += (" " if ": " in items[-1] else ": ") + line.strip()
        else:
            name, _, kind = line.partition(" : ")
            items.append(f"- `{name}`" + (f" ({kind})" if kind else ""))
    return "\n".join(items)


def _parameters(text: str) -> str:
    items: list[str] = []
    for line in text.splitlines():
        found = _PARAMETER.match(line)
        if found and not line.startswith(" "):
            items.append(f"- `{found[1]}`: {found[2]}")
        elif items:
            items[-1] += " " + line.strip()
        else:
            items.append(line)
    return "\n".join(items)


def fields(cls: type) -> dict[str, str]:
    """The fields of a dataclass and what is said of each, below it or beside it."""
    source = textwrap.dedent(inspect.getsource(cls))
    body = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    lines, found = source.splitlines(), {}
    for at, node in enumerate(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            said = lines[node.end_lineno - 1].partition("#:")[2].strip()  # type: ignore[operator]
            after = body[at + 1] if at + 1 < len(body) else None
            if not said and _is_text(after):
                said = " ".join(after.value.value.split())  # type: ignore[union-attr]
            if said and not node.target.id.startswith("_"):
                found[node.target.id] = said
    return found


def _is_text(node: Any) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
