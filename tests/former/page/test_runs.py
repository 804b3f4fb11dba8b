"""Runs in a process of their own: watched, cancelled, killed; nothing is paid twice or half."""

import fcntl
import json
import os
import signal
import time
import warnings
from pathlib import Path

import pytest

from holdfast.errors import Spent
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.page.chosen import Chosen
from holdfast.former.page.runs import Ended, Phase, Run
from holdfast.former.page.state import read_json, write_json
from holdfast.former.page.work import work
from page_visits import write_counties


def until(condition, seconds=240):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def chosen(tmp_path):
    table = write_counties(tmp_path / "deaths.csv", rows=60)
    arguments = {"count": "deaths", "category": "county", "epsilon": "1", "max_count": 4}
    out = str(tmp_path / "out")
    return Chosen(source=str(table), part={}, people=None, arguments=arguments, out=out)


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


def prepared(draft, chosen) -> Run:
    """A run whose process is gone before it wrote its end."""
    run = Run(draft / "run")
    run.place.mkdir()
    write_json(run.place / "chosen.json", vars(chosen))
    write_json(run.place / "phase.json", Phase.WAITING)
    (run.place / "alive").touch()
    return run


def test_a_run_is_started_once_and_can_be_cancelled_while_it_waits(draft, chosen, held, tmp_path):
    run = Run(draft / "run")
    assert run.status() is None
    assert run.start(chosen, held) and not run.start(chosen, held)
    assert run.status().ended is None
    process = read_json(run.place / "process.json")
    run.cancel()
    until(lambda: run.status().ended)
    status = run.status()
    assert status.ended is Ended.CANCELLED and status.spent is Spent.NO
    assert not (tmp_path / "out").exists()
    assert run.start(chosen, held)  # after that it may be started again
    os.kill(read_json(run.place / "process.json"), signal.SIGKILL)
    until(lambda: run.status().ended)
    assert run.status().ended is Ended.KILLED and run.status().spent is Spent.NO
    assert process != read_json(run.place / "process.json")


def test_words_of_an_unexpected_error_are_kept_back(draft, chosen, tmp_path, monkeypatch):
    def fail(*_args, **_options):
        raise RuntimeError("17 deaths in Kent")

    monkeypatch.setattr("holdfast.privatize", fail)
    run = prepared(draft, chosen)
    end = work(run.place, tmp_path / "queue")
    assert end["ended"] is Ended.FAILED and end["message"] == "RuntimeError"
    assert "17" not in json.dumps(end)


@pytest.mark.parametrize("phase", list(Phase))
def test_a_process_killed_in_any_phase_leaves_no_half_release(draft, chosen, tmp_path, phase):
    run = prepared(draft, chosen)
    write_json(run.place / "phase.json", phase)
    status = run.status()
    assert status.ended is Ended.KILLED
    unpaid = phase in (Phase.WAITING, Phase.READING)
    assert status.spent is (Spent.NO if unpaid else Spent.MAYBE)
    (tmp_path / "out").mkdir()  # the folder gets its name when all is in it
    assert run.status().done == (not unpaid)


def test_a_stop_that_comes_too_late_stops_nothing(draft, chosen, tmp_path, monkeypatch):
    def interrupted(_folder):
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.verify", interrupted)
    run = prepared(draft, chosen)
    assert work(run.place, tmp_path / "queue")["ended"] is Ended.DONE


def test_a_stop_while_drawing_is_counted_by_the_ledger_and_leaves_nothing(
    draft, chosen, tmp_path, monkeypatch
):
    ledger = Ledger(tmp_path / "b.ledger")
    ledger.set_limit("deaths", epsilon=3)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.former.engines.memory.five_steps", interrupted)
    paid = {"ledger": str(tmp_path / "b.ledger"), "dataset": "deaths"}
    run = prepared(draft, Chosen(**vars(chosen) | {"arguments": chosen.arguments | paid}))
    end = work(run.place, tmp_path / "queue")
    assert end == {"ended": Ended.CANCELLED, "spent": Spent.YES}
    assert ledger.balance("deaths").epsilon_spent == 1 and not (tmp_path / "out").exists()


def test_a_stop_while_paying_may_have_been_counted_and_the_page_says_so(
    draft, chosen, visitor, tmp_path, monkeypatch
):
    Ledger(tmp_path / "b.ledger").set_limit("deaths", epsilon=3)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "spend", interrupted)
    paid = {"ledger": str(tmp_path / "b.ledger"), "dataset": "deaths"}
    run = prepared(draft, Chosen(**vars(chosen) | {"arguments": chosen.arguments | paid}))
    write_json(run.place / "end.json", work(run.place, tmp_path / "queue"))
    status = run.status()
    assert status.ended is Ended.CANCELLED and status.spent is Spent.MAYBE
    words = {"draft": draft, "message": "", "ledger": "deaths", "ends": Ended, "key": ""}
    page = visitor.site.render("ended.html", status=status, demo=False, root="", **words)
    assert "may have counted" in page and "Nothing was drawn" not in page


class Forked:
    """A process for a run without the seconds that a fresh one takes to begin."""

    def __init__(self, words, **_options):
        place, queue = map(Path, words[-2:])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
            self.pid = os.fork()
        if self.pid == 0:
            try:
                write_json(place / "end.json", work(place, queue))
            finally:
                os._exit(0)

    def wait(self):
        return os.waitpid(self.pid, 0)[1]


def test_two_processes_make_the_same_release_and_draw_and_pay_for_it_once(
    draft, chosen, tmp_path, monkeypatch
):
    monkeypatch.setattr("holdfast.former.page.runs.subprocess.Popen", Forked)
    ledger = Ledger(tmp_path / "b.ledger")
    ledger.set_limit("deaths", epsilon=3)
    paid = {"ledger": str(tmp_path / "b.ledger"), "dataset": "deaths"}
    runs = []
    for name in ("one", "two"):
        (draft / name).mkdir()
        arguments = chosen.arguments | paid
        out = str(tmp_path / f"out-{name}")
        both = Chosen(**vars(chosen) | {"arguments": arguments, "out": out})
        runs.append(Run(draft / name / "run"))
        assert runs[-1].start(both, tmp_path / "queue")
    for run in runs:
        until(lambda run=run: run.status().ended)
        assert run.status().done, run.status()
        assert not run.start(both, tmp_path / "queue")  # what is done is not done again
    assert ledger.balance("deaths").epsilon_spent == 1
    tables = [(tmp_path / f"out-{name}" / "table.csv").read_bytes() for name in ("one", "two")]
    assert tables[0] == tables[1]
    assert sorted(run.status().result["repeated"] for run in runs) == [False, True]
