"""The command line as a process: pipes, signals, streams without Unicode, names, disks."""

import io
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from commands import table
from holdfast.cli.output import safe_output
from holdfast.cli.stopping import CODES, End, interruptible

USUAL = ["--keep-none", "--count", "n", "--category", "place", "--epsilon", "1"]


def explained(*, output, more=()):
    """`holdfast explain --epsilon 1` as a process with this standard output."""
    command = [sys.executable, "-m", "holdfast", "explain", "--epsilon", "1"]
    given = {"stdout": output, "stderr": subprocess.PIPE, "env": os.environ | dict(more)}
    return subprocess.run(command, text=True, check=False, **given)


def test_a_closed_pipe_does_not_spoil_what_was_done():
    reader, writer = os.pipe()
    os.close(reader)
    done = explained(output=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_locale_without_unicode_gets_plain_characters():
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "demo", "--seed", "1"],
        capture_output=True, text=True, check=True, env=os.environ | bare,
    )  # fmt: skip
    assert done.stdout.isascii() and "| holdfast" in done.stdout


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


def interrupted(*_given, **_named):
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_signal_while_a_release_is_written_leaves_nothing_half(cli, monkeypatch):
    name = table()
    monkeypatch.setattr("holdfast.release.bundle.read_me", interrupted)
    code, _, err = cli("privatize", name, *USUAL, "--out", "r")
    assert code == 143 and "Stopped. If the output folder exists" in err
    assert sorted(os.listdir()) == [name]


def test_an_interrupt_that_was_taken_for_a_failure_is_still_a_stop(cli, monkeypatch):
    def swallowed(*_given, **_named):
        try:
            interrupted()
        except KeyboardInterrupt:
            raise SystemError("callback failed") from None

    monkeypatch.setattr("holdfast.engine.run.run", swallowed)
    code, _, err = cli("privatize", table(), *USUAL, "--out", "r")
    assert code == 143 and err.startswith("Stopped.")


@pytest.mark.parametrize(
    ("words", "where", "said"),
    [
        (("privatize", "in.csv", *USUAL, "--out", "r"), "engine.run.run", "in it is whole"),
        (("compare", "demo"), "plan.compare.read_known", "starts over"),
        (("plan", "uniform:3", "--rows", "9"), "plan.plan.simulated", "starts over"),
    ],
)
def test_ctrl_c_ends_with_a_word_and_code_130(cli, monkeypatch, words, where, said):
    def stopped(*_given, **_named):
        raise KeyboardInterrupt

    table()
    module, _, name = f"holdfast.{where}".rpartition(".")
    __import__(module)
    for each in [each for each in sys.modules if each.startswith("holdfast.")]:
        if vars(sys.modules[each]).get(name) is vars(sys.modules[module])[name]:
            monkeypatch.setitem(vars(sys.modules[each]), name, stopped)
    code, _, err = cli(*words)
    assert code == 130 and "Stopped. " in err and said in err and "Error" not in err


@pytest.mark.parametrize(
    ("where", "seed", "is_spent"),
    [
        ("engine.run.check_size", (), False),
        ("engine.run.measure", (), True),
        ("release.bundle.read_me", (), True),
        ("release.bundle.read_me", ("--seed", "1"), False),
    ],
)
def test_ctrl_c_says_whether_anything_was_spent(cli, monkeypatch, where, seed, is_spent):
    monkeypatch.setattr(f"holdfast.{where}", interrupted)
    code, _, err = cli("privatize", table(), *USUAL, *seed, "--out", "r")
    assert code == 143 and ("count its epsilon as spent" in " ".join(err.split())) == is_spent
    assert ("Nothing was measured or spent" in err) != is_spent


def test_ctrl_c_while_holdfast_is_loaded_shows_no_traceback(monkeypatch, capsys):
    from holdfast.__main__ import main

    class Interrupted:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "holdfast.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "holdfast.cli", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted, *sys.meta_path])
    with pytest.raises(SystemExit, match="130"):
        main()
    assert capsys.readouterr().err == "Stopped. Nothing was measured or spent.\n"


def test_ctrl_c_after_the_command_line_has_run_does_not_say_that_nothing_was_spent(
    monkeypatch, capsys
):
    from holdfast.__main__ import main

    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr("holdfast.cli.main", stopped)
    with pytest.raises(KeyboardInterrupt):
        main()
    assert capsys.readouterr().err == ""


def test_cycles_are_left_where_a_command_ends_unless_duckdb_would_complain(monkeypatch):
    from holdfast.__main__ import main

    left = []
    monkeypatch.setattr("gc.freeze", lambda: left.append("duckdb" in sys.modules))
    monkeypatch.setattr("holdfast.cli.main", lambda: None)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    main()
    monkeypatch.delitem(sys.modules, "duckdb")
    main()
    assert left == [False]


def test_an_unexpected_failure_shows_no_values(cli, monkeypatch):
    def broken(*_given, **_named):
        raise RuntimeError("the count is 424242")

    monkeypatch.setattr("holdfast.engine.run.run", broken)
    code, out, err = cli("privatize", table(), *USUAL, "--out", "r")
    assert code == 5 and "424242" not in out + err and "RuntimeError" in err


def test_a_pipe_or_a_device_is_not_read_as_a_table(cli):
    os.mkfifo("pipe.csv")
    os.symlink("/dev/zero", "device.csv")
    for name in ("pipe.csv", "device.csv"):
        code, _, err = cli("privatize", name, *USUAL, "--out", "r")
        assert code == 2 and "a pipe or a device" in err
    assert stat.S_ISFIFO(os.stat("pipe.csv").st_mode)


def test_names_that_are_too_long_are_errors(cli):
    long, name = "a" * 300, table()
    for words in (
        ("privatize", name, *USUAL, "--out", long),
        ("privatize", f"{long}.csv", *USUAL, "--out", "r"),
        ("verify", long),
        ("ledger", "set-limit", long, "--dataset", "d", "--epsilon", "1"),
        ("ask", long, "mean"),
    ):
        code, _, err = cli(*words)
        assert code == 2 and "Traceback" not in err
        assert "too long" in err.lower() or "there is no folder" in err  # from Python 3.14 on


def test_a_name_that_is_no_text_is_released_paid_and_told(cli):
    name = os.fsdecode(b"\xff.csv")
    table(name=name)
    cli("ledger", "set-limit", "b.ledger", "--dataset", "d", "--epsilon", "2")
    paid = ("--ledger", "b.ledger", "--dataset", "d", "--out", os.fsdecode(b"\xfe"))
    assert cli("privatize", name, *USUAL, *paid, "--json")[0] == 0
    assert os.path.exists(b"\xfe/release.json")
    code, out, _ = cli("ledger", "history", "b.ledger", "--json")
    assert code == 0 and "\\udcff.csv" in out
    assert cli("ledger", "history", "b.ledger")[0] == 0


def test_every_exit_code_is_in_the_help(cli):
    shown = " ".join(cli("--help")[1].split())
    for end in End:
        assert f"{end} " in CODES
    assert "Exit codes: 0 done" in shown and "143 by the signal TERM" in shown


def test_the_module_runs_as_a_command():
    command = [sys.executable, "-m", "holdfast", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("holdfast ")


def test_a_run_that_failed_after_it_was_paid_says_that_it_counted(cli, monkeypatch):
    def broken(*_given, **_named):
        raise RuntimeError

    cli("ledger", "set-limit", "b.ledger", "--dataset", "d", "--epsilon", "2")
    monkeypatch.setattr("holdfast.engine.run.measure", broken)
    paid = ("--ledger", "b.ledger", "--dataset", "d", "--out", "r")
    code, _, err = cli("privatize", table(), *USUAL, *paid)
    assert code == 5 and not Path("r").exists()
    assert "The ledger has counted this run" in err or "nothing" in err.lower()
