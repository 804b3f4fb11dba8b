"""Everything a run can be asked, declared once.

Python's signature and docstring, the command line, the page's forms, the recipe, the ledger's words
and the record in a release are derived from these fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.request import checks
from holdfast.request.asked import Asked, Form, Panel, asked
from holdfast.request.recipe import command, plain, python_call
from holdfast.request.together import (
    MADE_BY_COUNTING,
    ONE_COLUMN,
    UNNAMED,
    by_column,
    check_together,
    counted,
    weights_by_column,
)

if TYPE_CHECKING:
    from holdfast.privacy.budget import Budget
    from holdfast.privacy.persons import Persons
    from holdfast.privacy.promise import Promise
    from holdfast.tables.groups import Within
    from holdfast.tables.options import TableOptions
    from holdfast.tables.periods import Period
    from holdfast.tables.subset import Subset


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a run is asked, checked; made by `Request.read` or `Request.from_words`.

    >>> request = Request.read(epsilon="1.0", count="homicides", category="county")
    >>> request.epsilon, request.count
    (Fraction(1, 1), ('homicides',))
    """

    count: tuple[str, ...] = asked(
        *(Form.TEXTS, Panel.FIRST, "COLUMN"),
        "Column of counts; several are released together, in one promise.",
        "homicides",
        check=checks.counts,
        default=None,
        decides=True,
    )
    category: str | None = asked(
        *(Form.TEXT, Panel.FIRST, "COLUMN"),
        "Column that says whose count it is; published as it is.",
        "county",
        check=checks.column,
        default=None,
    )
    keep: tuple[str, ...] = asked(
        *(Form.TEXTS, Panel.FIRST, "COLUMN"),
        "Another public column to publish as it is; all others are withheld.",
        "state",
        check=checks.columns,
        default=(),
    )
    epsilon: Fraction = asked(
        *(Form.NUMBER, Panel.FIRST, "NUMBER"),
        "The whole privacy budget: smaller protects more, 0.1 to 5 is usual.",
        "1",
        check=checks.epsilon,
        decides=True,
    )
    within: "Within | None" = asked(
        *(Form.GROUPS, Panel.FIRST, "COLUMN[:CLASSES]"),
        "Public column whose groups each keep their distribution, or classes of a public number; "
        "several are crossed.",
        *("state", "population:8"),
        check=checks.within,
        default=None,
        decides=True,
    )
    missing: tuple[Any, ...] = asked(
        *(Form.CODES, Panel.FIRST, "CODE"),
        "Code for a count that is not known, such as -999, or '' for an empty cell; such rows are "
        "published as missing.",
        *("-999", ""),
        check=checks.codes,
        default=(),
    )
    header_row: int | None = asked(
        *(Form.WHOLE, Panel.FIRST, "ROW"),
        "Row of the file that holds the names of the columns.",
        "3",
        check=checks.at_least_1,
        default=None,
        recorded=False,
    )
    out: Path | None = asked(
        *(Form.PATH, Panel.FIRST, "FOLDER"),
        "New folder for the release.",
        "release",
        check=checks.path,
        default=None,
        recorded=False,
    )
    seed: int | None = asked(
        *(Form.WHOLE, Panel.FIRST, "NUMBER"),
        "For a rehearsal: repeatable noise, which protects nobody.",
        "1",
        check=checks.at_least_0,
        default=None,
        recorded=False,
    )
    contributions: "int | dict[str, int]" = asked(
        *(Form.WHOLE_BY_COLUMN, Panel.PROTECTED, "[COLUMN=]NUMBER"),
        "How much one person may add to one row, at the most: one number for all columns of "
        "counts, or one for each.",
        "5",
        check=checks.anything,
        default=1,
        decides=True,
    )
    rows: int = asked(
        *(Form.WHOLE, Panel.PROTECTED, "NUMBER"),
        "In how many rows one person may be, at the most.",
        "3",
        check=checks.person_rows,
        default=1,
        decides=True,
    )
    unit: str = asked(
        *(Form.TEXT, Panel.PROTECTED, "WORD"),
        "Who is protected, in a word: person, household, establishment.",
        "household",
        check=checks.unit,
        default="person",
        decides=True,
    )
    person_in: str = asked(
        *(Form.TEXT, Panel.PROTECTED, "WORDS"),
        "Where a row of one person may be counted: 'all columns' of counts, which share epsilon, "
        "or 'one column', and each has all of it.",
        "one column",
        check=checks.anything,
        default="all columns",
        decides=True,
    )
    weights: dict[str, str] | None = asked(
        *(Form.NUMBER_BY_COLUMN, Panel.PROTECTED, "COLUMN=NUMBER"),
        "By what epsilon is divided between columns of counts; evenly without.",
        *("murder=2", "rape=1"),
        check=checks.anything,
        default=None,
        decides=True,
    )
    totals: bool | str = asked(
        *(Form.SHARE, Panel.MEASURED, "yes|SHARE"),
        "Measure totals too, of the table and of each group, for a tenth of epsilon or another "
        "share.",
        "0.2",
        check=checks.totals,
        default=False,
        decides=True,
    )
    split: Fraction | None = asked(
        *(Form.NUMBER, Panel.MEASURED, "SHARE"),
        "What the distribution of counts takes of epsilon, the rest being for single counts; by "
        "default it follows from epsilon and the number of rows.",
        "0.1",
        check=checks.split,
        default=None,
        decides=True,
    )
    structural_zero: Any = asked(
        *(Form.ROWS, Panel.PUBLISHED, "COLUMN"),
        "Column that marks rows publicly known to be zero.",
        "no_school",
        check=checks.rows_known,
        default=None,
    )
    top: int | None = asked(
        *(Form.WHOLE, Panel.PUBLISHED, "NUMBER"),
        "Show higher counts as this number or more; it does not change what is protected.",
        "50",
        check=checks.at_least_1,
        default=None,
    )
    relations: bool = asked(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        "Let the table itself keep the relation between several counts; single counts change more.",
        check=checks.flag,
        default=False,
    )
    subset: "Subset | None" = asked(
        *(Form.LABEL, Panel.PUBLISHED, "COLUMN=LABEL"),
        "Release only the rows with one label in a public column; a ledger charges other labels "
        "side by side.",
        "state=NE",
        check=checks.subset,
        default=None,
        decides=True,
    )
    order_by: str | None = asked(
        *(Form.TEXT, Panel.PUBLISHED, "COLUMN"),
        "Publish in the order of this public column.",
        "county",
        check=checks.column,
        default=None,
    )
    repeated_categories: bool = asked(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        "A category may have several rows.",
        check=checks.flag,
        default=False,
    )
    keep_none: bool = asked(
        *(Form.FLAG, Panel.PUBLISHED, ""),
        "Withhold every column but the category, on purpose.",
        check=checks.flag,
        default=False,
        recorded=False,
    )
    publish_anyway: tuple[str, ...] = asked(
        *(Form.TEXTS, Panel.PUBLISHED, "NAME"),
        "A column that gives the counts away, 'row order', 'totals', or 'same counts' as those of "
        "another period: publish it all the same.",
        "row order",
        check=checks.columns,
        default=(),
        recorded=False,
    )
    table_format: str | None = asked(
        *(Form.TEXT, Panel.PUBLISHED, "FORMAT"),
        "Write the table as csv or parquet; by default as the file that came in.",
        "csv",
        check=checks.table_format,
        default=None,
        recorded=False,
    )
    ledger: Any = asked(
        *(Form.PATH, Panel.LEDGER, "FILE"),
        "Ledger that pays before anything is measured, and shows an equal release again.",
        "budget.ledger",
        check=checks.anything,
        default=None,
        recorded=False,
    )
    dataset: str | None = asked(
        *(Form.TEXT, Panel.LEDGER, "NAME"),
        "Name of these data in the ledger.",
        "homicides",
        check=checks.text,
        default=None,
        recorded=False,
    )
    purpose: str | None = asked(
        *(Form.TEXT, Panel.LEDGER, "TEXT"),
        "Why this is released, for the ledger's history.",
        "annual report",
        check=checks.text,
        default=None,
        recorded=False,
    )
    period: "Period | None" = asked(
        *(Form.TEXT, Panel.LEDGER, "PERIOD"),
        "The time that the counts are of: 2026, 2026-Q1, 2026-07 or 2025-09..2026-08.",
        "2026",
        check=checks.period,
        default=None,
        decides=True,
    )
    corrects: Any = asked(
        *(Form.PATH, Panel.LEDGER, "RELEASE"),
        "Release whose rows these are with labels corrected or columns added: its counts are "
        "written again, unpaid.",
        "release-1",
        check=checks.anything,
        default=None,
        recorded=False,
    )
    sheet: str | None = asked(
        *(Form.TEXT, Panel.FILE, "NAME"),
        "Sheet of an Excel workbook that has several.",
        "Table 1",
        check=checks.text,
        default=None,
        recorded=False,
    )
    last_row: int | None = asked(
        *(Form.WHOLE, Panel.FILE, "ROW"),
        "Last row of the table; totals and notes below are left out.",
        "103",
        check=checks.at_least_1,
        default=None,
        recorded=False,
    )
    leave_out: tuple[int, ...] = asked(
        *(Form.WHOLES, Panel.FILE, "ROW"),
        "Row of the file to leave out, such as that of a total.",
        "54",
        check=checks.file_rows,
        default=(),
        recorded=False,
    )
    thousands: str | None = asked(
        *(Form.TEXT, Panel.FILE, "MARK"),
        "Mark between thousands in a CSV file: a comma, point, apostrophe or space.",
        ",",
        check=checks.column,
        default=None,
        recorded=False,
    )
    decimal: str | None = asked(
        *(Form.TEXT, Panel.FILE, "MARK"),
        "Mark before decimals in a CSV file: a comma or a point.",
        ",",
        check=checks.column,
        default=None,
        recorded=False,
    )
    query: str | None = asked(
        *(Form.TEXT, Panel.FILE, "SQL"),
        "SELECT whose result is the table, for a DuckDB database.",
        "FROM visits",
        check=checks.text,
        default=None,
        recorded=False,
    )
    from_people: bool = asked(
        *(Form.FLAG, Panel.PEOPLE, ""),
        "Rows are persons: count them first.",
        check=checks.flag,
        default=False,
        recorded=False,
    )
    by: tuple[str, ...] = asked(
        *(Form.TEXTS, Panel.PEOPLE, "COLUMN"),
        "Column of categories to count by; several make one category together.",
        "county",
        check=checks.columns,
        default=(),
        recorded=False,
    )
    categories: Any = asked(
        *(Form.PATH, Panel.PEOPLE, "FILE"),
        "File that lists every category there is, those with nobody too.",
        "counties.csv",
        check=checks.anything,
        default=None,
        recorded=False,
    )
    per: str | None = asked(
        *(Form.TEXT, Panel.PEOPLE, "COLUMN"),
        "Column that says whose row it is: each person counts once.",
        "person_id",
        check=checks.column,
        default=None,
        recorded=False,
    )

    @classmethod
    def read(cls, **options: Any) -> "Request":
        """A request from what `holdfast.privatize` is given, checked."""
        for name in options:
            if name not in FIELDS:
                raise TypeError(f"privatize() got an unexpected keyword argument {name!r:.40}")
        values = {
            name: about.check(options.get(name, about.default), name)
            for name, about in FIELDS.items()
        }
        check_together(values)
        request = cls(**values | counted(values))
        persons = request.persons
        return replace(
            request,
            contributions=by_column(persons.columns, persons.contributions),
            weights=weights_by_column(persons),
        )

    @classmethod
    def from_words(cls, words: Mapping[str, Sequence[str]]) -> "Request":
        """The same from words of a command line or a form, by the name of the field.

        >>> Request.from_words({"epsilon": ["1"], "within": ["state", "population:8"]}).within
        Within(parts=('state', Classes(column='population', number=8)))
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
    def part(self) -> dict[str, Any]:
        """Which part of a file is the table, as far as it was said."""
        given = {name: getattr(self, name) for name in PART}
        return {name: value for name, value in given.items() if value not in (None, ())}

    @property
    def table_options(self) -> "TableOptions":
        """What is said of the table, for its reader."""
        from holdfast.tables.options import TableOptions

        names = [each.name for each in fields(TableOptions) if each.name in FIELDS]
        values = {name: getattr(self, name) for name in names}
        apart = self.person_in == ONE_COLUMN
        return TableOptions(**values | {"count": self.count or None, "apart": apart})

    @cached_property
    def persons(self) -> "Persons":
        """What one person may change in the table."""
        from holdfast.privacy.persons import exact_parts, read_persons

        persons = read_persons(
            self.columns,
            person_in=self.person_in,
            weights=self.weights,
            contributions=self.contributions,
            rows=self.rows,
            unit=self.unit,
        )
        exact_parts(persons, self.epsilon)
        return persons

    def promise(self, rows: int | Sequence[int], groups: int) -> "Promise":
        """The promise, with the exact budget of every column of counts.

        Parameters
        ----------
        rows : int or sequence of int
            Rows that are measured, of each column or of all: public.
        groups : int
            Groups of the table: public.
        """
        from holdfast.privacy.promise import Promise

        persons = self.persons
        numbers = [rows] * len(self.columns) if isinstance(rows, int) else rows
        spent = zip(persons.parts(self.epsilon), persons.contributions, numbers, strict=True)
        return Promise(
            epsilon=self.epsilon,
            persons=persons,
            budgets=tuple(self._budget(*column, groups) for column in spent),
            simulated=self.simulated,
        )

    def _budget(self, epsilon: Fraction, contributions: int, rows: int, groups: int) -> "Budget":
        """Totals take their share of epsilon; of the rest sums take theirs, of which those of the
        whole table take theirs; counts have what is left."""
        from holdfast.fit import split
        from holdfast.privacy.budget import Budget, totals_share

        totals = epsilon * totals_share(self.totals)
        rest, share = epsilon - totals, self.split
        if share is None:
            share = split.share_of_sums(rest / (contributions * self.rows), rows, groups)
        of_whole = getattr(split, "share_of_whole", lambda groups: Fraction(0))
        whole = rest * share * of_whole(groups) if groups > 1 else Fraction(0)
        return Budget(
            epsilon=epsilon,
            counts=rest * (1 - share),
            sums=rest * share - whole,
            whole=whole,
            totals=totals,
            contributions=contributions,
            person_rows=self.rows,
        )

    def given(self) -> dict[str, Any]:
        """The arguments of `holdfast.privatize` that make this request, without defaults."""
        made = MADE_BY_COUNTING if self.from_people else ()
        values = {name: plain(getattr(self, name)) for name in FIELDS if name not in made}
        return {
            name: value[0] if isinstance(value, list) and len(value) == 1 else value
            for name, value in values.items()
            if value not in (None, [], False, FIELDS[name].default)
        }

    def to_dict(self) -> dict[str, Any]:
        """What release.json says of a request: plain values."""
        return {name: self._recorded(name) for name, about in FIELDS.items() if about.recorded}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Request":
        """The inverse of `to_dict`: a request that does not say where its table is."""
        return cls.read(**record)

    def words(self) -> dict[str, Any]:
        """What decides the noise, beside the table: by this a ledger knows an equal request."""
        return {name: self._recorded(name) for name, about in FIELDS.items() if about.decides}

    def _recorded(self, name: str) -> Any:
        value = getattr(self, name)
        if FIELDS[name].form is Form.GROUPS:
            return None if value is None else value.to_dict()
        if FIELDS[name].form is Form.ROWS and not isinstance(value, str):
            return None  # a mask, or labels: the rows themselves are marked in the release
        return plain(value)

    def as_python(self, source: str) -> str:
        """This run of a file as a call."""
        return python_call(source, self.given())

    def as_command(self, source: str) -> str:
        """This run of a file as a command."""
        shares = {name for name, about in FIELDS.items() if about.form is Form.SHARE}
        given = self.given()
        yes = {name: "yes" for name in shares if given.get(name) is True}
        return command(source, {name: yes.get(name, value) for name, value in given.items()})


FIELDS: dict[str, Asked] = {
    each.name: replace(
        each.metadata["asked"],
        name=each.name,
        default=None if each.default is MISSING else each.default,
        required=each.default is MISSING,
    )
    for each in fields(Request)
}
"""Everything a run can be asked, in the order in which it is shown."""

PART = ("sheet", "header_row", "last_row", "leave_out", "thousands", "decimal")
"""Fields that say which part of a file is the table."""
