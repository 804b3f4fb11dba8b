"""The distribution as a figure of matplotlib: the bars and whiskers of the bundle's picture."""

from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, one_line
from holdfast.release.picture import OTHERS, WHISKER, ZERO, bars, bins, subtitle

if TYPE_CHECKING:
    from holdfast.release.release import Release


def plot(release: "Release", *, of: str | None = None, group: str | None = None) -> Any:
    """A figure of one column of counts, of all rows or of a group."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise HoldfastError(
            "`plot` needs matplotlib. Hint: pip install 'holdfast[plots]'; a saved release has a "
            "picture, distribution.svg."
        ) from None
    column = release[of]
    number = None if group is None else release.groups[group].number
    some = bars(release, column, number, bins(release.histogram(column)))
    places = [k + 0.5 * (k > 0) for k in range(len(some))]
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    axes.bar(places, [b.share for b in some], color=[ZERO, *[OTHERS] * (len(some) - 1)], width=0.72)
    axes.vlines(places, [b.low for b in some], [b.high for b in some], color=WHISKER)
    axes.set_xticks(places, [bar.label for bar in some])
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.set_ylabel("share of rows")
    axes.set_xlabel(_plain(column.title))
    axes.set_title(_plain(f"{group or 'all rows'}: {subtitle(release)}"), fontsize=10)
    return figure


def _plain(text: str) -> str:
    """Text in which a dollar sign begins no formula."""
    return one_line(text).replace("$", r"\$")
