"""A release that somebody has opened: verified, loaded, and what is shown of it."""

import hashlib
import math
import os
import re
import unicodedata
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.former.ledger.receipts import record_in
from holdfast.former.page.folder import stamp
from holdfast.former.page.recipe import of_release
from holdfast.former.page.site import Site, recipe_values
from holdfast.former.page.state import read_json, write_json

if TYPE_CHECKING:
    from holdfast.arrays import Floats
    from holdfast.former.analysis.answer import Answer
    from holdfast.former.release.groups import Group
    from holdfast.former.release.release import Release
    from holdfast.former.release.several import TableRelease
    from holdfast.former.verify.report import Verification

LEVEL = 0.9
MOST_CELLS, FEW_BARS = 5000, 21
"""Groups times counts from which fewer bars have intervals, for the same reason as below."""
MOST_GROUPS = 60
"""Groups that are shown with intervals: for more it would take too long to look at."""


@dataclass(frozen=True)
class Opened:
    """A release in its folder, with a name for addresses."""

    name: str
    folder: Path

    @staticmethod
    def of(site: Site, folder: Path) -> "Opened":
        """The release in a folder, known from now on."""
        if folder == site.folder.root and _is_column(folder):
            raise HoldfastError(
                "this folder is one column of a release of several counts, whose table is outside "
                "of the page's folder. Hint: start the page with the --folder above."
            )
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        place = site.state.make("releases", name)
        write_json(place / "path.json", str(folder))
        return Opened(name, folder)

    @staticmethod
    def find(site: Site, name: str) -> "Opened":
        """One that was opened before."""
        path = read_json(site.state.place("releases", name) / "path.json")
        if path is None:
            raise HoldfastError("this release is not open. Hint: open it from the first page.")
        return Opened(name, Path(path))

    @property
    def address(self) -> str:
        """Where it is shown."""
        return f"/releases/{self.name}"

    @property
    def root(self) -> Path:
        """The folder to hand on: of one column of several the one above, which has the table."""
        return self.folder.parent if _is_column(self.folder) else self.folder

    def shown(self, site: Site) -> str:
        """Its path as people type it."""
        inside = self.folder.is_relative_to(site.folder.root)
        return site.folder.shown(self.folder) if inside else self.folder.name

    def verified(self, site: Site) -> "Verification":
        """What `holdfast.verify` finds, as long as no file changes."""
        import holdfast.former as holdfast

        return site.remembered.get(self.key("verify"), lambda: holdfast.verify(self.folder))

    def loaded(self, site: Site) -> "Release":
        """The release; raises if it is damaged."""
        from holdfast.former.release.bundle import load_verified

        verdict = self.verified(site)
        return site.remembered.get(self.key("load"), lambda: load_verified(self.folder, verdict))

    def report(self, site: Site) -> str | None:
        """Its report as a page; None for a release whose report cannot be made."""
        from holdfast.former.analysis.report.blocks import html
        from holdfast.former.analysis.report.content import report, report_of_several

        if not self.verified(site):
            self.loaded(site)  # says what is wrong

        def make() -> str | None:
            try:
                if not _columns(self.folder):
                    return html(report(self.loaded(site), LEVEL))
                return html(report_of_several(self.several(site), LEVEL))
            except HoldfastError:
                return None

        return site.remembered.get(self.key("report"), make)

    def overview(self, site: Site) -> dict[str, Any]:
        """What is shown of it first: the verdict, and of a whole release the rest."""
        verdict = self.verified(site)
        values: dict[str, Any] = {"opened": self, "at": self.shown(site), "verdict": verdict}
        values |= {"release": None, "counts": [], **self.recipe(site)}
        if not verdict:
            return values
        if _columns(self.folder):
            found = list(self.columns(site).items())
            values |= {"promised": _promised(record_in(self.folder))}
            return values | {"counts": found, "chosen": {}, "columns": self.public(site)}
        release = self.loaded(site)
        return values | site.remembered.get(self.key("shown"), lambda: _shown(release))

    def questions(self, site: Site) -> list[dict[str, Any]]:
        """Common questions with their answers; none of a damaged release."""
        from holdfast.former.analysis.report.content import questions

        if not self.verified(site) or _columns(self.folder):
            return []
        release = self.loaded(site)
        return site.remembered.get(self.key("questions"), lambda: questions(release, LEVEL))

    def columns(self, site: Site) -> "dict[str, Opened]":
        """By the names of its columns of counts those of a release of several; else itself."""
        found = _columns(self.folder)
        return {name: Opened.of(site, at) for name, at in found.items()} or {"": self}

    def several(self, site: Site) -> "TableRelease":
        """A release of several counts, whole; raises if it is damaged or has one."""
        from holdfast.former.release.several_bundle import load_table

        return site.remembered.get(self.key("several"), lambda: load_table(self.folder))

    def public(self, site: Site) -> list[str]:
        """The columns that a release of several counts publishes as they were."""
        return [str(name) for name in record_in(self.folder).get("unchanged_columns", ())]

    def recipe(self, site: Site) -> dict[str, Any]:
        """How to verify and report it elsewhere."""
        at = self.shown(site)
        load = "load_table" if _columns(self.folder) else "load"
        verify = of_release(at, "verify", python=f"print(holdfast.verify({at!r}))", load=load)
        report = of_release(at, "report", python="")
        values = recipe_values(verify)
        return values | {"command": f"{verify.command}\n{report.command}"}

    def key(self, what: str) -> Any:
        """What a result about it is remembered by: its files as they are now."""
        if not self.folder.is_dir():
            raise HoldfastError(f"`{self.folder.name}` is gone. Hint: open another release.")
        places = {self.folder, self.root}
        files = sorted(path for place in places for path in place.iterdir() if path.is_file())
        return (what, str(self.folder), tuple(stamp(path) for path in files[:64]))


def _is_column(folder: Path) -> bool:
    """Whether this is one column of a release of several counts."""
    return record_in(folder).get("table_above") is True


def _columns(folder: Path) -> dict[str, Path]:
    """The folders of the columns of a release of several counts, which lie in its own."""
    try:
        places = record_in(folder).get("counts", ())
        found = {place["column"]: folder / place["folder"] for place in places}
    except (TypeError, LookupError):  # damaged, as its verdict tells
        return {}
    return {name: at for name, at in found.items() if at.resolve().parent == folder.resolve()}


def _promised(record: dict[str, Any]) -> dict[str, Any]:
    """What a release of several counts promises, once it is verified."""
    from holdfast.former.privacy.delta import beyond_epsilon

    told, delta = record["privacy"], Fraction(record["privacy"]["delta"])
    names = [place["column"] for place in record["counts"]]
    added = zip(names, told["contributions"], strict=True)
    return {
        **told,
        "added": ", ".join(f"{name} {most}" for name, most in added),
        "factor": math.exp(Fraction(told["epsilon"])),
        "beyond": beyond_epsilon(delta) if delta else "",
    }


def _shown(release: "Release") -> dict[str, Any]:
    from holdfast.former.analysis.report.content import DO_NOT, promise, rows_words
    from holdfast.former.analysis.report.pictures import band_picture

    shares, doubts = _shares(release)
    return {
        "release": release,
        "rows": rows_words(release),
        "promise": promise(release),
        "picture": band_picture(shares),
        "banded": any(bar["interval"] is not None for bar in shares),
        "doubts": doubts,
        "groups": [] if release.groups is None else _groups(release),
        "do_not": DO_NOT,
    }


def _shares(release: "Release") -> tuple[list[dict[str, Any]], list[str]]:
    """The share of every count, with intervals where they can be stated."""
    from holdfast.former.analysis.report.content import BARS, distribution, runs

    groups = 1 if release.groups is None else len(release.groups)
    most = BARS if groups * len(release.target) <= MOST_CELLS else FEW_BARS
    try:
        return distribution(release, LEVEL, most)
    except HoldfastError:
        unknown: dict[str, Any] = {"estimate": None, "interval": None}
        bars = [
            {"first": a, "last": b, "released": float(release.distribution[a : b + 1].sum())}
            for a, b in runs(len(release.target), most)
        ]
        return [bar | unknown for bar in bars], []


def _groups(release: "Release") -> list[dict[str, Any]]:
    """Of each group the share of zeros and the mean, with intervals where there are not too many,
    and its total where totals were measured."""
    groups = () if release.groups is None else tuple(release.groups.values())
    zeros, mean = (_by_group(release, *asked) for asked in (("share", {"equal": 0}), ("mean", {})))
    return [
        {
            "name": group.name,
            "rows": group.rows,
            "zeros": _in_words(zeros.get(group.name)) or f"{float(group.target[0]):.1%}",
            "mean": _in_words(mean.get(group.name)) or f"{_mean(group.target):.2f}",
            "total": _total(group, mean.get(group.name)) if release.totals else "",
        }
        for group in sorted(groups, key=lambda group: in_order(group.name))
    ]


def _mean(shares: "Floats") -> float:
    return float(shares @ range(len(shares)))


def _total(group: "Group", mean: "Answer | None") -> str:
    """The total as the mean has it, or else as it was measured."""
    if mean is not None:
        low, high = (end * group.rows for end in mean.interval)
        whole = replace(mean, estimate=mean.estimate * group.rows, interval=(low, high), whole=True)
        return _in_words(whole)
    total = group.total
    return "" if total is None else f"{total.value:,} ({total.low:,} to {total.high:,})"


def _in_words(answer: "Answer | None") -> str:
    if answer is None:
        return ""
    return f"{answer.in_words(answer.estimate)} ({answer.interval_words})"


def in_order(name: Any) -> tuple[Any, ...]:
    """What names are sorted by: letters as people sort them, numbers by what they are.

    >>> sorted(["b 10", "B 9", "Ä", "a"], key=in_order)
    ['a', 'Ä', 'B 9', 'b 10']
    """
    plain = unicodedata.normalize("NFKD", str(name)).casefold()
    letters = "".join(sign for sign in plain if not unicodedata.combining(sign))
    parts = re.split(r"([0-9]+)", letters)
    return (*((int(part) if part.isdigit() else -1, part) for part in parts), (-1, str(name)))


def _by_group(release: "Release", question: str, options: dict[str, Any]) -> "dict[str, Answer]":
    """An answer, by the name of the group; none where there are too many."""
    groups = release.groups
    if groups is None or groups.members is None or len(groups) > MOST_GROUPS:
        return {}
    names = [groups.names[at] if at >= 0 else "" for at in groups.members.tolist()]
    try:
        found = release.ask(question, by=names, level=LEVEL, **options)
    except HoldfastError:  # rows that were not drawn, or a question that it cannot answer
        return {}
    return {str(name): one for name, one in found.items()}
