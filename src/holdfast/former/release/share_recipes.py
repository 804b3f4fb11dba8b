"""How to have a share of rows or a mean with its uncertainty, without holdfast.

Each recipe goes on from that of a row's interval, whose names it uses; tests run all of them. Its
reach is that of a 90 % interval for twice the variance of the draws, in which stage 1 has a part.
"""

from typing import Any

from holdfast.former.release.recipes import in_lines, letters

PANDAS = """\
```python
rows = pd.read_csv("intervals.csv", dtype=str, keep_default_na=False)
rows = rows[rows["released"] != ""]
{group}counts = rows["released"].astype(int)


def answer(of):  # of a true count, such as lambda n: n >= 3; for the mean lambda n: n
    f = lines["true"].map(of).to_numpy(dtype=float)
    drawn = shares.to_numpy()
    spread = lines["prior"] @ (drawn @ f**2 - (drawn @ f) ** 2)
    estimate, reach = f[counts].mean(), 2.33 * (spread / len(counts)) ** 0.5
    return estimate, estimate - reach, estimate + reach
```
"""
PANDAS_GROUP = """\
rows = rows[rows["group"] == group]
"""
R = """\
```r
rows <- read.csv("intervals.csv", colClasses = "character", na.strings = character(0),
                 encoding = "UTF-8")
rows <- rows[rows$released != "", ]
{group}counts <- as.integer(rows$released)
answer <- function(of) {{  # of a true count, such as function(n) n >= 3; for the mean identity
  f <- as.numeric(of(lines$true))
  spread <- sum(lines$prior * (shares %*% f^2 - (shares %*% f)^2))
  estimate <- mean(f[counts + 1])
  estimate + c(0, -1, 1) * 2.33 * sqrt(spread / length(counts))
}}
```
"""
R_GROUP = """\
rows <- rows[rows$group == group, ]
"""


def share_recipes(record: dict[str, Any]) -> str:
    """The recipes for the release with this record; none where too little is known without
    holdfast, or where intervals.csv does not have the rows."""
    stated, groups = record["intervals"], "within" in record
    if stated["every"]:
        return """
Shares and means of so few rows need what stage 1 measured: ask holdfast.
"""
    if stated["lines"] != "rows":
        return ""
    whom = "the rows of one group" if groups else "all rows"
    return f"""
## A share of rows, or a mean

Of {whom}, with an interval, by what is there already (`shares`, `lines`) and the released
counts. This is about the noise of the draws. What stage 1 got wrong is left out, but for the room
that 2.33 standard errors have where 1.645 would be usual: mostly that is enough for 90%, and below
an epsilon of 0.5 it may not be. Counts above {record["max_count"]} enter as that. It is not for
rows that are chosen in other ways: their released counts are drawn towards those of all.

With pandas:

{PANDAS.format(group=PANDAS_GROUP if groups else "")}
With R:

{R.format(group=R_GROUP if groups else "")}
With a spreadsheet: {_spreadsheet(record["max_count"] + 1, groups)}"""


def share_cells(n: int, groups: bool) -> list[tuple[str, str, str]]:
    """The cells of the spreadsheet's recipe: where, the formula, and how far to fill it."""
    last, off = n + 1, int(groups)
    prior, first, end = (letters(k + off) for k in (2, 3, n + 2))
    row, down = f"mechanism!${first}2:${end}2", f"down to row {last}"
    shown, known = "C" if groups else "B", f"mechanism!{prior}2:{prior}{last}"
    return [
        ("A2", "=N(ROW()-2>=3)", down),
        ("B2", "=A2^2", down),
        ("C2", f"=MMULT({row},A$2:A${last})", down),
        ("D2", f"=MMULT({row},B$2:B${last})", down),
        ("E2", f"=COUNTIF(intervals!${shown}:${shown},ROW()-2)", down),
        ("F2", f"=SUMPRODUCT(A2:A{last},E2:E{last})/SUM(E2:E{last})", ""),
        ("F3", f"=F2-2.33*SQRT(SUMPRODUCT({known},D2:D{last}-C2:C{last}^2)/SUM(E2:E{last}))", ""),
        ("F4", "=2*F2-F3", ""),
    ]


def _spreadsheet(n: int, groups: bool) -> str:
    only = ", only the lines of the group and the header," if groups else ""
    lines = in_lines(share_cells(n, groups))
    return f"""open `intervals.csv`{only} as a sheet named `intervals` beside
`mechanism`. On another sheet leave row 1 empty; `F2` is the estimate, `F3` and `F4` are the ends.
Here of the share of rows with 3 or more; with `=ROW()-2` in column A it is the mean:

{lines}"""
