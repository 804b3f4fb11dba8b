"""Prints the lower bounds of pyproject.toml as constraints for pip: `numpy==2.2` and so on."""

import re
import tomllib
from pathlib import Path

BOUND = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")


def lowest(project: dict) -> list[str]:
    """The bounds of all dependencies, those of the extras among them."""
    extras = project["optional-dependencies"].values()
    listed = [*project["dependencies"], *(word for extra in extras for word in extra)]
    return sorted({f"{name}=={bound}" for name, bound in BOUND.findall("\n".join(listed))})


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    print(*lowest(tomllib.loads(text)["project"]), sep="\n")
