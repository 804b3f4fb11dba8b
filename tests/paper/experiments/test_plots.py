"""Figures: what is on them, and that colours are not needed."""

import subprocess
import sys

import numpy as np
import pytest

from holdfast.paper.experiments.drawing import STYLES, Figure, bars, curves
from holdfast.paper.experiments.simulation import PRIVATIZERS
from holdfast.paper.methods import METHODS

pytest.importorskip("matplotlib")

CURVE = [(0.1, 2.0, 0.2), (1.0, 0.5, 0.1), (5.0, 0.1, 0.0)]


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_method_has_a_style_that_is_dark_enough_for_white_paper():
    assert (set(METHODS) - {"frontier"}) | set(PRIVATIZERS) <= set(STYLES)
    assert all(luminance(style.color) < 0.7 for style in STYLES.values())


def figure(name: str) -> Figure:
    panels = [
        curves({"paper": CURVE, "staircase": CURVE}, x="budget ε_t", y="W1", title="crime"),
        bars(np.array([0.6, 0.3, 0.1]), title="counts", y="share", top_coded=True),
    ]
    return Figure(name=name, title="Error & budget", caption="", panels=panels)


def test_a_figure_is_written_whole_and_the_same_twice(tmp_path):
    first, second = figure("a").save(tmp_path), figure("b").save(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([*first, *second])
    for one, other, start in zip(first, second, (b"\x89PNG", b"<?xml"), strict=True):
        assert one.read_bytes() == other.read_bytes() and one.read_bytes().startswith(start)


def test_an_svg_holds_its_title_legend_and_axes_as_text(tmp_path):
    _, svg = figure("a").save(tmp_path)
    text = svg.read_text()
    for words in ("Error &amp; budget", "staircase", "fixed-point optimum", "W1", "2 means 2 or"):
        assert words in text


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from holdfast.paper.experiments.drawing import require_matplotlib\n"
        "require_matplotlib()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "holdfast[paper]" in ran.stderr
