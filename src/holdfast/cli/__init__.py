"""The command line: thin, a file for each command or family of commands."""

import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command, get_group

import holdfast
from holdfast.cli.options import styled
from holdfast.cli.output import safe_output
from holdfast.cli.stopping import CODES, WHOLE, Commands, End, Heard, Stopped, interruptible
from holdfast.errors import HoldfastError, one_line

HOMES = {"demo": "demo", "count": "count", "privatize": "privatize", "verify": "reading",
         "report": "reading", "ask": "reading", "regroup": "reading", "plan": "plan",
         "compare": "plan", "explain": "plan", "page": "page"}  # fmt: skip
"""The module of each command."""
FAMILIES = {"ledger": "holdfast.cli.ledger", "paper": "holdfast.paper.cli"}
app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=CODES,
)


@app.callback(invoke_without_command=True)
def version_option(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Publish tables of counts with differential privacy; their distribution is kept."""
    if version:
        typer.echo(f"holdfast {holdfast.__version__}")
        raise typer.Exit


class Loaded(Mapping[str, Any]):
    """The commands in their order, each loaded when it is asked for: to load and read the options
    of all takes as long as `import numpy`."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter((*HOMES, *FAMILIES))

    def __len__(self) -> int:
        return len(HOMES) + len(FAMILIES)


@cache
def _command(name: str) -> Any:
    """A command, or a family of them; raises KeyError if there is none of that name."""
    if name in FAMILIES:
        return get_group(styled(import_module(FAMILIES[name]).app))
    alone = typer.Typer(add_completion=False)
    alone.command()(getattr(import_module(f"holdfast.cli.{HOMES[name]}"), name))
    return get_command(styled(alone))


@cache
def commands() -> Any:
    """The command line, made once."""
    group: Any = get_command(app)
    group.commands = Loaded()
    return group


def main() -> None:
    """Run the command line; errors become one sentence and an exit code."""
    for library in ("OPENBLAS", "OMP", "MKL"):  # threads slow small solves down, up to tenfold
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    with safe_output() as lost, interruptible() as heard:
        code = _ending(heard)
        why = lost()
        if why is not None and code == End.DONE:
            code = _say(f"Error: not all of the output could be written ({why}). {WHOLE}")
    sys.exit(code)


def _ending(heard: Heard) -> int:
    """Run a command and say how it ended; its exit code."""
    try:
        commands()()
    except SystemExit as stop:
        return int(stop.code or 0) if heard.code is None else heard.code
    except HoldfastError as error:
        return _say(f"Error: {error}")
    except Stopped as stopped:
        return _say(f"Stopped. {stopped}", heard.code or End.STOPPED)
    except KeyboardInterrupt:
        return _say("Stopped.", heard.code or End.STOPPED)
    except Exception as error:
        if os.environ.get("HOLDFAST_DEBUG"):
            raise
        return _unexpected(error, heard)
    return End.DONE


def _unexpected(error: Exception, heard: Heard) -> int:
    if heard.code is not None:
        return _say(f"Stopped. {WHOLE}", heard.code)
    if isinstance(error, OSError):
        name = f"`{one_line(os.fsdecode(error.filename))[:200]}`: " if error.filename else ""
        return _say(
            f"Error: {name}{error.strerror or type(error).__name__}."
        )  # nothing of its content
    return _say(
        f"Error: holdfast failed ({type(error).__name__}). {WHOLE} Details are kept back "
        "because they could show counts; HOLDFAST_DEBUG=1 prints them.",
        End.FAILED,
    )


def _say(message: str, code: int = End.REFUSED) -> int:
    sys.stderr.write(message + "\n")
    return code
