"""The parameters of `holdfast.privatize` by what they are about; every engine takes them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Required, TypedDict, get_type_hints

from holdfast.former.constructors import Construction
from holdfast.former.privatizers import Privatizer


class ColumnOptions(TypedDict, total=False):
    """What the columns are, which rows are released, and what is published beside the counts."""

    category: str | None
    keep: Sequence[str]
    publish_anyway: Sequence[str]
    order_by: str | None
    repeated_categories: bool
    missing: Sequence[Any]
    structural_zero: str | Sequence[Any] | None
    subset: Any


class StageOptions(TypedDict, total=False):
    """What the two stages are, and what they may spend on whom."""

    epsilon: Required[Any]
    max_count: Required[Any]
    contributions: Any
    rows: int
    unit: str
    privatizer: Privatizer | None
    constructor: Callable[..., Construction] | None
    split: Any
    within: Any
    totals: Any


class SeveralOptions(TypedDict, total=False):
    """What is said of several columns of counts alone."""

    joint: bool
    person_in: str
    weights: Any


class Options(ColumnOptions, StageOptions, SeveralOptions, total=False):
    """What every engine takes; `holdfast.privatize` says what each of them means."""

    ledger: Any
    dataset: str | None
    period: Any


class RepeatableOptions(Options, total=False):
    """What engines take that can draw from a seed, or show a release again."""

    seed: int | None
    corrects: Any


_SORTS = (
    (*ColumnOptions.__annotations__,),
    (*StageOptions.__annotations__, "seed"),
    (*SeveralOptions.__annotations__,),
    ("ledger", "dataset"),
    ("period", "corrects"),
)


def sorted_options(given: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """What was given: for columns, stages, several counts, whoever pays, and the ledger's history.

    >>> sorted_options({"epsilon": 1, "keep": ["state"], "joint": True})
    ({'keep': ['state']}, {'epsilon': 1}, {'joint': True}, {}, {})
    """
    return tuple({name: given[name] for name in names if name in given} for names in _SORTS)


def check_options(given: Mapping[str, Any], allowed: type) -> None:
    """Raise for a name that an engine does not take, as Python does for any function."""
    for name in given:
        if name not in get_type_hints(allowed):
            raise TypeError(f"got an unexpected keyword argument {name!r:.40}")
