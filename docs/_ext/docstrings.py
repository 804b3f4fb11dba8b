"""Docstrings as Markdown: parameters become lists, examples become code."""

import ast
import inspect
import re
import textwrap
from typing import Any

_PARAMETER = re.compile(r"([\w*]+(?:, \w+)*)(?: \((.*?)\))?: (.*)")


def markdown(text: str) -> str:
    """A docstring as Markdown.

    >>> print(markdown('''Does it.\\n\\nParameters:\\n    a: The first\\n        of all.'''))
    Does it.
    <BLANKLINE>
    **Parameters**
    <BLANKLINE>
    - `a`: The first of all.
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
    head, _, entries = part.partition(":\n")
    if head in ("Parameters", "Returns", "Raises") and entries.startswith("    "):
        return f"**{head}**\n\n{_parameters(textwrap.dedent(entries))}"
    if part.startswith("    "):
        return f"~~~\n{textwrap.dedent(part)}\n~~~"
    return part


def _parameters(text: str) -> str:
    items: list[str] = []
    for line in text.splitlines():
        found = _PARAMETER.match(line)
        if found and not line.startswith(" "):
            kind = f" ({found[2]})" if found[2] else ""
            items.append(f"- `{found[1]}`{kind}: {found[3]}")
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
