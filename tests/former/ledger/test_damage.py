"""Damaged ledgers grant nothing: no spend is forgotten, no limit raised, no other error raised."""

import sqlite3
from fractions import Fraction

import pytest

from attacks_ledger import (
    DATASET,
    LIMIT,
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
from holdfast.errors import HoldfastError
from holdfast.former.ledger.entries import Begun, Limit, Spend
from holdfast.former.ledger.first_version import first_entries
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.ledger.schema import FIRST_APPLICATION, FIRST_TABLES, FIRST_VERSION, statements
from holdfast.former.ledger.sqlite_file import change


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


NAMED = [b'"10"', b'"17/4"', b"attacked", b'"spend":2', b"abandoned"]
OF_PERIODS = [b"limit of each period", b'"5"', b"2026-01-01..2026-12-31"]


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
        for line in statements():
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


def test_entries_of_a_newer_holdfast_are_refused(small):
    ledger, _, _ = small
    with pytest.raises(ValueError), change(ledger.path, 1) as pages:
        pages.append({"kind": "mystery"})
    assert ledger.balance(DATASET).epsilon_spent == SPENT


def first_version(path):
    """A ledger as the first version wrote it."""
    with sqlite3.connect(path) as db:
        for statement in statements(FIRST_TABLES):
            db.execute(statement)
        db.execute("INSERT INTO about VALUES (?)", (b"k" * 32,))
        limit = "INSERT INTO limits (dataset, epsilon, delta, time) VALUES (?, ?, '0', ?)"
        spend = (
            "INSERT INTO spends (dataset, epsilon, delta, parts, state, time, ended, fingerprint, "
            "what) VALUES (?, ?, '0', ?, ?, ?, ?, ?, '')"
        )
        db.execute(limit, (DATASET, "4", "2026-01-01"))
        parts = '[["4", "0", 1]]'
        db.execute(spend, (DATASET, "4", parts, "done", "2026-01-02", "2026-01-03", "f" * 64))
        db.execute(limit, (DATASET, "10", "2026-01-04"))
        parts = '[["17/4", "0", 1]]'
        db.execute(spend, (DATASET, "17/4", parts, "open", "2026-01-05", None, "e" * 64))
        db.execute(f"PRAGMA application_id = {FIRST_APPLICATION}")
        db.execute(f"PRAGMA user_version = {FIRST_VERSION}")
    db.close()
    return Ledger(path)


def test_a_ledger_of_the_first_version_is_read_as_it_is(quick):
    ledger = first_version(quick / "old.ledger")
    before = ledger.path.read_bytes()
    balance = ledger.balance(DATASET)
    assert (balance.epsilon_spent, balance.epsilon_limit) == (SPENT, LIMIT)
    assert [type(entry) for entry in ledger.history()] == [Limit, Spend, Limit, Spend]
    assert ledger.path.read_bytes() == before


def test_the_first_change_begins_the_chain_over_what_is_there_and_says_so(quick):
    ledger = first_version(quick / "old.ledger")
    key = ledger.fingerprint(b"x")
    number = ledger.spend(DATASET, epsilon=1)
    assert number == 3 and ledger.balance(DATASET).epsilon_spent == SPENT + 1
    begun, *rest = ledger.history()
    assert isinstance(begun, Begun) and begun.earlier == 5  # an end is an entry too
    assert [type(entry) for entry in rest] == [Limit, Spend, Limit, Spend, Spend]
    assert [spend.state for spend in ledger.spends(DATASET)] == ["done", "open", "open"]
    assert ledger.fingerprint(b"x") == key and ledger.made(DATASET, "f" * 64)[0].id == 1


def test_a_ledger_of_the_first_version_that_was_damaged_is_refused(quick):
    ledger = first_version(quick / "old.ledger")
    whole = ledger.path.read_bytes()
    assert set(attacks(cuts(whole, 997), ledger)) == {REFUSED}
    assert set(attacks(flips(whole, 733), ledger, LIMIT)) <= {REFUSED, RIGHT}


def test_entries_of_the_first_version_keep_their_order_whatever_the_clock_said(quick):
    ledger = first_version(quick / "old.ledger")
    db = sqlite3.connect(ledger.path)
    db.execute(
        "INSERT INTO limits (dataset, epsilon, delta, time) VALUES (?, '9', '0', '1970')",
        (DATASET,),
    )
    db.commit()
    kinds = [(body["kind"], body.get("epsilon")) for body in first_entries(db)]
    db.close()
    assert [amount for kind, amount in kinds if kind == "limit"] == ["4", "10", "9"]
    assert ledger.balance(DATASET).epsilon_limit == Fraction(9)
