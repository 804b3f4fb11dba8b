"""The process of a run: `python -m holdfast.page.work FOLDER QUEUE`. Says nothing on a screen."""

import fcntl
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, spent_by
from holdfast.page.folder import read_json, write_json
from holdfast.page.runs import Ended, Phase, Task

OFTEN = 0.3  # seconds between two notes of how much is done
Reach = Callable[[Phase, float | None], None]


def work(place: Path, queue: Path) -> dict[str, Any]:
    """Make the release that was asked for; whatever happens, how it ended."""
    task = Task(**read_json(place / "task.json"))
    reached: list[tuple[Phase, float]] = []

    def reach(phase: Phase, share: float | None) -> None:
        """Note how far the run is, not too often."""
        if reached and reached[-1][0] is phase and time.monotonic() - reached[-1][1] < OFTEN:
            return
        reached.append((phase, time.monotonic()))
        write_json(place / "phase.json", [phase, share])

    end: dict[str, Any]
    try:
        end = {"ended": Ended.DONE, "result": _release(task, queue, reach)}
    except KeyboardInterrupt as stopped:
        end = {"ended": Ended.CANCELLED, "spent": spent_by(stopped)}
    except HoldfastError as error:
        end = {"ended": Ended.REFUSED, "message": str(error), "spent": spent_by(error)}
    except Exception as error:
        name = type(error).__name__  # what it says could show counts
        end = {"ended": Ended.FAILED, "message": name, "spent": spent_by(error)}
    out = task.placed["out"][-1]
    measured = any(phase is Phase.MEASURING for phase, _ in reached)
    if measured and end["ended"] != Ended.DONE and Path(out).is_dir():
        result = {"folder": out, "repeated": False}  # stopped too late: it was written
        return {"ended": Ended.DONE, "result": result}
    return end


def _release(task: Task, queue: Path, reach: Reach) -> dict[str, Any]:
    import holdfast
    from holdfast.engine.privatize import opened
    from holdfast.engine.run import WRITING, run
    from holdfast.release.bundle import check_place
    from holdfast.request import Request

    def progress(what: str, share: float | None) -> None:
        """The phase of a step of the engine."""
        reach(Phase.WRITING if what == WRITING else Phase.MEASURING, share)

    request, file = Request.from_words(task.placed), Path(task.source)
    with queue.open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # one at a time: the second of two finds the first's
        reach(Phase.READING, None)
        out = check_place(Path(task.placed["out"][-1]))
        with opened(file, request) as table:
            reach(Phase.MEASURING, None)
            release = run(table, request, file=file, progress=progress)
    reach(Phase.CHECKING, None)
    holdfast.verify(out)
    return {"folder": str(out), "repeated": release.repeated}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    _place, _queue = map(Path, sys.argv[1:])
    if (_place / "cancelled").exists():  # before there was anything to hear it
        raise KeyboardInterrupt
    _end_of_run = work(_place, _queue)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    write_json(_place / "end.json", _end_of_run)
