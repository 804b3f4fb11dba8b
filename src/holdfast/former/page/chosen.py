"""What a draft asks of holdfast: the arguments of the calls that the command line makes too."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.former.ledger.periods import read_period
from holdfast.former.page.draft import Draft
from holdfast.former.page.folder import Folder
from holdfast.former.page.source import part_of, source, whole
from holdfast.former.tables.leaks import SAME_COUNTS

if TYPE_CHECKING:
    from holdfast.former.engines.looking import Looked
    from holdfast.former.ledger.ledger import Ledger
    from holdfast.former.page.counts import Promised

PEOPLE = "people"
ROLES = ("count", "category", "keep", "group", "classes")
PEOPLE_ROLES = ("by", "per")
NUMBERS = ("keep", "classes")
"""Roles in which numbers are published as they are."""
SPENT = ("epsilon", "max_count", "contributions", "rows", "person_in", "joint", "totals")
"""The arguments that decide what is spent on one person."""
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
        other = {*SPENT, "ledger", "dataset", "period", *(("count",) if self.several else ())}
        return {name: value for name, value in self._plain.items() if name not in other}

    @property
    def several(self) -> list[str]:
        """The columns of counts that are released together; none where there is one."""
        count = self.arguments.get("count")
        return count if isinstance(count, list) else []

    @property
    def counts(self) -> list[str]:
        """The columns of counts, however many."""
        count = self.arguments.get("count")
        return self.several or ([count] if count else [])

    @property
    def streamed(self) -> bool:
        """Whether the file is read in batches: it is large, and all of it is meant."""
        from holdfast.former.engines.looking import is_large

        part = self.part or self.people or self.several or "subset" in self.arguments
        return not part and is_large(Path(self.source))

    def table(self) -> Any:
        """The table: people counted, a file read, or its path where it is streamed."""
        import holdfast.former as holdfast
        from holdfast.former.tables.files import read_part

        if self.streamed:
            return self.source
        table = read_part(self.source, self.part)
        return table if self.people is None else holdfast.count_by(table, **self.people)

    def look(self) -> "Looked":
        """Check the table and what would be published of it; draws nothing."""
        from holdfast.former.engines.looking import look_at_file, look_at_stream
        from holdfast.former.engines.several import check_several
        from holdfast.former.engines.stages import check_parameters
        from holdfast.former.page.counts import look_at_several

        asked = {"epsilon": 1, "max_count": 1} | self._spent
        if self.several:
            parameters = check_several(self.several, **asked)
            return look_at_several(self.table(), self.several, self.names, parameters)
        look = look_at_stream if self.streamed else look_at_file
        return look(self.table(), self.names, check_parameters(**asked))

    def promised(self, looked: "Looked") -> "Promised":
        """Check the budget for a table; draws nothing."""
        from holdfast.former.engines.several import check_several
        from holdfast.former.engines.stages import check_parameters
        from holdfast.former.page.counts import promised_of_one, promised_of_several

        self.call  # noqa: B018  what is missing is said first
        if self.several:
            return promised_of_several(check_several(self.several, **self._spent), looked)
        column = self.arguments.get("count", "")
        return promised_of_one(check_parameters(**self._spent), looked, column)

    @property
    def _spent(self) -> dict[str, Any]:
        """What decides the budget."""
        names = (*SPENT, "within")
        return {name: self._plain[name] for name in names if name in self._plain}

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
        from holdfast.former.ledger.ledger import Ledger

        count = ", ".join(self.several) or str(self.arguments.get("count", ""))
        told = {"purpose": self.purpose, "file": self.source, "column": count, "folder": self.out}
        return Ledger(self.arguments["ledger"]).telling(**told)

    @property
    def _plain(self) -> dict[str, Any]:
        """The arguments with what stands for quantiles and classes made into such."""
        from holdfast.former.privatizers.private_quantile import PrivateQuantile
        from holdfast.former.tables.groups import classes

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
        | _period(draft)
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
        raise HoldfastError("only one column may identify the person. Hint: choose one of them.")
    if not typed and not path:
        raise HoldfastError(
            "the list of categories is missing. Hint: name a file that lists all of them, also "
            "those with nobody, or type them in, one per line."
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
    count, category = columns_with(draft, "count"), columns_with(draft, "category")
    if len(category) > 1:
        raise HoldfastError("`category` is one column. Hint: choose one, and keep the others.")
    found: dict[str, Any] = {"count": count if len(count) > 1 else count[0]} if count else {}
    found |= {"category": category[0]} if category else {}
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
    anyway = [*draft.several("columns", "anyway")]
    anyway += [SAME_COUNTS] if draft.one("budget", "same") else []
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
    rows = draft.one("protected", "rows", "1").strip()
    found |= {"rows": whole(rows, "rows")} if rows != "1" else {}
    several = len(columns_with(draft, "count")) > 1
    one_column = draft.one("protected", "person_in") == "one column"
    found |= {"person_in": "one column"} if several and one_column else {}
    found |= {"joint": True} if several and draft.one("budget", "joint") else {}
    found |= {"totals": True} if draft.one("budget", "totals") else {}
    epsilon = draft.one("budget", "epsilon").strip()
    found |= {"epsilon": epsilon} if epsilon else {}
    if draft.one("budget", "top") == "quantile":
        part = draft.one("budget", "bound_epsilon").strip() or None
        found["max_count"] = {"q": draft.one("budget", "quantile", "0.99"), "epsilon": part}
    elif draft.one("budget", "max_count").strip():
        found["max_count"] = _highest(draft.one("budget", "max_count"), several)
    return found


def _highest(text: str, several: bool) -> int | list[int]:
    """The highest count: one for all columns of counts or, where there are several, for each."""
    texts = text.replace(",", " ").split() if several else [text.strip()]
    numbers = [whole(one, "max_count") for one in texts]
    return numbers if len(numbers) > 1 else numbers[0]


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


def _period(draft: Draft) -> dict[str, Any]:
    """The time that the counts are of, where it is said."""
    text = draft.one("budget", "period").strip()
    return {"period": str(read_period(text))} if text else {}


def _ledger(draft: Draft, folder: Folder) -> dict[str, Any]:
    ledger, dataset = (draft.one("budget", name).strip() for name in ("ledger", "dataset"))
    if not ledger and not dataset:
        return {}
    if not ledger or not dataset:
        raise HoldfastError(
            "the ledger and the name of the data in it go together. Hint: fill in both, or neither."
        )
    return {"ledger": str(folder.find(ledger)), "dataset": dataset}
