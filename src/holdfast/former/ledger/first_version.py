"""Ledgers of the first version, which had no chain: read as they are, and carried over at the
first change."""

import json
import secrets
import sqlite3
from collections.abc import Iterator
from heapq import merge
from operator import itemgetter

from holdfast.former.ledger.entries import Body, Kind, State
from holdfast.former.ledger.schema import APPLICATION, statements


def first_entries(db: sqlite3.Connection) -> list[Body]:
    """What stands in such a ledger, as entries: limits and spends by time, each in its order."""
    rows = db.execute("SELECT dataset, epsilon, delta, time FROM limits ORDER BY id")
    limits = [
        {"kind": Kind.LIMIT, "dataset": name, "epsilon": epsilon, "delta": delta, "time": time}
        for name, epsilon, delta, time in rows.fetchall()
    ]
    ordered = merge(limits, _spends(db), key=itemgetter("time"))
    return [*ordered, *_ends(db)]


def carry_over(db: sqlite3.Connection) -> None:
    """Give an old file the tables of this version, with the key that it has and no entries yet."""
    (key,) = db.execute("SELECT key FROM about").fetchone()
    for name in ("about", "limits", "spends"):
        db.execute(f"DROP TABLE {name}")
    make_tables(db, key)


def make_tables(db: sqlite3.Connection, key: bytes) -> None:
    """The tables of a ledger, with a new name."""
    for statement in statements():
        db.execute(statement)
    name = secrets.token_hex(16)
    db.execute("INSERT INTO about VALUES (?, ?, 0, ?)", (name, key, name))
    db.execute(f"PRAGMA application_id = {APPLICATION}")


def _spends(db: sqlite3.Connection) -> Iterator[Body]:
    rows = db.execute(
        "SELECT id, dataset, epsilon, delta, parts, time, fingerprint, what FROM spends ORDER BY id"
    )
    for id, dataset, epsilon, delta, parts, time, fingerprint, what in rows.fetchall():
        yield {
            "kind": Kind.SPEND,
            "spend": id,
            "dataset": dataset,
            "epsilon": epsilon,
            "delta": delta,
            "charges": json.loads(parts),
            "time": time,
            "fingerprint": fingerprint,
            "what": what,
        }


def _ends(db: sqlite3.Connection) -> list[Body]:
    rows = db.execute(
        "SELECT id, state, ended FROM spends WHERE state != ? ORDER BY id", (State.OPEN,)
    )
    return [
        {"kind": Kind.END, "spend": id, "state": state, "time": ended}
        for id, state, ended in rows.fetchall()
    ]
