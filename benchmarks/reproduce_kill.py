"""Kill `holdfast paper reproduce` at random moments, resume it, and compare every byte it leaves.

    python benchmarks/reproduce_kill.py [--data DATA] [--kills 5] [--seed 1] [NAME ...]

Runs the experiments (default: all but the times) once without a break and once killed with SIGKILL
again and again, process group and all; then compares results, figures and reports.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from holdfast.paper.experiments import EXPERIMENTS


def command(out: Path, given: argparse.Namespace) -> list[str]:
    names = given.names or [name for name, e in EXPERIMENTS.items() if e.repeatable]
    data = ["--data", given.data] if given.data else []
    return [
        sys.executable,
        "-m",
        "holdfast",
        "paper",
        "reproduce",
        *names,
        *data,
        "--out",
        str(out),
    ]


def kept(folder: Path) -> dict[str, bytes]:
    paths = (p for p in folder.rglob("*") if p.is_file() and p.suffix != ".jsonl")
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths}


def first_difference(one: bytes, other: bytes) -> str:
    lines = zip(one.splitlines(), other.splitlines(), strict=False)
    found = next(((a, b) for a, b in lines if a != b), (one[-200:], other[-200:]))
    return "\n".join(f"  {line[:400]!r}" for line in found)


def finished_tasks(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl"))


def killed_run(words: list[str], target: int, pause: float, folder: Path) -> None:
    """Run until so many tasks are done, and a moment longer; then kill every process of it."""
    process = subprocess.Popen(
        [*words, "--resume"], start_new_session=True, stdout=subprocess.DEVNULL
    )
    while finished_tasks(folder) < target and process.poll() is None:
        time.sleep(0.05)
    time.sleep(pause)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        print(f"  killed with {finished_tasks(folder)} tasks done", flush=True)
    else:
        print("  finished before: nothing to kill", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--data", help="folder of the data sets")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder, "unbroken"), Path(folder, "killed")
        start = time.perf_counter()
        subprocess.run(command(one, given), check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        print(f"unbroken: {seconds:.0f} s, {finished_tasks(one)} tasks", flush=True)
        chance = random.Random(given.seed)
        targets = sorted(chance.sample(range(1, finished_tasks(one)), given.kills))
        for target in targets:
            killed_run(command(other, given), target, chance.uniform(0, 1), other)
        subprocess.run([*command(other, given), "--resume"], check=True, stdout=subprocess.DEVNULL)
        first, second = kept(one), kept(other)
        unlike = sorted(n for n in first | second if first.get(n) != second.get(n))
        print(f"{len(first)} files compared; unlike: {', '.join(unlike) or 'none'}")
        for name in unlike:
            print(first_difference(first.get(name, b""), second.get(name, b"")))
        sys.exit(bool(unlike))


if __name__ == "__main__":
    main()
