"""The rows of a released table as people read them: in words, with one interval each."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.former.page.words import Words

if TYPE_CHECKING:
    from holdfast.former.release.release import Release
    from holdfast.former.tables.csv import CsvTable


def readable(
    found: "CsvTable", rows: Sequence[Sequence[str]], release: "Release", words: Words
) -> dict[str, Any]:
    """The names of the columns, and these rows; the last columns are what is known of a count,
    where anything is."""
    said, width = words.content["table"], len(release.unchanged_columns) + 1
    write = counts_in_words(release, words)
    count = said["released"].format(column=found.header[width - 1])
    header = [*found.header[: width - 1], count]
    told = len(found.header) > width
    header += [said["true"], said["expected"], said["zero"]] if told else []
    unknown = said["not_known"], *[""] * (len(header) - width)
    return {
        "header": header,
        "rows": [
            _row(row, width, write, told) if row[width - 1] else [*row[: width - 1], *unknown]
            for row in rows
        ],
    }


def counts_in_words(release: "Release", words: Words) -> Callable[..., str]:
    """Writes a count, or an interval of counts: the highest stands for all above it."""
    highest, said = len(release.target) - 1, words.content["table"]["top"]

    def write(low: int, high: int | None = None) -> str:
        last = low if high is None else high
        if last == highest:
            return str(said.format(count=f"{low:,}"))
        if low == last:
            return f"{low:,}"
        return str(words.content["overview"]["ends"].format(low=f"{low:,}", high=f"{last:,}"))

    return write


def _row(row: Sequence[str], width: int, write: Callable[..., str], told: bool) -> list[str]:
    shown = [*row[: width - 1], write(int(row[width - 1]))]
    if not told:
        return shown
    low, high, mean, _, zero = row[width : width + 5]
    expected = (
        "" if write(int(high)) != f"{int(high):,}" else f"{float(mean):,.1f}"
    )  # of capped counts
    return [*shown, write(int(low), int(high)), expected, f"{float(zero):.0%}"]
