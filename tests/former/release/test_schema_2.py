"""Bundles that were made before mechanisms had curves: they load, verify, and answer as ever."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import holdfast.former as holdfast
from bundles import repair

BUNDLES = sorted((Path(__file__).parent / "schema_2").iterdir())


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_an_older_bundle_verifies_and_loads(bundle):
    record = json.loads((bundle / "release.json").read_text())
    assert record["schema"] == 2
    report = holdfast.verify(bundle)
    report.require()
    assert ["main points alone" in warning for warning in report.warnings] == [True]
    release = holdfast.load(bundle)
    assert release.mechanism.curves is None
    assert release.mechanism.digest == record["mechanism_digest"]
    assert release.privacy.epsilon == Fraction(record["privacy"]["epsilon"])
    assert 0 <= release.ask("share", equal=0).estimate <= 1


def test_an_older_bundle_that_was_loaded_is_saved_in_the_present_form(tmp_path):
    release = holdfast.load(BUNDLES[0])
    release.save(tmp_path / "again")
    assert json.loads((tmp_path / "again" / "release.json").read_text())["schema"] == 3
    again = holdfast.load(tmp_path / "again")
    assert np.array_equal(again.mechanism.weights, release.mechanism.weights)


def test_a_damaged_older_bundle_is_found(tmp_path):
    bundle = shutil.copytree(BUNDLES[0], tmp_path / "release")
    table = bundle / "table.csv"
    table.write_bytes(table.read_bytes().replace(b",1,", b",2,", 1))
    assert not holdfast.verify(bundle)


def test_curves_are_no_part_of_the_older_schema(tmp_path):
    release = holdfast.privatize([0, 1, 2, 0], epsilon=1, max_count=3, seed=1)
    bundle = release.save(tmp_path / "release")
    record = json.loads((bundle / "release.json").read_text())
    (bundle / "release.json").write_text(json.dumps(record | {"schema": 2}, indent=1))
    repair(bundle)
    assert holdfast.verify(bundle).damage == ("a release of schema 2 has weights, not curves.",)
