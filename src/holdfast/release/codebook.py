"""codebook.md: what every column of every file holds, and what may be done with noisy counts.

A function of the record alone.
"""

import json
from collections.abc import Iterator
from math import ceil, exp
from typing import Any

from holdfast.release import escape
from holdfast.release.record import PARTS, read_noise, titles

Line = tuple[str, str]


def codebook(record: dict[str, Any]) -> str:
    """codebook.md."""
    simulated = "SIMULATION, protects nobody: a seed was used.\n\n"
    parts = [
        (f"`{record['table']['file']}`", _table(record)),
        ("`rows.csv`", _rows(record)),
        ("`answers.csv`", _answers()),
        ("`distribution.csv`", _distribution()),
    ]
    sections = "\n".join(_section(name, lines) for name, lines in parts)
    return f"""# Codebook

{simulated * record["promise"]["simulated"]}{sections}
CSV files are UTF-8 with {_SEPARATED[record["table"]["delimiter"]]} between cells and
points in numbers. A text that a spreadsheet would take for a formula has an apostrophe in front.
Excel takes the zeros off codes such as 01002 in a file that is opened by a double click: import it,
with such columns as text.

{_teaching(record)}"""


_SEPARATED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def _section(name: str, lines: Iterator[Line]) -> str:
    rows = "".join(f"| {column} | {words} |\n" for column, words in lines)
    return f"## {name}\n\n| column | what it holds |\n| --- | --- |\n{rows}"


def _table(record: dict[str, Any]) -> Iterator[Line]:
    for column in record["published"]:
        words = "published unchanged"
        if column == record["category"]:
            words = "whose row it is, published unchanged"
        elif column in record["groups"]["columns"]:
            words = "published unchanged; says which group a row is in"
        yield escape.table_code(column), words
    top = record["top"]
    for column, title in zip(record["counts"], titles(record), strict=True):
        words = "released count; the true one may be another. Its distribution is the estimated one"
        words += f"; {top} stands for {top} or more" if top is not None else ""
        words += "; empty where it was not known" if column["missing"] else ""
        yield escape.table_code(title), words


def _rows(record: dict[str, Any]) -> Iterator[Line]:
    category = record["category"]
    if category is None:
        yield "`row`", "number of the row in the table, from 1"
    else:
        yield escape.table_code(category), "whose row it is; rows stand as in the table"
    if record["groups"]["columns"]:
        yield "`group`", "the row's group; empty where it is in none"
    for title in titles(record):
        names = [escape.table_code(f"{title}_{name}") for name in PARTS]
        yield names[0], "true count plus noise: unbiased, may be negative; empty if not measured"
        yield (
            f"{names[1]}, {names[2]}",
            "interval that holds the true count with a probability of 90 %, in every row and "
            "whatever the other rows have",
        )
        yield (
            f"{names[3]}, {names[4]}",
            "mostly shorter interval, which takes into account how common each count is: it holds "
            "the true count in 90 % of rows on average, less often where that is rare",
        )


def _answers() -> Iterator[Line]:
    yield "`column`", "the column of counts"
    yield "`group`", "`all rows`, or a declared group"
    yield "`question`", "a quantile is the smallest count that this share of rows does not exceed"
    yield "`answer`", "what counting in the table gives; shares from 0 to 1"
    yield "`low`, `high`", "interval made to hold what is true in 90 of 100 releases"


def _distribution() -> Iterator[Line]:
    yield "`column`, `group`", "as in `answers.csv`"
    yield "`count`", "a count that some row of the released table has"
    yield "`rows`, `share`", "how many rows of the table have it, and which share that is"
    yield "`low`, `high`", "90 % interval of the true share; empty for single high counts"


def _teaching(record: dict[str, Any]) -> str:
    """What a statistician may do with the noisy counts, without holdfast."""
    laws = [read_noise(each["noise"]) for each in record["counts"]]
    variances = "".join(
        f"| {escape.table_code(name)} | {law.variance:.6g} | {law.variance**0.5:.4g} |\n"
        for name, law in zip(titles(record), laws, strict=True)
    )
    noise = laws[0]
    decay = exp(-float(noise.epsilon)) if (noise.shift, noise.width) == (1, 1) else None
    return f"""\
## What may be done with noisy counts

A noisy count is the true count plus noise of mean 0 and a known variance, the same in every row and
independent of everything else. So it is an unbiased measurement, and what is known of measurements
with errors applies. Do not round them, nor cut them off at 0: that makes them biased.

| column | variance of the noise | standard deviation |
| --- | --- | --- |
{variances}
- **Totals and means.** Add up the noisy counts. The error of a total of n rows has the standard
  deviation √(n · variance), that of a mean √(variance / n), nearly normal from ten rows on.
- **How much true counts vary.** The variance of noisy counts is too large by that of the noise.
- **Correlation with a public number x.** The covariance is right as it is; only the variance of the
  noisy count has to be corrected. Of two columns of noisy counts both have to be; their noise is
  independent.
- **Regression.** As the outcome, a noisy count may be put into least squares as it is, with robust
  standard errors (HC1 or so). As a regressor it flattens the slope: use `slope` below, or, with
  other regressors beside it, ask holdfast.
{"" if decay is None else _three_points(decay)}
With pandas, where `y` are the noisy counts of any rows chosen by something public:

```python
{_pandas(record, noise.variance, decay)}```

The same in R:

```r
{_r(record, noise.variance, decay)}```

In a spreadsheet, `rows.csv` with a public number x in column Z:

| | formula |
| --- | --- |
{_spreadsheet(record, noise.variance, decay)}
Shares in few rows are better asked of holdfast, which knows what counts are common:
`holdfast ask`, or `holdfast.load(folder).ask("share", equal=0, where="…")` in Python.
"""


def _three_points(a: float) -> str:
    """What may be said of any function of the true count, and how sure that is of zeros.

    A row adds the most to the variance where its true count is 0.
    """
    square = ((1 + a * a) ** 2 + 2 * a**3) / ((1 - a) ** 3 * (1 + a))
    return f"""\
- **Any function of the true count**, such as whether it is 0, has an unbiased estimate from three
  values, with a the factor by which the noise falls from one number to the next. It is noisy: the
  standard error of the share of zeros in n rows is up to {square**0.5:.3g} / √n, so of fewer than
  {ceil(100 * square):,} rows, where that is 0.1, it says next to nothing.
"""


def _named(record: dict[str, Any], sign: str) -> tuple[str, str, str]:
    """How the category, the noisy counts and the delimiter are written in code; "" where plain."""
    category, title = record["category"] or "", titles(record)[0]
    separator = record["table"]["delimiter"]
    return (
        json.dumps(category, ensure_ascii=False) if category and category.isprintable() else "",
        json.dumps(f"{title}_noisy", ensure_ascii=False) if title.isprintable() else '"…"',
        "" if separator == "," else f", sep{sign}{json.dumps(separator)}",
    )


def _pandas(record: dict[str, Any], variance: float, decay: float | None) -> str:
    category, count, separator = _named(record, "=")
    texts = f", dtype={{{category}: str}}" if category else ""
    text = f"""\
import pandas as pd

rows = pd.read_csv("rows.csv"{separator}{texts})
y = rows[{count}].dropna()
variance = {variance:.6g}
total, error = y.sum(), (len(y) * variance) ** 0.5
interval = total - 1.645 * error, total + 1.645 * error
true_variance = y.var() - variance


def correlation(x, y, variance_x=0.0, variance_y=variance):
    spread = (x.var() - variance_x) * (y.var() - variance_y)
    return x.cov(y) / spread**0.5


def slope(x, y, variance_x=0.0):  # of y on x, where x is a noisy count with this variance
    return x.cov(y) / (x.var() - variance_x)
"""
    if decay is None:
        return text
    return f"""\
{text}

a = {decay:.12g}


def mean_of(f, y):
    return (((1 + a * a) * f(y) - a * f(y - 1) - a * f(y + 1)) / (1 - a) ** 2).mean()


share_of_zeros = mean_of(lambda count: (count == 0) * 1.0, y)
"""


def _r(record: dict[str, Any], variance: float, decay: float | None) -> str:
    category, count, separator = _named(record, " = ")
    texts = f', colClasses = setNames("character", {category})' if category else ""
    text = f"""\
rows <- read.csv("rows.csv"{separator}, check.names = FALSE{texts})
y <- na.omit(rows[[{count}]])
variance <- {variance:.6g}
total <- sum(y)
interval <- total + c(-1.645, 1.645) * sqrt(length(y) * variance)
true_variance <- var(y) - variance
correlation <- function(x, y, variance_x = 0, variance_y = variance)
  cov(x, y) / sqrt((var(x) - variance_x) * (var(y) - variance_y))
slope <- function(x, y, variance_x = 0) cov(x, y) / (var(x) - variance_x)
"""
    if decay is None:
        return text
    return f"""\
{text}\
a <- {decay:.12g}
mean_of <- function(f, y)
  mean(((1 + a^2) * f(y) - a * f(y - 1) - a * f(y + 1)) / (1 - a)^2)
share_of_zeros <- mean_of(function(count) count == 0, y)
"""


def _spreadsheet(record: dict[str, Any], v: float, a: float | None) -> str:
    last = record["table"]["rows"] + 1
    y = "{0}2:{0}{1}".format("C" if record["groups"]["columns"] else "B", last)
    x = f"Z2:Z{last}"
    lines = {
        "total": f"=SUM({y})",
        "standard deviation of its error": f"=SQRT(COUNT({y})*{v:.6g})",
        "variance of the true counts": f"=VAR({y})-{v:.6g}",
        "correlation with x": f"=CORREL({x},{y})*SQRT(VAR({y})/(VAR({y})-{v:.6g}))",
        "slope of x on the true counts": f"=SLOPE({x},{y})*VAR({y})/(VAR({y})-{v:.6g})",
    }
    if a is not None:
        near = f"(COUNTIF({y},1)+COUNTIF({y},-1))"
        lines["share of zeros"] = (
            f"=((1+{a:.6g}^2)*COUNTIF({y},0)-{a:.6g}*{near})/(1-{a:.6g})^2/COUNT({y})"
        )
    return "".join(f"| {name} | `{formula}` |\n" for name, formula in lines.items())
