"""How commands declare their options: those of a run by `Request`, others by docstrings. Help as
plain text: options under the headings of their panels, as wide as the screen bears."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from holdfast.errors import HoldfastError
from holdfast.request import FIELDS, Form, Panel, Parameter
from holdfast.request.parameter import whole

Text = str | None
Texts = list[str] | None
SHARED = {
    "DIR": "Folder of a release.",
    "--json": "Print one JSON object.",
    "--level": "Of the intervals.",
    "--questions": "Such as zeros,mean,'above 10', or other shares as holdfast ask takes them.",
}
"""What several commands take and explain alike."""
CALLED = {"json": "as_json", "format": "form", "open": "open_browser"}
"""Parameters of commands that are not called like their options."""
NAMES = 25  # characters for an option and what it takes; a longer one has a line to itself
SENTENCE = 200  # characters of a first sentence
KEYWORD = inspect.Parameter.KEYWORD_ONLY
Run = TypeVar("Run", bound=Callable[..., None])


def explained(command: Run) -> Run:
    """A command whose arguments and options are the entries under "Options:", at the end of its
    docstring: `DIR: Words.` is an argument and `--by COLUMN: Words.` an option.

    Without words, an option is explained as it is for a run, or in `SHARED`. Options for which the
    command has no parameter of its own are text, or texts where an entry says `--by COLUMN…`, and
    are passed on by their names.
    """
    text, _, entries = (inspect.getdoc(command) or "").partition("\n\nOptions:\n\n")
    typed = dict(inspect.signature(command, eval_str=True).parameters)
    rest = next((name for name, each in typed.items() if each.kind is each.VAR_KEYWORD), "")
    typed.pop(rest, None)
    names = iter(typed)
    ordered = [
        _explained(typed, entry, names) for entry in re.split(r"\n(?! )", textwrap.dedent(entries))
    ]
    if unexplained := typed.keys() - {each.name for each in ordered}:
        raise TypeError(f"{command.__name__} does not explain {', '.join(unexplained)}")
    return _with_parameters(command, ordered, text)


def _explained(
    typed: Mapping[str, inspect.Parameter], entry: str, names: Iterator[str]
) -> inspect.Parameter:
    """The parameter of a command for an entry of its docstring."""
    head, _, words = " ".join(entry.split()).partition(": ")
    option, _, takes = head.partition(" ")
    if not option.startswith("--"):
        words = words or SHARED[head]
        about: Any = typer.Argument(help=words, metavar=head, show_default=False)
        return _annotated(typed[next(names)], about)
    name = option.split("/")[0].removeprefix("--").replace("-", "_")
    field, several = FIELDS.get(name), takes.endswith("…")
    if not words and field is not None and option not in SHARED:
        words, takes, several = field.help, field.takes, field.form.repeated
    metavar = takes.removesuffix("…") or None
    about = typer.Option(option, help=words or SHARED[option], metavar=metavar)
    kind: Any = Texts if several else Text
    other = inspect.Parameter(name, KEYWORD, default=None, annotation=kind)
    return _annotated(typed.get(CALLED.get(name, name), other), about)


def _annotated(parameter: inspect.Parameter, about: Any) -> inspect.Parameter:
    return parameter.replace(kind=KEYWORD, annotation=Annotated[parameter.annotation, about])


def _with_parameters(
    command: Run, parameters: Sequence[inspect.Parameter], text: str | None
) -> Run:
    """A command that shows typer these parameters and this docstring."""
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__doc__ = text
    return command


def asks_for_a_run(command: Run) -> Run:
    """A command of (file, dry_run, as_json, **words) that has an option for each parameter of a
    run, in the order and under the headings of a request; `dry_run` ends the first."""
    file, dry_run, *others = inspect.signature(command).parameters.values()
    dry_run.annotation.__metadata__[0].rich_help_panel = Panel.FIRST.value
    options = [_option(about) for about in FIELDS.values()]
    options.insert([about.panel for about in FIELDS.values()].count(Panel.FIRST), dry_run)
    return _with_parameters(command, (file, *options, *others), command.__doc__)


def _option(about: Parameter) -> inspect.Parameter:
    flag = about.form is Form.FLAG
    kind: Any = bool if flag else Texts if about.form.repeated else Text
    panel = about.panel.value
    option = typer.Option(about.option, help=about.help, metavar=about.takes, rich_help_panel=panel)
    default = False if flag else None
    return inspect.Parameter(
        about.name, KEYWORD, default=default, annotation=Annotated[kind, option]
    )


def words_of(options: Mapping[str, Any]) -> dict[str, list[str]]:
    """What was said of each field of a request, in words; nothing of those that were left out.

    >>> words_of({"count": ["a"], "epsilon": "1", "keep_none": True, "top": None, "by": None})
    {'count': ['a'], 'epsilon': ['1'], 'keep_none': []}
    """
    words: dict[str, list[str]] = {}
    for name, value in options.items():
        if value is True:
            words[name] = []
        elif value not in (None, False):
            words[name] = value if isinstance(value, list) else [value]
    return words


def check_new(path: Path, option: str = "--out") -> None:
    """Refuse a file that would be written over another, or into no folder."""
    if path.exists() or path.is_symlink():
        raise HoldfastError(f"`{path}` exists already. Hint: name another with {option}.")
    if not path.parent.is_dir():
        raise HoldfastError(f"the folder `{path.parent}` does not exist. Hint: make it first.")


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
