"""Releases that a ledger keeps: never taken for another, and room for them before the spend."""

import os
import shutil
from fractions import Fraction

import numpy as np
import pytest
from test_spending import COUNTS, _fingerprint, ledger, release, spent  # noqa: F401

import holdfast.former as holdfast
from attacks import plant_record
from bundles import read_record
from holdfast.errors import HoldfastError, Spent, spent_by
from holdfast.former.ledger.head import head_file
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.ledger.receipts import read_receipt, record_in
from holdfast.former.ledger.sqlite_file import change


def fresh(ledger):  # noqa: F811
    """The ledger made anew in the same place, by somebody who insists; the releases stay."""
    ledger.path.unlink()
    head_file(ledger.path).unlink()
    ledger.set_limit("crime", epsilon=1)


def test_a_ledger_that_was_made_anew_shows_no_release_of_the_old_one(ledger):  # noqa: F811
    old = release(ledger)
    fresh(ledger)
    other = release(ledger, np.full(60, 5), max_count=6)
    assert not other.repeated and len(other.target) == 7 and len(old.target) == 6
    assert release(ledger, np.full(60, 5), max_count=6).repeated
    assert spent(ledger) == Fraction(1, 2)


def test_a_killed_run_in_a_new_ledger_does_not_show_an_old_release(ledger, monkeypatch):  # noqa: F811
    release(ledger)
    fresh(ledger)
    monkeypatch.setattr("holdfast.former.ledger.spending._draw", lambda *_: None)  # as if killed
    release(ledger, max_count=6)
    monkeypatch.undo()
    again = release(ledger, max_count=6)
    assert not again.repeated and len(again.target) == 7


OTHER = {
    "epsilon": {"epsilon": "0.4"},
    "max_count": {"max_count": 4},
    "contributions": {"contributions": 2},
    "structural zeros": {"structural_zero": [False] * 59 + [True]},
    "rows": {"counts": COUNTS[:50]},
}


@pytest.mark.parametrize("change", OTHER)
def test_a_folder_with_another_release_is_not_shown(ledger, change):  # noqa: F811
    counts = COUNTS * (np.arange(60) < 59)
    release(ledger, counts)
    place = ledger.folder(1, *_fingerprint(ledger))
    stranger = Ledger(ledger.path.with_name("other.ledger"))
    stranger.set_limit("crime", epsilon=1)
    release(stranger, **({"counts": counts} | OTHER[change]))
    shutil.rmtree(place)
    shutil.copytree(stranger.folder(1, *_fingerprint(stranger)), place)
    with pytest.raises(HoldfastError, match="holds another release"):
        release(ledger, counts)
    assert spent(ledger) == Fraction(1, 2)


@pytest.mark.parametrize("asked", [{}, {"max_count": 6}], ids=["the same", "another"])
def test_an_older_copy_is_found_where_a_stored_release_knows_of_a_later_entry(ledger, asked):  # noqa: F811
    older = ledger.path.read_bytes()
    release(ledger)
    ledger.path.write_bytes(older)
    head_file(ledger.path).unlink()
    with pytest.raises(HoldfastError, match=r"does not know of\. Nothing was drawn or spent"):
        release(ledger, **asked)
    assert ledger.spends("crime") == []


def test_an_older_copy_is_found_where_the_head_beside_the_releases_is_newer(ledger):  # noqa: F811
    older = ledger.path.read_bytes()
    release(ledger)
    shutil.rmtree(ledger.folder(1, *_fingerprint(ledger)))
    ledger.path.write_bytes(older)
    for call in (release, Ledger.balances, lambda one: one.set_limit("crime", epsilon=9)):
        with pytest.raises(HoldfastError, match="is an older copy"):
            call(ledger)
    assert ledger.path.read_bytes() == older


def test_an_older_copy_that_went_on_is_found_as_well(ledger):  # noqa: F811
    older = ledger.path.read_bytes()
    ledger.spend("crime", epsilon="1/2")
    aside = head_file(ledger.path).read_text()
    ledger.path.write_bytes(older)
    head_file(ledger.path).unlink()
    ledger.spend("crime", epsilon="1/3")
    head_file(ledger.path).write_text(aside)
    with pytest.raises(HoldfastError, match="is an older copy"):
        spent(ledger)


def test_no_ledger_is_begun_where_the_releases_of_another_are(ledger):  # noqa: F811
    ledger.path.unlink()
    with pytest.raises(HoldfastError, match="holds its releases"):
        ledger.set_limit("crime", epsilon=1)


def test_a_release_and_its_copies_remember_the_entry_that_paid(ledger, tmp_path):  # noqa: F811
    older = ledger.path.read_bytes()
    made = release(ledger)
    folder = made.save(tmp_path / "published")
    receipt = read_receipt(folder)
    assert str(receipt) == made.receipt == holdfast.load(folder).receipt
    assert receipt.entry == 3 and ledger.knows(receipt)  # after the beginning and the limit
    assert read_receipt(ledger.folder(1, *_fingerprint(ledger))) == receipt
    assert release(ledger).receipt == made.receipt
    assert holdfast.verify(folder)
    shutil.rmtree(ledger.folder(1, "").parent)
    ledger.path.write_bytes(older)
    assert not ledger.knows(receipt)


def test_a_release_without_a_ledger_has_no_receipt(tmp_path):
    made = holdfast.privatize([1, 0, 2], epsilon=1, max_count=3)
    assert made.receipt is None and read_receipt(made.save(tmp_path / "r")) is None


def test_no_message_says_that_nothing_was_drawn_once_something_was(tmp_path, ledger):  # noqa: F811
    made = release(ledger)
    (tmp_path / "there").mkdir()
    with pytest.raises(HoldfastError, match="exists already") as caught:
        made.save(tmp_path / "there")
    assert "nothing was drawn" not in str(caught.value)


def busy(self, spend, state):
    raise HoldfastError("in use by other processes")


def test_a_release_that_cannot_be_marked_is_given_kept_and_counted(ledger, monkeypatch):  # noqa: F811
    monkeypatch.setattr(Ledger, "finish", busy)
    first = release(ledger)
    assert ledger.balance("crime").states["open"] == 1 and spent(ledger) == Fraction(1, 2)
    monkeypatch.undo()
    again = release(ledger)
    assert again.repeated and np.array_equal(first.counts, again.counts)
    assert ledger.balance("crime").states == {"done": 1, "open": 0, "abandoned": 0}


def test_whoever_is_stopped_while_it_is_marked_is_told_that_it_counts(ledger, monkeypatch):  # noqa: F811
    def stopped(self, spend, state):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "finish", stopped)
    with pytest.raises(KeyboardInterrupt) as caught:
        release(ledger)
    assert spent_by(caught.value) is Spent.YES


def test_a_busy_ledger_does_not_say_that_nothing_was_recorded(ledger):  # noqa: F811
    quick = Ledger(ledger.path, timeout=0.1)
    with change(ledger.path, 1), pytest.raises(HoldfastError, match="was not changed"):
        quick.finish(1, "done")


def test_a_release_shown_again_states_the_version_that_made_it(ledger, monkeypatch, tmp_path):  # noqa: F811
    monkeypatch.setattr("holdfast.former.release.facts._version", lambda: "0.0.7")
    release(ledger)
    monkeypatch.undo()
    again = release(ledger)
    assert again.repeated and again.summary()["holdfast"] == "0.0.7"
    assert "Made with holdfast 0.0.7." in (again.save(tmp_path / "r") / "README.md").read_text()


def test_words_in_the_place_of_a_receipt_are_damage(ledger, tmp_path):  # noqa: F811
    folder = release(ledger).save(tmp_path / "r")
    assert holdfast.verify(folder)
    plant_record(folder, read_record(folder) | {"receipt": "exact, no noise"}, strong=True)
    assert "receipt" in holdfast.verify(folder).damage[0]


def test_a_record_that_is_no_plain_file_or_a_bomb_is_not_read(tmp_path):
    record = tmp_path / "release.json"
    record.write_text('{"receipt": "x"}')
    assert record_in(tmp_path) == {"receipt": "x"}
    record.rename(tmp_path / "other.json")
    record.symlink_to(tmp_path / "other.json")
    assert record_in(tmp_path) == {}
    record.unlink()
    os.mkfifo(record)
    assert record_in(tmp_path) == {}
    record.unlink()
    record.write_text('{"a": [' + "[]," * 6_000_000 + "[]]}")
    assert record_in(tmp_path) == {}
