import os
import signal

import pytest

from forked import end_of
from holdfast.errors import HoldfastError
from holdfast.paper.experiments import runner
from holdfast.paper.experiments.runner import run, task_seed


def noisy(task, seed):
    return [{"draw": draw, "value": (seed * (draw + 1)) % 1000 / 7} for draw in range(2)]


def fails(task, seed):
    raise HoldfastError("`x` is bad.")


def dies_at_7(task, seed):
    if task["x"] == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return noisy(task, seed)


def go(folder, tasks=6, work=noisy, jobs=1):
    return run("noisy", [{"x": x} for x in range(tasks)], work, folder=folder, jobs=jobs)


def test_rows_come_in_the_order_of_the_tasks_in_parallel_and_alone(tmp_path):
    assert go(tmp_path / "a", jobs=2) == go(tmp_path / "b")


def test_a_seed_depends_on_the_content_of_a_task_alone():
    assert task_seed("a", {"x": 1, "y": 2}) == task_seed("a", {"y": 2, "x": 1})
    assert task_seed("a", {"x": 1}) != task_seed("a", {"x": 2})


def test_a_finished_task_is_not_carried_out_again(tmp_path):
    rows = go(tmp_path)
    assert go(tmp_path, work=fails) == rows


def test_a_task_that_other_code_finished_is_carried_out_again(tmp_path, monkeypatch):
    go(tmp_path)
    whole = (tmp_path / "noisy.csv").read_bytes()
    monkeypatch.setattr(runner, "code_digest", lambda: "other")
    with pytest.raises(HoldfastError, match="bad"):
        go(tmp_path, work=fails)
    go(tmp_path)
    assert (tmp_path / "noisy.csv").read_bytes() == whole
    assert len((tmp_path / "noisy.jsonl").read_text().splitlines()) == 12


def test_code_is_known_by_its_source(tmp_path, monkeypatch):
    for name in ("paper/a.py", "privacy/b.py", "arrays.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1")
    monkeypatch.setattr(runner.holdfast.paper, "__file__", str(tmp_path / "paper" / "__init__.py"))
    digests = [runner.code_digest.__wrapped__()]
    for name in ("paper/a.py", "privacy/b.py", "arrays.py"):
        (tmp_path / name).write_text("x = 2")
        digests.append(runner.code_digest.__wrapped__())
    assert len(set(digests)) == 4


def test_a_line_cut_short_is_done_again(tmp_path):
    go(tmp_path)
    whole = (tmp_path / "noisy.csv").read_bytes()
    log = tmp_path / "noisy.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    go(tmp_path)
    assert (tmp_path / "noisy.csv").read_bytes() == whole
    assert len(log.read_text().splitlines()) == 6


def test_the_same_task_twice_is_refused(tmp_path):
    with pytest.raises(HoldfastError, match="twice"):
        run("s", [{"x": 1}, {"x": 1}], noisy, folder=tmp_path)


def test_an_error_in_a_task_is_raised(tmp_path):
    with pytest.raises(HoldfastError, match="bad"):
        go(tmp_path, work=fails, jobs=2)


def test_an_unwritable_folder_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HoldfastError, match="cannot be written"):
        go(tmp_path / "file")


def test_a_killed_run_resumes_to_the_same_bytes(tmp_path):
    go(tmp_path / "whole", tasks=40)
    log = tmp_path / "killed" / "noisy.jsonl"
    end = end_of(lambda: go(log.parent, tasks=40, work=dies_at_7))
    assert end == -signal.SIGKILL and len(log.read_text().splitlines()) == 7
    go(log.parent, tasks=40)
    whole = tmp_path / "whole" / "noisy.csv"
    assert (log.parent / "noisy.csv").read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("line", [b'{"task": garbage', b'{"x": 1}', b"7", b"\xff"])
def test_a_damaged_line_is_named(line, tmp_path):
    go(tmp_path)
    log = tmp_path / "noisy.jsonl"
    lines = log.read_bytes().splitlines()
    log.write_bytes(b"\n".join([lines[0], line, *lines[2:]]) + b"\n")
    with pytest.raises(HoldfastError, match=r"noisy.jsonl: line 2 is damaged"):
        go(tmp_path)
