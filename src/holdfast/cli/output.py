"""Standard output and errors that cannot spoil what was done.

Who reads the output may stop reading: then the rest is dropped, and the exit code is that of the
work. A terminal that does not know a character gets a plain one instead.
"""

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

PLAIN = (
    dict(zip("–—‘’“”·•×█", "--''\"\".*x#", strict=True))
    | {"…": "...", "≤": "<=", "≥": ">=", "±": "+-", "→": "->", "ε": "epsilon", "δ": "delta"}
    | dict.fromkeys("▌▋▊▉", "-")
    | dict.fromkeys("▏▎▍", " ")
    | dict.fromkeys("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", ".")
)
_ERRORS = "holdfast-plain"


def plain_characters(error: UnicodeError) -> tuple[str, int]:
    """What is written for characters that an encoding lacks; an unknown one by its number.

    >>> codecs.register_error(_ERRORS, plain_characters)
    >>> "5 ≤ 6 … é".encode("ascii", _ERRORS)
    b'5 <= 6 ... \\\\xe9'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    written = (PLAIN.get(sign) or ascii(sign)[1:-1] for sign in lacking)
    return "".join(written), error.end


class Forgiving(io.FileIO):
    """A file that takes what is written even where that goes nowhere, and remembers why."""

    lost: str | None = None
    """What kept the output from being written; a reader who stopped reading did not."""

    def write(self, data: Any, /) -> int:
        """Write, or drop, all of it."""
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            pass
        except OSError as error:
            self.lost = error.strerror or type(error).__name__
        return memoryview(data).nbytes


@contextmanager
def safe_output() -> Iterator[Callable[[], str | None]]:
    """Standard output and errors that are forgiving and know plain characters; what it gives says
    whether output was lost. Streams that are not the system's, as in a test, are left alone."""
    codecs.register_error(_ERRORS, plain_characters)
    before = sys.stdout, sys.stderr
    files: list[Forgiving] = []
    sys.stdout, sys.stderr = (_forgiving(each, i, files) for i, each in enumerate(before, 1))

    def lost() -> str | None:
        """Why output was lost; None where all of it was written."""
        sys.stdout.flush()
        return next((file.lost for file in files if file.fileno() == 1), None)

    try:
        yield lost
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


def _forgiving(stream: TextIO | None, number: int, files: list[Forgiving]) -> TextIO:
    if stream is None:  # it was closed before we began
        return open(os.devnull, "w", encoding="utf-8")
    if type(stream) is not io.TextIOWrapper or stream.fileno() != number:
        return stream
    stream.flush()
    files.append(Forgiving(number, "wb", closefd=False))
    return io.TextIOWrapper(
        io.BufferedWriter(files[-1]),
        encoding=stream.encoding,
        errors=_ERRORS,
        line_buffering=True,
    )
