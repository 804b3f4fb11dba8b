"""How commands declare their options: those of a run come from `Request`, others say so here."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast.errors import HoldfastError
from holdfast.request import FIELDS, Form, Parameter

Text = str | None
Texts = list[str] | None


def says(words: str, *names: str, takes: str = "TEXT", panel: str | None = None) -> Any:
    """An option that is explained by these words, with names where they are not the usual."""
    return typer.Option(*names, help=words, metavar=takes, rich_help_panel=panel)


def argument(words: str, name: str) -> Any:
    """What stands after a command without a name."""
    return typer.Argument(help=words, metavar=name, show_default=False)


Release = Annotated[Path, argument("Folder of a release.", "DIR")]
Json = Annotated[bool, says("Print one JSON object.", "--json")]
Questions = Annotated[
    Text,
    says(
        "Such as zeros,mean,'above 10', or other shares as holdfast ask takes them.",
        takes="QUESTIONS",
    ),
]


def asks_for_a_run(function: Callable[..., None]) -> Callable[..., None]:
    """A command of (file, dry_run, as_json, **words) that has an option for each field of a
    request, in the order and under the headings of the request."""
    given = inspect.signature(function, eval_str=True).parameters.values()
    fixed = [one for one in given if one.kind is not inspect.Parameter.VAR_KEYWORD]
    options = [*fixed[:1], *map(_option, FIELDS.values()), *fixed[1:]]
    first = [one for one in options if _panel(one) == FIELDS["count"].panel]
    ordered = [*fixed[:1], *first, *(one for one in options[1:] if one not in first)]
    vars(function)["__signature__"] = inspect.Signature(
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in ordered]
    )
    function.__annotations__ = {one.name: one.annotation for one in ordered}
    return function


def _panel(parameter: inspect.Parameter) -> str | None:
    about = parameter.annotation.__metadata__[0]
    panel: str | None = getattr(about, "rich_help_panel", None)
    return panel


def _option(about: Parameter) -> inspect.Parameter:
    kind: Any = Texts if about.form.repeated else Text
    default: Any = None
    if about.form is Form.FLAG:
        kind, default = bool, False
    option = says(about.help, about.option, takes=about.takes, panel=about.panel.value)
    return inspect.Parameter(
        about.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, option],
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


def listed(text: str | None) -> list[str] | None:
    """The parts of a list with commas; None stays None."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def check_new(path: Path, option: str = "--out") -> None:
    """Refuse a file that would be written over another, or into no folder."""
    if path.exists() or path.is_symlink():
        raise HoldfastError(f"`{path}` exists already. Hint: name another with {option}.")
    if not path.parent.is_dir():
        raise HoldfastError(f"the folder `{path.parent}` does not exist. Hint: make it first.")
