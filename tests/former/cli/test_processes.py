"""The command line as a process: pipes, signals, streams without Unicode, names, disks."""

import io
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast.former as holdfast
from attacks_processes import kills
from command_line import table
from holdfast.errors import HoldfastError
from holdfast.former.cli.output import safe_output
from holdfast.former.cli.stopping import CODES, End, interruptible

USUAL = ["--keep-none", "--count", "n", "--category", "place", "--max-count", "5", "--epsilon", "1"]


def verified(tmp_path, *, output, more=()):
    """`holdfast verify` of a good release, as a process with this standard output."""
    quick = holdfast.baselines.TruncatedGeometric()  # no fit that is repeated, so no kernels
    release = holdfast.privatize([0, 1, 2], epsilon=1, max_count=3, constructor=quick)
    release = release.save(tmp_path / "r")
    command = [sys.executable, "-m", "holdfast", "verify", str(release)]
    given = {"stdout": output, "stderr": subprocess.PIPE, "env": os.environ | dict(more)}
    return subprocess.run(command, text=True, check=False, **given)


def test_a_closed_pipe_does_not_spoil_a_good_verdict(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = verified(tmp_path, output=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_locale_without_unicode_gets_plain_characters(tmp_path):
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = verified(tmp_path, output=subprocess.PIPE, more=bare)
    assert done.returncode == 0 and done.stdout.isascii() and "| passed |" in done.stdout


def through(text, *, encoding="utf-8", reads=True):
    """What comes out of a pipe as our standard output, and what was lost."""
    reader, writer = os.pipe()
    if not reads:
        os.close(reader)
    before, kept = sys.stdout, os.dup(1)
    os.dup2(writer, 1)
    try:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "wb", closefd=False), encoding=encoding)
        with safe_output() as lost:
            print(text)
            why = lost()
    finally:
        os.dup2(kept, 1)
        sys.stdout = before
        for number in (kept, writer):
            os.close(number)
    if not reads:
        return None, why
    with open(reader, "rb") as file:
        return file.read(), why


def test_a_terminal_that_lacks_a_character_gets_a_plain_one():
    assert through("5 ≤ 6 … █ 旅", encoding="ascii") == (b"5 <= 6 ... # \\u65c5\n", None)
    assert through("Kent é –", encoding="latin-1")[0] == "Kent é -\n".encode("latin-1")
    assert through("a\udcffb")[0] == b"a\\udcffb\n"
    assert through("旅 █")[0].decode() == "旅 █\n"


def test_what_nobody_reads_is_dropped_without_a_word():
    assert through("x" * 100_000, reads=False) == (None, None)


def test_a_full_disk_under_the_output_is_told(monkeypatch):
    kept = os.dup(1)
    with open("/dev/full", "wb") as full:
        os.dup2(full.fileno(), 1)
    try:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.FileIO(1, "wb", closefd=False)))
        with safe_output() as lost:
            print("something")
            assert lost() == "No space left on device"
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signals_interrupt_as_ctrl_c_does(name):
    number = signal.Signals[name]
    before = signal.signal(number, signal.SIG_DFL)  # a background job ignores some
    try:
        with interruptible() as heard, pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        assert heard.code == (End.STOPPED if name == "SIGINT" else End.TERMINATED)
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible() as heard:
            os.kill(os.getpid(), signal.SIGHUP)
        assert heard.code is None
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_while_a_release_is_written_leaves_nothing_half(cli, monkeypatch):
    def interrupted(*given):
        os.kill(os.getpid(), signal.SIGTERM)

    name = table()
    monkeypatch.setattr("holdfast.former.release.bundle.complete", interrupted)
    code, _, err = cli("privatize", name, *USUAL, "--out", "r")
    assert code == 143 and "Stopped. If the output folder exists" in err
    assert sorted(os.listdir()) == [name]


def test_an_interrupt_that_was_taken_for_a_failure_is_still_a_stop(cli, monkeypatch):
    def swallowed(*given, **named):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt:
            raise SystemError("callback failed") from None

    monkeypatch.setattr(holdfast, "privatize", swallowed)
    code, _, err = cli("privatize", table(), *USUAL, "--out", "r")
    assert code == 143 and err.startswith("Stopped.")


@pytest.mark.parametrize("more", [(), ("--stream",)])
def test_a_pipe_or_a_device_is_not_read_as_a_table(cli, more):
    os.mkfifo("pipe.csv")
    os.symlink("/dev/zero", "device.csv")
    for name in ("pipe.csv", "device.csv"):
        code, _, err = cli("privatize", name, *USUAL, *more, "--out", "r")
        assert code == 2 and "a pipe or a device" in err
    assert stat.S_ISFIFO(os.stat("pipe.csv").st_mode)


def test_names_that_are_too_long_are_errors(cli):
    long, name = "a" * 300, table()
    for words in (
        ("privatize", name, *USUAL, "--out", long),
        ("privatize", f"{long}.csv", *USUAL, "--out", "r"),
        ("verify", long),
        ("ledger", "set-limit", long, "d", "--epsilon", "1"),
        ("ask", long, "mean"),
    ):
        code, _, err = cli(*words)
        assert code == 2 and "Traceback" not in err
        assert "too long" in err.lower() or "there is no folder" in err  # from Python 3.14 on


def test_a_name_that_is_no_text_is_released_paid_and_told(cli):
    name = os.fsdecode(b"\xff.csv")
    table(name=name)
    cli("ledger", "set-limit", "b.ledger", "d", "--epsilon", "2")
    paid = ("--ledger", "b.ledger", "--dataset", "d", "--out", os.fsdecode(b"\xfe"))
    assert cli("privatize", name, *USUAL, *paid, "--json")[0] == 0
    assert os.path.exists(b"\xfe/release.json")
    code, out, _ = cli("ledger", "history", "b.ledger", "--json")
    assert code == 0 and "\\udcff.csv" in out
    assert cli("ledger", "history", "b.ledger")[0] == 0


def test_a_count_of_many_digits_is_an_error(cli):
    name = table(f"place,n\nKent,{'9' * 5000}\nEly,0\n")
    for more in ((), ("--stream",)):
        code, _, err = cli("privatize", name, *USUAL, *more, "--out", "r")
        assert code == 2 and "row 2 of the file" in " ".join(err.split()) and "999" not in err


def test_two_columns_of_one_name_in_a_query_are_refused(cli):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect("d.duckdb") as db:
        db.execute("CREATE TABLE t AS SELECT 1 AS n, 'Kent' AS place")
    query = ("--query", "SELECT n, n + 1 AS n, place FROM t")
    code, _, err = cli("privatize", "d.duckdb", *USUAL, *query, "--out", "r")
    assert code == 2 and "several columns one name: 'n'" in err


def test_a_disk_that_fills_up_is_named(tmp_path, monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device")

    release = holdfast.privatize([0, 1, 2], epsilon=1, max_count=3)
    monkeypatch.setattr("holdfast.former.release.bundle.write_text", full)
    with pytest.raises(HoldfastError, match=r"No space left on device.*make room"):
        release.save(tmp_path / "r")
    assert os.listdir(tmp_path) == []


def test_every_exit_code_is_in_the_help(cli):
    shown = " ".join(cli("--help")[1].split())
    for end in End:
        assert f"{end} " in CODES
    assert "Exit codes: 0 done" in shown and "143 by the signal TERM" in shown


def test_releases_that_are_killed_leave_nothing_half_and_nothing_unpaid(tmp_path):
    ends, wrong = kills(Path(tmp_path), 4)
    assert wrong == [] and ends.total() == 4
