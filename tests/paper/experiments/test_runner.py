import os
import signal

import pytest

from forked import end_of
from holdfast.errors import HoldfastError
from holdfast.paper.experiments import runner
from holdfast.paper.experiments.runner import Study, run, task_seed


def noisy(task, seed):
    return [{"draw": draw, "value": (seed * (draw + 1)) % 1000 / 7} for draw in range(2)]


def fails(task, seed):
    raise HoldfastError("`x` is bad.")


def dies_at_7(task, seed):
    if task["x"] == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return noisy(task, seed)


def study(tasks=6, work=noisy):
    return Study(name="noisy", tasks=[{"x": x} for x in range(tasks)], work=work)


def test_rows_come_in_the_order_of_the_tasks_in_parallel_and_alone():
    assert run(study(), jobs=2, progress=False) == run(study(), jobs=1, progress=False)


def test_a_seed_depends_on_the_content_of_a_task_alone():
    assert task_seed("a", {"x": 1, "y": 2}) == task_seed("a", {"y": 2, "x": 1})
    assert task_seed("a", {"x": 1}) != task_seed("a", {"x": 2})


def test_a_finished_task_is_not_carried_out_again(tmp_path):
    rows = run(study(), folder=tmp_path, jobs=1, progress=False)
    again = Study(name="noisy", tasks=study().tasks, work=fails)
    assert run(again, folder=tmp_path, jobs=1, progress=False) == rows


def test_a_task_that_other_code_finished_is_carried_out_again(tmp_path, monkeypatch):
    run(study(), folder=tmp_path, jobs=1, progress=False)
    whole = (tmp_path / "noisy.csv").read_bytes()
    monkeypatch.setattr(runner, "code_digest", lambda: "other")
    with pytest.raises(HoldfastError, match="bad"):
        run(study(work=fails), folder=tmp_path, jobs=1, progress=False)
    run(study(), folder=tmp_path, jobs=1, progress=False)
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
    run(study(), folder=tmp_path, jobs=1, progress=False)
    whole = (tmp_path / "noisy.csv").read_bytes()
    log = tmp_path / "noisy.jsonl"
    log.write_bytes(log.read_bytes()[:-20])
    run(study(), folder=tmp_path, jobs=1, progress=False)
    assert (tmp_path / "noisy.csv").read_bytes() == whole
    assert len(log.read_text().splitlines()) == 6


def test_the_same_task_twice_is_refused():
    with pytest.raises(HoldfastError, match="twice"):
        run(Study(name="s", tasks=[{"x": 1}, {"x": 1}], work=noisy))


def test_an_error_in_a_task_is_raised():
    with pytest.raises(HoldfastError, match="bad"):
        run(Study(name="s", tasks=[{"x": 1}, {"x": 2}], work=fails), jobs=2, progress=False)


def test_an_unwritable_folder_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HoldfastError, match="cannot be written"):
        run(study(), folder=tmp_path / "file", jobs=1, progress=False)


def test_a_killed_run_resumes_to_the_same_bytes(tmp_path):
    run(study(tasks=40), folder=tmp_path / "whole", jobs=1, progress=False)
    log = tmp_path / "killed" / "noisy.jsonl"
    dying = study(tasks=40, work=dies_at_7)
    end = end_of(lambda: run(dying, folder=log.parent, jobs=1, progress=False))
    assert end == -signal.SIGKILL and len(log.read_text().splitlines()) == 7
    run(study(tasks=40), folder=log.parent, jobs=1, progress=False)
    whole = tmp_path / "whole" / "noisy.csv"
    assert (log.parent / "noisy.csv").read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("line", [b'{"task": garbage', b'{"x": 1}', b"7", b"\xff"])
def test_a_damaged_line_is_named(line, tmp_path):
    run(study(), folder=tmp_path, jobs=1, progress=False)
    log = tmp_path / "noisy.jsonl"
    lines = log.read_bytes().splitlines()
    log.write_bytes(b"\n".join([lines[0], line, *lines[2:]]) + b"\n")
    with pytest.raises(HoldfastError, match=r"noisy.jsonl: line 2 is damaged"):
        run(study(), folder=tmp_path, jobs=1, progress=False)
