"""Work in a process of its own that may be killed, without the seconds that a fresh one takes."""

import os
import warnings


def end_of(work):
    """The exit code of a fork that does this: minus the signal, where one ended it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
