"""What to expect of a budget, from something public: `holdfast.plan`, as numbers and pictures."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.page.chosen import Chosen
from holdfast.page.draft import Draft
from holdfast.page.folder import stamp
from holdfast.page.pictures import EPSILONS, Curve
from holdfast.page.recipe import Recipe, of_plan
from holdfast.page.site import Site

if TYPE_CHECKING:
    from holdfast.engines.looking import Looked
    from holdfast.studies.plan.plan import Plan
    from holdfast.tables.groups import Partition

REPETITIONS = 8
HIGHEST = 2000
"""Tables with counts above are not planned on the page: it would take too long to look at."""
MOST_CELLS = 5000
"""Groups times counts above are not tried on the page, for the same reason."""
FEW_DRAWS = 12
"""Groups times repetitions: each group is a sample of its own."""
FEW_EPSILONS = (0.1, 0.5, 2, 5)
"""Budgets at which groups are tried, beside the chosen one."""


def expected(site: Site, draft: Draft, run: Chosen, looked: "Looked") -> dict[str, Any] | None:
    """Errors to expect at several budgets; None where nothing public was named."""
    options = _options(site, draft, run, looked.rows)
    if options is None:
        return None
    chosen = float(run.promised(looked).epsilon)
    found = site.remembered.get(_key(options, chosen), lambda: _plan(options, chosen))
    shares = [(float(row["epsilon"]), row) for row in found.rows]
    curves = {
        "zeros": [(e, 100 * row["error of zeros"]) for e, row in shares],
        "mean": [(e, row["error of mean"]) for e, row in shares],
        "row": [(e, row["absolute"]) for e, row in shares],
    }
    curves |= _group(site, draft, run, looked, options, chosen)
    shown = [(name, curve, _at(curve, chosen)) for name, curve in curves.items()]
    return {"shown": shown, "recipe": _recipe(options)}


def _group(
    site: Site,
    draft: Draft,
    run: Chosen,
    looked: "Looked",
    options: dict[str, Any],
    chosen: float,
) -> dict[str, Any]:
    """How far the total of a group is off on average: of a public table that has such groups,
    else of one with the groups of the planned table, all of them alike."""
    groups, top = looked.groups, options["max_count"]
    if groups is None or len(groups) * (top + 1) > MOST_CELLS:
        return {}
    more: dict[str, Any] = {"totals": run.arguments.get("totals")}
    more["epsilons"] = sorted({*FEW_EPSILONS, chosen})
    more["repetitions"] = max(2, min(REPETITIONS, FEW_DRAWS // len(groups)))
    sizes = groups.labels, tuple(groups.sizes.tolist()), repr(groups.within), more["totals"]

    def make() -> "Plan":
        if _has_columns(options["prior"], groups.within.columns):
            return _plan(options, chosen, within=list(groups.within.parts), **more)
        path = _write(draft.place / "prior.csv", groups, options)
        alike = options | {"prior": str(path), "count": "count"}
        return _plan(alike, chosen, within=_within(groups), **more)

    found = site.remembered.get(("groups", _key(options, chosen), sizes), make).by_group or []
    last = found[-1]["method"]  # the one with groups
    return {
        "group": [(float(r["epsilon"]), r["totals within"]) for r in found if r["method"] == last]
    }


def _has_columns(prior: str, columns: tuple[str, ...]) -> bool:
    """Whether a prior is a table with these columns."""
    from holdfast.tables.files import column_names, is_table_file, read_file

    path = Path(prior)
    is_table = path.is_absolute() and path.is_file() and is_table_file(path)
    return is_table and set(columns) <= set(column_names(read_file(path)))


def _write(path: Path, groups: "Partition", options: dict[str, Any]) -> Path:
    """A table with the groups of the planned one, which are public, and counts from the prior."""
    import numpy as np

    from holdfast.analysis.whole_histogram import whole_histogram
    from holdfast.studies.plan.priors import prior_distribution
    from holdfast.tables.csv import CsvTable

    top = options["max_count"]
    shares, _ = prior_distribution(options["prior"], max_count=top, count=options.get("count"))
    rows = []
    for number, (label, size) in enumerate(zip(groups.labels, groups.sizes.tolist(), strict=True)):
        cells = [str(number)] if groups.within.ordered else [text or "(missing)" for text in label]
        counts = np.repeat(np.arange(top + 1), whole_histogram(shares, size)).tolist()
        rows += [[*cells, str(count)] for count in counts]
    names = tuple(f"part {k}" for k in range(len(groups.within.parts)))
    path.write_bytes(CsvTable((*names, "count"), rows).to_bytes())
    return path


def _within(groups: "Partition") -> list[Any]:
    from holdfast.tables.groups import classes

    if groups.within.ordered:
        return [classes("part 0", len(groups))]
    return [f"part {k}" for k in range(len(groups.within.parts))]


def _at(curve: Curve, epsilon: float) -> float:
    return next(error for e, error in curve if e == epsilon)


def _options(site: Site, draft: Draft, run: Chosen, rows: int) -> dict[str, Any] | None:
    kind, top = draft.one("budget", "prior"), run.arguments["max_count"]
    if not kind or run.several or isinstance(top, dict) or top > HIGHEST:
        return None
    options: dict[str, Any] = {"categories": rows, "max_count": top}
    if kind == "shape":
        zeros, mean = (draft.one("budget", name).strip() for name in ("zeros", "mean"))
        return options | {"prior": f"zeros:{_share(zeros)}+geometric:{mean}"}
    path = site.folder.find(draft.one("budget", f"prior_{kind}"))
    column = draft.one("budget", "prior_count").strip()
    named = {"count": column} if kind == "file" and column else {}
    return options | {"prior": str(path)} | named


def _share(percent: str) -> str:
    try:
        return f"{float(percent) / 100:g}"
    except ValueError:
        raise HoldfastError(f"the share of zeros must be a number, got {percent!r:.20}.") from None


def _key(options: dict[str, Any], chosen: float) -> Any:
    prior = Path(options["prior"])
    files = stamp(prior) if prior.is_absolute() else ()
    return ("plan", tuple(options.items()), chosen, files)


def _plan(options: dict[str, Any], chosen: float, **more: Any) -> "Plan":
    import holdfast

    how: dict[str, Any] = {"splits": [None], "repetitions": REPETITIONS, "jobs": 1}
    how |= {"epsilons": sorted({*EPSILONS, chosen}), "questions": ["zeros", "mean"]}
    return holdfast.plan(**options, **how | more)


def _recipe(options: dict[str, Any]) -> Recipe:
    prior = Path(options["prior"])
    return of_plan(options | {"prior": prior.name if prior.is_absolute() else str(prior)})
