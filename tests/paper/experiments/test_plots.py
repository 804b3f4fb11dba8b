"""Pictures: what is on them, that colours are not needed, and what happens without matplotlib."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.paper.constructors.baselines import TruncatedGeometric
from holdfast.paper.experiments.methods import METHODS
from holdfast.paper.experiments.plots import distribution_overlay, error_curves, transition_heatmap
from holdfast.paper.experiments.style import STYLES, style_of

CURVE = [(0.1, 2.0, 0.2), (1.0, 0.5, 0.1), (5.0, 0.1, 0.0)]
SHARES = np.array([0.6, 0.3, 0.1])


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_method_has_a_style_and_no_two_share_marker_or_colour():
    assert set(STYLES) == set(METHODS)
    for one, other in itertools.combinations(STYLES.values(), 2):
        assert one.marker != other.marker and one.colour != other.colour
        assert one.label != other.label


def test_every_curve_is_dark_enough_for_white_paper():
    assert all(luminance(style.colour) < 0.7 for style in STYLES.values())


def test_strangers_get_styles_of_their_own_that_do_not_change_with_the_others():
    names = ("default", "mine", "yours")
    assert style_of("mine", names) != style_of("yours", names)
    assert style_of("default", names) == style_of("default")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures_are_written_whole_and_the_same_twice(tmp_path, suffix):
    matrix = TruncatedGeometric()(SHARES, epsilon=1).matrix

    curves = {"W1": {"default": CURVE, "mine": CURVE}}
    drawn = [
        error_curves(curves, tmp_path / f"a.{suffix}", title="A"),
        distribution_overlay(SHARES, {"default": SHARES}, tmp_path / f"b.{suffix}", title="B"),
        distribution_overlay(None, {"default": SHARES}, tmp_path / f"c.{suffix}", title="C"),
        transition_heatmap({"default": matrix}, tmp_path / f"d.{suffix}", title="D"),
    ]
    assert sorted(tmp_path.iterdir()) == drawn
    start = b"\x89PNG" if suffix == "png" else b"<?xml"
    assert all(path.read_bytes().startswith(start) for path in drawn)
    again = error_curves(curves, tmp_path / f"e.{suffix}", title="A")
    assert again.read_bytes() == drawn[0].read_bytes()


def test_an_svg_holds_its_title_legend_and_axes_as_text(tmp_path):
    path = error_curves({"W1": {"staircase": CURVE}}, tmp_path / "a.svg", title="error & budget")
    text = path.read_text()
    for words in ("error &amp; budget", "staircase", "epsilon", "W1"):
        assert words in text


@pytest.mark.parametrize("name", ["a.pdf", "nowhere/a.png", "a"])
def test_a_picture_that_cannot_be_written_is_an_error(tmp_path, name):
    with pytest.raises(HoldfastError, match=r"\.png or \.svg"):
        transition_heatmap({"default": np.eye(2)}, tmp_path / name, title="")


def test_nothing_to_draw_is_an_error(tmp_path):
    with pytest.raises(HoldfastError, match="nothing to draw"):
        error_curves({}, tmp_path / "a.png", title="")


def test_without_matplotlib_the_command_to_install_it_is_said(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(HoldfastError, match=r"pip install 'holdfast\[plots\]'"):
        transition_heatmap({"default": np.eye(2)}, tmp_path / "a.png", title="")


def test_comparing_and_planning_do_not_import_matplotlib():
    code = (
        "import holdfast, sys; holdfast.compare([0, 1, 2], max_count=2, epsilons=[1], "
        "methods=['staircase'], repetitions=1, jobs=1); print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
