"""`holdfast.verify`: an intact bundle passes, and every damage on the shelf is named."""

import json
import re
import shutil

import pytest

import holdfast
from bundles import make
from damages import DAMAGES
from holdfast.errors import HoldfastError


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return make().save(tmp_path_factory.mktemp("whole") / "release")


@pytest.fixture
def bundle(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "release")


def test_an_intact_bundle_passes(bundle):
    report = holdfast.verify(bundle)
    assert report and report.passed and report.damage == ()
    assert len(report.checks) == 19 and all(check.passed for check in report.checks)


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named(bundle, name):
    inflict, words = DAMAGES[name]
    inflict(bundle)
    report = holdfast.verify(bundle)
    assert not report
    assert any(words in sentence for sentence in report.damage), report.damage
    with pytest.raises(HoldfastError, match=re.escape(words)):
        holdfast.load(bundle)
