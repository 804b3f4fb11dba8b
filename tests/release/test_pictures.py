import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from holdfast.release.bins import wide_bins
from holdfast.release.group_pictures import Shown, group_picture
from holdfast.release.pictures import distribution_picture

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("n", [1, 2, 31, 1001])
def test_a_picture_is_valid_svg_with_one_bar_a_positive_share(n):
    shares = np.ones(n) / n
    shares[-1] = 0 if n > 1 else 1
    root = ElementTree.fromstring(distribution_picture([("a & b", shares)], title="<title>"))
    bars = [r for r in root.iter(f"{SVG}rect") if r.get("fill") != "white"]
    assert len(bars) == np.count_nonzero(shares)
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert "<title>" in texts and "a & b" in texts


def test_bars_of_a_long_range_widen_and_hold_all_rows():
    shares = np.ones(1_000_001) / 1_000_001
    svg = distribution_picture([("all", shares)], title="t")
    root = ElementTree.fromstring(svg)
    bars = [r for r in root.iter(f"{SVG}rect") if r.get("fill") != "white"]
    assert len(bars) == len(wide_bins(1_000_001)) < 60
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert {"0", "1", "10", "100", "100000"} <= set(texts)
    assert len(svg) < 10_000


def test_bars_are_proportional_and_panels_share_a_scale():
    panels = [("first", np.array([0.5, 0.25, 0.25])), ("second", np.array([1.0, 0, 0]))]
    root = ElementTree.fromstring(distribution_picture(panels, title="t", outline=panels[0][1]))
    heights = [float(r.get("height")) for r in root.iter(f"{SVG}g") for r in r.iter(f"{SVG}rect")]
    assert np.allclose(np.array(heights) / heights[-1], [0.5, 0.25, 0.25, 1.0], atol=1e-3)
    assert len(list(root.iter(f"{SVG}path"))) == 4  # an outline and axes in each panel


def test_strips_of_many_groups_on_a_long_range_go_by_digits():
    law = np.eye(1, 10_002, 500)[0] / 2 + np.eye(1, 10_002, 5)[0] / 2
    groups = [Shown(f"g{k}", 3, law) for k in range(30)]
    root = ElementTree.fromstring(group_picture("n", law, groups, title="t"))
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert "100-999" in texts and "8+" not in texts
    strips = [r for r in root.iter(f"{SVG}rect") if r.get("height") == "60.00"]
    assert len(strips) == 60  # one half of each has one digit, the other three
