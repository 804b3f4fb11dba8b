"""Help in headed panels: an option, what it takes, and a sentence as wide as the screen bears."""

import shutil
import textwrap
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from holdfast.errors import HoldfastError
from holdfast.request.parameter import whole

WIDEST = 100
NAMES = 27  # characters for an option and what it takes; a longer one has a line to itself
USUAL = "Options"


class WordReader:
    """How the words that are typed become what a command takes: text, paths, numbers, lists.

    typer's own way loads pydantic, which takes longer than many commands do.
    """

    def __init__(self, annotation: Any) -> None:
        parts = get_args(annotation)
        kinds = {annotation, *parts, *chain.from_iterable(map(get_args, parts))}
        self._kind = next((kind for kind in (Path, int, float) if kind in kinds), str)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """One value or several."""
        several = param.multiple or param.nargs == -1
        if value is None or isinstance(value, bool):
            return () if several else value
        return [self._read(word, param) for word in value] if several else self._read(value, param)

    def _read(self, word: Any, param: Any) -> Any:
        if self._kind is int and isinstance(word, str):
            return whole(word, param.name)
        try:
            return self._kind(word)
        except ValueError:
            raise HoldfastError(f"`{param.name}` must be a number, got {word!r:.40}.") from None


def _with_reader(params: list[Any]) -> list[Any]:
    for param in params:
        param._runtime_param = WordReader(param.type_descriptor.annotation)
    return params


class Command(TyperCommand):
    """A command whose help is plain text under headings."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters, which are read without what takes long to load."""
        return _with_reader(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, what the command does, its arguments, and its options by panel."""
        panels: dict[str, list[tuple[str, str]]] = {}
        param: Any
        for param in self.get_params(ctx):
            if param.param_type_name == "argument":
                panels.setdefault("Arguments", []).append((param.metavar or "", param.help or ""))
            elif not param.hidden and "--help" not in param.opts:
                heading = getattr(param, "rich_help_panel", None) or USUAL
                panels.setdefault(heading, []).append((_name(param), param.help or ""))
        taken = " ".join(name for name, _ in panels.get("Arguments", []))
        words = [f"Usage: {ctx.command_path} {taken}".rstrip() + " [OPTIONS]"]
        words += [described(self.help or ""), *(panel(*each) for each in panels.items())]
        formatter.write("\n\n".join(words) + "\n")


class CommandGroup(TyperGroup):
    """Commands whose help is a list of them, a sentence each."""

    mounted: dict[str, tuple[str, str]] = {}  # noqa: RUF012
    """Groups that are imported when they are run: their module, and what they are for."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters, likewise."""
        return _with_reader(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of commands, in their order."""
        return [*super().list_commands(ctx), *self.mounted]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named by the first word, and the rest of the words."""
        if args and args[0] in self.mounted:
            return args[0], mount(self.mounted[args[0]][0]), args[1:]
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, what they are for, and the commands in their order."""
        words = [f"Usage: {ctx.command_path} COMMAND [OPTIONS]", described(self.help or "")]
        lines = [(name, self._sentence(ctx, name)) for name in self.list_commands(ctx)]
        words += [panel("Commands", lines)]
        formatter.write("\n\n".join([*words, *[described(self.epilog or "")] * bool(self.epilog)]))
        formatter.write("\n")

    def _sentence(self, ctx: Any, name: str) -> str:
        if name in self.mounted:
            return self.mounted[name][1]
        command: Any = self.get_command(ctx, name)
        return first_sentence(command.help or "")


def mount(module: str) -> Any:
    """The commands of the `app` in a module, with help like all others."""
    return get_command(styled(import_module(module).app))


def styled(app: typer.Typer) -> typer.Typer:
    """Commands whose help looks like that of all others."""
    app.rich_markup_mode = None
    app.info.cls = app.info.cls if isinstance(app.info.cls, type) else CommandGroup
    for command in app.registered_commands:
        command.cls = Command
    return app


def _name(param: Any) -> str:
    """An option and what stands after it."""
    names = [*param.opts, *param.secondary_opts]
    takes = "" if param.is_flag else f" {param.metavar or 'TEXT'}"
    return "/".join(names) + takes


def panel(heading: str, entries: list[tuple[str, str]]) -> str:
    """Entries under a heading.

    >>> print(panel("First", [("--count COLUMN", "Column of counts.")]))
    First
      --count COLUMN             Column of counts.
    """
    width, lines = _width(), [heading]
    for name, words in entries:
        text = textwrap.wrap(words, width - NAMES - 2) or [""]
        if len(name) >= NAMES:
            lines.append(f"  {name}")
            name = ""
        lines.append(f"  {name:{NAMES}}{text[0]}".rstrip())
        lines += [" " * (NAMES + 2) + line for line in text[1:]]
    return "\n".join(lines)


def described(text: str) -> str:
    """A docstring's paragraphs, filled; lines that are indented are examples and stay.

    >>> print(described("One\\ntwo.\\n\\nExamples:\\n\\n    holdfast demo"))
    One two.
    <BLANKLINE>
    Examples:
    <BLANKLINE>
      holdfast demo
    """
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(
        textwrap.indent(textwrap.dedent(paragraph), "  ")
        if paragraph.startswith(" ")
        else textwrap.fill(" ".join(paragraph.split()), _width())
        for paragraph in paragraphs
    )


def first_sentence(text: str) -> str:
    """The first sentence of a docstring."""
    return " ".join(text.strip().split("\n\n")[0].split()).split(". ")[0].rstrip(".") + "."


def _width() -> int:
    return min(shutil.get_terminal_size((80, 24)).columns, WIDEST)
