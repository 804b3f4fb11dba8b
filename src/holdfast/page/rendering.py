"""How templates become pages: where they lie, and how numbers are written in them."""

from fractions import Fraction
from functools import cache
from importlib.resources import files

import jinja2

from holdfast.errors import roughly


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
    made.filters["roughly"] = roughly
    return made


def _plainly(number: Fraction) -> str:
    from holdfast.ledger.entries import plainly

    return plainly(number)
