"""The process of a run: `python -m holdfast.page.work FOLDER QUEUE`. Says nothing on a screen."""

import fcntl
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, spent_by
from holdfast.former.page.chosen import Chosen
from holdfast.former.page.recipe import table_format
from holdfast.former.page.runs import Ended, Phase
from holdfast.former.page.state import read_json, write_json


def work(place: Path, queue: Path) -> dict[str, Any]:
    """Make the release that was chosen; whatever happens, how it ended."""
    run = Chosen(**read_json(place / "chosen.json"))
    reached: list[Phase] = []

    def reach(phase: Phase) -> None:
        reached.append(phase)
        write_json(place / "phase.json", phase)

    try:
        end = _end(run, queue, reach)
    except KeyboardInterrupt as stopped:
        end = {"ended": Ended.CANCELLED, "spent": spent_by(stopped)}
    if Phase.DRAWING in reached and end["ended"] != Ended.DONE and Path(run.out).is_dir():
        result = {"folder": run.out, "repeated": False}  # stopped too late: it was written
        return {"ended": Ended.DONE, "result": result}
    return end


def _end(run: Chosen, queue: Path, reach: Callable[[Phase], None]) -> dict[str, Any]:
    try:
        return {"ended": Ended.DONE, "result": _release(run, queue, reach)}
    except HoldfastError as error:
        return {"ended": Ended.REFUSED, "message": str(error), "spent": spent_by(error)}
    except Exception as error:
        name = type(error).__name__  # what it says could show counts
        return {"ended": Ended.FAILED, "message": name, "spent": spent_by(error)}


def _release(run: Chosen, queue: Path, reach: Callable[[Phase], None]) -> dict[str, Any]:
    import holdfast.former as holdfast
    from holdfast.former.engines.looking import check_room
    from holdfast.former.release.bundle import new_folder

    with queue.open("ab") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # one at a time: the second of two finds the first's
        reach(Phase.READING)
        out = new_folder(run.out)
        run.look()
        table, call = run.table(), run.call
        check_room(Path(run.source), out, call["max_count"])
        reach(Phase.DRAWING)
        if run.streamed:
            release: Any = holdfast.privatize_stream(table, out, **call)
        else:
            release = holdfast.privatize(table, **call)
            reach(Phase.WRITING)
            release.save(out, table_format=table_format(run))
    reach(Phase.CHECKING)
    holdfast.verify(out)
    return {"folder": str(out), "repeated": release.repeated}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    _place, _queue = map(Path, sys.argv[1:])
    if (_place / "cancelled").exists():  # before there was anything to hear it
        raise KeyboardInterrupt
    _found = work(_place, _queue)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    write_json(_place / "end.json", _found)
