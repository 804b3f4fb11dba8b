"""What a release says to a question that was built by choosing, ready to be shown."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.page.questions import sentence
from holdfast.page.recipe import of_release
from holdfast.page.releases import LEVEL, in_order
from holdfast.page.site import recipe_values

if TYPE_CHECKING:
    from holdfast.release.release import Release

USUAL = 0.95
"""The level of a regression's intervals, as statisticians expect it."""


def answer(release: "Release", chosen: Mapping[str, str], at: str) -> dict[str, Any]:
    """The question as a sentence, its answer in words, and how to ask it elsewhere."""
    from holdfast.analysis.asking import Answers
    from holdfast.analysis.typed import answer_typed, in_words

    asked = sentence(chosen)
    if not asked:
        return {}
    part = {name: chosen[name] for name in ("where", "by") if chosen.get(name, "").strip()}
    found = answer_typed(release, asked, level=LEVEL, label=chosen.get("label") or None, **part)
    words = [asked, *(f"{name} {value}" for name, value in part.items())]
    grouped = found if isinstance(found, Answers) else {}
    return {
        "sentence": ", ".join(words),
        "lines": in_words(found, len(release.target) - 1).splitlines(),
        "rows": found if isinstance(found, tuple) else (),
        "groups": grouped,
        "sorted_groups": sorted(grouped.items(), key=lambda one: in_order(one[0])),
        **_recipe(at, asked, part),
    }


def regression(release: "Release", chosen: Mapping[str, str], at: str) -> dict[str, Any]:
    """The coefficients of a regression, beside those that the noise would bend."""
    formula, where = chosen.get("formula", ""), chosen.get("where", "").strip() or None
    found = release.regress(formula, where=where)
    naive = dict(zip(found.naive.names, found.naive.values.tolist(), strict=True))
    extra = "" if where is None else f", where={where!r}"
    recipe = of_release(at, "ask", python=f"print(release.regress({formula!r}{extra}))")
    return {
        "sentence": formula if where is None else f"{formula}, where {where}",
        "lines": [found.formula.text, *found.notes],
        "coefficients": [
            (name, value, *found.interval(name, USUAL), naive[name])
            for name, value in found.coefficients.items()
        ],
        "python": recipe.python,
    }


def _recipe(at: str, asked: str, part: Mapping[str, str]) -> dict[str, Any]:
    from holdfast.analysis.grammar import parse

    call = parse(asked)
    given = [repr(value) for value in call.arguments]
    given += [f"{name}={value!r}" for name, value in (*call.options.items(), *part.items())]
    words = [word for name, value in part.items() for word in (f"--{name}", value)]
    python = f"print(release.{call.method}({', '.join(given)}))"
    return recipe_values(of_release(at, "ask", asked, *words, python=python))
