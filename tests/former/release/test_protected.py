"""Whom a release protects is said alike wherever it is said."""

import pytest

import holdfast.former as holdfast
from bundles import make, repair
from holdfast.former.analysis.report.blocks import markdown
from holdfast.former.analysis.report.content import report
from holdfast.former.cli.screen import promise, screen
from holdfast.former.release.text import FEW_ROWS, FEW_ROWS_AT_FIRST

HOUSEHOLD = "one household with at most 2 in each of at most 3 rows"


@pytest.fixture(scope="module")
def households():
    return make(contributions=2, rows=3, unit="household")


@pytest.fixture
def bundle(households, tmp_path):
    return households.save(tmp_path / "release")


def on_screen(release):
    with screen.capture() as captured:
        screen.print(promise(release))
    return " ".join(captured.get().split())


def in_report(release):
    return markdown(report(release, 0.9))


def test_a_promise_to_households_speaks_of_no_person(households, bundle):
    said = {
        "screen": on_screen(households),
        "report": in_report(households),
        "README.md": (bundle / "README.md").read_text(),
        "deployment.yaml": (bundle / "deployment.yaml").read_text(),
    }
    for place, text in said.items():
        assert HOUSEHOLD in " ".join(text.replace("One", "one").split()), place
        assert "person" not in text, place
    assert "one household, in all" in said["screen"] and "one household, in all" in said["report"]
    assert "whether or not\nany one household was counted" in said["README.md"]


def test_a_promise_to_a_person_is_about_one_row():
    release = make()
    for text in (on_screen(release), in_report(release)):
        assert "a person who adds at most 1 to one row" in text and "one person, in all" in text


def test_the_report_gives_contributions_as_a_number(households):
    text = in_report(households)
    assert "at most 3 rows change, each by at most 2." in text and "`contributions`" not in text


def test_a_bundle_that_spoke_of_persons_whatever_the_unit_still_verifies(bundle):
    path = bundle / "README.md"
    first = path.read_text().replace("any one household", "any one person")
    path.write_text(first.replace(FEW_ROWS, FEW_ROWS_AT_FIRST))
    repair(bundle)
    assert holdfast.verify(bundle).passed
    path.write_text(path.read_text().replace("any one person", "any one street"))
    repair(bundle)
    assert not holdfast.verify(bundle).passed
