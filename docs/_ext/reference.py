"""The directives `api`, for public names, and `commands`, for the command line."""

import inspect
import os
import pkgutil
from collections.abc import Iterator
from typing import Any

import docstrings
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles


class Written(SphinxDirective):
    """A directive whose content is Markdown that code writes."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse what was written."""
        text = StringList(self.text(self.arguments[0]).splitlines(), source="code")
        place = nodes.container()
        nested_parse_with_titles(self.state, text, place)
        return place.children

    def text(self, name: str) -> str:
        """What to write."""
        raise NotImplementedError


PUBLIC = ("holdfast", "holdfast.paper")


class Api(Written):
    """`{api} holdfast:privatize`: signature, docstring, fields and methods."""

    def text(self, name: str) -> str:
        """The entry of a public name, or of a type by the module that it is in."""
        entry, (module, _, title) = pkgutil.resolve_name(name), name.partition(":")
        title = f"{module}.{title}" if module in PUBLIC else title
        return _class(title, entry) if inspect.isclass(entry) else _function(title, entry)


def _function(name: str, found: Any, kind: str = "function") -> str:
    return _entry(kind, name + _signature(found), docstrings.markdown(found.__doc__ or ""))


def _class(name: str, cls: type) -> str:
    parts = [docstrings.markdown(_own_doc(cls))]
    known = {key: said for base in reversed(cls.__mro__[:-1]) for key, said in _fields(base)}
    parts += ["\n".join(f"- `{key}`: {said}" for key, said in known.items())] if known else []
    for key in dir(cls):
        member = inspect.getattr_static(cls, key)
        home = next(base for base in cls.__mro__ if key in vars(base)).__module__
        if key.startswith("_") or key in known or not (member.__doc__ or "").strip():
            continue
        if not home.startswith("holdfast"):
            continue
        if isinstance(member, property) or type(member).__name__ == "cached_property":
            parts.append(_entry("property", key, docstrings.markdown(member.__doc__)))
        elif inspect.isfunction(member):
            parts.append(_function(key, member, "method"))
    call = inspect.getattr_static(cls, "__call__", None)
    if inspect.isfunction(call) and call.__doc__:
        parts.append(_function("__call__", call, "method"))
    return _entry("class", name, "\n\n".join(parts))


def _own_doc(cls: type) -> str:
    text = cls.__doc__ or ""
    return "" if text.startswith(f"{cls.__name__}(") else text


def _fields(cls: type) -> list[tuple[str, str]]:
    return list(docstrings.fields(cls).items()) if cls.__module__.startswith("holdfast") else []


def _signature(found: Any) -> str:
    signature = inspect.signature(found)
    bare = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in signature.parameters.values()
        if p.name != "self"
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _entry(kind: str, title: str, body: str) -> str:
    fence = ":" * (5 if kind == "class" else 4)
    return f"{fence}{{py:{kind}}} {title}\n\n{body}\n{fence}\n"


class Commands(Written):
    """`{commands} holdfast`: the help of every command, as it is printed."""

    def text(self, name: str) -> str:
        """All commands."""
        from holdfast.cli import commands

        os.environ["COLUMNS"] = "92"
        return "\n\n".join(_helps(name, commands()))


def _helps(path: str, command: Any) -> Iterator[str]:
    """The help of a command that runs, or of each command of a group."""
    context = command.make_context(path, [], resilient_parsing=True)
    if not hasattr(command, "list_commands"):
        yield f"## {path}\n\n~~~text\n{command.get_help(context).strip()}\n~~~"
        return
    for name in command.list_commands(context):
        yield from _helps(f"{path} {name}", command.get_command(context, name))


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("api", Api)
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
