"""A steward's draft: what was filled in at each step, kept on disk as it was typed."""

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.errors import HoldfastError
from holdfast.former.page.state import State, read_json, write_json

STEPS = ("file", "columns", "protected", "budget", "release")
COMPARED = 1 << 22
"""Bytes up to which dropped files are compared."""
Filled = dict[str, list[str]]
"""The fields of a form, each with all its values."""


@dataclass(frozen=True)
class Draft:
    """What one steward has filled in so far."""

    place: Path
    steps: tuple[str, ...] = STEPS
    """Those that count; what was filled in at others is left aside."""

    @staticmethod
    def new(state: State) -> "Draft":
        """An empty one."""
        return Draft(state.make("drafts"))

    @staticmethod
    def find(state: State, name: str) -> "Draft":
        """The one of this name, which must be there."""
        place = state.place("drafts", name)
        if not place.is_dir():
            raise HoldfastError("this draft is gone. Hint: start again from the first page.")
        return Draft(place)

    @property
    def name(self) -> str:
        """Its part of an address."""
        return self.place.name

    def filled(self, step: str) -> Filled:
        """What was filled in at a step, in order or not; nothing where nobody was yet."""
        if step not in self.steps:
            return {}
        typed = read_json(self._typed(step))
        return typed or read_json(self._in_order(step)) or {}

    def fill(self, step: str, fields: Filled) -> None:
        """Keep what was filled in and is in order."""
        write_json(self._in_order(step), fields)
        self._typed(step).unlink(missing_ok=True)

    def type(self, step: str, fields: Filled) -> None:
        """Keep what is not in order, or not sent yet: the steps below are to wait for it."""
        write_json(self._typed(step), fields)
        self._in_order(step).unlink(missing_ok=True)

    def at(self, step: str) -> "Draft":
        """The same, without what is not in order at other steps: nothing is wrong with this one
        because of it."""
        settled = [one for one in STEPS if one == step or self._in_order(one).exists()]
        return replace(self, steps=tuple(settled))

    def _in_order(self, step: str) -> Path:
        return self.place / f"{step}.json"

    def _typed(self, step: str) -> Path:
        return self.place / f"{step}-typed.json"

    def one(self, step: str, field: str, otherwise: str = "") -> str:
        """The value of a field that has one."""
        values = self.filled(step).get(field) or [otherwise]
        return values[-1]

    def several(self, step: str, field: str) -> list[str]:
        """The values of a field that has several."""
        return [value for value in self.filled(step).get(field, []) if value]

    @property
    def reached(self) -> int:
        """How many steps are in order, from the first without a gap."""
        done = [self._in_order(step).exists() for step in STEPS]
        return done.index(False) if False in done else len(STEPS)

    @property
    def digest(self) -> str:
        """Changes with whatever was filled in: a page that is older than the draft is known."""
        content = json.dumps([self.filled(step) for step in STEPS[:-1]], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:24]

    @property
    def likeness(self) -> str:
        """The same for drafts in which the same was filled in about the same file; a large dropped
        one is like no other."""
        dropped = self.one("file", "dropped")
        if not dropped:
            return self.digest
        path = self.upload(dropped)
        if not path.is_file() or path.stat().st_size > COMPARED:
            return self.name
        return f"{self.digest} {hashlib.sha256(path.read_bytes()).hexdigest()}"

    def upload(self, name: str) -> Path:
        """Where a dropped file goes."""
        folder = self.place / "upload"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / name

    def copy(self, state: State) -> "Draft":
        """Another draft with the same things filled in, and the same dropped file."""
        other = Draft.new(state)
        for step in STEPS[:-1]:
            if self._in_order(step).exists():
                other.fill(step, self.filled(step))
        if (self.place / "upload").is_dir():
            for path in (self.place / "upload").iterdir():
                other.upload(path.name).write_bytes(path.read_bytes())
        return other


def safe_name(name: str) -> str:
    r"""The name of a dropped file, fit for a path.

    >>> safe_name("../../etc/passwd.csv"), safe_name("C:\\x\\Zählung 1.csv")
    ('passwd.csv', 'Zählung 1.csv')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(sign if sign.isalnum() or sign in " ._-()" else "_" for sign in last)
    return kept.strip(" .")[-80:] or f"table-{secrets.token_hex(4)}.csv"
