"""Where Arrow gets its memory from while a table streams through it."""

from collections.abc import Iterator
from contextlib import contextmanager

LARGEST = (1 << 25) - (1 << 16)
"""What glibc keeps grows with what is freed up to 32 MiB; larger blocks go back to the system."""


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
    pa.allocate_buffer(LARGEST)  # and let go of at once: glibc learns from it what size to keep
    try:
        yield
    finally:
        pa.set_memory_pool(usual)
