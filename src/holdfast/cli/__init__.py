"""The command line: thin, one file per command."""

import os
import sys

import typer

from holdfast.cli.ask import ask
from holdfast.cli.audit import audit
from holdfast.cli.compare import compare
from holdfast.cli.count import count
from holdfast.cli.demo import demo
from holdfast.cli.explain import explain
from holdfast.cli.ledger import app as ledger
from holdfast.cli.page import page
from holdfast.cli.plan import plan
from holdfast.cli.privatize import privatize
from holdfast.cli.report import report
from holdfast.cli.reproduce import reproduce
from holdfast.cli.stopping import CODE, WHOLE, Commands, Stopped
from holdfast.cli.verify import verify
from holdfast.errors import HoldfastError

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a traceback can be a release
    rich_markup_mode="rich",
    help="Publish tables of counts with differential privacy; the distribution of counts holds.",
)
app.command()(demo)
app.command()(count)
app.command()(privatize)
app.command()(report)
app.command()(ask)
app.add_typer(ledger, name="ledger")
app.command()(compare)
app.command()(explain)
app.command()(plan)
app.command()(page)
app.command()(reproduce)
app.command()(audit)
app.command()(verify)


@app.callback(invoke_without_command=True)
def version_option(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Publish tables of counts with differential privacy; the distribution of counts holds."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"holdfast {installed('holdfast')}")
        raise typer.Exit


def main() -> None:
    """Run the command line; errors become one sentence and an exit code."""
    try:
        app()
    except HoldfastError as error:
        _stop(f"Error: {error}", 2)
    except Stopped as stopped:
        _stop(f"Stopped. {stopped}", CODE)
    except KeyboardInterrupt:
        _stop("Stopped.", CODE)
    except Exception as error:
        if os.environ.get("HOLDFAST_DEBUG"):
            raise
        _stop(
            f"Error: holdfast failed ({type(error).__name__}). {WHOLE} Details are kept back "
            "because they could show counts; HOLDFAST_DEBUG=1 prints them.",
            1,
        )


def _stop(message: str, code: int) -> None:
    sys.stderr.write(message + "\n")
    sys.exit(code)
