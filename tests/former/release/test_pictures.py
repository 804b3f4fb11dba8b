import itertools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from holdfast.former.release.bins import wide_bins
from holdfast.former.release.group_pictures import Shown, group_picture
from holdfast.former.release.pictures import distribution_picture

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
    assert {"0", "10", "100", "1,000", "100,000"} <= set(texts)
    assert len(svg) < 10_000


@pytest.mark.parametrize("top", [50, 1_000, 1_500, 20_000, 1_000_000])
def test_names_below_an_axis_leave_each_other_room_and_the_last_says_all_above(top):
    shares = np.ones(top + 1) / (top + 1)
    root = ElementTree.fromstring(distribution_picture([("n", shares)], title="t", open_end=True))
    names = [t for t in root.iter(f"{SVG}text") if t.get("y") == "206"]
    ends = [(float(t.get("x")), 3.6 * len(t.text)) for t in names]
    assert names[0].text == "0" and names[-1].text == f"{top:,}+"
    assert all(x + a < y - b for (x, a), (y, b) in itertools.pairwise(ends))
    assert ends[-1][0] + ends[-1][1] <= 344 + 22 - 44  # within the picture
    widening = "bars stand for more and more counts" in ElementTree.tostring(root, "unicode")
    assert widening is (top > 1_000)


@pytest.mark.parametrize("rows", ["3,136 rows", "3,136,000,000 rows"])
def test_a_title_that_is_wider_than_its_picture_is_parted_at_commas(rows):
    title = f"{rows}, released with differential privacy, epsilon = 1"
    law = np.array([0.75, 0.25])
    root = ElementTree.fromstring(distribution_picture([("n", law)], title=title))
    lines = [t for t in root.iter(f"{SVG}text") if t.get("font-size") == "14"]
    assert ", ".join(t.text for t in lines) == title and len(lines) > 1
    assert all(7.4 * len(t.text) <= float(root.get("width")) for t in lines)
    panel = next(root.iter(f"{SVG}g")).get("transform")
    assert float(lines[-1].get("y")) < float(panel.split(",")[1][:-1]) - 20


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
