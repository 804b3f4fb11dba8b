"""Pictures of a release for a notebook: SVG, which needs no library."""

import os
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, numbered, one_line
from holdfast.former.analysis.posterior import check_level, row_law, run_words
from holdfast.former.analysis.report.content import distribution
from holdfast.former.analysis.report.pictures import band_picture, law_picture
from holdfast.former.analysis.rows import find_row, row_labels
from holdfast.former.release.group_pictures import Shown, group_picture
from holdfast.former.release.row_marks import row_kinds

if TYPE_CHECKING:
    from holdfast.former.release.release import Release


@dataclass(frozen=True)
class Picture:
    """A picture that a notebook shows by itself."""

    svg: str = field(repr=False)
    words: str
    """What it shows."""

    def _repr_html_(self) -> str:
        return f"<figure>{self.svg}<figcaption>{escape(self.words)}</figcaption></figure>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as an SVG file, which browsers and word processors open."""
        place = Path(path)
        place.write_text(self.svg, encoding="utf-8")
        return place


def plot(release: "Release", row: Any, groups: bool, label: str | None, level: float) -> Picture:
    """The distribution with its intervals; of each group; or what one row may truly have."""
    if row is not None:
        return _row(release.known, row, label, check_level(level))
    if groups:
        return _groups(release)
    words = f"share of rows with each {release.count_column or 'count'}"
    bars, _ = distribution(release, check_level(level))
    return Picture(band_picture(bars, one_line(words)), words)


def _groups(release: "Release") -> Picture:
    if release.groups is None:
        raise HoldfastError("this release has no groups. Hint: leave `groups` out.")
    shown = [Shown(*group) for group in release.groups.shown()]
    words = f"{numbered(release.rows, 'row')} in {numbered(len(shown), 'group')}"
    name = release.count_column or "count"
    return Picture(
        group_picture(name, release.distribution, shown, title=words, open_end=True), words
    )


def _row(release: "Release", row: Any, label: str | None, level: float) -> Picture:
    labels = row_labels(release, label)
    place = find_row(release, labels, row)
    law = row_law(release, row_kinds(release)[place])
    ends = law.interval(level)
    top = len(release.target) - 1
    words = (
        f"{labels[place]}: released {release.counts[place]}, truly {run_words(ends, top)} with a "
        f"probability of {law.probabilities[ends[0] : ends[1] + 1].sum():.0%}"
    )
    return Picture(law_picture(law.probabilities.tolist(), ends, one_line(words)), words)
