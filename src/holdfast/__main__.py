"""`python -m holdfast` is `holdfast`."""

import gc
import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is loaded is a stop like any other."""
    try:
        from holdfast.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Nothing was measured or spent.\n")
        sys.exit(130)
    try:
        run()  # which says itself what an interrupt has cost
    finally:
        if "duckdb" not in sys.modules:  # which would complain of what was not collected
            gc.freeze()  # the process ends: to look for cycles once more takes a tenth of a command


if __name__ == "__main__":
    main()
