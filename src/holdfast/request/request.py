"""A request: what a run is asked, checked, and everything that follows from it."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, decimal_or_fraction, one_line
from holdfast.request.fields import FIELDS, Declared
from holdfast.request.parameter import Form, in_words, plain
from holdfast.tables import UNNAMED

if TYPE_CHECKING:
    from holdfast.privacy.budget import Budget
    from holdfast.privacy.promise import Persons, Promise
    from holdfast.tables.options import TableOptions


ONE_COLUMN = "one column"
"""Where a row of one person is counted in one of several columns."""
PEOPLE = ("by", "categories", "per")
MADE_BY_COUNTING = ("count", "category", "keep")
"""Columns that counting persons makes."""


@dataclass(frozen=True, kw_only=True)
class Request(Declared):
    """What a run is asked, checked; made by `Request.read` or `Request.from_words`.

    >>> request = Request.read(epsilon="1.0", count="homicides", category="county")
    >>> request.epsilon, request.count
    (Fraction(1, 1), ('homicides',))
    """

    @classmethod
    def read(cls, **options: Any) -> "Request":
        """A request from what `holdfast.privatize` is given, checked."""
        from holdfast.request.checks import checked

        for name in options:
            if name not in FIELDS:
                raise TypeError(f"privatize() got an unexpected keyword argument {name!r:.40}")
        values = {
            name: checked(about, options.get(name, about.default)) for name, about in FIELDS.items()
        }
        check_together(values)
        request = cls(**values | counted(values))
        persons = request.persons
        contributions = by_column(persons.columns, persons.contributions)
        weights = persons.weights and by_column(persons.columns, persons.weights)
        uneven = weights if isinstance(weights, dict) else {}
        texts = {name: decimal_or_fraction(weight) for name, weight in uneven.items()}
        return replace(request, contributions=contributions, weights=texts or None)

    @classmethod
    def from_words(cls, words: Mapping[str, Sequence[str]]) -> "Request":
        """The same from words of a command line or a form, by the name of the field.

        >>> Request.from_words({"epsilon": ["1"], "within": ["state", "population:8"]}).within
        Within(parts=('state', holdfast.classes('population', 8)))
        """
        return cls.read(**{name: FIELDS[name].read(list(said)) for name, said in words.items()})

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of counts by name, also where there was nothing to name."""
        return self.count or (UNNAMED,)

    @property
    def simulated(self) -> bool:
        """Whether a seed makes the noise repeatable, so that it protects nobody."""
        return self.seed is not None

    @property
    def table_options(self) -> "TableOptions":
        """What is said of the table, for its reader."""
        from holdfast.tables.groups import Within
        from holdfast.tables.options import TableOptions

        names = [each.name for each in fields(TableOptions) if each.name in FIELDS]
        values = {name: getattr(self, name) for name in names}
        apart = self.person_in == ONE_COLUMN
        within = self.within or Within(())
        return TableOptions(**values | {"within": within, "apart": apart})

    @cached_property
    def persons(self) -> "Persons":
        """What one person may change in the table."""
        from holdfast.privacy.budget import exact_epsilon
        from holdfast.request.checks import read_persons

        persons = read_persons(
            self.columns,
            person_in=self.person_in,
            weights=self.weights,
            contributions=self.contributions,
            rows=self.rows,
            unit=self.unit,
        )
        for part in persons.parts(self.epsilon):
            exact_epsilon(part, name="epsilon of a column")
        return persons

    def promise(self, rows: int | Mapping[str, int], groups: int) -> "Promise":
        """The promise, with the exact budget of every column of counts.

        Parameters:
            rows: Rows that are measured, by column of counts or of all: public.
            groups: Groups of the table: public.
        """
        from holdfast.privacy.promise import Promise

        numbers = dict.fromkeys(self.columns, rows) if isinstance(rows, int) else rows
        persons = replace(self.persons, columns=tuple(numbers))
        parts = persons.parts(self.epsilon)
        spent = zip(parts, persons.contributions, numbers.values(), strict=True)
        return Promise(
            epsilon=self.epsilon,
            persons=persons,
            budgets=tuple(self._budget(*column, groups) for column in spent),
            simulated=self.simulated,
        )

    def _budget(self, epsilon: Fraction, contributions: int, rows: int, groups: int) -> "Budget":
        """Sums of the whole table have the share that suits epsilon and the rows, those of groups
        theirs beside it; where `split` names the share, they have it together."""
        from holdfast.fit import cells
        from holdfast.privacy.budget import Budget
        from holdfast.request.checks import totals_share

        totals = totals_share(self.totals)
        per_unit = epsilon * (1 - totals) / (contributions * self.rows)
        share = self.split or cells.share_of_sums(per_unit, rows)
        worth = cells.share_of_groups(share, rows, groups)
        whole = share / (1 + worth) if self.split else share
        return Budget.divided(
            epsilon,
            totals=totals,
            whole=whole,
            sums=whole * worth,
            contributions=contributions,
            person_rows=self.rows,
        )

    def given(self) -> dict[str, Any]:
        """The arguments of `holdfast.privatize` that make this request, without defaults."""
        made = MADE_BY_COUNTING if self.from_people else ()
        values = {name: self._plain(name) for name in FIELDS if name not in made}
        return {
            name: value[0] if isinstance(value, list) and len(value) == 1 else value
            for name, value in values.items()
            if value is not False and value not in (None, [], FIELDS[name].default)
        }

    def to_dict(self) -> dict[str, Any]:
        """What release.json says of a request: plain values."""
        return {name: self._recorded(name) for name, about in FIELDS.items() if about.recorded}

    def words(self) -> dict[str, Any]:
        """What decides the noise, beside the table: by this a ledger knows an equal request."""
        return {name: self._recorded(name) for name, about in FIELDS.items() if about.decides}

    def _recorded(self, name: str) -> Any:
        value = getattr(self, name)
        if FIELDS[name].form is Form.GROUPS:
            return None if value is None else value.to_dict()
        if FIELDS[name].form is Form.ROWS and not isinstance(value, str):
            return None  # a mask, or labels: the rows themselves are marked in the release
        return self._plain(name)

    def _plain(self, name: str) -> Any:
        value, form = getattr(self, name), FIELDS[name].form
        if value is not None and form is Form.GROUPS:
            return list(value.parts)
        if value is not None and form is Form.LABEL:
            return {value.column: value.label}
        return plain(value)

    def as_python(self, source: str) -> str:
        """This run of a file as a call of `holdfast.privatize`.

        >>> print(Request.read(count="homicides", epsilon="1.0").as_python("a.csv"))
        import holdfast
        <BLANKLINE>
        release = holdfast.privatize(
            'a.csv',
            count='homicides',
            epsilon='1',
        )
        <BLANKLINE>
        """
        options = (f"{name}={value!r}" for name, value in self.given().items())
        lines = "".join(f"    {argument},\n" for argument in (repr(source), *options))
        return f"import holdfast\n\nrelease = holdfast.privatize(\n{lines})\n"

    def as_command(self, source: str) -> str:
        """This run of a file as a command.

        >>> Request.read(count="a", missing=[-999, ""], epsilon="1").as_command("a.csv")
        "holdfast privatize a.csv --count a --epsilon 1 --missing -999 --missing ''"
        """
        options = as_options({name: in_words(value) for name, value in self.given().items()})
        return one_line(shlex.join(["holdfast", "privatize", source, *options]))


def as_options(words: Mapping[str, Iterable[str]]) -> list[str]:
    """Words of fields as options of a command line.

    >>> as_options({"count": ["a", "b"], "keep_none": ["yes"]})
    ['--count', 'a', '--count', 'b', '--keep-none']
    """
    return [
        word
        for name, values in words.items()
        for value in values
        for word in ([FIELDS[name].option] + [value] * (FIELDS[name].form is not Form.FLAG))
    ]


def check_together(values: Mapping[str, Any]) -> None:
    """Refuse what does not go together."""
    from holdfast.tables.options import FILE_OPTIONS

    named = {
        name
        for name, value in values.items()
        if not (value is None or value is False or (isinstance(value, tuple) and not value))
    }
    if {"keep", "keep_none"} <= named:
        raise HoldfastError("give `keep` or `keep_none`, not both.")
    if len({"ledger", "dataset"} & named) == 1:
        raise HoldfastError("`ledger` and `dataset` go together: give both, or neither.")
    for name in ("purpose", "corrects"):
        if name in named and "ledger" not in named:
            raise HoldfastError(f"`{name}` goes with `ledger`, which pays for the release.")
    for name in ("weights", "relations"):
        if name in named and len(values["count"]) < 2:
            raise HoldfastError(f"`{name}` is for several columns of counts. Hint: name them all.")
    for name in (*FILE_OPTIONS, "from_people"):
        if name in named and "query" in named:
            raise HoldfastError(f"`{name}` is for files, and `query` for a database.")
    _check_people(values, named)


def _check_people(values: Mapping[str, Any], named: set[str]) -> None:
    if not values["from_people"]:
        for name in PEOPLE:
            if name in named:
                raise HoldfastError(f"`{name}` goes with `from_people`.")
        return
    if not {"by", "categories"} <= named:
        raise HoldfastError(
            "`from_people` needs `by` and `categories`. Hint: the column of categories, and a "
            "list or a file of all there are."
        )
    for name in (*MADE_BY_COUNTING, "keep_none"):
        if name in named:
            raise HoldfastError(
                f"`from_people` makes the columns of the table: leave out `{name}`."
            )


def counted(values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table that is made by counting persons."""
    if not values["from_people"]:
        return {}
    first, *others = values["by"]
    made = {"count": (UNNAMED,), "category": first, "keep": tuple(others)}
    return made | ({"repeated_categories": True} if others else {})


def by_column(columns: Sequence[str], values: Sequence[Any]) -> Any:
    """One value where it is the same for all columns of counts, else each column's.

    >>> by_column(("murder", "rape"), (1, 2)), by_column(("murder", "rape"), (1, 1))
    ({'murder': 1, 'rape': 2}, 1)
    """
    return values[0] if len(set(values)) == 1 else dict(zip(columns, values, strict=True))
