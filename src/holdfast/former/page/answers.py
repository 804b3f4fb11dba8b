"""What a release says to a question that was built by choosing, ready to be shown."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.former.page.questions import sentence
from holdfast.former.page.recipe import of_release
from holdfast.former.page.releases import LEVEL, in_order
from holdfast.former.page.site import recipe_values

if TYPE_CHECKING:
    from holdfast.former.analysis.categories import TopRow
    from holdfast.former.analysis.regression.result import Regression
    from holdfast.former.release.release import Release
    from holdfast.former.release.several import TableRelease

FAMILIES = {"poisson": "poisson", "negative_binomial": "negative binomial", "gaussian": "gaussian"}
"""Kinds of regression, as the form has them and as holdfast calls them."""
PAIRS = {"correlation": "correlation", "both_zero": "both zero", "slope": "slope"}
"""Questions about two counts, likewise."""
FIRST = 200  # rows that are looked at for an example


def answer(release: "Release", chosen: Mapping[str, str], at: str) -> dict[str, Any]:
    """The question as a sentence, its answer in words, and how to ask it elsewhere."""
    from holdfast.former.analysis.asking import Answers
    from holdfast.former.analysis.categories import TopByGroup
    from holdfast.former.analysis.typed import answer_typed, in_words

    asked = sentence(chosen)
    if not asked:
        return {}
    part = {name: chosen[name] for name in ("where", "by") if chosen.get(name, "").strip()}
    found = answer_typed(release, asked, level=LEVEL, label=chosen.get("label") or None, **part)
    words = [asked, *(f"{name} {value}" for name, value in part.items())]
    grouped, ranked = found if isinstance(found, Answers) else {}, _ranked(found)
    return {
        "sentence": ", ".join(words),
        "lines": in_words(found, len(release.target) - 1).splitlines(),
        "rows": ranked,
        "notes": list(dict.fromkeys(note for _, row in ranked for note in row.notes)),
        "ranked_by": part.get("by", "") if isinstance(found, TopByGroup) else "",
        "groups": grouped,
        "sorted_groups": sorted(grouped.items(), key=lambda one: in_order(one[0])),
        **_recipe(at, asked, part),
    }


def regression(release: "Release", chosen: Mapping[str, str], at: str) -> dict[str, Any]:
    """The coefficients of a regression, beside those that the noise would bend."""
    formula, where = chosen.get("formula", ""), chosen.get("where", "").strip() or None
    kind = chosen.get("family", "") or "poisson"
    if kind not in FAMILIES:
        raise HoldfastError("there is no such regression. Hint: choose one from the list.")
    how: dict[str, Any] = {} if kind == "poisson" else {"family": FAMILIES[kind]}
    how |= {} if where is None else {"where": where}
    found = release.regress(formula, **how)
    naive = dict(zip(found.naive.names, found.naive.values.tolist(), strict=True))
    more = "".join(f", {name}={value!r}" for name, value in how.items())
    asked = f"release.regress({formula!r}{more}).summary({LEVEL})"
    recipe = of_release(at, "ask", python=f"print({asked})")
    return {
        "sentence": formula if where is None else f"{formula}, where {where}",
        "lines": [found.formula.text, *found.notes],
        "regression": {"kind": kind, "rows": found.rows, "top": _allowed_top(found)},
        "coefficients": [
            (name, value, *found.interval(name, LEVEL), naive[name])
            for name, value in found.coefficients.items()
        ],
        "python": recipe.python,
    }


def together(release: "TableRelease", chosen: Mapping[str, str], at: str) -> dict[str, Any]:
    """What two columns of counts have to do with each other, and how to ask it elsewhere."""
    from holdfast.former.analysis.asking import Answers

    if chosen.get("what", "") not in PAIRS:
        raise HoldfastError("there is no such question. Hint: choose one from the list.")
    asked, of = PAIRS[chosen["what"]], (chosen.get("first", ""), chosen.get("second", ""))
    part = {name: chosen[name] for name in ("where", "by") if chosen.get(name, "").strip()}
    found = release.ask(asked, of, level=LEVEL, **part)
    grouped = found if isinstance(found, Answers) else {}
    more = "".join(f", {name}={value!r}" for name, value in part.items())
    words = [word for name in of for word in ("--of", name)]
    words += [word for name, value in part.items() for word in (f"--{name}", value)]
    python = f"print(release.ask({asked!r}, {of!r}{more}))"
    return {
        "lines": str(found).splitlines(),
        "groups": grouped,
        "sorted_groups": sorted(grouped.items(), key=lambda one: in_order(one[0])),
        **recipe_values(of_release(at, "ask", asked, *words, python=python, load="load_table")),
    }


def example(release: "Release") -> dict[str, str]:
    """The count and a public column to show a formula with, of numbers above 0 if there is one."""
    from holdfast.former.analysis.rows import label_column

    names, label = release.unchanged_columns, label_column(release)
    logs = [f"log({name})" for name in names if _is_above_zero(release, name)]
    column = [*logs, *(name for name in names if name != label), *names, ""][0]
    return {"count": release.count_column or "count", "column": column}


def _is_above_zero(release: "Release", name: str) -> bool:
    from holdfast.former.analysis.conditions import as_numbers
    from holdfast.former.analysis.regression.formula import texts_of
    from holdfast.former.tables.table import labels_of

    numbers = as_numbers(texts_of(labels_of(release.cells, name)[:FIRST]))
    return numbers is not None and bool((numbers > 0).all())


def _allowed_top(found: "Regression") -> int | None:
    """The highest count, where rows have it and the regression allows for what is above."""
    return None if found.capped is None else found.max_count


def _ranked(found: Any) -> "list[tuple[str, TopRow]]":
    """The rows on top, each with the group that it is on top of; none of other answers."""
    from holdfast.former.analysis.categories import TopByGroup

    if isinstance(found, TopByGroup):
        return [(str(name), row) for name, rows in found.items() for row in rows]
    return [("", row) for row in found] if isinstance(found, tuple) else []


def _recipe(at: str, asked: str, part: Mapping[str, str]) -> dict[str, Any]:
    from holdfast.former.analysis.grammar import parse

    call = parse(asked)
    given = [repr(value) for value in call.arguments]
    given += [f"{name}={value!r}" for name, value in (*call.options.items(), *part.items())]
    words = [word for name, value in part.items() for word in (f"--{name}", value)]
    python = f"print(release.{call.method}({', '.join(given)}))"
    return recipe_values(of_release(at, "ask", asked, *words, python=python))
