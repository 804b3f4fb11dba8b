"""A steward's draft: a file, and what was filled in about it, kept on disk as it was typed."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.page.folder import Folder
from holdfast.page.state import PrivateFolder, read_json, write_json

Filled = dict[str, list[str]]
"""The words of each field."""


@dataclass(frozen=True)
class Draft:
    """What one steward has filled in so far."""

    place: Path

    @staticmethod
    def find(state: PrivateFolder, name: str) -> "Draft":
        """The one of this name, which must be there."""
        place = state.place("drafts", name)
        if not place.is_dir():
            raise HoldfastError("this draft is gone. Hint: start again from the first page.")
        return Draft(place)

    @property
    def name(self) -> str:
        """Its part of an address."""
        return self.place.name

    @property
    def address(self) -> str:
        """Where it is shown."""
        return f"/drafts/{self.name}"

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return read_json(self.place / "draft.json") or {}

    @property
    def words(self) -> Filled:
        """What was filled in, by the name of the field; those left empty are not there."""
        return dict(self._kept.get("words", {}))

    @property
    def checked(self) -> bool:
        """Whether somebody asked what would happen."""
        return bool(self._kept.get("checked"))

    @property
    def file(self) -> str:
        """The file as it is called: a path in the folder, or the name of a dropped one."""
        return str(self._kept.get("dropped") or self._kept.get("path", ""))

    def keep(self, **values: Any) -> "Draft":
        """The same with other values: `path`, `dropped`, `words`, `checked`."""
        write_json(self.place / "draft.json", self._kept | values)
        return Draft(self.place)

    def source(self, folder: Folder) -> Path:
        """The file that it is about: a dropped one, or one in the folder."""
        dropped = self._kept.get("dropped")
        return self.upload(dropped) if dropped else folder.find(str(self._kept.get("path", "")))

    def upload(self, name: str) -> Path:
        """Where a dropped file goes."""
        folder = self.place / "upload"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder / name

    def copy(self, state: PrivateFolder) -> "Draft":
        """Another draft with the same things filled in, and the same dropped file."""
        other = Draft(state.make("drafts"))
        if (self.place / "upload").is_dir():
            for path in (self.place / "upload").iterdir():
                other.upload(path.name).write_bytes(path.read_bytes())
        return other.keep(**self._kept | {"checked": False})


def digest_of(words: Mapping[str, list[str]], *files: Any) -> str:
    """Changes with whatever was filled in, and with the files."""
    content = json.dumps([words, files], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:24]


def safe_name(name: str) -> str:
    r"""The name of a dropped file, fit for a path.

    >>> safe_name("../../etc/passwd.csv"), safe_name("C:\\x\\Zählung 1.csv")
    ('passwd.csv', 'Zählung 1.csv')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(sign if sign.isalnum() or sign in " ._-()" else "_" for sign in last)
    return kept.strip(" .")[-80:] or f"table-{secrets.token_hex(4)}.csv"
