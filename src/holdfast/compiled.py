"""Compiled kernels, and the cache that saves their compilation: used where it can be, never needed.

numba's own cache fails where there is no place to write, reads a damaged file as it is, and would
run damaged machine code. Here every file begins with the sum of its content; what does not fit, or
cannot be read or written, is done without: then the kernel is compiled in this process.
"""

import hashlib
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

SUM = hashlib.sha256().digest_size


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with a cache that never fails; the options are numba's.

    >>> @compiled(nogil=True)
    ... def add(a, b):
    ...     return a + b
    >>> add(1, 2)
    3
    """

    def compile_it(function: Callable[..., Any]) -> Any:
        kernel = njit(**options)(function)
        with suppress(Exception):  # there is no place for a cache
            kernel._cache = _Cache(function)
        return kernel

    return compile_it


@contextmanager
def watched(tell: Callable[[bool], None]) -> Iterator[None]:
    """While this lasts, `tell` hears when kernels begin to be compiled, and when that is done.

    It hears nothing of those that the cache holds.
    """
    with event.install_listener("numba:compile", _Listener(tell)):
        yield


class _Listener(event.Listener):  # type: ignore[misc]
    def __init__(self, tell: Callable[[bool], None]) -> None:
        self._tell, self._depth = tell, 0  # a kernel is compiled while one that calls it is

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._tell(True)

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if not self._depth:
            self._tell(False)


class _Cache(FunctionCache):  # type: ignore[misc]
    """The cache of one kernel; whatever goes wrong with it, the kernel is compiled instead."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        whole: Any = vars(self)["_cache_file"]
        self._cache_file = _Files(
            cache_path=self._cache_path,
            filename_base=f"holdfast.{self._impl.filename_base}",
            source_stamp=(whole._version, whole._source_stamp),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled before, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if that can be."""
        with suppress(Exception):
            super().save_overload(sig, data)


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The files of a cache, each behind the sum of its content."""

    def _load_index(self) -> Any:
        found = self._read(self._index_path)
        return found[1] if found is not None and found[0] == self._source_stamp else {}

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError:
            return None
        if hashlib.sha256(content[SUM:]).digest() != content[:SUM]:
            return None
        return pickle.loads(content[SUM:])

    def _write(self, path: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)
