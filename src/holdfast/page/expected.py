"""What to expect of a budget, from something public: `holdfast.plan`, as numbers and pictures."""

from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.page.chosen import Chosen
from holdfast.page.draft import Draft
from holdfast.page.pictures import EPSILONS
from holdfast.page.recipe import Recipe, of_plan
from holdfast.page.site import Site, stamp

if TYPE_CHECKING:
    from holdfast.engines.looking import Looked
    from holdfast.studies.plan.plan import Plan

REPETITIONS = 8
HIGHEST = 2000
"""Tables with counts above are not planned on the page: it would take too long to look at."""


def expected(site: Site, draft: Draft, run: Chosen, looked: "Looked") -> dict[str, Any] | None:
    """Errors to expect at several budgets; None where nothing public was named."""
    options = _options(site, draft, run, looked.rows)
    if options is None:
        return None
    chosen = float(run.stages(looked).budget.epsilon)
    found = site.remembered.get(_key(options, chosen), lambda: _plan(options, chosen))
    shares = [(float(row["epsilon"]), row) for row in found.rows]
    return {
        "prior": options["prior"],
        "zeros": [(e, 100 * row["error of zeros"]) for e, row in shares],
        "mean": [(e, row["error of mean"]) for e, row in shares],
        "row": [(e, row["absolute"]) for e, row in shares],
        "here": next(row for e, row in shares if e == chosen),
        "recipe": _recipe(options),
    }


def _options(site: Site, draft: Draft, run: Chosen, rows: int) -> dict[str, Any] | None:
    kind, top = draft.one("budget", "prior"), run.arguments["max_count"]
    if not kind or isinstance(top, dict) or top > HIGHEST:
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
    prior = options["prior"]
    from pathlib import Path

    files = stamp(Path(prior)) if Path(prior).is_absolute() else ()
    return ("plan", tuple(options.items()), chosen, files)


def _plan(options: dict[str, Any], chosen: float) -> "Plan":
    import holdfast

    budgets = sorted({*EPSILONS, chosen})
    how: dict[str, Any] = {"splits": [None], "repetitions": REPETITIONS, "jobs": 1}
    return holdfast.plan(**options, epsilons=budgets, questions=["zeros", "mean"], **how)


def _recipe(options: dict[str, Any]) -> Recipe:
    from pathlib import Path

    prior = options["prior"]
    near = Path(prior).name if Path(prior).is_absolute() else prior
    return of_plan(options | {"prior": near})
