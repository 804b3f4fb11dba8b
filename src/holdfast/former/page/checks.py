"""What each step of a draft shows, and what is wrong about it: all of it asked of holdfast."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import HoldfastError, LeakError
from holdfast.former.page import advice
from holdfast.former.page.chosen import (
    NUMBERS,
    PEOPLE,
    PEOPLE_ROLES,
    ROLES,
    chosen,
    columns_with,
)
from holdfast.former.page.draft import Draft
from holdfast.former.page.earlier import earlier
from holdfast.former.page.expected import expected
from holdfast.former.page.folder import stamp
from holdfast.former.page.site import Site
from holdfast.former.page.source import found_lines, part_of, rows_as_shown, source

if TYPE_CHECKING:
    from holdfast.former.engines.looking import Looked
    from holdfast.former.ledger.book import Balance
    from holdfast.former.page.counts import Promised

SHOWN, LAST = 6, 4
"""Rows of the preview, from the beginning and from the end."""
SAMPLED = 1000
"""Rows of a large file that are looked at."""
Values = dict[str, Any]


class Lines(NamedTuple):
    """Where the table was found in its file, by numbers of rows; 0 where nothing had to be."""

    header: int
    last: int
    left_out: list[int]


def _file(site: Site, draft: Draft) -> Values:
    values: Values = {"tables": site.folder.tables(), "preview": None, "problem": "", "lines": None}
    values |= {"numbers": [], "last_numbers": []}
    if not draft.filled("file"):
        return values
    refused = draft.one("file", "refused")
    if refused:
        kinds = "CSV, Parquet or .xlsx"
        return values | {
            "problem": f"`{refused}` is not a table that holdfast reads. Hint: save it as {kinds}."
        }
    return values | _problem(lambda: _seen(site, draft), site, draft)


def _columns(site: Site, draft: Draft) -> Values:
    draft = draft.at("columns")
    people = draft.one("file", "rows") == PEOPLE
    values: Values = {
        "people": people,
        "roles": PEOPLE_ROLES if people else ROLES,
        "tables": site.folder.tables(),
        "looked": None,
        "each": [],
        "leaks": [],
        "given": {},
        "totals": [],
        "same": None,
        "texts": [],
        "public": [],
        "problem": "",
    }
    values |= {"preview": None, "lines": None, "order": [], "quantities": []}
    values |= _problem(lambda: _seen(site, draft), site, draft)
    if values["problem"]:
        return values
    roles = values["roles"]
    values["given"] = {name: role for role in roles for name in columns_with(draft, role)}
    if draft.filled("columns"):
        values |= _problem(lambda: _looked(site, draft), site, draft)
        values |= _advice(site, draft, values)
    values["leaks"] = list(dict.fromkeys([*values["leaks"], *draft.several("columns", "anyway")]))
    return values | _asked(site, draft, values)


def _looked(site: Site, draft: Draft) -> Values:
    """The table of a draft, checked, and the same for each column of counts."""
    from holdfast.former.page.counts import each_of

    looked = look(site, draft)
    counts = chosen(draft, site.folder).counts
    return {"looked": looked, "each": list(zip(counts, each_of(looked), strict=True))}


def _advice(site: Site, draft: Draft, values: Values) -> Values:
    """What the steward could change about a table that is refused; or has said of it before."""
    from holdfast.former.tables.leaks import TOTALS

    try:
        run = chosen(draft, site.folder)
        asked = values["problem"] or "repeated_categories" in run.arguments or run.streamed
        totals = advice.total_rows(run) if TOTALS in values["leaks"] else []
        texts = advice.not_numbers(run) if values["problem"] else []
        same = advice.same_names(run) if asked else None
        return {"totals": totals, "same": same, "texts": texts}
    except HoldfastError:  # it cannot be read, as the problem says
        return {}


def _asked(site: Site, draft: Draft, values: Values) -> Values:
    """The columns of numbers that would be published as they are, which is to be said of each."""
    published = [name for role in NUMBERS for name in columns_with(draft, role)]
    numbers = [n for n in values["quantities"] if n in published and n not in values["leaks"]]
    said = draft.several("columns", "public")
    if values["people"] or not numbers:
        return {}
    left = [name for name in numbers if name not in said]
    if values["problem"] or not left:
        return {"public": numbers}
    words = site.words.content["columns"]["public_problem"]
    return {"public": numbers, "problem": words.format(columns=", ".join(left))}


def _protected(site: Site, draft: Draft) -> Values:
    from holdfast.former.privacy.budget import split_budget
    from holdfast.former.privacy.persons import read_person_rows

    draft = draft.at("protected")
    values: Values = {"problem": "", "several": columns_with(draft, "count")[1:]}
    if not draft.filled("protected"):
        return values

    def check() -> Values:
        asked = chosen(draft, site.folder).arguments
        split_budget(1, max_count=1, rows=1, contributions=asked.get("contributions", 1))
        read_person_rows(asked.get("rows", 1))
        return {}

    return values | _problem(check, site, draft)


def _public(site: Site, draft: Draft) -> list[str]:
    """Columns whose labels may choose the rows: the column they are chosen by is published."""
    columns = list(_seen(site, draft)["preview"].columns)
    if draft.one("file", "rows") == PEOPLE:
        return columns
    withheld = {*columns_with(draft, ""), *columns_with(draft, "count")}
    return [name for name in columns if name not in withheld]


def _budget(site: Site, draft: Draft) -> Values:
    values: Values = {
        "promised": None,
        "several": columns_with(draft, "count")[1:],
        "odds": None,
        "looked": None,
        "each": [],
        "expected": None,
        "balance": None,
        "short": "",
        "same_counts": "",
        "small": None,
        "earlier": [],
        "others": _others(),
        "problem": "",
        "people": draft.one("file", "rows") == PEOPLE,
        "columns": [],
        "ledgers": site.folder.ledgers(),
        "tables": site.folder.tables(),
        "releases": site.folder.releases(),
    }
    values |= _problem(lambda: {"columns": _public(site, draft)}, site, draft)
    values |= _problem(lambda: _looked(site, draft), site, draft)
    if values["problem"] or not draft.filled("budget"):
        return values
    looked = values["looked"]

    def check() -> Values:
        from holdfast.former.studies.explain import explain

        run = chosen(draft, site.folder)
        promised = run.promised(looked)
        found = {"promised": promised, "odds": explain(promised.epsilon, promised.delta)}
        found["expected"] = expected(site, draft, run, looked, promised)
        found["small"] = advice.small_groups(run, looked, promised)
        found["earlier"] = earlier(site, run, looked.rows)
        return found | _same_counts(run.arguments, looked) | _account(site, draft, promised)

    return values | _problem(check, site, draft)


def _release(site: Site, draft: Draft) -> Values:
    values = _budget(site, draft)
    stem = Path(draft.one("file", "dropped") or draft.one("file", "path") or "table").stem
    values["out"] = draft.one("release", "out") or _free_name(site, f"{stem}-release")
    if values["problem"] or not draft.filled("release"):
        return values

    def check() -> Values:
        from holdfast.former.release.bundle import new_folder

        out = chosen(draft, site.folder).out
        if not out:
            raise HoldfastError("the new folder has no name. Hint: give it one, or take this one.")
        new_folder(out)
        return {}

    return values | _problem(check, site, draft)


CHECKS: dict[str, Callable[[Site, Draft], Values]] = {
    "file": _file,
    "columns": _columns,
    "protected": _protected,
    "budget": _budget,
    "release": _release,
}


def look(site: Site, draft: Draft) -> "Looked":
    """The table of a draft, checked; remembered as long as file and choices stay."""
    run = chosen(draft, site.folder)
    listed = () if run.people is None else stamp(Path(run.people["categories"]))
    asked = json.dumps([run.part, run.people, run.arguments], sort_keys=True)
    key = ("look", stamp(Path(run.source)), listed, asked)
    return site.remembered.get(key, run.look)


def balance(site: Site, draft: Draft) -> "Balance | None":
    """What the ledger says now; None without one."""
    from holdfast.former.ledger.ledger import Ledger

    run = chosen(draft, site.folder).arguments
    if "ledger" not in run:
        return None
    known = {"subset": run.get("subset"), "period": run.get("period")}
    return Ledger(run["ledger"]).balance(run["dataset"], **known)


def _others() -> list[Any]:
    """Who uses which epsilon, for counts that somebody trusted holds."""
    from holdfast.former.studies.explain import deployments

    return [known for known in deployments() if known.kind == "central"]


def _same_counts(asked: dict[str, Any], looked: "Looked") -> Values:
    """What the ledger knows of these counts as those of another period: for the steward alone."""
    from holdfast.former.ledger.ledger import Ledger
    from holdfast.former.ledger.periods import read_period
    from holdfast.former.ledger.stored import same_counts

    if "ledger" not in asked:
        return {}
    ledger, period = Ledger(asked["ledger"]), read_period(asked.get("period"))
    return {"same_counts": same_counts(ledger, asked["dataset"], looked.alone, period)}


def _account(site: Site, draft: Draft, promised: "Promised") -> Values:
    """What is left in the ledger, and why that may not be enough."""
    found = balance(site, draft)
    if found is None:
        return {}
    try:
        found.check(promised.epsilon, promised.delta)
    except HoldfastError as error:
        return {"balance": found, "short": site.said(str(error))}
    return {"balance": found}


def _seen(site: Site, draft: Draft) -> Values:
    """The first and last rows of the file with their numbers in it, the columns that it is sorted
    by, and the lines of it that were found to be the table."""
    path, part = source(draft, site.folder), part_of(draft, site.folder)
    shown = site.remembered.get(
        ("preview", stamp(path), repr(part)), lambda: _previewed(path, part)
    )
    found = found_lines(draft, site.folder)
    used = {name for name, number in found.items() if part.get(name) == number}
    lines = Lines(
        header=found["header_row"] if "header_row" in used else 0,
        last=shown["last_row"] if "last_row" in used else 0,
        left_out=part.get("leave_out", []),
    )
    return shown | {"lines": lines if any(lines) else None}


def _previewed(path: Path, part: dict[str, Any]) -> Values:
    from holdfast.former.engines.looking import is_large
    from holdfast.former.tables.files import numbers_in_file, read_part
    from holdfast.former.tables.preview import head, preview
    from holdfast.former.tables.table import columns_of, numbers_of

    if not part and is_large(path):
        table, numbers, order = head(path, SAMPLED), list[int](), []
        shown = preview(table, SHOWN)
    else:
        table = read_part(path, part)
        shown, numbers = preview(table, SHOWN, LAST), list(numbers_in_file(path, part))
        order = advice.order_of({name: numbers_of(table, name) for name in columns_of(table)})
    return {
        "preview": shown,
        "numbers": numbers[:SHOWN],
        "last_numbers": numbers[len(numbers) - len(shown.last) :],
        "last_row": max(numbers, default=0),
        "order": order,
        "quantities": advice.numbers({name: numbers_of(table, name) for name in shown.columns}),
    }


def _problem(ask: Callable[[], Values], site: Site, draft: Draft) -> Values:
    """What was asked for, or what is wrong in words; files are called as they were typed, and rows
    by their numbers in them."""
    try:
        return ask()
    except HoldfastError as error:
        leaks = {"leaks": list(error.names)} if isinstance(error, LeakError) else {}
        return {"problem": site.said(rows_as_shown(str(error), draft, site.folder)), **leaks}


def _free_name(site: Site, name: str) -> str:
    names = [name, *(f"{name}-{k}" for k in range(2, 100))]
    return next((n for n in names if not (site.folder.root / n).exists()), name)
