"""How commands declare their options: those of a run by `Request`, others by docstrings."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from holdfast.errors import HoldfastError
from holdfast.request import FIELDS, Form, Panel, Parameter

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
KEYWORD = inspect.Parameter.KEYWORD_ONLY
Command = TypeVar("Command", bound=Callable[..., None])


def explained(command: Command) -> Command:
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
    command: Command, parameters: Sequence[inspect.Parameter], text: str | None
) -> Command:
    """A command that shows typer these parameters and this docstring."""
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__doc__ = text
    return command


def asks_for_a_run(command: Command) -> Command:
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
