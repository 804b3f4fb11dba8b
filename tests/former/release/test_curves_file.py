"""The file of curves: the reader in the docs rebuilds every weight from it."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from bundles import make, read_record
from holdfast.former.constructors import Optimal

PAGE = Path(__file__).parents[2] / "docs" / "bundle.md"


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_reader_in_the_docs_rebuilds_every_weight(tmp_path, delta):
    text = PAGE.read_text(encoding="utf-8")
    code = re.search(r"```python\n((?:(?!```).)*def read_curves.*?)```", text, re.DOTALL)[1]
    release = make(max_count=30, constructor=Optimal(delta=delta))
    folder = release.save(tmp_path / "release")
    epsilon = Fraction(read_record(folder)["certificate"]["epsilon"])
    names = {}
    exec(code, names)
    rows = names["read_curves"](folder / "mechanism.curves", epsilon)
    assert rows == release.mechanism.weights.tolist()
    assert (release.mechanism.curves.lift > 0) == bool(delta)
