"""Where Arrow gets its memory from while a table streams through it."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_memory() -> Iterator[None]:
    """Batches take the memory that those before them left: Arrow's usual allocator gives it back
    to the system at once, which clears it anew for each batch.

    >>> import pyarrow as pa
    >>> with kept_memory():
    ...     pa.default_memory_pool().backend_name
    'system'
    """
    import pyarrow as pa

    usual = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(usual)
