"""The command line: thin, a file for each command or family of commands."""

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import typer
from typer.main import get_command

from holdfast.cli.ask import ask, regroup
from holdfast.cli.count import count
from holdfast.cli.demo import demo
from holdfast.cli.help import styled
from holdfast.cli.ledger import app as ledger_app
from holdfast.cli.output import safe_output
from holdfast.cli.page import page
from holdfast.cli.plan import compare, explain, plan
from holdfast.cli.privatize import privatize
from holdfast.cli.report import report
from holdfast.cli.stopping import CODES, WHOLE, Commands, End, Heard, Stopped, interruptible
from holdfast.cli.verify import verify
from holdfast.errors import HoldfastError, one_line
from holdfast.paper.cli import app as paper_app

ABOUT = "Publish tables of counts with differential privacy; their distribution is kept."
app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a traceback can be a release
    rich_markup_mode=None,
    help=ABOUT,
    epilog=CODES,
)
COMMANDS: tuple[Callable[..., None], ...] = (
    *(demo, count, privatize, verify, report, ask, regroup, plan, compare, explain, page),
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(ledger_app, name="ledger")
app.add_typer(paper_app, name="paper")
styled(app)


@app.callback(invoke_without_command=True)
def version_option(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Publish tables of counts with differential privacy; their distribution is kept."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"holdfast {installed('holdfast')}")
        raise typer.Exit


@cache
def _commands() -> Callable[[], Any]:
    """All commands, made once."""
    return get_command(app)


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
        _commands()()
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
