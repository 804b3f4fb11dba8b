"""A run of a draft in a process of its own: started once, watched, cancelled, found again."""

import fcntl
import os
import secrets
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from threading import Thread
from typing import Any

from holdfast.errors import Spent
from holdfast.page.draft import Draft, Filled
from holdfast.page.state import read_json, write_json


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
            words = [sys.executable, "-m", "holdfast.page.work", str(self.place), str(queue)]
            process = subprocess.Popen(
                words,
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
