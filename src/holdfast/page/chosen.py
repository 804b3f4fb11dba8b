"""What a draft asks of holdfast: the arguments of the calls that the command line makes too."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.page.draft import Draft
from holdfast.page.folder import Folder
from holdfast.page.source import part_of, source, whole

if TYPE_CHECKING:
    from holdfast.engines.looking import Looked
    from holdfast.engines.stages import Parameters, Stages
    from holdfast.ledger.ledger import Ledger

PEOPLE = "people"
ROLES = ("count", "category", "keep", "group", "classes")
PEOPLE_ROLES = ("by", "per")
COUNTED = "count"
"""What the column is called that counting people makes."""
LISTED = "categories.csv"
"""The file of categories that somebody typed in."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A run as plain values, so that it can be handed to another process as it was shown."""

    source: str
    """The path of the file."""
    part: dict[str, Any]
    """Of `holdfast.read_excel` and `holdfast.read_csv`, where they were said or found."""
    people: dict[str, Any] | None
    """With a row per person: `by`, `categories` and `per` of `holdfast.count_by`."""
    arguments: dict[str, Any]
    """Of `holdfast.privatize`, but for those left at their defaults. A quantile as max_count is a
    dictionary of `q` and `epsilon`, classes in `within` are one of `column` and `number`; `subset`
    is one as it is."""
    purpose: str = ""
    """What it is for, in words for the ledger."""
    out: str = ""
    """The path of the new folder."""

    @property
    def names(self) -> dict[str, Any]:
        """What is said of the table's columns."""
        other = {"epsilon", "max_count", "contributions", "totals", "ledger", "dataset"}
        return {name: value for name, value in self._plain.items() if name not in other}

    @property
    def streamed(self) -> bool:
        """Whether the file is read in batches: it is large, and all of it is meant."""
        from holdfast.engines.looking import is_large

        part = self.part or self.people or "subset" in self.arguments
        return not part and is_large(Path(self.source))

    def table(self) -> Any:
        """The table: people counted, a file read, or its path where it is streamed."""
        import holdfast
        from holdfast.tables.files import read_part

        if self.streamed:
            return self.source
        table = read_part(self.source, self.part)
        return table if self.people is None else holdfast.count_by(table, **self.people)

    def look(self) -> "Looked":
        """Check the table and what would be published of it; draws nothing."""
        from holdfast.engines.looking import look_at_file, look_at_stream

        look = look_at_stream if self.streamed else look_at_file
        return look(self.table(), self.names, self._parameters(epsilon=1, max_count=1))

    def stages(self, looked: "Looked") -> "Stages":
        """Check the budget for a table; draws nothing."""
        self.call  # noqa: B018  what is missing is said first
        return self._parameters().for_rows(looked.rows, looked.groups)

    def _parameters(self, **otherwise: Any) -> "Parameters":
        from holdfast.engines.stages import check_parameters

        names = ("epsilon", "max_count", "contributions", "within", "totals")
        given = {name: self._plain[name] for name in names if name in self._plain}
        return check_parameters(**otherwise | given)

    @property
    def call(self) -> dict[str, Any]:
        """The arguments as `holdfast.privatize` takes them; none that it needs is missing."""
        for name, words in (("epsilon", "how much"), ("max_count", "the highest count")):
            if name not in self.arguments:
                raise HoldfastError(f"`{name}` is missing. Hint: fill in {words}.")
        ledger = {"ledger": self._ledger()} if "ledger" in self.arguments else {}
        return self._plain | ledger

    def _ledger(self) -> "Ledger":
        """The ledger that is to pay, which writes down of what, to where and why."""
        from holdfast.ledger.ledger import Ledger

        count = str(self.arguments.get("count", ""))
        told = {"purpose": self.purpose, "file": self.source, "column": count, "folder": self.out}
        return Ledger(self.arguments["ledger"]).telling(**told)

    @property
    def _plain(self) -> dict[str, Any]:
        """The arguments with what stands for quantiles and classes made into such."""
        from holdfast.privatizers.private_quantile import PrivateQuantile
        from holdfast.tables.groups import classes

        found = dict(self.arguments)
        if isinstance(found.get("max_count"), dict):
            found["max_count"] = PrivateQuantile(**found["max_count"])
        if "within" in found:
            parts = found["within"]
            found["within"] = [classes(**p) if isinstance(p, dict) else p for p in parts]
        return found


def chosen(draft: Draft, folder: Folder) -> Chosen:
    """What a draft asks for as far as it is filled in."""
    people = _people(draft, folder) if draft.one("file", "rows") == PEOPLE else None
    out = draft.one("release", "out")
    return Chosen(
        source=str(source(draft, folder)),
        part=part_of(draft, folder),
        people=people,
        arguments=_roles(draft, people)
        | _columns(draft)
        | _promise(draft)
        | _subset(draft, people)
        | _ledger(draft, folder),
        purpose=draft.one("budget", "purpose").strip(),
        out=str(folder.new(out)) if out else "",
    )


def columns_with(draft: Draft, role: str) -> list[str]:
    """The columns that were given a role, in the order of the file."""
    filled = draft.filled("columns")
    named = ((name.removeprefix("role:"), values) for name, values in filled.items())
    return [name for name, values in named if f"role:{name}" in filled and role in values]


def _people(draft: Draft, folder: Folder) -> dict[str, Any]:
    typed, path = draft.one("columns", "listed").strip(), draft.one("columns", "categories")
    per = columns_with(draft, "per")
    if len(per) > 1:
        raise HoldfastError("one column may say whose a row is. Hint: choose one of them.")
    if not typed and not path:
        raise HoldfastError(
            "the list of categories is missing. Hint: name a file that lists all of them, also "
            "those with nobody, or type them in, one a line."
        )
    place = draft.upload(LISTED) if typed else folder.find(path)
    return {
        "by": columns_with(draft, "by"),
        "categories": str(place),
        **({"per": per[0]} if per else {}),
    }


def _roles(draft: Draft, people: dict[str, Any] | None) -> dict[str, Any]:
    if people is not None:
        by = people["by"]
        if not by:
            raise HoldfastError("no column of categories is chosen. Hint: choose one below.")
        several = {"keep": by[1:], "repeated_categories": True} if len(by) > 1 else {}
        return {"count": COUNTED, "category": by[0], **several}
    found: dict[str, Any] = {}
    for role in ("count", "category"):
        columns = columns_with(draft, role)
        if len(columns) > 1:
            raise HoldfastError(f"`{role}` is one column. Hint: choose one, and keep the others.")
        found |= {role: columns[0]} if columns else {}
    keep, within = columns_with(draft, "keep"), _within(draft)
    found |= {"keep": keep} if keep else {}
    return found | ({"within": within} if within else {})


def _within(draft: Draft) -> list[Any]:
    """What rows are grouped by."""
    number = draft.one("columns", "classes").strip()
    size = whole(number, "classes") if number else None
    ordered = [{"column": name, "number": size} for name in columns_with(draft, "classes")]
    return [*columns_with(draft, "group"), *ordered]


def _columns(draft: Draft) -> dict[str, Any]:
    found: dict[str, Any] = {}
    codes = [code for code in draft.one("columns", "missing").replace(",", " ").split() if code]
    codes += [""] if draft.one("columns", "blank") else []
    anyway = draft.several("columns", "anyway")
    found |= {"missing": codes} if codes else {}
    found |= {"publish_anyway": anyway} if anyway else {}
    for field in ("order_by", "structural_zero"):
        value = draft.one("columns", field)
        found |= {field: value} if value else {}
    return found | ({"repeated_categories": True} if draft.one("columns", "repeated") else {})


def _promise(draft: Draft) -> dict[str, Any]:
    found: dict[str, Any] = {}
    person = draft.one("protected", "contributions", "1").strip()
    found |= {"contributions": whole(person, "contributions")} if person != "1" else {}
    found |= {"totals": True} if draft.one("budget", "totals") else {}
    epsilon = draft.one("budget", "epsilon").strip()
    found |= {"epsilon": epsilon} if epsilon else {}
    if draft.one("budget", "top") == "quantile":
        part = draft.one("budget", "bound_epsilon").strip() or None
        found["max_count"] = {"q": draft.one("budget", "quantile", "0.99"), "epsilon": part}
    elif draft.one("budget", "max_count").strip():
        found["max_count"] = whole(draft.one("budget", "max_count").strip(), "max_count")
    return found


def _subset(draft: Draft, people: dict[str, Any] | None) -> dict[str, Any]:
    """The rows that are released, where not all of them are."""
    column = draft.one("budget", "subset_column")
    label = draft.one("budget", "subset_label").strip()
    if people is not None or not (column or label):
        return {}
    if not column or not label:
        raise HoldfastError(
            "`subset` is a column and a label in it. Hint: fill in both, or neither."
        )
    return {"subset": {column: label}}


def _ledger(draft: Draft, folder: Folder) -> dict[str, Any]:
    ledger, dataset = (draft.one("budget", name).strip() for name in ("ledger", "dataset"))
    if not ledger and not dataset:
        return {}
    if not ledger or not dataset:
        raise HoldfastError(
            "the ledger and the name of the data in it go together. Hint: fill in both, or neither."
        )
    return {"ledger": str(folder.find(ledger)), "dataset": dataset}
