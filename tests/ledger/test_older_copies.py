"""An older copy of a ledger is refused, and no stored release is taken for another."""

import shutil
from fractions import Fraction

import pytest

from holdfast.errors import HoldfastError
from holdfast.ledger.chain import Receipt, head_file, releases_of
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.sqlite_file import change
from small_engine import COUNTS, release


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.set_limit("crime", epsilon=1)
    return ledger


def spent(ledger):
    return ledger.balance("crime").epsilon_spent


def stored(ledger):
    return ledger.folder(ledger.spends()[-1])


def fresh(ledger):
    """The ledger made anew in the same place, by somebody who insists; the releases stay."""
    ledger.path.unlink()
    head_file(ledger.path).unlink()
    ledger.set_limit("crime", epsilon=1)


def test_a_ledger_that_was_made_anew_shows_no_release_of_the_old_one(ledger):
    old = release(ledger)
    fresh(ledger)
    new = release(ledger)
    assert not new.repeated and new.noisy != old.noisy
    assert release(ledger).noisy == new.noisy and spent(ledger) == Fraction(1, 2)


def test_a_folder_with_another_release_is_not_shown(ledger):
    release(ledger)
    place = stored(ledger)
    other = Ledger(ledger.path.with_name("other.ledger"))
    other.set_limit("crime", epsilon=1)
    release(other)
    shutil.rmtree(place)
    shutil.copytree(stored(other), place)
    with pytest.raises(HoldfastError, match="holds another release"):
        release(ledger)
    assert spent(ledger) == Fraction(1, 2)


@pytest.mark.parametrize("epsilon", ["0.5", "0.25"])
@pytest.mark.parametrize("known", [True, False])
def test_an_older_copy_is_found_where_a_stored_release_knows_of_a_later_entry(
    ledger, epsilon, known
):
    older = ledger.path.read_bytes()
    release(ledger)
    ledger.path.write_bytes(older)
    head_file(ledger.path).unlink()
    with pytest.raises(HoldfastError, match=r"does not know of\. Nothing was spent"):
        release(ledger, epsilon=epsilon, known=known)
    assert ledger.spends("crime") == []


def test_an_older_copy_that_went_on_is_found_by_what_it_forgot(ledger):
    older = ledger.path.read_bytes()
    release(ledger)
    ledger.path.write_bytes(older)
    head_file(ledger.path).unlink()
    ledger.spend("crime", epsilon="1/4")  # the number of the entry that was forgotten
    with pytest.raises(HoldfastError, match="does not know of"):
        release(ledger, COUNTS + 1, epsilon="1/8")


def test_what_a_killed_run_left_half_stored_is_found_likewise(ledger):
    older = ledger.path.read_bytes()
    release(ledger)
    place = stored(ledger)
    place.rename(place.with_name(f".{place.name}.partial-0123"))
    release(ledger, epsilon="0.25")  # of a spend that the ledger knows: it holds up nothing
    shutil.rmtree(stored(ledger))
    ledger.path.write_bytes(older)
    head_file(ledger.path).unlink()
    with pytest.raises(HoldfastError, match="does not know of"):
        release(ledger, epsilon="0.125")


def test_an_older_copy_is_found_where_the_head_beside_the_releases_is_newer(ledger):
    older = ledger.path.read_bytes()
    release(ledger)
    shutil.rmtree(stored(ledger))
    ledger.path.write_bytes(older)
    for call in (release, Ledger.balances, lambda one: one.set_limit("crime", epsilon=9)):
        with pytest.raises(HoldfastError, match="is an older copy"):
            call(ledger)
    assert ledger.path.read_bytes() == older


def test_the_head_of_another_chain_is_found_as_well(ledger):
    older = ledger.path.read_bytes()
    ledger.spend("crime", epsilon="1/2")
    aside = head_file(ledger.path).read_text()
    ledger.path.write_bytes(older)
    head_file(ledger.path).unlink()
    ledger.spend("crime", epsilon="1/3")
    head_file(ledger.path).write_text(aside)
    with pytest.raises(HoldfastError, match="is an older copy"):
        spent(ledger)
    fresh(ledger)
    head_file(ledger.path).write_text(aside)
    with pytest.raises(HoldfastError, match="belongs to another ledger"):
        spent(ledger)


def test_no_ledger_is_begun_where_the_releases_of_another_are(ledger):
    ledger.path.unlink()
    with pytest.raises(HoldfastError, match="holds its releases"):
        ledger.set_limit("crime", epsilon=1)


def test_a_release_remembers_the_entry_that_paid(ledger):
    older = ledger.path.read_bytes()
    receipt = Receipt.from_text(release(ledger).receipt)
    assert receipt.entry == 3 and receipt.ledger == ledger.name  # after beginning and limit
    assert ledger.paid_for(receipt) == ledger.spends()[0]
    assert release(ledger).receipt == str(receipt)
    shutil.rmtree(releases_of(ledger.path))
    ledger.path.write_bytes(older)
    assert ledger.paid_for(receipt) is None


def test_words_in_the_place_of_a_receipt_are_none():
    assert Receipt.from_text("exact, no noise") is None


def test_a_busy_ledger_does_not_say_that_nothing_was_recorded(ledger):
    quick = Ledger(ledger.path, timeout=0.1)
    with change(ledger.path, 1), pytest.raises(HoldfastError, match="was not changed"):
        quick.finish(3, "done")


def test_a_full_disk_is_found_before_anything_is_paid(ledger, monkeypatch):
    with pytest.raises(HoldfastError, match=r"has no room.*Nothing was spent"):
        release(ledger, stored_bytes=10**18)
    usage = shutil.disk_usage(".")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(HoldfastError, match="has no room"):
        release(ledger)
    assert ledger.spends("crime") == []


def test_a_place_for_releases_that_cannot_be_used_is_found_before_anything_is_paid(ledger):
    place = releases_of(ledger.path)
    shutil.rmtree(place)
    place.write_text("a file")
    with pytest.raises(HoldfastError, match="cannot be"):
        release(ledger)
    assert ledger.spends("crime") == []
