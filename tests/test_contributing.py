"""CONTRIBUTING.md is a map of what is there."""

import re
from pathlib import Path

from test_architecture import ORDER

import holdfast

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = Path(holdfast.__file__).parent


def test_every_place_that_is_named_exists():
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+(?:\.py|\.md)?)?)`", TEXT))
    assert len(named) > 25
    for place in named:
        assert (PACKAGE / place).exists() or (ROOT / place).exists(), place


def test_packages_are_listed_in_the_order_that_imports_must_keep():
    rows = re.findall(r"^\| (`[^|]*) \|", TEXT.split("## What to touch")[0], re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([a-z]+)/?`", row)]
    packages = [name for name in named if (PACKAGE / name).is_dir()]
    assert packages == [name for name in ORDER if name in packages]
    on_disk = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert set(packages) == on_disk


def test_the_promise_is_in_as_many_lines_as_it_says():
    said = int(re.search(r"The promise is in ([0-9,]+) lines", TEXT)[1].replace(",", ""))
    reading = TEXT.split("The promise is in")[1].split("\n## ")[0]
    places = set(re.findall(r"`([a-z_]+/[a-z_]+\.py)`", reading)) - {"ledger/__init__.py"}
    ledger = (PACKAGE / "ledger/__init__.py").read_text(encoding="utf-8").split("The other half")[0]
    places |= {f"ledger/{name}" for name in re.findall(r"^    (\w+\.py) ", ledger, re.MULTILINE)}
    lines = sum(len((PACKAGE / place).read_text("utf-8").splitlines()) for place in places)
    assert said - 250 < lines <= said, lines
