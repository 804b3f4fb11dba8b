"""One engine for every experiment: many independent tasks, repeatable and resumable."""

import csv
import hashlib
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import holdfast.paper
from holdfast.errors import HoldfastError
from holdfast.tables.formats import write_whole

Task = dict[str, Any]
"""Plain values only: a task's content decides its seed and finds it again on resuming."""
Row = dict[str, Any]
Work = Callable[[Task, int], list[Row]]
"""(task, seed) -> rows of plain values; at the top of a module."""


def run(
    name: str,
    tasks: Sequence[Task],
    work: Work,
    *,
    folder: Path,
    jobs: int = 1,
    progress: bool = False,
) -> list[Row]:
    """Every row of every task, in the order of the tasks, whatever order they ran in.

    NAME.jsonl grows by a line for every finished task, so that a killed run resumes where it
    stopped, and NAME.csv is written at the end: the same bytes either way. Lines of other code,
    which its source tells, are done again. Each row begins with its task's values.
    """
    keys = [_key(task) for task in tasks]
    if len(set(keys)) != len(keys):
        raise HoldfastError(f"the experiment `{name}` has the same task twice.")
    path = folder / f"{name}.jsonl"
    done = _finished(path)
    todo = {key: task for key, task in zip(keys, tasks, strict=True) if key not in done}
    finished = _in_this_process if jobs == 1 or len(todo) < 2 else _in_parallel
    with _open_log(path) as log:
        for number, (key, rows) in enumerate(finished(name, todo, work, jobs), 1):
            done[key] = json.loads(json.dumps(rows))  # what a resumed run sees as well
            log.write(json.dumps({"task": key, "code": code_digest(), "rows": done[key]}) + "\n")
            log.flush()
            if progress:
                sys.stderr.write(f"\r{name}: {number} of {len(todo)} tasks ")
    if progress and todo:
        sys.stderr.write("\n")
    results = [task | row for key, task in zip(keys, tasks, strict=True) for row in done[key]]
    _write_csv(folder / f"{name}.csv", results)
    return results


def task_seed(name: str, task: Task) -> int:
    """The seed of a task: it depends on the experiment's name and the task's content alone."""
    return int.from_bytes(hashlib.sha256(f"{name} {_key(task)}".encode()).digest()[:6], "big")


@cache
def code_digest() -> str:
    """SHA-256 of the source that results come from: the paper's room and what it stands on."""
    root = Path(holdfast.paper.__file__).parents[1]
    files = [*root.glob("paper/**/*.py"), *root.glob("privacy/*.py"), root / "arrays.py"]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(root).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _key(task: Task) -> str:
    return json.dumps(task, sort_keys=True)


Finished = Iterator[tuple[str, list[Row]]]


def _in_this_process(name: str, todo: Mapping[str, Task], work: Work, jobs: int) -> Finished:
    for key, task in todo.items():
        yield key, work(task, task_seed(name, task))


def _in_parallel(name: str, todo: Mapping[str, Task], work: Work, jobs: int) -> Finished:
    for library in ("OMP", "OPENBLAS", "MKL"):  # workers share the cores: one thread each
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_at_once)
    running: dict[Future[list[Row]], str] = {}
    try:
        for key, task in todo.items():
            running[pool.submit(work, task, task_seed(name, task))] = key
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _end_at_once() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker at once, without a trace


def _finished(path: Path) -> dict[str, list[Row]]:
    """The tasks of an earlier run; a line cut short by a kill is cut off the file."""
    if not path.exists():
        return {}
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    done = {}
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            entry = json.loads(line)
            task, code, rows = entry["task"], entry["code"], entry["rows"]
        except (ValueError, KeyError, TypeError):
            raise HoldfastError(
                f"{path}: line {number} is damaged. Hint: delete this line; its task will be run "
                "again."
            ) from None
        if code == code_digest():
            done[task] = rows
    return done


def _open_log(path: Path) -> Any:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, "a", encoding="utf-8")
    except OSError as error:
        raise HoldfastError(
            f"`{path.parent}` cannot be written to ({error.strerror}). Hint: choose another folder."
        ) from None


def _write_csv(path: Path, rows: list[Row]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())
