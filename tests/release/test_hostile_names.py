"""Names and labels of others are shown, and do nothing, in every file of a bundle."""

import csv
import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import yaml

from holdfast.release import escape
from holdfast.release.load import load
from holdfast.verify.verify import verify
from hostile_names import NAMES, rendered, shown
from made_releases import made_release
from open_tables import open_table

COUNT = "n</code></td><script>alert(2)</script>`|`\x1b=1"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    labels = [f"{name}{i or ''}" for i in range(4) for name in NAMES]
    cells = dict.fromkeys(NAMES, labels) | {"kind": [*NAMES] * 4}
    release = made_release(
        {COUNT: [i % 4 for i in range(len(labels))], "=2+2": [1] * len(labels)}, cells,
        within="kind", epsilon=4,
    )  # fmt: skip
    notes = tuple(name for name in NAMES if "epsilon" not in name)  # that one would be a lie
    release = replace(release, notes=notes, period=NAMES[0], made_with=NAMES[1])
    return release, release.save(tmp_path_factory.mktemp("hostile") / "r")


@pytest.mark.parametrize("file", ["README.md", "codebook.md"])
def test_markdown_shows_names_and_obeys_none(made, file):
    text = (made[1] / file).read_text(encoding="utf-8")
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    page = rendered(text)
    allowed = {"h1", "h2", "p", "ul", "li", "code", "pre", "strong"}
    assert set(page.tags) <= allowed | {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.tags.count("h1") == 1
    assert page.attributes <= {"class"} and not page.comments
    for name in (*NAMES, COUNT):
        assert shown(name) in page.words


def test_the_picture_is_well_formed_and_runs_nothing(made):
    text = (made[1] / "distribution.svg").read_text(encoding="utf-8")
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    tags = {node.tag.split("}")[1] for node in ET.fromstring(text).iter()}
    assert tags == {"svg", "title", "rect", "g", "text", "line", "path"}
    assert shown(COUNT)[:20] in "".join(ET.fromstring(text).itertext())


def test_the_deployment_is_yaml_of_text(made):
    text = (made[1] / "deployment.yaml").read_text(encoding="utf-8")
    assert text.isascii() and all(sign.isprintable() or sign == "\n" for sign in text)
    kept = yaml.safe_load(text)["deployment"]["dp_variant"]["unprotected_quantities"]
    assert all(name in kept for name in NAMES if name.isprintable())


def test_no_cell_of_a_csv_file_is_computed_by_a_spreadsheet(made):
    for path in made[1].glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for cell in (cell for row in csv.reader(file, strict=True) for cell in row):
                if cell[:1] in ("=", "+", "-", "@", "\t", "\r") and len(cell) > 1:
                    float(cell)  # a number; anything else raises


def test_every_name_and_label_comes_back(made):
    release, folder = made
    again = load(folder)
    assert again.cells == release.cells and again.published == release.published
    assert [column.name for column in again.columns] == [COUNT, "=2+2"]
    assert again.group_names == release.group_names
    assert again.notes == release.notes and again.period == release.period
    assert (again["=2+2"].counts == release["=2+2"].counts).all()
    assert (again.columns[0].group == release.columns[0].group).all()


def test_a_group_called_all_rows_is_not_taken_for_them(made):
    names = made[0].group_names
    assert "all rows" not in names and "all rows (2)" in names
    assert len(set(names)) == len(names) == len(set(NAMES))


def test_release_json_is_plain_ascii(made):
    text = (made[1] / "release.json").read_text(encoding="utf-8")
    assert text.isascii() and "\x1b" not in text
    assert json.loads(text)["published"] == [*NAMES, "kind"]


def test_the_bundle_is_found_in_order(made):
    assert verify(made[1])


def test_escaping_a_label_loses_nothing():
    for name in NAMES:
        for label in (name, f"'{name}", f"''{name}", f" {name}"):
            assert escape.from_csv_label(escape.csv_label(label)) == label
    labels = {f"{mark}{name}" for mark in ("", "'", "''") for name in NAMES}
    assert len({escape.csv_label(label) for label in labels}) == len(labels)


@pytest.mark.parametrize("name", ["a;b;c;d", "a|b|c|d"])
def test_a_header_that_misleads_a_reader_is_read_again_as_it_was(name, tmp_path):
    """It has more of another delimiter than of its own."""
    cells = {name: [f"p{number}" for number in range(40)]}
    release = made_release({"n": [number * 7 % 5 for number in range(40)]}, cells)
    folder = release.save(tmp_path / "release")
    assert list(load(folder).cells) == [name]
    first = (folder / "table.csv").read_text(encoding="utf-8").splitlines()[0]
    assert len(next(csv.reader([first]))) == 2
    table = open_table(folder / "table.csv", count="n", category=name)
    assert table.category == name
