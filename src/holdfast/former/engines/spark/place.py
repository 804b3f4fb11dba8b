"""Where Spark writes to, and what is said when it cannot."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.errors import HoldfastError


@contextmanager
def told_by_spark(what: str, which: str) -> Iterator[None]:
    """What Spark raises may quote cells: it stays in Spark's own log."""
    try:
        yield
    except HoldfastError:
        raise
    except Exception as error:
        raise HoldfastError(
            f"Spark could not {what} {which} ({type(error).__name__}); nothing was released. "
            "Hint: Spark's log says why."
        ) from None


def _is_classic(df: Any) -> bool:
    try:
        from pyspark.sql import DataFrame, SparkSession
    except ImportError:
        raise HoldfastError(
            "a DataFrame of Spark needs pyspark. Hint: pip install 'holdfast[spark]'."
        ) from None
    return isinstance(df, DataFrame) and isinstance(df.sparkSession, SparkSession)


class Place:
    """A new folder of a file system that Spark writes to."""

    def __init__(self, df: Any, path: str) -> None:
        if not _is_classic(df):
            raise HoldfastError(
                "`df` must be a DataFrame of a classic Spark session. Hint: Spark Connect cannot "
                "say where files are; run holdfast on the driver."
            )
        self.session, self.path = df.sparkSession, str(path)
        if self._exists():
            raise HoldfastError(
                f"`{self.path}` exists already; nothing was drawn. Hint: name a new folder."
            )

    @contextmanager
    def partial(self) -> Iterator[str]:
        """The name of a folder beside it, of which nothing is left in the end."""
        name = f"{self.path}.partial-{secrets.token_hex(8)}"
        try:
            yield name
        finally:
            system, folder = self._file_system(name)
            system.delete(folder, True)

    def probe(self) -> None:
        """Raise if no folder can be made there."""
        with self.partial() as name:
            system, folder = self._file_system(name)
            if not system.mkdirs(folder):
                raise HoldfastError(
                    f"`{self.path}` cannot be made; nothing was drawn or spent. Hint: may Spark "
                    "write there?"
                )

    def take(self, partial: str) -> None:
        """Give what was written its name."""
        system, folder = self._file_system(partial)
        if self._exists() or not system.rename(folder, self._file_system(self.path)[1]):
            raise HoldfastError(f"`{self.path}` exists already; nothing was released.")

    def _exists(self) -> bool:
        system, folder = self._file_system(self.path)
        return bool(system.exists(folder))

    def _file_system(self, path: str) -> tuple[Any, Any]:
        folder = self.session._jvm.org.apache.hadoop.fs.Path(path)
        return folder.getFileSystem(self.session._jsc.hadoopConfiguration()), folder
