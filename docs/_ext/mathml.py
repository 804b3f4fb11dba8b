"""Formulas as MathML, which browsers show by themselves: no script, no network."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def inline(writer: Any, node: nodes.Element) -> None:
    """A formula in a line."""
    _write(writer, node, "inline")


def block(writer: Any, node: nodes.Element) -> None:
    """A formula of its own."""
    _write(writer, node, "block")


def _write(writer: Any, node: nodes.Element, display: str) -> None:
    writer.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
