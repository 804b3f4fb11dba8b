"""How templates become pages: where they lie, and how numbers are written in them."""

import re
from functools import cache
from importlib.resources import files

import jinja2

from holdfast.ledger.entries import plainly


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
    made.filters["plainly"] = plainly
    made.tests["number_like"] = _is_number_like
    return made


def _is_number_like(cell: str) -> bool:
    """Whether a cell stands on the right of its column: a number, or an interval.

    >>> _is_number_like("-1,204.5%"), _is_number_like("3 to 5"), _is_number_like("NE 3")
    (True, True, False)
    """
    return bool(re.fullmatch(r"[-−∞\d.,%]+( to [-−∞\d.,%]+)?|exactly", cell))
