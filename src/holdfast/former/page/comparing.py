"""Two releases side by side: common questions, their differences, both distributions."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.former.page.recipe import of_release
from holdfast.former.page.releases import LEVEL, Opened
from holdfast.former.page.site import Site, recipe_values
from holdfast.former.page.words import Words

if TYPE_CHECKING:
    from holdfast.arrays import Floats
    from holdfast.former.analysis.answer import Answer
    from holdfast.former.release.release import Release

SHARES: tuple[dict[str, Any], ...] = ({"equal": 0}, {"at_least": 3}, {"at_least": 10})
OTHERS = ("mean", "total", "median", "gini")


class Side(NamedTuple):
    """One of the two, as it is named above its column."""

    name: str
    rows: str
    top: int


class Row(NamedTuple):
    """A question with both answers, and the second less the first where that is meant."""

    question: str
    """In words."""
    one: "Answer"
    two: "Answer"
    gap: "Answer | None"


def compared(site: Site, opened: Opened, other: Opened) -> dict[str, Any]:
    """What two releases say to the same questions, and how sure it is that they differ."""
    first, second = opened.loaded(site), other.loaded(site)
    rows = site.remembered.get(
        ("compare", opened.key("first"), other.key("second")),
        lambda: _differences(first, second, site.words),
    )
    names = opened.shown(site), other.shown(site)
    asked = f"other = holdfast.load({names[1]!r})\n"
    asked += "print(other.ask('mean').difference(release.ask('mean')))"
    return {
        "rows": rows,
        "same_table": _same_labels(first, second),
        "pictures": _pictures(names, first, second),
        "sides": [_side(*pair) for pair in zip(names, (first, second), strict=True)],
        **recipe_values(of_release(names[0], "ask", "mean", python=asked)),
    }


def choices(site: Site, opened: Opened) -> dict[str, str]:
    """The releases to compare with, by their names in addresses: one of several counts column by
    column."""
    found = [Opened.of(site, site.folder.find(path)) for path in site.folder.releases()]
    found += [Opened.find(site, name) for name in site.state.names("releases")]
    each = [one for release in found for one in release.columns(site).values()]
    return {one.name: one.shown(site) for one in each if one.name != opened.name}


def _side(name: str, release: "Release") -> Side:
    from holdfast.former.analysis.report.content import rows_words

    return Side(name, rows_words(release), len(release.target) - 1)


def _differences(first: "Release", second: "Release", words: Words) -> list[Row]:
    said = words.content["compare"]["asked"]
    asked: list[tuple[str, dict[str, Any]]] = [("share", options) for options in SHARES]
    found = []
    for name, options in asked + [(name, {}) for name in OTHERS]:
        try:
            one, two = (each.ask(name, level=LEVEL, **options) for each in (first, second))
        except HoldfastError:  # a count above what one of them publishes
            continue
        found.append(Row(said.get(name, one.question), one, two, _gap(one, two)))
    return found


def _gap(one: "Answer", two: "Answer") -> "Answer | None":
    """None where the two are not the same thing: counts that are capped elsewhere, or not."""
    if one.capped_at != two.capped_at:
        return None
    try:
        return two.difference(one)
    except HoldfastError:  # one and the same release, or only one of them measured
        return None


def _pictures(names: tuple[str, str], first: "Release", second: "Release") -> list[str]:
    """Each distribution with the outline of the other, up to the lower of their highest counts,
    which stands for all above."""
    from holdfast.former.release.pictures import distribution_picture

    n = min(len(first.target), len(second.target))
    one, two = (_up_to(n, each.distribution) for each in (first, second))
    return [
        distribution_picture([(name, bars)], title="", outline=line, open_end=True)
        for name, bars, line in zip(names, (one, two), (two, one), strict=True)
    ]


def _up_to(n: int, shares: "Floats") -> "Floats":
    return np.append(shares[: n - 1], shares[n - 1 :].sum())


def _same_labels(first: "Release", second: "Release") -> bool:
    """Whether both are about the same rows: then they may be two draws of one table."""
    from holdfast.former.analysis.rows import row_labels

    one, two = (list(map(str, row_labels(each, None))) for each in (first, second))
    return one == two
