"""What a report keeps, whatever its format, and what it must not claim."""

import json
import re

import pytest

import holdfast
from analysis_releases import COUNTS, released
from holdfast.analysis.report import report
from holdfast.analysis.report_html import html
from holdfast.analysis.report_markdown import markdown
from holdfast.analysis.report_pictures import row_picture


def test_a_flat_mechanism_can_be_drawn():
    flat = {"probabilities": [1 / 600] * 600, "true_count": 3}
    assert row_picture(flat).count("<rect") == 14


def test_evening_out_moves_shares_neither_up_nor_down():
    for n in (2, 4, 6):
        view = released(counts=COUNTS[COUNTS < n], max_count=n - 1, epsilon="0.05").evidence
        assert view.middle.sum() == pytest.approx(1)
