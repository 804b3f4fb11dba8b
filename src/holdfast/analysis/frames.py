"""Data frame libraries, which are asked for only where somebody wants a frame."""

from typing import Any

from holdfast.errors import HoldfastError


def pandas() -> Any:
    """The module, or an error that says how to have it."""
    try:
        import pandas as found
    except ImportError:
        raise HoldfastError("this needs pandas. Hint: pip install pandas.") from None
    return found


def polars() -> Any:
    """The module, or an error that says how to have it."""
    try:
        import polars as found
    except ImportError:
        raise HoldfastError("this needs polars. Hint: pip install polars.") from None
    return found
