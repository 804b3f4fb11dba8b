"""What every result of a question can do."""

from html import escape
from typing import Any


class Result:
    """Something to print, to show in a notebook, and to take on as columns."""

    def columns(self) -> dict[str, list[Any]]:
        """As columns of a table."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """As a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.columns())

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
