"""Attacks on the ledger: many processes on one dataset, and kills at random moments.

    python benchmarks/ledger_hammer.py --seconds 60 --kills 500

prints a table, and stops with an error if a limit was exceeded, a spend was lost or a lock was
left. Workers import nothing but the ledger, so that most of their time goes to it.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from threading import Thread

from holdfast.errors import BudgetError
from holdfast.ledger.ledger import Ledger
from holdfast.ledger.sqlite_file import change, now

Result = dict[str, object]
DATASET = "hammered"
AMOUNTS = ("1/3", "1/7", "1/10", "0.001")


def worker(path: str, seed: int, kind: str) -> None:
    """Spend until killed; say every spend that has returned, at once, and every refusal."""
    ledger, choice = Ledger(path), random.Random(seed)
    spend = spend_in_two_transactions if kind == "racy" else Ledger.spend
    say = sys.stdout.write
    say(f"ready {os.getpid()}\n")
    sys.stdout.flush()
    while True:
        amount = choice.choice(AMOUNTS)
        try:
            number = spend(ledger, DATASET, epsilon=amount)
        except BudgetError:
            say("refused\n")
        else:
            say(f"{number} {amount}\n")
            sys.stdout.flush()
            if kind != "racy":
                ledger.finish(number, choice.choice(("done", "abandoned")))
        sys.stdout.flush()


def spend_in_two_transactions(ledger: Ledger, dataset: str, *, epsilon: str) -> int:
    """What a ledger must not do: look first, record later. The hammer has to catch it."""
    ledger.balance(dataset).check(Fraction(epsilon), Fraction(0))
    time.sleep(0.01)
    with change(ledger.path, ledger.timeout) as pages:
        told = {"kind": "spend", "dataset": dataset, "time": now(), "user": "", "words": ""}
        charges = {"charges": [[str(Fraction(epsilon)), "0", 1]]}
        return pages.append(told | charges | {"purpose": {}}).entry


@contextmanager
def workers(path: Path, number: int, kind: str) -> Iterator[list[subprocess.Popen]]:
    """Processes that spend; whatever happens, they end with the block."""
    command = [sys.executable, __file__, "--worker", str(path), kind]
    started = [
        subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE, text=True)
        for seed in random.sample(range(10**9), number)
    ]
    try:
        for process in started:
            assert process.stdout.readline().startswith("ready")
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()
            process.stdout.close()


def nursery(path: str) -> None:
    """Fork a worker for every seed on standard input, one at a time: no start-up to pay for."""
    for seed in sys.stdin:
        child = os.fork()
        if child == 0:
            worker(path, int(seed), "whole")
        os.waitpid(child, 0)
        sys.stdout.write("gone\n")
        sys.stdout.flush()


def hammer(path: Path, seconds: float, processes: int = 8, kind: str = "whole") -> Result:
    """Many processes on one dataset, whose limit is raised again and again to keep it contested."""
    ledger, limit = Ledger(path), Fraction(1)
    ledger.set_limit(DATASET, epsilon=limit)
    highest = Fraction(0)
    with workers(path, processes, kind) as started:
        said: dict[int, list[str]] = {}
        readers = [drained(process, said) for process in started]
        end = time.monotonic() + seconds
        while time.monotonic() < end and highest <= 0:
            time.sleep(0.05)
            balance = ledger.balance(DATASET)
            highest = max(highest, balance.epsilon_spent - balance.epsilon_limit)
            if balance.epsilon_left < Fraction(1, 1000):
                limit += Fraction(1, 2)
                ledger.set_limit(DATASET, epsilon=limit)
        died = sum(process.poll() is not None for process in started)
        for process in started:
            process.kill()
        for reader in readers:
            reader.join()
    lines = [line for words in said.values() for line in words]
    spends = {int(line.split()[0]): Fraction(line.split()[1]) for line in lines if " " in line}
    balance = ledger.balance(DATASET)
    recorded = {spend.id: spend.epsilon for spend in ledger.spends(DATASET)}
    return {
        "spends": len(recorded),
        "refusals": lines.count("refused"),
        "limit": balance.epsilon_limit,
        "spent": balance.epsilon_spent,
        "exceeded": max(highest, balance.epsilon_spent - balance.epsilon_limit) > 0,
        "lost": sum(recorded.get(number) != amount for number, amount in spends.items()),
        "workers that failed": died,
        "sums agree": sum(recorded.values()) == balance.epsilon_spent,
    }


def drained(process: subprocess.Popen, said: dict[int, list[str]]) -> Thread:
    """A thread that drains a worker's pipe, so that the worker never waits for us."""

    def drain() -> None:
        said[process.pid] = [line.rstrip("\n") for line in process.stdout if line.endswith("\n")]

    thread = Thread(target=drain)
    thread.start()
    return thread


def kills(path: Path, number: int, seed: int = 0) -> Result:
    """One worker at a time, killed within 0.15 s of its start or, half of them, of its first spend,
    so that some spend on a busy machine too; the ledger must miss nothing."""
    choice, ledger = random.Random(seed), Ledger(path, timeout=2.0)
    ledger.set_limit(DATASET, epsilon=10**9)
    said: dict[int, Fraction] = {}
    journals = 0
    for lines in killed_workers(path, number, choice):
        journals += path.with_name(path.name + "-journal").exists()
        said |= {int(line.split()[0]): Fraction(line.split()[1]) for line in lines}
        said[ledger.spend(DATASET, epsilon="1/9")] = Fraction(1, 9)  # raises if locked
    recorded = {spend.id: spend.epsilon for spend in ledger.spends(DATASET)}
    return {
        "kills": number,
        "spends": len(recorded),
        "killed inside a transaction": journals,
        "lost": sum(recorded.get(key) != amount for key, amount in said.items()),
        "recorded, killed before it could say so": len(recorded.keys() - said.keys()),
        "sums agree": sum(recorded.values()) == ledger.balance(DATASET).epsilon_spent,
    }


def killed_workers(path: Path, number: int, choice: random.Random) -> Iterator[list[str]]:
    """What each worker said before it was killed."""
    command = [sys.executable, __file__, "--nursery", str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        for _ in range(number):
            process.stdin.write(f"{choice.randrange(10**9)}\n")
            process.stdin.flush()
            child = int(process.stdout.readline().split()[1])
            said = [process.stdout.readline()] if choice.random() < 0.5 else []
            time.sleep(choice.uniform(0, 0.15))
            os.kill(child, signal.SIGKILL)
            yield said + list(iter(process.stdout.readline, "gone\n"))
        process.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--folder", help="where the ledgers are made; default: a temporary one")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--nursery", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(given.worker[0], int(given.worker[2]), given.worker[1])
    if given.nursery:
        nursery(given.nursery)
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        print(f"8 processes, {given.seconds:g} s")
        first = report(hammer(Path(folder) / "hammer.ledger", given.seconds))
        print(f"\n{given.kills} kills")
        second = report(kills(Path(folder) / "kills.ledger", given.kills))
    bad = ("exceeded", "lost", "workers that failed")
    if any(first[name] for name in bad) or second["lost"] or not second["sums agree"]:
        raise SystemExit("the ledger failed")


def report(result: Result) -> Result:
    for name, value in result.items():
        print(f"  {name:42} {value}")
    return result


if __name__ == "__main__":
    main()
