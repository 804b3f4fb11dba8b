"""What can go wrong, and how numbers and names are put into words.

Messages name the parameter, the column, the row; never a count. Names and text of others are
written so that they do nothing but be read.
"""

import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, Context, Decimal
from enum import StrEnum
from fractions import Fraction
from math import isfinite
from typing import Any


class HoldfastError(ValueError):
    """Something given to holdfast cannot be used. The message says what, and what to do."""


class CertificateError(HoldfastError):
    """A mechanism failed the exact check of its privacy claim; it cannot be sampled."""


class Spent(StrEnum):
    """Whether a ledger has counted a run that ended without a release."""

    YES = "yes"
    MAYBE = "maybe"
    """It was stopped while it paid."""
    UNCOUNTED = "uncounted"
    """It may have measured, and no ledger counts it."""
    NO = "no"

    @property
    def in_words(self) -> str:
        """What to tell a steward."""
        return {
            Spent.YES: "The ledger has counted this run: something may have been measured.",
            Spent.MAYBE: "The ledger may have counted this run: its history tells.",
            Spent.UNCOUNTED: "Something may have been measured: count its epsilon as spent.",
            Spent.NO: "Nothing was measured or spent.",
        }[self]


def mark_spent(error: BaseException, spent: Spent) -> None:
    """Let an error say whether the run that it ended was counted, on a traceback too."""
    vars(error)["spent"] = spent
    error.add_note(spent.in_words)


@contextmanager
def spending(spent: Spent) -> Iterator[None]:
    """Let whatever ends what is done here say that this was spent."""
    try:
        yield
    except BaseException as error:
        mark_spent(error, spent)
        raise


def spent_by(error: BaseException) -> Spent:
    """Whether the run that an error ended was counted.

    >>> error = KeyboardInterrupt()
    >>> mark_spent(error, Spent.MAYBE)
    >>> spent_by(error).name, spent_by(KeyboardInterrupt()).name
    ('MAYBE', 'NO')
    """
    return Spent(vars(error).get("spent", Spent.NO))


class BudgetError(HoldfastError):
    """A dataset's ledger cannot afford a release; nothing was measured."""


class LeakError(HoldfastError):
    """What would be published beside the counts gives them away; for the steward alone."""

    def __init__(self, message: str, names: tuple[str, ...] = ()) -> None:
        """`names` is what to name in `publish_anyway` to publish it all the same."""
        super().__init__(message)
        self.names = names


@contextmanager
def needed(words: str, extra: str) -> Iterator[None]:
    """Let an import that fails say who needs the library, and which extra of holdfast brings it.

    >>> with needed("Maps need cartography", "maps"):
    ...     import cartography
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: Maps need cartography. Hint: pip install "holdfast[maps]".
    """
    try:
        yield
    except ImportError:
        raise HoldfastError(f'{words}. Hint: pip install "holdfast[{extra}]".') from None


def whole_number(
    value: Any, name: str, *, least: int = 0, most: int | None = None, hint: str = ""
) -> int:
    """A parameter that must be a whole number, as an int.

    >>> whole_number(50, "max_count", least=1)
    50
    >>> whole_number(0.5, "rows", least=1, most=9)
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: `rows` must be a whole number from 1 to 9, got 0.5.
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        span = f"of {least:,} or more" if most is None else f"from {least:,} to {most:,}"
        advice = f" Hint: {hint}" if hint else ""
        raise HoldfastError(f"`{name}` must be a whole number {span}, got {value!r:.40}.{advice}")
    return number


def numbered(number: int, noun: str, plural: str | None = None) -> str:
    """A number of things, in the plural where it must be, which adds an s unless it is given.

    >>> numbered(1, "row"), numbered(1200, "row"), numbered(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def roughly(number: float, digits: int = 2) -> str:
    """A number to so many digits, as people write it: no exponent, marks between thousands.

    >>> roughly(0.0123), roughly(1.26), roughly(123.4), roughly(48_312, 3), roughly(0.00002)
    ('0.012', '1.3', '120', '48,300', '0.00002')
    """
    short = f"{number:.{digits}g}"
    return f"{Decimal(short):,f}" if isfinite(number) else short


def listed_names(names: Any, shown: int = 8) -> str:
    """Names of others, quoted, in one line.

    >>> listed_names(["a", "b"]), listed_names("abc", shown=2)
    ("'a', 'b'", "'a', 'b', …")
    """
    quoted = [repr(one_line(str(name))[:60]) for name in names]
    return ", ".join([*quoted[:shown], *["…"][: len(quoted) > shown]])


def one_line(text: str) -> str:
    """Text of others on one line, without control characters.

    >>> one_line("a\\x1b[2J  b\\nc")
    'a [2J b c'
    """
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def aligned(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under their headings: the first column to the left, all others to the right.

    >>> print(aligned(("epsilon", "zeros"), [("1", "0.4 points"), ("0.5", "1.1 points")]))
    epsilon       zeros
    1        0.4 points
    0.5      1.1 points
    """
    lines = [headings, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def decimal_above(number: Fraction, digits: int = 12) -> str:
    """The number in decimals, rounded up where it has no short ones: never less than was spent.

    >>> decimal_above(Fraction(7, 10)), decimal_above(Fraction(1, 3), 3)
    ('0.7', '0.334')
    """
    context = Context(prec=digits, rounding=ROUND_CEILING)
    return f"{context.divide(Decimal(number.numerator), Decimal(number.denominator)):f}"


def decimal_or_fraction(number: Fraction | int | str) -> str:
    """An exact number in decimals where they end, else as a fraction.

    >>> decimal_or_fraction("937/2000"), decimal_or_fraction(Fraction(1, 3))
    ('0.4685', '1/3')
    """
    exact = Fraction(number)
    decimals = decimal_above(exact)
    return decimals if Fraction(decimals) == exact else str(exact)


def plainly(number: Fraction | int) -> str:
    """A fraction as people write it, exactly where that is short.

    >>> plainly(Fraction(3, 2)), plainly(Fraction(1, 3)), plainly(Fraction(1, 10**6))
    ('1.5', '1/3 (0.333333)', '0.000001')
    """
    text = decimal_or_fraction(number)
    if "/" not in text:
        return text
    return f"{text} ({float(number):.6g})" if len(text) < 20 else f"{float(number):.9g}"
