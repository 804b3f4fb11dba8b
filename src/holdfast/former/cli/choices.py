"""What the command line calls the parts of a run, and its numbers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.former.cli.options import whole

PRIVATIZERS = (
    *("cumulative-smooth", "cumulative-isotonic", "cyclic-laplace", "classic-laplace"),
    *("privelet", "hierarchical", "long-range"),
)
WITH_DELTA = ("cumulative-gaussian", "cyclic-gaussian")
USUAL = "cumulative-smooth, above a max_count of 1000 long-range."
NAMES = (*PRIVATIZERS, *(f"{name}:DELTA" for name in WITH_DELTA))

BASELINES = ("truncated-geometric", "staircase", "discrete-gaussian")
CONSTRUCTORS = ("optimal", "best", "max", "min", "sandwich", "unfixed", *BASELINES)


def find_privatizer(text: str) -> Any:
    """The privatizer of this name; a Gaussian's delta follows a colon.

    >>> find_privatizer("privelet"), find_privatizer("cyclic-gaussian:1e-6").delta
    (Privelet(projection='clip'), Fraction(1, 1000000))
    """
    from holdfast.former import privatizers

    name, colon, delta = text.partition(":")
    if colon and name in WITH_DELTA:
        return getattr(privatizers, _class_name(name))(delta=delta)
    if text not in PRIVATIZERS:
        raise HoldfastError(f"`privatizer` must be one of {', '.join(NAMES)}, got {text!r:.40}.")
    return getattr(privatizers, _class_name(text))()


def _class_name(name: str) -> str:
    return name.title().replace("-", "")


def find_constructor(name: str, delta: str | None = None) -> Any:
    """The constructor of this name.

    >>> find_constructor("sandwich").selector
    'sandwich'
    """
    from holdfast.former import constructors

    if name not in CONSTRUCTORS:
        raise HoldfastError(
            f"`constructor` must be one of {', '.join(CONSTRUCTORS)}, got {name!r:.40}."
        )
    if delta is not None and name not in ("optimal", "discrete-gaussian"):
        raise HoldfastError(
            f"{name} takes no `delta`. "
            "Hint: it belongs to --constructor optimal or discrete-gaussian."
        )
    if name in BASELINES:
        from holdfast.former.constructors import baselines

        if delta is not None:
            return baselines.DiscreteGaussian(delta=delta)
        return getattr(baselines, _class_name(name))()
    if name == "unfixed":
        return constructors.UnfixedOptimum()
    if name == "optimal":
        return constructors.Optimal(delta=delta or 0)
    return constructors.Heuristic(selector=name)


def within_of(texts: list[str] | None) -> Any:
    """What rows are grouped by: columns, and classes of a column with a colon.

    >>> within_of(["state", "population:8"])
    ['state', Classes(column='population', number=8)]
    """
    from holdfast.former.tables.groups import classes

    parts: list[Any] = []
    for text in texts or ():
        column, _, number = text.rpartition(":")
        if column and number.strip() == "auto":
            parts.append(classes(column))
        elif column and number.strip().isdecimal():
            parts.append(classes(column, int(number)))
        else:
            parts.append(text)
    return parts or None


def subset_of(text: str) -> dict[str, str]:
    """The rows that are released: a column and a label of it.

    >>> subset_of("state=NE")
    {'state': 'NE'}
    """
    column, sign, label = text.partition("=")
    if not sign:
        raise HoldfastError("`--subset` must be a column and a label, such as state=NE.")
    return {column: label}


def totals_of(asked: bool, share: str | None) -> Any:
    """Whether totals are measured, and for which share of the budget."""
    if share is not None and not asked:
        raise HoldfastError("`--totals-share` goes with `--totals`.")
    return share if share is not None else asked


def by_column(texts: list[str], parameter: str, read: Callable[[str], Any]) -> Any:
    """One value for all columns of counts, or `COLUMN=VALUE` for each.

    >>> by_column(["40"], "max_count", int), by_column(["a=40", "b=80"], "max_count", int)
    (40, {'a': 40, 'b': 80})
    """
    if texts and not any("=" in text for text in texts):
        return read(texts[-1])  # the last one counts, as of every option that is given twice
    pairs = [text.rpartition("=") for text in texts]
    if not all(sign for _, sign, _ in pairs) or len({name for name, _, _ in pairs}) < len(pairs):
        option = parameter.replace("_", "-")
        raise HoldfastError(
            f"`--{option}` must be given once, or once for each column of counts as COLUMN=VALUE."
        )
    return {name: read(value) for name, _, value in pairs}


def max_count_of(text: str, epsilon: str | None) -> Any:
    """The highest count: a number, or a quantile that may take `epsilon`.

    >>> max_count_of("50", None)
    50
    """
    from holdfast.former.privatizers.max_count import AUTO, read_max_count
    from holdfast.former.privatizers.private_quantile import PrivateQuantile

    if text.strip() == AUTO:
        return replace(read_max_count(AUTO), epsilon=epsilon)
    kind, colon, share = text.partition(":")
    if colon and kind.strip() == "quantile":
        return PrivateQuantile(share, epsilon=epsilon)
    if epsilon is not None:
        raise HoldfastError("`quantile_epsilon` goes with a quantile as max_count: quantile:0.99.")
    return whole(text, "max_count", "digits only, such as 50, or quantile:0.99, or auto")
