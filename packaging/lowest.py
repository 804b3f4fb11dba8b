"""Prints lower bounds of pyproject.toml as constraints for pip: `numpy==2.2` and so on.

`python packaging/lowest.py page excel` prints those of the dependencies and of two extras.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

BOUND = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")
OWN = re.compile(r"holdfast\[([a-z,]+)\]")


def lowest(project: dict, extras: list[str]) -> list[str]:
    """The bounds of the dependencies and of some extras; of two for one package, the higher."""
    bounds: dict[str, str] = {}
    for word in [*project["dependencies"], *_listed(project, extras)]:
        name, bound = BOUND.fullmatch(word).groups()
        bounds[name] = max(bound, bounds.get(name, bound), key=_version)
    return sorted(f"{name}=={bound}" for name, bound in bounds.items())


def _listed(project: dict, extras: list[str]) -> Iterator[str]:
    for word in (word for extra in extras for word in project["optional-dependencies"][extra]):
        own = OWN.fullmatch(word)
        yield from _listed(project, own[1].split(",")) if own else [word]


def _version(bound: str) -> tuple[int, ...]:
    return tuple(map(int, bound.split(".")))


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    print(*lowest(tomllib.loads(text)["project"], sys.argv[1:]), sep="\n")
