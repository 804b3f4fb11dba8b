"""Installs a wheel alone into an empty environment and uses it as somebody new would.

`make try-wheel` runs it. Nothing of the checkout is on the path, and the working folder is empty.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

from lowest import __file__ as LOWEST

MOST = 550  # MiB of a plain install
OTHERS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
DATA = "import holdfast, pathlib; print(pathlib.Path(holdfast.__file__).parent / 'plan' / 'data')"
OPTIONS = (
    *("--count", "homicides", "--category", "county", "--keep", "population"),
    *("--epsilon", "1", "--out", "release"),
)


def main() -> None:
    """Reads the options, and does it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("wheel", type=Path)
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--dependencies", choices=("lowest", "highest"), default="highest")
    options.add_argument("--extras", default="parquet,excel,plots,page")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(place, chosen.python, "-m", "venv", "env")
        python = place / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
        install(place, python, chosen, "")
        weigh(place)
        use(place, python)
        install(place, python, chosen, f"[{chosen.extras}]")
        use_extras(place, python)
        open_page(place, python)
    print("The wheel stands on its own.")


def install(place: Path, python: Path, chosen: argparse.Namespace, extras: str) -> None:
    """Installs the wheel with what it needs, the oldest or the newest."""
    words = []
    if chosen.dependencies == "lowest":
        asked = [sys.executable, LOWEST, *chosen.extras.split(",")]
        bounds = subprocess.run(asked, capture_output=True, check=True).stdout
        (place / "lowest.txt").write_bytes(bounds)
        words = ["--constraint", "lowest.txt"]
    what = f"{chosen.wheel.resolve()}{extras}"
    run(place, python, "-m", "pip", "install", "--quiet", *words, what)


def weigh(place: Path) -> None:
    """Prints what a plain install takes, pip aside, and by which packages."""
    packages = Counter[str]()
    for file in place.rglob("site-packages/*/**/*"):
        package = next(p for p in file.parents if p.parent.name == "site-packages").name
        packages[package.removesuffix(".libs")] += 0 if file.is_dir() else file.lstat().st_size
    sizes = {name: size / 2**20 for name, size in packages.items() if name not in OTHERS}
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:5]
    print(f"{sum(sizes.values()):.0f} MiB: " + ", ".join(f"{n} {sizes[n]:.0f}" for n in largest))
    assert sum(sizes.values()) < MOST


def use(place: Path, python: Path) -> None:
    """The first things that people do, which need no extra."""
    hold = (python, "-m", "holdfast")
    run(place, *hold, "--version")
    run(place, *hold, "demo")
    data = run(place, python, "-c", DATA).strip()
    table = Path(data) / "county_homicides_1996.csv"
    assert str(place) in str(table), "the table is not the wheel's own"
    run(place, *hold, "privatize", table, *OPTIONS)
    run(place, *hold, "verify", "release")
    run(place, *hold, "ask", "release", "share zero")
    run(place, *hold, "report", "release")


def use_extras(place: Path, python: Path) -> None:
    """What extras are for."""
    hold = (python, "-m", "holdfast")
    run(place, *hold, "demo", "--picture", "demo.svg")
    run(place, *hold, "report", "release", "--format", "xlsx")
    for file in ("demo.svg", "release/table.csv", "release-report.html", "release-report.xlsx"):
        assert (place / file).stat().st_size, file


def open_page(place: Path, python: Path) -> None:
    """The page in a browser without a screen: it comes, and has what it needs from the wheel."""
    words = [str(python), "-u", "-m", "holdfast", "page", "--demo", "--no-open"]
    print("$ env/bin/python -m holdfast page --demo --no-open", flush=True)
    server = subprocess.Popen(words, cwd=place, env=clean(), text=True, stdout=subprocess.PIPE)
    try:
        said = server.stdout or ()
        address = next(found[0] for line in said if (found := re.search(r"http://\S+", line)))
        browser = build_opener(HTTPCookieProcessor())
        assert "holdfast" in browser.open(address, timeout=60).read().decode("utf-8").lower()
    finally:
        server.terminate()
        server.wait(timeout=30)


def clean() -> dict[str, str]:
    """The environment without what leads Python elsewhere."""
    return {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}


def run(place: Path, *words: object) -> str:
    """What a command prints; it stops everything where it fails."""
    print("$", *(str(word).replace(f"{place}/", "") for word in words), flush=True)
    done = subprocess.run(
        list(map(str, words)), cwd=place, env=clean(), text=True, stdout=subprocess.PIPE, check=True
    )
    return done.stdout


if __name__ == "__main__":
    main()
