"""Attacks on the commands as processes: pipes, signals, disks, names, locales, rushes.

    python benchmarks/attacks_processes.py [--kills 60]

Every command must end with the exit code of what it did, without a traceback. Releases that are
killed at random moments must leave no half bundle, no release unpaid and no ledger unreadable; of
equal releases that begin together one pays. The run stops with an error if anything else happens.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import holdfast
from holdfast.errors import HoldfastError
from holdfast.ledger.ledger import Ledger

CSV = "place,n\nKent,3\nEly,0\nYork,1\nRye,2\n"
ASKED = ["--count", "n", "--category", "place", "--keep-none", "--epsilon", "1/8"]
PAID = ["--ledger", "b.ledger", "--dataset", "d"]
SECONDS = 60  # that a command may take
Case = tuple[str, list[str], int, dict[str, str]]
LIMITED = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)); "
    "from holdfast.cli import main; main()"
)


def cases(folder: Path) -> Iterator[Case]:
    """Shell commands in which "$H" is holdfast, the exit code each must have, and its variables."""
    long, digits = "a" * 300, "9" * 200_000
    (folder / "digits.csv").write_text(f"place,n\nKent,{digits}\nEly,0\n")
    release, plain = " ".join(ASKED), {"PYTHONIOENCODING": "ascii"}
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = f"$H privatize in.csv {release}"
    yield "a release into a closed pipe", [f"{words} --out r0 | true"], 0, {}
    yield "a paid one", [f"{words} {' '.join(PAID)} --out r1 | true"], 0, {}
    yield "a paid one, as JSON", [f"{words} {' '.join(PAID)} --json --out r2 | true"], 0, {}
    yield "a verdict into a closed pipe", ["$H verify r0 | true"], 0, {}
    yield "a verdict, of which one line is read", ["$H verify r0 | head -1"], 0, {}
    yield "a verdict, as JSON", ["$H verify r0 --json | true"], 0, {}
    yield "a verdict with no output", ["$H verify r0 >&-"], 0, {}
    yield "a false verdict into a closed pipe", ["$H verify bad | true"], 1, {}
    yield "help into a closed pipe", ["$H --help | true"], 0, {}
    yield "a ledger into a closed pipe", ["$H ledger history b.ledger | true"], 0, {}
    yield "an output on a full disk", ["$H verify r0 > /dev/full"], 2, {}
    full = f"$L privatize many.csv {release}"
    yield "a disk that fills up", [f"{full} --out q"], 2, {}
    yield "a disk that fills up, paid", [f"{full} {' '.join(PAID)} --out q"], 2, {}
    yield "nothing half of it left", ["test ! -e q && ! ls -a | grep partial"], 0, {}
    yield "a pipe for a table", ["mkfifo p.csv", f"$H privatize p.csv {release} --out q"], 2, {}
    yield (
        "a device for a table",
        ["ln -s /dev/zero z.csv", f"$H privatize z.csv {release} --out q"],
        2,
        {},
    )
    yield "a folder for a table", ["mkdir d.csv", f"$H privatize d.csv {release} --out q"], 2, {}
    yield "a pipe for a ledger", ["mkfifo p.ledger", "$H ledger show p.ledger"], 2, {}
    yield "a long name to write to", [f"{words} --out {long}"], 2, {}
    yield "a long name to read", [f"$H privatize {long}.csv {release} --out q"], 2, {}
    yield "a long name to verify", [f"$H verify {long}"], 2, {}
    yield "a long name of a ledger", [f"$H ledger set-limit {long} --dataset d --epsilon 1"], 2, {}
    odd = "\udcffx"
    yield "a name that is no text", [f"cp in.csv '{odd}.csv'"], 0, {}
    yield "it, released", [f"$H privatize '{odd}.csv' {release} --out '{odd}'"], 0, {}
    yield (
        "it, paid",
        [f"$H privatize '{odd}.csv' {release} {' '.join(PAID)} --out '{odd}2'"],
        0,
        {},
    )
    yield "its history", ["$H ledger history b.ledger"], 0, plain
    yield "it, verified", [f"$H verify '{odd}'"], 0, plain
    yield "a count of 200,000 digits", [f"$H privatize digits.csv {release} --out q"], 2, {}
    yield "an epsilon of 100,000 digits", [f"{words[:-3]}{digits[:100000]} --out q"], 2, {}
    query = f"$H privatize d.duckdb {release} --out q --query"
    yield "two columns of one name", [f"{query} 'SELECT n, n, place FROM t'"], 2, {}
    yield "a terminal without Unicode", [f"{words} --out r3"], 0, plain
    yield "a locale without Unicode", [f"{words} --out r4"], 0, bare
    yield "help without Unicode", ["$H --help && $H privatize --help"], 0, bare
    yield "an answer without Unicode", ["$H ask r0 mean"], 0, bare
    yield "a ledger without Unicode", ["$H ledger history b.ledger"], 0, bare


def shell(folder: Path, lines: list[str], more: dict[str, str]) -> subprocess.CompletedProcess:
    """Run lines in a shell; its exit code is that of holdfast, not of what reads it."""
    script = "set -o pipefail\n" + "\n".join(lines).replace("$H", f"'{sys.executable}' -m holdfast")
    script = script.replace("$L", f"'{sys.executable}' -c '{LIMITED}'")
    script = script.replace("| true", "| (exec 0<&-; true)")
    try:
        return subprocess.run(
            ["bash", "-c", os.fsencode(script)],
            cwd=folder,
            env=os.environ | more,
            capture_output=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(late.cmd, -signal.SIGALRM, b"", b"it did not end")


def prepare(folder: Path) -> None:
    """A table, a ledger, a database and a damaged release."""
    (folder / "in.csv").write_text(CSV)
    many = "".join(f"a place with the number {i},{i % 4}\n" for i in range(9999))
    (folder / "many.csv").write_text("place,n\n" + many)
    Ledger(folder / "b.ledger").set_limit("d", epsilon=100)
    bad = holdfast.privatize([0, 1, 2], epsilon=1).save(folder / "bad")
    (bad / "README.md").write_text("exact, no noise")
    try:
        import duckdb
    except ImportError:
        return
    with duckdb.connect(str(folder / "d.duckdb")) as db:
        db.execute("CREATE TABLE t AS SELECT 1 AS n, 'Kent' AS place")


def run_cases(folder: Path, every: int = 1) -> list[str]:
    """What ended in another way than it must."""
    prepare(folder)
    wrong = []
    for name, lines, wanted, more in list(cases(folder))[::every]:
        done = shell(folder, lines, more)
        if done.returncode != wanted or b"Traceback" in done.stderr:
            said = done.stderr.decode("utf-8", "replace")[-200:]
            wrong.append(f"{name}: exit code {done.returncode}, not {wanted}. {said}")
    return wrong


def together(folder: Path, number: int = 8) -> list[str]:
    """Equal requests that begin at once: one pays, all are shown the same counts."""
    (folder / "in.csv").write_text(CSV)
    ledger = Ledger(folder / "b.ledger")
    ledger.set_limit("d", epsilon=100)
    command = [sys.executable, "-m", "holdfast", "privatize", "in.csv", *ASKED, *PAID, "--out"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen([*command, f"r{i}"], cwd=folder, **quiet) for i in range(number)]
    codes = [process.wait() for process in started]
    tables = {(folder / f"r{i}" / "table.csv").read_bytes() for i in range(number)}
    spends = ledger.spends("d")
    if codes != [0] * number or len(tables) != 1 or len(spends) != 1:
        return [f"{number} at once: codes {codes}, {len(tables)} tables, {len(spends)} spends"]
    return []


def nursery(folder: str) -> None:
    """Fork a release for every line on standard input: no start-up to pay for."""
    os.chdir(folder)
    from holdfast.cli import main

    holdfast.privatize([0, 1], epsilon=1)  # loads everything
    for number in sys.stdin:
        child = os.fork()
        if child == 0:
            with open(os.devnull, "w") as nothing:
                os.dup2(nothing.fileno(), 2)
            sys.argv = ["holdfast", "privatize", "in.csv", *ASKED, *PAID, "--json"]
            sys.argv += ["--split", f"1/{int(number) + 2}", "--out", f"k{int(number)}"]
            main()
        sys.stderr.write(f"{child}\n")
        sys.stderr.flush()
        _, status = os.waitpid(child, 0)
        sys.stderr.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stderr.flush()


def kills(folder: Path, number: int, seed: int = 1) -> tuple[Counter[str], list[str]]:
    """Releases ended by KILL, TERM or INT at random moments; what is left must be whole."""
    (folder / "in.csv").write_text(CSV)
    ledger, choice = Ledger(folder / "b.ledger"), random.Random(seed)
    ledger.set_limit("d", epsilon=10**6)
    ends: Counter[str] = Counter()
    wrong: list[str] = []
    command = [sys.executable, __file__, "--nursery", str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as process:
        for i in range(number):
            process.stdin.write(f"{i}\n")
            process.stdin.flush()
            child = int(process.stderr.readline())
            time.sleep(choice.uniform(0.01, 1.5))
            sent = choice.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
            with suppress(ProcessLookupError):  # on a quick machine it may be done already
                os.kill(child, sent)
            code = int(process.stderr.readline())
            ends[f"{sent.name}: exit code {code}, {_far(folder, ledger, i)}"] += 1
            wrong += _left(folder, ledger, i, sent, code)
        process.stdin.close()
    return ends, wrong


def _far(folder: Path, ledger: Ledger, number: int) -> str:
    """How far a release had come when it was ended."""
    out = folder / f"k{number}"
    spends = [s for s in ledger.spends("d") if Path(s.purpose.folder).name == out.name]
    if not spends:
        return "unpaid"
    stored = ledger.folder(spends[0]).exists()
    place = "written" if out.exists() else "stored" if stored else "nothing to see"
    return f"paid ({spends[0].state}), {place}"


def _left(folder: Path, ledger: Ledger, number: int, sent: signal.Signals, code: int) -> list[str]:
    """What is wrong after a release was ended."""
    wrong, out = [], folder / f"k{number}"
    spends = [s for s in ledger.spends("d") if Path(s.purpose.folder).name == out.name]
    if out.exists() and (not _is_whole(out) or len(spends) != 1):
        wrong.append(f"release {number}: half, or unpaid")
    if code == 0 and not out.exists():
        wrong.append(f"release {number}: said to be done, and is not there")
    partial = [p.name for p in folder.iterdir() if ".partial-" in p.name]
    if sent is not signal.SIGKILL and partial:
        wrong.append(f"release {number}: left {partial} behind")
    for name in partial:
        shutil.rmtree(folder / name)
    for spend in spends:
        stored = ledger.folder(spend)
        if stored.exists() and not _is_whole(stored):
            wrong.append(f"release {number}: what is stored is half")
    return wrong


def _is_whole(folder: Path) -> bool:
    """Whether a release can be read."""
    try:
        return len(holdfast.load(folder)) > 0
    except HoldfastError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--nursery", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.nursery:
        nursery(given.nursery)
        return
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / name for name in ("cases", "rush", "kills")]
        for folder in folders:
            folder.mkdir()
        number = len(list(cases(folders[0])))
        found = run_cases(folders[0])
        print(f"commands: {number} tried, {len(found)} ended wrongly")
        found += together(folders[1])
        ends, left = kills(folders[2], given.kills)
        print(f"releases killed: {given.kills}, {len(left)} left something wrong")
        for end, times in sorted(ends.items()):
            print(f"    {times:4} {end}")
        wrong = found + left
    for line in wrong:
        print(line)
    if wrong:
        raise SystemExit("a process failed")


if __name__ == "__main__":
    main()
