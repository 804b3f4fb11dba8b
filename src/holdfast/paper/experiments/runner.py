"""One engine for every study: many independent simulations, repeatable and resumable."""

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TextIO

import holdfast.paper
from holdfast.errors import HoldfastError
from holdfast.paper.files import write_whole

Task = dict[str, Any]
Row = dict[str, Any]
Work = Callable[[Task, int], list[Row]]


@dataclass(frozen=True, kw_only=True)
class Study:
    """Independent tasks of plain values, and the function that carries one out."""

    name: str
    """Names the files of its results."""
    tasks: Sequence[Task]
    """Plain values only: a task's content decides its seed and finds it again on resuming."""
    work: Work
    """A function at the top of a module: (task, seed) -> rows of plain values."""


def run(
    study: Study,
    *,
    folder: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: bool = True,
) -> list[Row]:
    """Every row of every task, in the order of the tasks, whatever order they ran in.

    With `folder`, NAME.jsonl grows by a line for every finished task, so that a killed run
    resumes where it stopped, and NAME.csv is written at the end: the same bytes either way. Lines
    of other code, which its source tells, are done again. Each row begins with its task's values.

    >>> study = Study(name="squares", tasks=[{"x": 2}, {"x": 3}], work=_square)
    >>> run(study, jobs=1, progress=False)
    [{'x': 2, 'square': 4}, {'x': 3, 'square': 9}]
    """
    keys = [_key(task) for task in study.tasks]
    if len(set(keys)) != len(keys):
        raise HoldfastError(f"the study `{study.name}` has the same task twice.")
    done = _finished(_log_path(study, folder))
    todo = [(key, task) for key, task in zip(keys, study.tasks, strict=True) if key not in done]
    with _log(_log_path(study, folder)) as log:
        for key, rows in _carry_out(study, todo, jobs or os.cpu_count() or 1, progress):
            done[key] = rows
            if log is not None:
                log.write(json.dumps({"task": key, "code": code_digest(), "rows": rows}) + "\n")
                log.flush()
    results = [task | row for key, task in zip(keys, study.tasks, strict=True) for row in done[key]]
    if folder is not None:
        _write_csv(Path(folder) / f"{study.name}.csv", results)
    return results


def task_seed(name: str, task: Task) -> int:
    """The seed of a task: it depends on the study's name and the task's content alone."""
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


def _square(task: Task, seed: int) -> list[Row]:
    return [{"square": task["x"] ** 2}]


def _key(task: Task) -> str:
    return json.dumps(task, sort_keys=True)


def _carry_out(
    study: Study, todo: list[tuple[str, Task]], jobs: int, progress: bool
) -> Iterator[tuple[str, list[Row]]]:
    finished = _in_this_process if jobs == 1 or len(todo) < 2 else _in_parallel
    steps = finished(study, todo, jobs)
    if not progress or not todo:
        yield from steps
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        handle = bar.add_task(study.name, total=len(todo))
        for step in steps:
            yield step
            bar.advance(handle)


def _in_this_process(
    study: Study, todo: list[tuple[str, Task]], jobs: int
) -> Iterator[tuple[str, list[Row]]]:
    for key, task in todo:
        yield key, _plain(study.work(task, task_seed(study.name, task)))


def _in_parallel(
    study: Study, todo: list[tuple[str, Task]], jobs: int
) -> Iterator[tuple[str, list[Row]]]:
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_end_at_once)
    running: dict[Future[list[Row]], str] = {}
    for library in ("OMP", "OPENBLAS", "MKL"):  # workers share the cores: one thread each
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    try:
        for key, task in todo:
            running[pool.submit(study.work, task, task_seed(study.name, task))] = key
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), _plain(future.result())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _end_at_once() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker at once, without a trace


def _plain(rows: list[Row]) -> list[Row]:
    """Through JSON and back, so that a resumed run sees exactly what an unbroken one sees."""
    plain: list[Row] = json.loads(json.dumps(rows))
    return plain


def _log_path(study: Study, folder: str | os.PathLike[str] | None) -> Path | None:
    return None if folder is None else Path(folder) / f"{study.name}.jsonl"


def _finished(path: Path | None) -> dict[str, list[Row]]:
    """The tasks of an earlier run; a line cut short by a kill is cut off the file."""
    if path is None or not path.exists():
        return {}
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    lines = [_parsed(path, *line) for line in enumerate(whole.splitlines(), 1)]
    return {task: rows for task, code, rows in lines if code == code_digest()}


def _parsed(path: Path, number: int, line: bytes) -> tuple[str, str, list[Row]]:
    try:
        found = json.loads(line)
        return found["task"], found["code"], found["rows"]
    except (ValueError, KeyError, TypeError):
        raise HoldfastError(
            f"{path}: line {number} is damaged. Hint: delete this line; its task will be run again."
        ) from None


@contextmanager
def _log(path: Path | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a", encoding="utf-8")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise HoldfastError(
            f"`{path.parent}` cannot be written to ({error.strerror}). Hint: choose another folder."
        ) from None
    with file:
        yield file


def _write_csv(path: Path, rows: list[Row]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())
