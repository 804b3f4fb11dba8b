"""intervals.csv and mechanism.csv: what is said of single rows, computed again.

By z, the weights and the table alone, as docs/bundle.md defines it. An interval is held to what it
claims, with room for rounding: enough probability, and no shorter run that has it.
"""

import csv
import io
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.former.verify.exact import Mask
from holdfast.former.verify.folder import CODEBOOK, INTERVALS, MATRIX, opened, read_small
from holdfast.former.verify.mechanism import TOTAL, Floats, Integers, Mechanism
from holdfast.former.verify.report import Damage
from holdfast.former.verify.table import Row, rows_of

Cells = tuple[str, ...]
SAME, CLOSE = 1e-9, 3e-9  # what is equal by the definition; what rounding may move
OFF = 0.0006  # of an expected count in three decimals
NOTHING: Cells = ("", "", "", "")
KNOWN: Cells = ("0", "0.000", "0", "0")
NUMBERS = ("released", "expected", "low", "high")
HIGHEST, MOST_CELLS = 200, 250_000


class Law:
    """What a mechanism and what was known before say of each released count."""

    def __init__(
        self, before: Floats, mechanism: Mechanism, stated: dict[str, Any], known: float
    ) -> None:
        self.before, self.mechanism, self.known = before, mechanism, known
        self.level, self.every = float(Fraction(stated["level"])), stated["every"]
        self._seen: dict[int, Cells] = {}
        self._ahead: tuple[Floats, Floats] | None = None

    def check(self, count: int, cells: Cells) -> None:
        """Raise unless these cells are what a row that shows this count gets."""
        if count not in self._seen:
            if not self._holds(count, cells):
                raise Damage(
                    f"{INTERVALS} does not say of a released {count} what z and the weights do."
                )
            self._seen[count] = cells
        if self._seen[count] != cells:
            raise Damage(f"{INTERVALS} says different things of rows that show {count}.")

    def _holds(self, count: int, cells: Cells) -> bool:
        released, expected, low, high = cells
        law = self._law(count)
        mean = float(law @ np.arange(len(law)))
        ends = _whole(low), _whole(high)
        if released != str(count) or not 0 <= ends[0] <= ends[1] < len(law):
            return False
        if abs(_decimal(expected) - mean) > OFF:
            return False
        return self._is_taken(count, *ends) if self.every else _is_shortest(law, self.level, *ends)

    def _law(self, count: int) -> Floats:
        joint = self.before * self.mechanism.column(count) / TOTAL
        law = joint / max(float(joint.sum()), 1e-300)
        if count == 0:
            law = law * (1 - self.known)
            law[0] += self.known
        return np.asarray(law)

    def _is_taken(self, count: int, low: int, high: int) -> bool:
        """Whether these are the first and the last true count to which it is nothing unusual."""
        if self._ahead is None:
            n = len(self.before)
            shares = np.array([self.mechanism.column(j) / TOTAL for j in range(n)]).T
            self._ahead = _ahead(self.before, shares)
        least, most = (part[:, count] for part in self._ahead)
        sure = most < max(self.level - CLOSE, float(least.min()) - CLOSE)
        possible = least < max(self.level + CLOSE, float(most.min()) + CLOSE)
        inside = np.flatnonzero(sure)
        return bool(possible[low] and possible[high] and np.all((inside >= low) & (inside <= high)))


def _ahead(before: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """For each true and released count, how probable the released ones are that are less unusual:
    at least, and at the most where ratios that rounding may have parted count as well."""
    made = np.maximum(before @ shares, 1e-300)
    least, most = np.zeros_like(shares), np.zeros_like(shares)
    for i, row in enumerate(shares):
        ratio = row / made
        order = np.argsort(ratio)
        below = np.append(0.0, np.cumsum(row[order]))
        for found, slack in ((least, SAME + CLOSE), (most, SAME - CLOSE)):
            at = np.searchsorted(ratio[order], ratio * (1 + slack), side="right")
            found[i] = below[-1] - below[at]
        most[i] -= row  # which is not ahead of itself
    return least, most


def _is_shortest(law: Floats, level: float, low: int, high: int) -> bool:
    below = np.append(0.0, np.cumsum(law))
    size, held = high - low + 1, below[high + 1] - below[low]
    if held < level - SAME - CLOSE:
        return False
    shorter = below[size - 1 :] - below[: len(below) - size + 1]
    alike = below[size:] - below[: len(below) - size]
    return bool(shorter.max() < level - SAME + CLOSE and held > alike.max() - CLOSE)


def check_form(record: dict[str, Any], names: set[str]) -> None:
    """The folder has the files that the record promises, and the record says it as it must."""
    n, stated = record["max_count"] + 1, record.get("intervals")
    groups = record["within"]["groups"] if "within" in record else 1
    small = n <= HIGHEST + 1 and n * n * groups <= MOST_CELLS
    expected = {INTERVALS, CODEBOOK, *([MATRIX] if small else [])} if stated else set()
    if expected != names:
        odd = sorted(expected ^ names)[0]
        raise Damage(f"release.json and the folder disagree about the file {odd}.")
    if stated and not Fraction(1, 2) <= Fraction(stated["level"]) < 1:
        raise Damage("release.json: intervals.level must be a half or more, and below 1.")
    if stated and stated["lines"] not in ("rows", "counts"):
        raise Damage("release.json: intervals.lines must be rows or counts.")


def check_matrix(folder: Path, laws: list[Law], names: list[str] | None) -> None:
    """Every number of mechanism.csv, where there is one."""
    text = read_small(folder, MATRIX).decode("utf-8")
    n, lines = len(laws[0].before), _parsed(io.StringIO(text, newline=""), MATRIX)
    head = ["true", "prior", *map(str, range(n))]
    if next(lines, None) != (head if names is None else ["group", *head]):
        raise Damage(f"{MATRIX} does not begin with the names of its columns.")
    for number, law in enumerate(laws):
        group = [] if names is None else [names[number]]
        columns = [law.mechanism.column(j) / TOTAL for j in range(n)]
        expected = np.column_stack([law.before, *columns])
        for i, numbers in enumerate(expected):
            line = next(lines, [])
            said = line[len(group) + 1 :]
            if line[: len(group) + 1] != [*group, str(i)] or len(said) != n + 1:
                raise Damage(f"{MATRIX} does not have a line for each true count.")
            off = np.abs(np.array([_decimal(cell) for cell in said]) - numbers)
            if not (off <= 1e-11 * np.abs(numbers) + 1e-30).all():
                raise Damage(f"{MATRIX}: the line of true count {i} is not what the weights say.")
    if next(lines, None) is not None:
        raise Damage(f"{MATRIX} does not have a line for each true count.")


def check_lines(
    folder: Path,
    table: tuple[Path, str],
    record: dict[str, Any],
    laws: list[Law],
    names: list[str] | None,
    members: Integers | None,
    counts: list[int],
) -> str:
    """Every line of intervals.csv; `table` is its folder and its name."""
    with opened(folder, INTERVALS) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            lines = _parsed(text, INTERVALS)
            if record["intervals"]["lines"] == "rows":
                number = _check_rows(*table, record, lines, laws, names, members)
            else:
                number = _check_counts(lines, laws, names, counts)
            if next(lines, None) is not None:
                raise Damage(f"{INTERVALS} has more lines than it should.")
        finally:
            text.detach()
    return f"{number:,} lines follow from the table, z and the weights"


def _check_rows(
    folder: Path,
    table: str,
    record: dict[str, Any],
    lines: Iterator[list[str]],
    laws: list[Law],
    names: list[str] | None,
    members: Integers | None,
) -> int:
    label = record.get("category") if table.endswith(".csv") else None
    head = ["row" if label is None else "label", *([] if names is None else ["group"]), *NUMBERS]
    if next(lines, None) != head:
        raise Damage(f"{INTERVALS} does not begin with the names of its columns.")
    drawn, number = 0, 0
    with closing(rows_of(folder, table, record, label)) as rows:
        for number, row in enumerate(rows, 1):
            line = next(lines, None)
            group, law = "", laws[0]
            if names is not None and members is not None and row.is_drawn:
                at = int(members[drawn])
                group, law = names[at], laws[at]
            drawn += row.is_drawn
            first = str(number) if label is None else row.label
            given = [first, *([] if names is None else [group])]
            if line is None or line[: len(given)] != given or len(line) != len(head):
                raise Damage(f"{INTERVALS}: line {number + 1} is not that of the table's row.")
            _check_row(row, law, tuple(line[len(given) :]))
    return number


def _check_row(row: Row, law: Law, cells: Cells) -> None:
    fixed = NOTHING if row.released is None else KNOWN
    if not row.is_drawn:
        if cells != fixed:
            raise Damage(f"{INTERVALS} has an interval for a row that was not drawn.")
    elif row.released is not None:
        law.check(row.released, cells)


def _check_counts(
    lines: Iterator[list[str]], laws: list[Law], names: list[str] | None, counts: list[int]
) -> int:
    if next(lines, None) != [*([] if names is None else ["group"]), *NUMBERS]:
        raise Damage(f"{INTERVALS} does not begin with the names of its columns.")
    number = 0
    for at, law in enumerate(laws):
        possible: Mask = law.mechanism.possible()
        for count in counts:
            if names is not None and not possible[count]:
                continue
            line, number = next(lines, []), number + 1
            group = [] if names is None else [names[at]]
            if line[: len(group)] != group or len(line) != len(group) + 4:
                raise Damage(f"{INTERVALS} does not have a line for each released count.")
            law.check(count, tuple(line[len(group) :]))
    return number


def _parsed(text: Any, name: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(text, strict=True)
    except (csv.Error, UnicodeDecodeError):
        raise Damage(f"{name} cannot be read as UTF-8 with commas.") from None


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else -1


def _decimal(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
