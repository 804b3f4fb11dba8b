"""How to have a row's interval without holdfast: by pandas, R or a spreadsheet.

Each recipe computes from mechanism.csv what intervals.csv holds; tests run all of them.
"""

from typing import Any

HIGHEST, MOST_CELLS = 200, 250_000  # of mechanism.csv
PANDAS = """\
```python
import pandas as pd

{read}
shares, prior = lines.loc[:, "0":], lines["prior"]
{law}


def interval(released, level=0.9):
{body}
```
"""
PANDAS_LAW = """\
law = shares.mul(prior, axis=0)
law = law / law.sum()"""
PANDAS_RUN = """\
    below = [0.0, *law[str(released)].cumsum()]
    runs = [
        (end - start, below[start] - below[end], start, end - 1)
        for end in range(len(below))
        for start in range(end)
        if below[end] - below[start] >= level - 1e-9
    ]
    return min(runs)[2:]  # the shortest, and of those the most probable"""
PANDAS_RATIO = """\
ratio = shares / shares.mul(prior, axis=0).sum().clip(lower=1e-300)"""
PANDAS_TAKEN = """\
    own = ratio[str(released)] * (1 + 1e-9)
    ahead = shares.where(ratio.gt(own, axis=0), 0).sum(axis=1)
    taken = ahead.index[ahead < max(level - 1e-9, ahead.min() + 1e-9)]
    return taken[0], taken[-1]"""
R = """\
```r
{read}
shares <- as.matrix(lines[, -seq_len(match("prior", names(lines)))])
{law}
interval <- function(released, level = 0.9) {{
{body}
}}
```
"""
R_LAW = """\
law <- lines$prior * shares
law <- sweep(law, 2, colSums(law), "/")"""
R_RUN = """\
  below <- cumsum(c(0, law[, as.character(released)]))
  held <- outer(below, below, function(start, end) end - start)
  runs <- which(held >= level - 1e-9, arr.ind = TRUE)
  best <- runs[order(runs[, 2] - runs[, 1], -held[runs])[1], ]
  c(best[1] - 1, best[2] - 2)  # the shortest, and of those the most probable"""
R_RATIO = """\
ratio <- sweep(shares, 2, pmax(colSums(lines$prior * shares), 1e-300), "/")"""
R_TAKEN = """\
  own <- ratio[, as.character(released)] * (1 + 1e-9)
  ahead <- rowSums(shares * (ratio > own))
  range(which(ahead < max(level - 1e-9, min(ahead) + 1e-9))) - 1"""


PANDAS_ALL = 'lines = pd.read_csv("mechanism.csv")'
PANDAS_GROUP = """\
group = "..."  # that of the row, as intervals.csv has it
lines = pd.read_csv("mechanism.csv", dtype={"group": str}, keep_default_na=False)
lines = lines[lines["group"] == group].reset_index(drop=True)"""
R_ALL = 'lines <- read.csv("mechanism.csv", check.names = FALSE)'
R_GROUP = """\
group <- "..."  # that of the row, as intervals.csv has it
lines <- read.csv("mechanism.csv", check.names = FALSE, na.strings = character(0),
                  colClasses = c(group = "character"), encoding = "UTF-8")
lines <- lines[lines$group == group, ]"""


def has_mechanism_csv(record: dict[str, Any]) -> bool:
    """Whether a bundle with this record is small enough for mechanism.csv."""
    n, groups = record["max_count"] + 1, record.get("within", {"groups": 1})["groups"]
    return "intervals" in record and n <= HIGHEST + 1 and n * n * groups <= MOST_CELLS


def recipes(record: dict[str, Any]) -> str:
    """The three recipes for the release with this record, as a part of README.md."""
    groups, every = "within" in record, record["intervals"]["every"]
    of = " of its group" if groups else ""
    return f"""\
The same from `mechanism.csv`, which has a line for each true count{" of each group" * groups}: what
was known of a row{of} before (`prior`), and the probability of being released as 0, 1, 2, ...

With pandas:

{_pandas(groups, every)}
With R:

{_r(groups, every)}
With a spreadsheet: {_spreadsheet(record["max_count"] + 1, groups, every)}"""


def _pandas(groups: bool, every: bool) -> str:
    law, body = (PANDAS_RATIO, PANDAS_TAKEN) if every else (PANDAS_LAW, PANDAS_RUN)
    return PANDAS.format(read=PANDAS_GROUP if groups else PANDAS_ALL, law=law, body=body)


def _r(groups: bool, every: bool) -> str:
    law, body = (R_RATIO, R_TAKEN) if every else (R_LAW, R_RUN)
    return R.format(read=R_GROUP if groups else R_ALL, law=law, body=body)


def cells(n: int, groups: bool, every: bool) -> list[tuple[str, str, str]]:
    """The cells of the spreadsheet's recipe: where, the formula, and how far to fill it."""
    last, off = n + 1, int(groups)
    true, prior, first, end = (letters(k + off) for k in (1, 2, 3, n + 2))
    row, down = f"mechanism!${first}2:${end}2", f"down to row {last}"
    if every:
        made, own = f"mechanism!${first}${last + 2}:${end}${last + 2}", "$E$1+1"
        ahead = f"{row}*INDEX({made},{own})>INDEX({row},{own})*{made}*(1+1E-9)"
        return [
            (f"mechanism!{first}{last + 2}",
             f"=SUMPRODUCT(${prior}$2:${prior}${last},{first}$2:{first}${last})",
             f"right to column {end}"),
            ("A2", f"=SUMPRODUCT(({ahead})*{row})", down),
            ("B2", f"=IF(A2<MAX(0.9-1E-9,MIN(A$2:A${last})+1E-9),ROW()-2,\"\")", down),
            ("E2", f"=MIN(B2:B{last})", ""),
            ("E3", f"=MAX(B2:B{last})", ""),
        ]  # fmt: skip
    return [
        ("A2", f"=mechanism!${prior}2*INDEX({row},$E$1+1)", down),
        ("B2", f"=SUM(A$2:A2)/SUM(A$2:A${last})", down),
        ("C2", f'=COUNTIF(B$2:B${last},"<"&(N(B1)+0.9-1E-9))', down),
        ("D2", f'=IF(C2>={n},"",C2-ROW()-INDEX(B$2:B${last},C2+1)+N(B1))', down),
        ("E2", f"=MATCH(MIN(D2:D{last}),D2:D{last},0)-1", ""),
        ("E3", f"=INDEX(C2:C{last},E2+1)", ""),
        ("E4", f"=SUMPRODUCT(mechanism!{true}2:{true}{last},A2:A{last})/SUM(A2:A{last})", ""),
    ]


def _spreadsheet(n: int, groups: bool, every: bool) -> str:
    only = ", only the lines of the row's group and the header," if groups else ""
    expected = "" if every else ", `E4` what to expect"
    lines = in_lines(cells(n, groups, every))
    return f"""open `mechanism.csv`{only} as a sheet named `mechanism` (with points as
decimal marks). On a second sheet put the released count into `E1` and leave the rest of row 1
empty; `E2` is the lower end and `E3` the upper one{expected}:

{lines}"""


def in_lines(recipe: list[tuple[str, str, str]]) -> str:
    """The cells of a spreadsheet's recipe as a list."""
    return "".join(
        f"- `{place}`: `{formula}`{f', filled {fill}' if fill else ''}\n"
        for place, formula, fill in recipe
    )


def letters(column: int) -> str:
    """The name of a column, from 1.

    >>> letters(1), letters(26), letters(27), letters(203)
    ('A', 'Z', 'AA', 'GU')
    """
    name = ""
    while column:
        column, digit = divmod(column - 1, 26)
        name = chr(65 + digit) + name
    return name
