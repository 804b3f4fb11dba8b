"""Matrix products on one thread."""

from threadpoolctl import threadpool_limits


def one_thread() -> threadpool_limits:
    """A context in which BLAS keeps to one thread, so that results do not depend on their number.

    Threads share sums out differently, which changes last digits. They also wait for each
    other on a busy machine, many times the work itself.
    """
    import scipy.linalg  # noqa: F401  a BLAS of its own, which must be loaded to be limited

    return threadpool_limits(limits=1, user_api="blas")
