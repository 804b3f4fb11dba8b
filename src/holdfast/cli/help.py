"""Help as plain text: options under the headings of their panels, as wide as the screen bears."""

from itertools import chain
from pathlib import Path
from typing import Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from holdfast.errors import HoldfastError
from holdfast.request.parameter import whole

NAMES = 25  # characters for an option and what it takes; a longer one has a line to itself
SENTENCE = 200  # characters of a first sentence


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
    """A command whose options stand under headings."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters, which are read without what takes long to load."""
        return _with_reader(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, what the command does, its arguments, and its options by panel."""
        from holdfast.request.questions import examples

        panels: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        param: Any
        for param in self.get_params(ctx):
            if param.param_type_name == "argument":
                panels["Arguments"].append((param.metavar or "", param.help or ""))
            elif not param.hidden and "--help" not in param.opts:
                heading = getattr(param, "rich_help_panel", None) or "Options"
                panels.setdefault(heading, []).append((_name(param), param.help or ""))
        taken = [name for name, _ in panels["Arguments"]]
        formatter.write_usage(ctx.command_path, " ".join([*taken, "[OPTIONS]"]))
        formatter.write_paragraph()
        formatter.write_text((self.help or "").replace("{questions}", " · ".join(examples())))
        for heading, entries in panels.items():
            if entries:
                with formatter.section(heading):
                    formatter.write_dl(entries, col_max=NAMES)


class CommandGroup(TyperGroup):
    """Commands that are listed with a sentence each, however long."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters, likewise."""
        return _with_reader(super().get_params(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands in their order."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(SENTENCE)) for name, each in self.commands.items()]
            )


def styled(app: typer.Typer) -> typer.Typer:
    """Commands, and groups of them, with such help."""
    app.rich_markup_mode = None
    app.info.cls = app.info.cls if isinstance(app.info.cls, type) else CommandGroup
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            styled(group.typer_instance)
    return app


def _name(param: Any) -> str:
    """An option and what stands after it."""
    names = [*param.opts, *param.secondary_opts]
    takes = "" if param.is_flag else f" {param.metavar or 'TEXT'}"
    return "/".join(names) + takes
