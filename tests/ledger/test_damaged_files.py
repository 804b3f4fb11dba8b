"""Damaged ledgers grant nothing: no spend is forgotten, no limit raised, no other error raised."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from attacks_ledger import (
    DATASET,
    REFUSED,
    RIGHT,
    SPENT,
    attack,
    attacks,
    cuts,
    flips,
    head_attacks,
    pages_of_older,
    small_ledger,
)
from forked import end_of
from holdfast.errors import HoldfastError
from holdfast.ledger.chain import head_file
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.sqlite_file import STATEMENTS


@pytest.fixture
def small(quick):
    ledger, copies = small_ledger(quick)
    return ledger, ledger.path.read_bytes(), copies


def test_a_whole_ledger_is_right_and_grants_what_is_left(small):
    assert attack(small[0]) == RIGHT


def test_a_ledger_that_was_cut_is_refused_at_every_length(small):
    ledger, whole, _ = small
    assert set(attacks(cuts(whole, 97), ledger)) == {REFUSED}
    assert set(attacks([(0, whole[:-100])], ledger)) == {REFUSED}


def test_a_flipped_byte_never_forgets_a_spend_nor_raises_a_limit(small):
    ledger, whole, _ = small
    ends = attacks(flips(whole, 151), ledger)
    assert set(ends) <= {REFUSED, RIGHT} and ends[REFUSED] > 10


NAMED = [b'"10"', b'"17/4"', b"attacked", b'"spend":6', b"abandoned"]
OF_PERIODS = [b'"per_period":true', b'"5"', b"2026-01-01..2026-12-31"]


@pytest.mark.parametrize("what", NAMED + OF_PERIODS)
def test_every_byte_of_an_amount_or_a_name_is_covered(small, what):
    ledger, whole, _ = small
    at = whole.index(what)
    ends = whole[:at], whole[at + len(what) :]
    damages = [(at + place, changed.join(ends)) for place, changed in flips(what, 1)]
    assert set(attacks(damages, ledger)) == {REFUSED}


def test_pages_that_never_came_to_disk_are_found(small):
    ledger, whole, copies = small
    ends = attacks(list(pages_of_older(whole, copies))[::3], ledger)
    assert set(ends) <= {REFUSED, RIGHT} and ends[REFUSED]


def test_a_damaged_head_beside_the_releases_is_refused(small):
    ledger, whole, _ = small
    assert set(head_attacks(ledger, whole, 9)) == {REFUSED}


BY_HAND = (
    "DELETE FROM entries WHERE entry = (SELECT max(entry) FROM entries)",
    "UPDATE entries SET body = replace(body, '17/4', '1/4')",
    "UPDATE entries SET body = replace(body, '\"10\"', '\"99\"')",
    "UPDATE entries SET body = replace(body, '2026-01-01..2026-12-31', '2027-01-01..2027-12-31')",
    "UPDATE about SET entries = entries - 1",
    "UPDATE about SET key = zeroblob(32)",
    "DELETE FROM about",
    "CREATE TABLE more (x)",
    "CREATE TRIGGER sly AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
    "PRAGMA user_version = 1",
    "PRAGMA journal_mode = wal",
)


@pytest.mark.parametrize("statement", BY_HAND)
def test_what_was_changed_by_hand_is_found(small, statement):
    ledger, _, _ = small
    with sqlite3.connect(ledger.path) as db:
        for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            db.execute(f"DROP TRIGGER {trigger}")
        db.execute(statement)
        for line in STATEMENTS:
            if "TRIGGER" in line:
                db.execute(line)
    db.close()
    with pytest.raises(HoldfastError, match="damaged"):
        ledger.balance(DATASET)


def test_the_words_for_a_damaged_ledger_say_what_to_do(small):
    ledger, whole, _ = small
    ledger.path.write_bytes(whole[:-100])
    with pytest.raises(HoldfastError, match=r"is damaged: .*Nothing was granted\. Hint: keep the"):
        ledger.spend(DATASET, epsilon=1)


def test_a_ledger_of_another_format_is_refused_as_it_is(small):
    ledger, _, _ = small
    with sqlite3.connect(ledger.path) as db:
        db.execute("PRAGMA application_id = 0x686F6C32")
    db.close()
    with pytest.raises(HoldfastError, match="not a ledger of this holdfast"):
        ledger.balance(DATASET)


def test_a_ledger_with_a_second_name_is_refused_by_both(small):
    """One by a hard link has no head, no releases, and no journal of a process that was killed."""
    ledger, _, _ = small
    second = ledger.path.with_name("second.ledger")
    os.link(ledger.path, second)
    for one in (ledger, Ledger(second)):
        with pytest.raises(HoldfastError, match=r"has another name on this disk \(a hard link"):
            one.balance(DATASET)
        with pytest.raises(HoldfastError, match=r"has another name on this disk \(a hard link"):
            one.spend(DATASET, epsilon="0.1")
    second.unlink()
    assert ledger.balance(DATASET).epsilon_spent == SPENT


def test_a_symbolic_link_shares_the_head_and_the_releases(small):
    ledger, whole, _ = small
    link = ledger.path.with_name("link.ledger")
    link.symlink_to(ledger.path)
    number = Ledger(link).spend(DATASET, epsilon="1/8")
    assert Ledger(link).folder(ledger.spends()[-1]) == ledger.folder(ledger.spends()[-1])
    assert ledger.balance(DATASET).epsilon_spent > SPENT and not head_file(link).is_symlink()
    ledger.path.write_bytes(whole)
    for one in (ledger, Ledger(link)):
        with pytest.raises(HoldfastError, match="is an older copy"):
            one.finish(number, "done")


def test_a_process_that_was_killed_while_it_began_a_ledger_leaves_it_usable(quick, monkeypatch):
    """It had given the ledger its name and not yet taken the other one away."""
    ledger = Ledger(quick / "b.ledger")

    def killed(new, path):
        os.link(new, path)
        os._exit(9)

    monkeypatch.setattr("holdfast.ledger.sqlite_file._give_name", killed)
    assert end_of(lambda: ledger.set_limit("crime", epsilon=1)) == 9
    monkeypatch.undo()
    assert ledger.path.stat().st_nlink == 2
    ledger.set_limit("crime", epsilon=1)
    assert ledger.path.stat().st_nlink == 1 and ledger.balance("crime").epsilon_left == 1


def test_of_many_that_begin_one_ledger_at_once_each_finds_it_begun(quick):
    ledger, together = Ledger(quick / "b.ledger"), Barrier(8)

    def begin(number):
        together.wait()
        ledger.set_limit(f"dataset {number}", epsilon=1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(begin, range(8)))
    assert len(ledger.balances()) == 8 and len(ledger.history()) == 9
    left = {path.name for path in quick.iterdir()}
    assert left == {"b.ledger", "b.ledger.releases"}
