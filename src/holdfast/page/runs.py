"""A steward's draft, kept on disk as it was typed; its run in a process of its own: started once,
watched, cancelled, found again."""

import fcntl
import hashlib
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import Any

from holdfast.errors import HoldfastError, Spent
from holdfast.page.folder import Folder, PrivateFolder, read_json, write_json

Filled = dict[str, list[str]]
"""What was typed into each field."""


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
    def address(self) -> str:
        """Where it is shown."""
        return f"/drafts/{self.place.name}"

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return read_json(self.place / "draft.json") or {}

    @property
    def filled(self) -> Filled:
        """What was filled in, by the name of the field; those left empty are not there."""
        return dict(self._kept.get("filled", {}))

    @property
    def checked(self) -> bool:
        """Whether somebody asked what would happen."""
        return bool(self._kept.get("checked"))

    @property
    def file(self) -> str:
        """The file as it is called: a path in the folder, or the name of a dropped one."""
        return str(self._kept.get("dropped") or self._kept.get("path", ""))

    def keep(self, **values: Any) -> "Draft":
        """The same with other values: `path`, `dropped`, `filled`, `checked`."""
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


def digest_of(filled: Mapping[str, list[str]], *files: Any) -> str:
    """Changes with whatever was filled in, and with the files."""
    content = json.dumps([filled, files], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:24]


def safe_name(name: str) -> str:
    r"""The name of a dropped file, fit for a path.

    >>> safe_name("../../etc/passwd.csv"), safe_name("C:\\x\\Zählung 1.csv")
    ('passwd.csv', 'Zählung 1.csv')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(sign if sign.isalnum() or sign in " ._-()" else "_" for sign in last)
    return kept.strip(" .")[-80:] or f"table-{secrets.token_hex(4)}.csv"


class Phase(StrEnum):
    """How far a run has come, in the order of the page."""

    WAITING = "waiting"
    READING = "reading"
    MEASURING = "measuring"
    WRITING = "writing"
    CHECKING = "checking"


class Ended(StrEnum):
    """How a run ended."""

    DONE = "done"
    REFUSED = "refused"
    """holdfast said no, in words."""
    FAILED = "failed"
    """Something nobody expected; the words are withheld, because they could show counts."""
    CANCELLED = "cancelled"
    KILLED = "killed"
    """Its process is gone without a word."""


UNPAID = (Phase.WAITING, Phase.READING)
"""While a run is here nothing was paid or measured."""
STOPPABLE = (*UNPAID, Phase.MEASURING)
"""While a run is here there is something to be stopped: after it the release is made and paid."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a run is to do."""

    source: str
    """The path of the file."""
    placed: Filled
    """What is asked, with true paths."""


@dataclass(frozen=True, kw_only=True)
class Status:
    """Where a run stands; `ended` is None while it is under way."""

    phase: Phase
    share: float | None = None
    """How much of this phase is done, where that is known."""
    ended: Ended | None = None
    message: str = ""
    spent: Spent = Spent.NO
    """Whether a ledger, where there is one, has counted a run that made no release."""
    result: dict[str, Any] | None = None

    @property
    def done(self) -> bool:
        """Whether there is a release."""
        return self.ended is Ended.DONE


@dataclass(frozen=True)
class DraftRun:
    """The run of a draft; its files lie in the draft's folder."""

    place: Path

    @staticmethod
    def of(draft: Draft) -> "DraftRun":
        """The run that a draft has or may have."""
        return DraftRun(draft.place / "run")

    def start(self, task: Task, queue: Path) -> bool:
        """Start it, unless it is under way or done: a second press starts nothing.

        `queue` is a file that runs lock in turn, so that two of the same release are one.
        """
        with (self.place.parent / "claim").open("ab") as claim:
            fcntl.flock(claim, fcntl.LOCK_EX)
            status = self.status()
            if status is not None and (status.ended is None or status.done):
                return False
            if status is not None:
                os.rename(self.place, self.place.with_name(f"run-{secrets.token_hex(4)}"))
            self._start(task, queue)
        return True

    def _start(self, task: Task, queue: Path) -> None:
        """All files of the run first, under another name: a run is never half there."""
        fresh = self.place.with_name(f"new-{secrets.token_hex(4)}")
        fresh.mkdir(mode=0o700)
        write_json(fresh / "task.json", asdict(task))
        write_json(fresh / "phase.json", [Phase.WAITING, None])
        with (fresh / "alive").open("wb") as alive:
            fcntl.flock(alive, fcntl.LOCK_EX)  # inherited: held for as long as the run lives
            os.rename(fresh, self.place)
            command = [sys.executable, "-m", "holdfast.page.work", str(self.place), str(queue)]
            process = subprocess.Popen(
                command,
                pass_fds=[alive.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C at the terminal is not for it
            )
        write_json(self.place / "process.json", process.pid)
        Thread(target=process.wait, daemon=True).start()

    def status(self) -> Status | None:
        """Where it stands; None where nothing was started."""
        alive = self._alive()  # first: a run that ends now has its end on disk
        reached, end = (read_json(self.place / f"{name}.json") for name in ("phase", "end"))
        if reached is None:
            return None
        phase, share = Phase(reached[0]), reached[1]
        if end is not None:
            spent = Spent(end.get("spent", Spent.NO))
            return Status(phase=phase, **end | {"ended": Ended(end["ended"]), "spent": spent})
        if alive:
            return Status(phase=phase, share=share)
        out = Path(read_json(self.place / "task.json")["placed"]["out"][-1])
        if phase not in UNPAID and out.is_dir():  # it was new when it began
            result = {"folder": str(out), "repeated": False}
            return Status(phase=phase, ended=Ended.DONE, result=result)
        how = Ended.CANCELLED if (self.place / "cancelled").exists() else Ended.KILLED
        return Status(phase=phase, ended=how, spent=Spent.NO if phase in UNPAID else Spent.MAYBE)

    def cancel(self) -> None:
        """Ask it to stop; a run that is past paying is counted all the same."""
        process = read_json(self.place / "process.json")
        if process is not None and self._alive():
            (self.place / "cancelled").touch()
            os.kill(process, signal.SIGINT)

    def waits(self, queue: Path) -> bool:
        """Whether another run is under way, before which this one cannot begin."""
        status = self.status()
        begun = status is None or status.ended is not None or status.phase is not Phase.WAITING
        return not begun and _is_locked(queue)

    def _alive(self) -> bool:
        return _is_locked(self.place / "alive")


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
