"""Two releases side by side: common questions, their differences, both distributions."""

from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.page.recipe import of_release
from holdfast.page.releases import LEVEL, Opened
from holdfast.page.site import Site, recipe_values

if TYPE_CHECKING:
    from holdfast.analysis.answer import Answer
    from holdfast.release.release import Release

ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("share", {"equal": 0}),
    ("share", {"at_least": 3}),
    ("share", {"at_least": 10}),
    ("mean", {}),
    ("total", {}),
    ("median", {}),
    ("gini", {}),
)


def compared(site: Site, opened: Opened, other: Opened) -> dict[str, Any]:
    """What two releases say to the same questions, and how sure it is that they differ."""
    from holdfast.release.pictures import distribution_picture

    first, second = opened.loaded(site), other.loaded(site)
    rows = site.remembered.get(
        (opened.key("first"), other.key("second")), lambda: _differences(first, second)
    )
    names = opened.shown(site), other.shown(site)
    panels = [(name, each.distribution) for name, each in zip(names, (first, second), strict=True)]
    asked = f"other = holdfast.load({names[1]!r})\n"
    asked += "print(other.ask('mean').difference(release.ask('mean')))"
    return {
        "rows": rows,
        "same_table": _same_labels(first, second),
        "picture": distribution_picture(panels, title=""),
        "names": names,
        **recipe_values(of_release(names[0], "ask", "mean", python=asked)),
    }


def _differences(first: "Release", second: "Release") -> "list[tuple[Answer, Answer, Answer]]":
    """For each question both answers, and the second less the first."""
    found = []
    for name, options in ASKED:
        try:
            one, two = (each.ask(name, level=LEVEL, **options) for each in (first, second))
            found.append((one, two, two.difference(one)))
        except HoldfastError:  # a count above what one of them publishes
            continue
    return found


def _same_labels(first: "Release", second: "Release") -> bool:
    """Whether both are about the same rows: then they may be two draws of one table."""
    from holdfast.analysis.rows import row_labels

    one, two = (list(map(str, row_labels(each, None))) for each in (first, second))
    return one == two
