"""The tables of a ledger's file, of this version and of the first one."""

import sqlite3
from collections.abc import Iterator

FIRST_APPLICATION, FIRST_VERSION = 0x686F6C64, 1  # "hold", in the file's header
APPLICATION = 0x686F6C32  # "hol2"; the version beside it is the number of entries

TABLES = """
CREATE TABLE about (
  id TEXT NOT NULL, key BLOB NOT NULL, entries INTEGER NOT NULL, head TEXT NOT NULL);
CREATE TABLE entries (entry INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TRIGGER entries_stay BEFORE DELETE ON entries
  BEGIN SELECT RAISE(ABORT, 'entries stay on record'); END;
CREATE TRIGGER entries_are_kept BEFORE UPDATE ON entries
  BEGIN SELECT RAISE(ABORT, 'an entry cannot be changed'); END;
CREATE TRIGGER entries_are_new BEFORE INSERT ON entries
  WHEN EXISTS (SELECT 1 FROM entries WHERE entry >= NEW.entry)
  BEGIN SELECT RAISE(ABORT, 'an entry cannot be replaced'); END;
CREATE TRIGGER key_stays BEFORE UPDATE OF id, key ON about
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
CREATE TRIGGER head_goes_on BEFORE UPDATE OF entries ON about WHEN NEW.entries <= OLD.entries
  BEGIN SELECT RAISE(ABORT, 'entries stay on record'); END;
CREATE TRIGGER key_is_kept BEFORE DELETE ON about
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
CREATE TRIGGER key_is_one BEFORE INSERT ON about WHEN EXISTS (SELECT 1 FROM about)
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
"""

FIRST_TABLES = """
CREATE TABLE about (key BLOB NOT NULL);
CREATE TABLE limits (
  id INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, epsilon TEXT NOT NULL,
  delta TEXT NOT NULL, time TEXT NOT NULL);
CREATE TABLE spends (
  id INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, epsilon TEXT NOT NULL,
  delta TEXT NOT NULL, parts TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'done', 'abandoned')),
  time TEXT NOT NULL, ended TEXT, fingerprint TEXT NOT NULL, what TEXT NOT NULL);
CREATE INDEX spends_of_a_dataset ON spends (dataset, epsilon, delta, state);
CREATE TRIGGER spends_stay BEFORE DELETE ON spends
  BEGIN SELECT RAISE(ABORT, 'a spend cannot be taken back'); END;
CREATE TRIGGER amounts_stay
  BEFORE UPDATE OF id, dataset, epsilon, delta, parts, time, fingerprint, what ON spends
  BEGIN SELECT RAISE(ABORT, 'a spend cannot be changed'); END;
CREATE TRIGGER ends_stay BEFORE UPDATE OF state, ended ON spends WHEN OLD.state != 'open'
  BEGIN SELECT RAISE(ABORT, 'a spend that ended cannot be changed'); END;
CREATE TRIGGER spends_are_new BEFORE INSERT ON spends
  WHEN EXISTS (SELECT 1 FROM spends WHERE id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'a spend cannot be replaced'); END;
CREATE TRIGGER limits_stay BEFORE DELETE ON limits
  BEGIN SELECT RAISE(ABORT, 'limits stay on record'); END;
CREATE TRIGGER limits_are_kept BEFORE UPDATE ON limits
  BEGIN SELECT RAISE(ABORT, 'limits stay on record'); END;
CREATE TRIGGER limits_are_new BEFORE INSERT ON limits
  WHEN EXISTS (SELECT 1 FROM limits WHERE id = NEW.id)
  BEGIN SELECT RAISE(ABORT, 'limits stay on record'); END;
CREATE TRIGGER key_stays BEFORE UPDATE ON about
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
CREATE TRIGGER key_is_kept BEFORE DELETE ON about
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
CREATE TRIGGER key_is_one BEFORE INSERT ON about WHEN EXISTS (SELECT 1 FROM about)
  BEGIN SELECT RAISE(ABORT, 'the key stays'); END;
"""


def statements(tables: str = TABLES) -> Iterator[str]:
    """What makes the tables, one statement at a time."""
    statement = ""
    for line in tables.strip().splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement.strip().removesuffix(";")
            statement = ""


def has_tables(db: sqlite3.Connection, tables: str) -> bool:
    """Whether a file has these tables and triggers, to the letter, and no others."""
    found = db.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    return sorted(sql for (sql,) in found) == sorted(statements(tables))
