"""Runs in a process of their own: watched, cancelled, killed; nothing is paid twice or half."""

import fcntl
import json
import os
import signal
import time

import pytest

from holdfast.errors import Spent
from holdfast.ledger.ledger import Ledger
from holdfast.page.folder import read_json, write_json
from holdfast.page.runs import DraftRun, Ended, Phase, Task
from holdfast.page.work import work
from page_visitor import write_deaths


def until(condition, seconds=240):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def task(tmp_path):
    table = write_deaths(tmp_path / "deaths.csv", rows=60)
    words = {"count": ["deaths"], "category": ["county"], "epsilon": ["1"], "out": ["out"]}
    placed = words | {"out": [str(tmp_path / "out")]}
    return Task(source=str(table), placed=placed)


@pytest.fixture
def draft(tmp_path):
    (tmp_path / "draft").mkdir()
    return tmp_path / "draft"


@pytest.fixture
def held(tmp_path):
    """A queue that somebody else holds: runs wait in it."""
    with (tmp_path / "queue").open("ab") as queue:
        fcntl.flock(queue, fcntl.LOCK_EX)
        yield tmp_path / "queue"


def prepared(draft, task, **placed) -> DraftRun:
    """A run whose process is gone before it wrote its end."""
    run = DraftRun(draft / "run")
    run.place.mkdir()
    write_json(run.place / "task.json", vars(task) | {"placed": task.placed | placed})
    write_json(run.place / "phase.json", [Phase.WAITING, None])
    (run.place / "alive").touch()
    return run


def test_a_run_is_started_once_and_can_be_cancelled_while_it_waits(draft, task, held, tmp_path):
    run = DraftRun(draft / "run")
    assert run.status() is None
    assert run.start(task, held) and not run.start(task, held)
    assert run.status().ended is None
    process = read_json(run.place / "process.json")
    run.cancel()
    until(lambda: run.status().ended)
    status = run.status()
    assert status.ended is Ended.CANCELLED and status.spent is Spent.NO
    assert not (tmp_path / "out").exists()
    assert run.start(task, held)  # after that it may be started again
    os.kill(read_json(run.place / "process.json"), signal.SIGKILL)
    until(lambda: run.status().ended)
    assert run.status().ended is Ended.KILLED and run.status().spent is Spent.NO
    assert process != read_json(run.place / "process.json")


def test_words_of_an_unexpected_error_are_kept_back(draft, task, tmp_path, monkeypatch):
    def fail(*_args, **_options):
        raise RuntimeError("17 deaths in Kent")

    monkeypatch.setattr("holdfast.engine.run.run", fail)
    end = work(prepared(draft, task).place, tmp_path / "queue")
    assert end["ended"] is Ended.FAILED and end["message"] == "RuntimeError"
    assert "17" not in json.dumps(end)


@pytest.mark.parametrize("phase", list(Phase))
def test_a_process_killed_in_any_phase_leaves_no_half_release(draft, task, tmp_path, phase):
    run = prepared(draft, task)
    write_json(run.place / "phase.json", [phase, 0.5])
    status = run.status()
    assert status.ended is Ended.KILLED
    unpaid = phase in (Phase.WAITING, Phase.READING)
    assert status.spent is (Spent.NO if unpaid else Spent.MAYBE)
    (tmp_path / "out").mkdir()  # the folder gets its name when all is in it
    assert run.status().done == (not unpaid)


def test_a_stop_that_comes_too_late_stops_nothing(draft, task, tmp_path, monkeypatch):
    def interrupted(_folder):
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.verify", interrupted)
    assert work(prepared(draft, task).place, tmp_path / "queue")["ended"] is Ended.DONE


def test_a_stop_while_measuring_is_counted_by_the_ledger_and_leaves_nothing(
    draft, task, tmp_path, monkeypatch
):
    ledger = Ledger(tmp_path / "b.ledger")
    ledger.set_limit("deaths", epsilon=3)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.engine.run.measure", interrupted)
    run = prepared(draft, task, ledger=[str(tmp_path / "b.ledger")], dataset=["deaths"])
    end = work(run.place, tmp_path / "queue")
    assert end == {"ended": Ended.CANCELLED, "spent": Spent.YES}
    assert ledger.balance("deaths").epsilon_spent == 1 and not (tmp_path / "out").exists()


def test_what_the_page_says_of_a_run_that_was_stopped(visitor, draft, task, tmp_path):
    from holdfast.page.runs import Draft, Status

    status = Status(phase=Phase.MEASURING, ended=Ended.CANCELLED, spent=Spent.MAYBE)
    words = {"draft": Draft(draft), "ledger": True, "ends": Ended, "key": ""}
    page = visitor.site.render("ended.html", status=status, demo=False, root="", **words)
    assert "may have counted" in page and "Nothing was measured" not in page


def test_how_much_is_done_is_told_to_the_script_and_to_a_page_without_one(visitor, held, folder):
    draft = visitor.start()
    visitor.fill(draft)
    (place,) = (visitor.site.state.root / "drafts").iterdir()
    (visitor.site.state.root / "queue").touch()
    run = place / "run"
    run.mkdir()
    write_json(run / "phase.json", [Phase.MEASURING, 0.25])
    write_json(run / "task.json", {"source": "", "called": "", "words": {}, "placed": {}})
    with (run / "alive").open("wb") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        told = visitor.get(f"{draft}/progress").json()
        assert told["phase"] == "measuring" and told["share"] == 0.25 and told["stoppable"]
        page = visitor.get(f"{draft}/run").text
        assert 'value="0.25"' in page and '<noscript><meta http-equiv="refresh"' in page
        assert visitor.get(draft).url.path == f"{draft}/run"  # nothing is changed meanwhile
