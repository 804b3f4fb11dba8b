"""How a command ends: one exit code for one kind of end, and what is said when it is stopped."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from types import FrameType
from typing import Any

from holdfast.cli.options import CommandGroup
from holdfast.errors import Spent, spent_by

AGAIN = "Nothing was kept; the same command starts over."
WHOLE = "If the output folder exists, the release in it is whole; if not, there is none."


class End(IntEnum):
    """Exit codes."""

    DONE = 0
    FALSE = 1
    REFUSED = 2
    SIMULATED = 3
    NOT_CHECKED = 4
    FAILED = 5
    STOPPED = 130
    """What a shell expects of a command that Ctrl-C ended."""
    TERMINATED = 143
    """What a shell expects after the signal TERM."""


CODES = (
    "Exit codes: 0 done, and what was checked holds. 1 what was claimed is false: a damaged "
    "release. 2 refused: something given cannot be used, or cannot be afforded. 3 it holds, but it "
    "is a simulation. 4 it could not be checked here. 5 holdfast itself failed. 130 stopped by "
    "Ctrl-C, 143 by the signal TERM or HUP."
)


class Stopped(Exception):
    """Somebody stopped a command; the message says how to go on."""


class Commands(CommandGroup):
    """The commands; typer's own way to stop would end without a word."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt becomes `Stopped`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            if ctx.invoked_subcommand != "privatize":
                raise Stopped(AGAIN) from None
            unspent = f"{Spent.NO.in_words} " * (spent_by(error) is Spent.NO)
            raise Stopped(f"{WHOLE} {unspent}The same command starts over.") from None


@dataclass
class Heard:
    """The signal that ended a command, if one did: whatever its interrupt was taken for on the way
    up, this is what happened."""

    code: End | None = None

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """Interrupt, as Ctrl-C does."""
        self.code = End.STOPPED if number == signal.SIGINT else End.TERMINATED
        raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Heard]:
    """Let the signals TERM and HUP interrupt as Ctrl-C does; what is ignored stays so (nohup)."""
    signals = [each for each in signal.Signals if each.name in ("SIGINT", "SIGTERM", "SIGHUP")]
    usual = (signal.SIG_DFL, signal.default_int_handler)
    heard, before = Heard(), {}
    with suppress(ValueError):  # not the main thread
        before = {
            each: signal.signal(each, heard) for each in signals if signal.getsignal(each) in usual
        }
    try:
        yield heard
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
