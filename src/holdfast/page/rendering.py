"""How templates become pages: where they lie, and how numbers are written in them."""

from fractions import Fraction
from functools import cache
from importlib.resources import files

import jinja2


@cache
def environment() -> jinja2.Environment:
    """The templates and their filters."""
    folder = str(files("holdfast.page") / "templates")
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["plainly"] = _plainly
    made.filters["roughly"] = _roughly
    return made


def _plainly(number: Fraction) -> str:
    from holdfast.ledger.entries import plainly

    return plainly(number)


def _roughly(number: float) -> str:
    """A number to two digits, without an exponent.

    >>> _roughly(0.0123), _roughly(1.26), _roughly(123.4)
    ('0.012', '1.3', '120')
    """
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10 else f"{rounded:g}"
