"""What to expect of a budget, from something public: `holdfast.plan`, as numbers and pictures."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.former.ledger.receipts import record_in
from holdfast.former.page.chosen import Chosen
from holdfast.former.page.counts import Promised, each_of
from holdfast.former.page.draft import Draft
from holdfast.former.page.folder import stamp
from holdfast.former.page.pictures import EPSILONS, Curve
from holdfast.former.page.recipe import Recipe, of_plan
from holdfast.former.page.site import Site

if TYPE_CHECKING:
    from holdfast.former.engines.looking import Looked
    from holdfast.former.engines.stages import Stages
    from holdfast.former.studies.plan.plan import Plan
    from holdfast.former.tables.groups import Partition

REPETITIONS, FEW_REPETITIONS = 8, 4
LONG = 2000
"""Highest counts above are tried less often and at fewer budgets, so that somebody can wait for
it."""
HIGHEST = 100_000
"""Tables with counts above are not planned on the page: it would take too long to look at."""
MOST_CELLS = 5000
"""Groups times counts above are not tried on the page, for the same reason."""
FEW_DRAWS = 12
"""Groups times repetitions: each group is a sample of its own."""
FEW_EPSILONS = (0.1, 0.5, 2, 5)
"""Budgets that are tried for groups and for long ranges, beside the chosen one."""


class Shown(NamedTuple):
    """What is to be expected of some columns of counts, of which the same is."""

    columns: list[str]
    curves: list[tuple[str, Curve, float]]
    """What is off, by how much at each budget, and at the chosen one."""


@dataclass(frozen=True)
class _Planned:
    """A column of counts as `holdfast.plan` is asked of it."""

    options: dict[str, Any]
    """Its `categories`, `max_count`, `prior` and `count`."""
    groups: "Partition | None"
    totals: bool
    unit: Fraction
    """What of each unit of epsilon goes to the counts, for a change of one in one row."""
    unit_of_groups: Fraction
    """The same with what goes to totals."""

    @property
    def key(self) -> Any:
        """What its results are remembered by."""
        prior = Path(self.options["prior"])
        files = stamp(prior) if prior.is_absolute() else ()
        known = self.groups
        sizes = () if known is None else (known.labels, tuple(known.sizes.tolist()))
        within = "" if known is None else repr(known.within)
        units = self.totals, self.unit, self.unit_of_groups
        return (tuple(self.options.items()), files, sizes, within, *units)


def expected(
    site: Site, draft: Draft, run: Chosen, looked: "Looked", promised: Promised
) -> dict[str, Any] | None:
    """Errors to expect at several budgets; None where nothing public was named."""
    chosen = float(promised.epsilon)
    alike: dict[Any, tuple[_Planned, list[str]]] = {}
    for one, (column, stages) in zip(each_of(looked), promised.columns, strict=True):
        planned = _planned(site, draft, run, one, (column, stages), promised.epsilon)
        if planned is not None:
            alike.setdefault(planned.key, (planned, []))[1].append(column)
    if not alike:
        return None
    shown = []
    for planned, columns in alike.values():
        curves = _curves(site, planned, chosen) | _group(site, draft, planned, chosen)
        told = [(name, curve, _at(curve, chosen)) for name, curve in curves.items()]
        shown.append(Shown(columns, told))
    left_out = any(p.groups is not None and not _few_cells(p) for p, _ in alike.values())
    recipes = [_recipe(planned) for planned, _ in alike.values()]
    return {"shown": shown, "recipes": recipes, "no_groups": left_out}


def _planned(
    site: Site,
    draft: Draft,
    run: Chosen,
    looked: "Looked",
    column: tuple[str, "Stages"],
    epsilon: Fraction,
) -> _Planned | None:
    name, stages = column
    options = _options(site, draft, run, looked.rows, name, stages)
    if options is None:
        return None
    budget = stages.budget
    spent = budget.stage_1 + budget.stage_2
    return _Planned(
        options=options,
        groups=looked.groups,
        totals=bool(run.arguments.get("totals")),
        unit=spent / budget.steps / epsilon,
        unit_of_groups=(spent + budget.totals) / budget.steps / epsilon,
    )


def _curves(site: Site, planned: _Planned, chosen: float) -> dict[str, Curve]:
    """How far answers and rows are off, by epsilon; a budget that was tried before is not again."""
    long = planned.options["max_count"] > LONG
    often = FEW_REPETITIONS if long else REPETITIONS

    def tried(epsilon: float) -> dict[str, float]:
        key = ("plan", f"{epsilon:g}", planned.key)
        return site.remembered.get(
            key, lambda: _plan(planned.options, [epsilon], planned.unit, repetitions=often).rows[0]
        )

    found = [(e, tried(e)) for e in sorted({*(FEW_EPSILONS if long else EPSILONS), chosen})]
    return {
        "zeros": [(e, 100 * row["error of zeros"]) for e, row in found],
        "mean": [(e, row["error of mean"]) for e, row in found],
        "row": [(e, row["absolute"]) for e, row in found],
    }


def _few_cells(planned: _Planned) -> bool:
    groups = 0 if planned.groups is None else len(planned.groups)
    top: int = planned.options["max_count"]
    return groups * (top + 1) <= MOST_CELLS


def _group(site: Site, draft: Draft, planned: _Planned, chosen: float) -> dict[str, Curve]:
    """How far the total of a group is off on average: of a public table that has such groups,
    else of one with the groups of the planned table, all of them alike."""
    groups, options = planned.groups, planned.options
    if groups is None or not _few_cells(planned):
        return {}
    budgets = sorted({*FEW_EPSILONS, chosen})
    more: dict[str, Any] = {"totals": planned.totals or None}
    more["repetitions"] = max(2, min(REPETITIONS, FEW_DRAWS // len(groups)))

    def make() -> "Plan":
        if _has_columns(options["prior"], groups.within.columns):
            within = list(groups.within.parts)
            return _plan(options, budgets, planned.unit_of_groups, within=within, **more)
        path = _write(draft.place / "prior.csv", groups, options)
        alike = options | {"prior": str(path), "count": "count"}
        return _plan(alike, budgets, planned.unit_of_groups, within=_within(groups), **more)

    found = site.remembered.get(("groups", chosen, planned.key), make).by_group or []
    last = found[-1]["method"]  # the one with groups
    off = [row["totals within"] for row in found if row["method"] == last]
    return {"group": list(zip(budgets, off, strict=True))}


def _has_columns(prior: str, columns: tuple[str, ...]) -> bool:
    """Whether a prior is a table with these columns."""
    from holdfast.former.tables.files import column_names, is_table_file, read_file

    path = Path(prior)
    is_table = path.is_absolute() and path.is_file() and is_table_file(path)
    return is_table and set(columns) <= set(column_names(read_file(path)))


def _write(path: Path, groups: "Partition", options: dict[str, Any]) -> Path:
    """A table with the groups of the planned one, which are public, and counts from the prior."""
    import numpy as np

    from holdfast.former.studies.plan.priors import prior_distribution
    from holdfast.former.tables.csv import CsvTable
    from holdfast.former.tables.histogram import whole_histogram

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
    from holdfast.former.tables.groups import classes

    if groups.within.ordered:
        return [classes("part 0", len(groups))]
    return [f"part {k}" for k in range(len(groups.within.parts))]


def _at(curve: Curve, epsilon: float) -> float:
    return next(error for e, error in curve if e == epsilon)


def _options(
    site: Site, draft: Draft, run: Chosen, rows: int, column: str, stages: "Stages"
) -> dict[str, Any] | None:
    kind, top = draft.one("budget", "prior"), stages.highest
    if not kind or isinstance(run.arguments["max_count"], dict) or top > HIGHEST:
        return None
    options: dict[str, Any] = {"categories": rows, "max_count": top}
    if kind == "shape":
        zeros, mean = (draft.one("budget", name).strip() for name in ("zeros", "mean"))
        return options | {"prior": f"zeros:{_share(zeros)}+geometric:{mean}"}
    path = site.folder.find(draft.one("budget", f"prior_{kind}"))
    if kind == "release":
        return options | {"prior": str(_column_of(site, path, column))}
    named = draft.one("budget", "prior_count").strip() or (column if run.several else "")
    return options | {"prior": str(path)} | ({"count": named} if named else {})


def _column_of(site: Site, folder: Path, column: str) -> Path:
    """The folder of a column in an earlier release; of a release of one column its own."""
    places = {place["column"]: place["folder"] for place in record_in(folder).get("counts", ())}
    if not places:
        return folder
    if column not in places:
        raise HoldfastError(
            f"the earlier release has no column {column!r:.60}. Hint: name another, or a guess."
        )
    return site.folder.find(f"{site.folder.shown(folder)}/{places[column]}")


def _share(percent: str) -> str:
    try:
        return f"{float(percent) / 100:g}"
    except ValueError:
        raise HoldfastError(f"the share of zeros must be a number, got {percent!r:.20}.") from None


def _plan(options: dict[str, Any], budgets: list[float], unit: Fraction, **more: Any) -> "Plan":
    """A plan at budgets of a person, in what is left of them for a change of one in one row."""
    import holdfast.former as holdfast

    how: dict[str, Any] = {"splits": [None], "jobs": 1, "distances": False}
    how |= {"epsilons": _units(budgets, unit), "questions": ["zeros", "mean"]}
    return holdfast.plan(**options, **how, **more)


def _units(budgets: list[float], unit: Fraction) -> list[str]:
    """
    >>> _units([0.1, 2], Fraction(1, 3))
    ['0.0333333', '0.666667']
    """
    return [f"{epsilon * float(unit):.6g}" for epsilon in budgets]


def _recipe(planned: _Planned) -> Recipe:
    prior = Path(planned.options["prior"])
    named = planned.options | {"prior": prior.name if prior.is_absolute() else str(prior)}
    units = {} if planned.unit == 1 else {"epsilons": _units(list(EPSILONS), planned.unit)}
    return of_plan(named | units)
