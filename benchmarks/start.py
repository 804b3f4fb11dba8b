"""Start-up in CPU seconds (user and system) of what people wait for most.

    python benchmarks/start.py [src of another tree] [--max-count 100]

Each line is the median of several processes that do all of a command, and its ratio to
`import numpy` in the same run: a busy machine slows both alike. "Cold" is a fresh copy of the
source, whose modules are compiled on the way. With another tree its commands are measured, and the
words after it are given to its `privatize`.
"""

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

import numpy as np

import holdfast

TIMES = 7
PYTHON = sys.executable
SOURCE = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(holdfast.__file__).parents[1]
MORE = sys.argv[2:]
PAGE = [*("page", "--no-open", "--folder"), "."]


def used(work: Callable[[], object]) -> float:
    """CPU seconds of the processes that some work starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Place:
    """A folder with a table of 3,000 rows and a release of it, and the source that is measured."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.source = folder, folder / "src"
        self.renew()
        counts = np.random.default_rng(0).negative_binomial(0.6, 0.08, 3_000)
        rows = [f"c{row},s{row % 50},{count}" for row, count in enumerate(counts.tolist())]
        (folder / "t.csv").write_text("\n".join(["county,state,homicides", *rows]) + "\n")
        self.run(*self.privatize("release"))

    def renew(self) -> None:
        """The source as it is before it was ever run."""
        shutil.rmtree(self.source, ignore_errors=True)
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(SOURCE, self.source, ignore=ignored)

    def privatize(self, out: str) -> list[str]:
        """The words of a release into a new folder."""
        shutil.rmtree(self.folder / out, ignore_errors=True)
        columns = ["--count", "homicides", "--category", "county", "--keep", "state"]
        return ["privatize", "t.csv", *columns, "--epsilon", "1", "--out", out, *MORE]

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command of holdfast, or other Python."""
        environment = {**os.environ, "PYTHONPATH": str(self.source), "PYTHONUNBUFFERED": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [PYTHON, *(words if words[0] == "-c" else ("-m", "holdfast", *words))]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=self.folder, env=environment, text=True, **streams)

    def run(self, *words: str) -> None:
        """Such a command from its beginning to its end."""
        with self.start(*words) as process:
            process.communicate()
        if process.returncode:
            raise SystemExit(f"this failed: {' '.join(words)}")

    def first_view(self) -> None:
        """The page, from its start until its first view is there."""
        with self.start(*PAGE) as process:
            address = next(
                filter(None, (re.search("http://[^ ]+", line) for line in process.stdout))
            )
            urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(
                address[0].strip()
            )
            process.terminate()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))

        def cold() -> None:
            place.run(*place.privatize("cold"))

        works: dict[str, Callable[[], object]] = {
            "import numpy": lambda: place.run("-c", "import numpy"),
            "--help": lambda: place.run("--help"),
            "privatize, 3,000 rows": lambda: place.run(*place.privatize("warm")),
            "verify": lambda: place.run("verify", "release"),
            "ask": lambda: place.run("ask", "release", "share zero"),
            "the page's first view": place.first_view,
            "privatize, cold": cold,
        }
        peer = 0.0
        for name, work in works.items():
            seconds = []
            for _ in range(TIMES):
                if work is cold:
                    place.renew()
                seconds.append(used(work))
            median = statistics.median(seconds)
            peer = peer or median
            print(
                f"{name:24s} {median:6.2f} CPU s {median / peer:6.1f} of import numpy", flush=True
            )


if __name__ == "__main__":
    main()
