"""Ctrl-C: every command says in one line how things stand and how to go on."""

from typing import Any

from typer.core import TyperGroup

AGAIN = "Nothing was kept; the same command starts over."
RESUMES = "What is finished is in the folder; the same command goes on from there."
WHOLE = "If the output folder exists, the release in it is whole; if not, there is none."
CODE = 130  # what a shell expects of a command that Ctrl-C ended


class Stopped(Exception):
    """Somebody stopped a command; the message says how to go on."""


class Commands(TyperGroup):
    """The commands; typer's own way would end without a word."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt becomes `Stopped`."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            writes = ctx.invoked_subcommand == "privatize"
            raise Stopped(f"{WHOLE} The same command starts over." if writes else AGAIN) from None
