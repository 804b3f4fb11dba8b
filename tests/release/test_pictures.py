import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from holdfast.release.pictures import distribution_picture

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("n", [1, 2, 31, 2001])
def test_a_picture_is_valid_svg_with_one_bar_a_positive_share(n):
    shares = np.ones(n) / n
    shares[-1] = 0 if n > 1 else 1
    root = ElementTree.fromstring(distribution_picture([("a & b", shares)], title="<title>"))
    bars = [r for r in root.iter(f"{SVG}rect") if r.get("fill") != "white"]
    assert len(bars) == np.count_nonzero(shares)
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert "<title>" in texts and "a & b" in texts


def test_bars_are_proportional_and_panels_share_a_scale():
    panels = [("first", np.array([0.5, 0.25, 0.25])), ("second", np.array([1.0, 0, 0]))]
    root = ElementTree.fromstring(distribution_picture(panels, title="t", outline=panels[0][1]))
    heights = [float(r.get("height")) for r in root.iter(f"{SVG}g") for r in r.iter(f"{SVG}rect")]
    assert np.allclose(np.array(heights) / heights[-1], [0.5, 0.25, 0.25, 1.0], atol=1e-3)
    assert len(list(root.iter(f"{SVG}path"))) == 4  # an outline and axes in each panel
