"""What a draft's file looks like, and what a run of it would do: computed once, kept as words."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, LeakError
from holdfast.ledger.ledger import balances_of
from holdfast.page.folder import stamp
from holdfast.page.form import field_in, placed
from holdfast.page.runs import Draft, Filled, digest_of
from holdfast.page.site import Site
from holdfast.request import Request
from holdfast.tables.look import Look, look
from holdfast.tables.options import FILE_OPTIONS

if TYPE_CHECKING:
    from holdfast.ledger.book import Balance
    from holdfast.tables.options import TableOptions

LOOKED_AT = (*FILE_OPTIONS, "missing")
"""Fields that change what a file looks like."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The same at the command line and in Python."""

    command: str
    python: str


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What a run would do, in words; or what is wrong. NOT PRIVATE."""

    problem: str = ""
    wrong: str = ""
    """The field that has to be mended."""
    leaks: tuple[str, ...] = ()
    """What can be published all the same."""
    paragraphs: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    simulated: bool = False
    balances: "tuple[Balance, ...]" = ()
    recipe: Recipe | None = None
    digest: str = ""
    """Of what was filled in and of the files: a button that is older starts nothing."""


def look_at(site: Site, draft: Draft) -> Look:
    """What the file of a draft looks like; it is looked at once, as long as it does not change."""
    source = draft.source(site.folder)
    filled = {name: said for name, said in draft.filled.items() if name in LOOKED_AT}
    key = ("look", draft.file, stamp(source), digest_of(filled))
    return site.remembered.get(key, lambda: _look(source, filled))


def _look(source: Path, filled: Filled) -> Look:
    try:
        options: TableOptions = Request.from_words(filled | {"epsilon": ["1"]}).table_options
    except HoldfastError:  # said when it is checked
        return look(source)
    seen = look(source, options)
    return seen if seen.columns or not filled else replace(look(source), problem=seen.problem)


def check(site: Site, draft: Draft) -> Checked:
    """What a run of a draft would do; it is found out once, as long as nothing changes."""
    from holdfast.release.bundle import check_place

    filled = draft.filled
    try:
        true = placed(filled, site.folder)
        source = draft.source(site.folder)
        files = [source, *(Path(path) for path in true.get("categories", []))]
        digest = digest_of(filled, draft.file, *map(stamp, files))
        made = site.remembered.get(
            ("check", draft.file, digest, *map(stamp, map(Path, true.get("ledger", [])))),
            lambda: _check(source, draft.file, filled, true),
        )
        check_place(Path(true["out"][-1]))
        fits = tuple(balances_of(Request.from_words(true)))
    except LeakError as error:
        said, wrong = site.said(str(error)), "publish_anyway"
        return Checked(problem=said, wrong=wrong, leaks=error.names)
    except HoldfastError as error:
        return Checked(problem=site.said(str(error)), wrong=field_in(str(error)))
    return replace(made, digest=digest, balances=fits)


def _check(source: Path, called: str, filled: Filled, true: Filled) -> Checked:
    from holdfast.engine.privatize import opened
    from holdfast.plan.before import before

    request = Request.from_words(true)
    if request.out is None:
        raise HoldfastError("`out` is missing. Hint: name a new folder for the release.")
    with opened(source, request) as table:
        outlook = before(table, request, file=source)
    if outlook.refused is not None:
        raise outlook.refused
    return Checked(
        paragraphs=outlook.paragraphs,
        doubts=outlook.doubts,
        notes=outlook.notes,
        simulated=outlook.promise.simulated,
        recipe=recipe(called, filled),
    )


def recipe(called: str, filled: Filled) -> Recipe:
    """The same run as a command and in Python, with paths as they are in the page's folder."""
    request = Request.from_words(filled)
    return Recipe(command=request.as_command(called), python=request.as_python(called).strip())


def balances(site: Site, draft: Draft) -> "tuple[Balance, ...]":
    """What the ledger has left for a draft's data; nothing where there is none."""
    try:
        return tuple(balances_of(Request.from_words(placed(draft.filled, site.folder))))
    except HoldfastError:
        return ()
