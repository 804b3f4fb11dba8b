"""How a command ends: one exit code for one kind of end, and what is said when it is stopped."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from types import FrameType
from typing import Any

from typer.core import TyperGroup

AGAIN = "Nothing was kept; the same command starts over."
RESUMES = "What is finished is in the folder; the same command goes on from there."
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
    """Likewise, for the signal TERM."""


CODES = (
    "Exit codes: 0 done, and what was checked holds. 1 what was claimed is false: a damaged "
    "release, a refuted claim. 2 refused: something given cannot be used, or cannot be afforded. "
    "3 it holds, but it is a simulation. 4 it could not be checked on this machine. 5 holdfast "
    "itself failed. 130 stopped by Ctrl-C, 143 by the signal TERM or HUP."
)


class Stopped(Exception):
    """Somebody stopped a command; the message says how to go on."""

    def __init__(self, message: str, code: End) -> None:
        super().__init__(message)
        self.code = code


class Terminated(KeyboardInterrupt):
    """The signal TERM or HUP: everything is cleaned up as for Ctrl-C."""


class Commands(TyperGroup):
    """The commands; typer's own way would end without a word."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt becomes `Stopped`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            writes = ctx.invoked_subcommand == "privatize"
            words = f"{WHOLE} The same command starts over." if writes else AGAIN
            raise Stopped(words, code_of(error)) from None


def code_of(error: KeyboardInterrupt) -> End:
    """The exit code of an interrupt."""
    return End.TERMINATED if isinstance(error, Terminated) else End.STOPPED


@contextmanager
def terminable() -> Iterator[None]:
    """Let the signals TERM and HUP interrupt as Ctrl-C does."""
    known = [each for each in signal.Signals if each.name in ("SIGTERM", "SIGHUP")]
    heard = [each for each in known if signal.getsignal(each) is signal.SIG_DFL]  # nohup ignores
    before = {}
    with suppress(ValueError):  # not the main thread
        before = {each: signal.signal(each, _terminate) for each in heard}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated
