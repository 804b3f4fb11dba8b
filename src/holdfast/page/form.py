"""The steward's form, derived from the fields of a request: what each looks like, and its words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, groupby

from starlette.datastructures import FormData

from holdfast.page.folder import Folder
from holdfast.page.runs import Filled
from holdfast.request import FIELDS, Form, Panel, Parameter
from holdfast.request.request import MADE_BY_COUNTING
from holdfast.tables.look import Look

ELSEWHERE = ("query", "keep_none")
"""Fields that the page does not ask for: SQL can read files outside of the page's folder, and who
ticks no column to keep has seen them all and said so."""
CHOICES = {
    "person_in": {"all columns": "all columns", "one column": "one column"},
    "table_format": {"csv": "CSV", "parquet": "Parquet"},
    "thousands": {",": "comma", ".": "point", "'": "apostrophe", " ": "space"},
    "decimal": {",": "comma", ".": "point"},
}
"""Values of fields that have few, each with its name; none stands for what is usual."""
BLANK = "blank cells"
"""The code for a cell that is empty, which no field of a form can hold."""
LEDGERS = ", or start one under “Choose or start a ledger”"


class Widget(StrEnum):
    """How a field looks in the form."""

    SELECT = "select"
    BOXES = "boxes"
    """Boxes to tick, and a place for others."""
    TICK = "tick"
    TEXT = "text"
    LINES = "lines"
    """Several values, one per line."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of the form, as it is shown."""

    about: Parameter
    widget: Widget
    values: tuple[str, ...]
    """What was filled in, or is suggested."""
    options: tuple[tuple[str, str], ...] = ()
    """Values to choose from, each with what is said of it."""
    wrong: bool = False

    @property
    def others(self) -> tuple[str, ...]:
        """Values that are not among the options."""
        listed = {value for value, _ in self.options}
        return tuple(value for value in self.values if value not in listed)

    @property
    def free(self) -> bool:
        """Whether something that is not among boxes to tick can be typed."""
        return not self.about.takes.startswith("COLUMN") or self.about.form is Form.GROUPS

    @property
    def numeric(self) -> bool:
        """Whether a number is typed."""
        return self.about.form in (Form.NUMBER, Form.WHOLE)


@dataclass(frozen=True, kw_only=True)
class FormSection:
    """The fields under one heading."""

    title: str
    fields: tuple[Field, ...]
    open: bool
    """Whether it is shown unfolded: the first, and where something was filled in or is wrong."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a form is shown with, beside what was filled in."""

    look: Look
    folder: Folder
    counted: Sequence[str] = ()
    """The columns of counts, as far as they are chosen."""
    leaks: tuple[str, ...] = ()
    """What can be published all the same."""
    wrong: str = ""
    """The field that has to be mended."""


def sections(filled: Filled, context: Context) -> Iterator[FormSection]:
    """The whole form, panel by panel, each field with its values."""
    shown = [about for about in FIELDS.values() if about.name not in ELSEWHERE]
    if "from_people" in filled:  # comes first, and makes the columns
        shown = [about for about in shown if about.name not in MADE_BY_COUNTING]
        shown.sort(key=lambda about: about.panel is not Panel.PEOPLE)
    for panel, abouts in groupby(shown, key=lambda about: about.panel):
        fields = tuple(_field(about, filled.get(about.name, []), context) for about in abouts)
        used = any(field.values or field.wrong for field in fields)
        yield FormSection(title=panel.value, fields=fields, open=panel is Panel.FIRST or used)


def field_in(message: str) -> str:
    """The field that a message of holdfast is about; "" for none."""
    named = re.findall(r"`(\w+)`", message)
    return next((name for name in named if name in FIELDS), "")


def _field(about: Parameter, values: Sequence[str], context: Context) -> Field:
    widget, options = _shape(about, context)
    return Field(
        about=about,
        widget=widget,
        values=tuple(value or BLANK for value in values),
        options=options,
        wrong=about.name == context.wrong,
    )


def _shape(about: Parameter, context: Context) -> tuple[Widget, tuple[tuple[str, str], ...]]:
    """What a field looks like, and what there is to choose from."""
    if about.name in CHOICES:
        return Widget.SELECT, tuple(CHOICES[about.name].items())
    if about.form is Form.FLAG:
        return Widget.TICK, ()
    if about.form is Form.SHARE:
        return Widget.BOXES, (("yes", "yes"),)
    if about.form is Form.PATH:
        folder = context.folder
        listed = {"ledger": folder.ledgers, "categories": folder.tables}
        paths = (listed | {"corrects": folder.releases}).get(about.name, list)()
        return Widget.TEXT, tuple((path, path) for path in paths)
    if about.name == "missing":
        codes = dict.fromkeys([*chain.from_iterable(context.look.non_private_codes.values()), ""])
        return Widget.BOXES, tuple((code or BLANK, code or BLANK) for code in codes)
    if about.name == "publish_anyway":
        return Widget.BOXES, tuple((name, name) for name in context.leaks)
    columns = _columns(about, context)
    if about.takes.startswith("COLUMN") and "=" not in about.takes and columns:
        return (Widget.BOXES if about.form.repeated else Widget.SELECT), columns
    return (Widget.LINES if about.form.repeated else Widget.TEXT), ()


def _columns(about: Parameter, context: Context) -> tuple[tuple[str, str], ...]:
    """The columns of the file, those that a field is likely about with a word on it; what is
    counted is nothing to publish as it is."""
    look = context.look
    counted = context.counted if about.name in ("keep", "within") else ()
    likely = {
        "count": dict.fromkeys(look.non_private_counts, "may be counts"),
        "category": dict.fromkeys(look.category_like, "names every row"),
        "within": {c.name: f"{len(c.labels)} groups" for c in look.columns if c.labels},
        "by": dict.fromkeys(look.persons_by, "categories of persons"),
        "per": {look.person: "says whose row it is"},
    }.get(about.name, {})
    names = [c.name for c in look.columns if c.name and c.name not in counted]
    short = {name: name if len(name) <= 60 else f"{name[:59]}…" for name in names}
    return tuple(
        (name, f"{short[name]} ({likely[name]})" if name in likely else short[name])
        for name in names
    )


def read_form(form: FormData, columns: Sequence[str] = ()) -> Filled:
    """What was typed into each field that was filled in."""
    as_sent = {_as_sent(name): name for name in columns}
    filled: Filled = {}
    for name, about in FIELDS.items():
        if name in ELSEWHERE:
            continue
        chosen = [value for value in form.getlist(name) if isinstance(value, str) and value]
        typed = [value for value in form.getlist(f"{name}.others") if isinstance(value, str)]
        if name not in CHOICES:
            chosen = [as_sent.get(_as_sent(word), word.strip()) for word in chosen]
        values = [value for value in [*chosen, *_typed(about, typed)] if value]
        if name == "missing":
            values = ["" if value == BLANK else value for value in values]
        if values:
            filled[name] = list(dict.fromkeys(values))
    kept = filled.keys() & {"keep", "from_people"}
    return filled if kept else filled | {"keep_none": ["yes"]}


def _typed(about: Parameter, typed: Sequence[str]) -> list[str]:
    """Values from places where several may be typed: one per line; numbers of rows also apart."""
    lines = [line.strip() for text in typed for line in text.splitlines()]
    if about.form is Form.WHOLES:
        lines = [word for line in lines for word in re.split(r"[,;\s]+", line)]
    return [line for line in lines if line]


def _as_sent(name: str) -> str:
    """A name as a browser sends it: it has ways of its own with ends of lines."""
    return name.replace("\r\n", "\n").replace("\r", "\n")


def placed(filled: Mapping[str, Sequence[str]], folder: Folder) -> Filled:
    """The same with paths inside the page's folder, none outside of it."""
    inside: Filled = {}
    for name, typed in filled.items():
        inside[name] = list(typed)
        if name == "out":
            inside[name] = [str(folder.new(typed[-1]))]
        elif FIELDS[name].form is Form.PATH:
            hint = f"choose from the list of `{name}`{LEDGERS * (name == 'ledger')}"
            inside[name] = [str(folder.find(typed[-1], hint))]
    return inside
