"""A package imports only what stands above it, and no two modules import each other.

The order is the path of the data. Imports count wherever they stand: at the top of a module, inside
a function, or for the type checker alone.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import holdfast

ORDER = (
    *("arrays", "errors", "privacy", "tables", "measure", "fit", "match", "request", "ledger"),
    *("release", "engine", "verify", "answers", "paper", "plan"),
    *("", "page", "cli", "__main__"),  # "" is holdfast itself, which names what is public
)
EXCEPTIONS = {
    ("release.answering", "answers"): "a release answers questions by methods of its own",
    ("release.release", "release.answering"): "likewise",
    ("release.release", "release.bundle"): "`Release.save`, which is where people look for it",
    ("release.release", "release.picture"): "`Release.plot`, likewise",
    ("release.release", "release.relations"): "`Release.by` and `related`, likewise",
}
Import = tuple[str, str]


def source_root() -> Path:
    return Path(holdfast.__file__).parent


def modules(root: Path) -> dict[str, Path]:
    """Every module under its name within holdfast, which itself is ""."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        found["" if name == "__init__" else name.removesuffix(".__init__")] = path
    return found


def imports(root: Path) -> set[Import]:
    """Who imports whom within holdfast."""
    known = modules(root)
    return {
        (name, target)
        for name, path in known.items()
        for target in _targets(ast.parse(path.read_text(encoding="utf-8")), known)
    }


def _targets(tree: ast.Module, known: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (_inside(alias.name) for alias in node.names if _is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name the whole path"
            if _is_ours(node.module or ""):
                for alias in node.names:
                    module = _inside(f"{node.module}.{alias.name}")
                    yield module if module in known else _inside(node.module or "")


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == "holdfast"


def _inside(name: str) -> str:
    return name.removeprefix("holdfast").removeprefix(".")


def backward(found: set[Import]) -> list[Import]:
    """The imports that go down the list."""
    return sorted((a, b) for a, b in found if _rank(b) > _rank(a))


def _rank(module: str) -> int:
    return ORDER.index(module.split(".")[0])


def cycle(found: set[Import]) -> list[str]:
    """Modules that import each other in a ring; none if there is none."""
    graph: dict[str, set[str]] = {}
    for importer, imported in found:
        graph.setdefault(importer, set()).add(imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def excepted(edge: Import, exceptions: dict[Import, str]) -> list[Import]:
    """The exceptions that allow an import; they may name a whole package."""
    importer, imported = edge
    return [(a, b) for a, b in exceptions if importer == a and (imported + ".").startswith(b + ".")]


@pytest.fixture(scope="module")
def found() -> set[Import]:
    return imports(source_root())


@pytest.fixture(scope="module")
def remaining(found) -> set[Import]:
    return {edge for edge in found if not excepted(edge, EXCEPTIONS)}


def test_every_package_has_its_place_in_the_order():
    assert {name.split(".")[0] for name in modules(source_root())} == set(ORDER)


def test_a_package_imports_only_what_stands_above_it(remaining):
    assert backward(remaining) == []


def test_no_modules_import_each_other(remaining):
    assert cycle(remaining) == []


def test_nothing_stands_on_the_papers_room_but_plan_and_the_command_line(found):
    importers = {a for a, b in found if _in_paper(b) and not _in_paper(a)}
    assert importers == {"", "plan.compare"}  # "" names it, and the command line loads it late
    assert {a.split(".")[0] for a in mentions("holdfast.paper")} == {"", "cli", "paper", "plan"}


def _in_paper(module: str) -> bool:
    return module.split(".")[0] == "paper"


def mentions(name: str) -> set[str]:
    """The modules whose text has a name in code, also as the text of an import at run time."""
    return {
        module
        for module, path in modules(source_root()).items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(name))
        or (isinstance(node, ast.Constant) and str(node.value).startswith(name))
    }


def test_every_exception_is_still_needed(found):
    assert {used for edge in found for used in excepted(edge, EXCEPTIONS)} == set(EXCEPTIONS)


TREE = {
    "__init__.py": "from holdfast.engine import memory\n",
    "errors.py": "",
    "privacy/__init__.py": "",
    "privacy/budget.py": "from holdfast.errors import HoldfastError\n",
    "engine/__init__.py": "",
    "engine/memory.py": "from holdfast.privacy.budget import Budget\nimport numpy\n",
}
PLANTED = {
    "at the top": "from holdfast.engine.memory import privatize\n",
    "by the module's name": "import holdfast.engine.memory\n",
    "as a part of its package": "from holdfast.engine import memory\n",
    "in a function": "def f():\n    from holdfast.engine.memory import privatize\n",
    "for the type checker": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from holdfast.engine.memory import privatize\n"
    ),
}


def plant(root: Path, **files: str) -> set[Import]:
    for name, text in (TREE | files).items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return imports(root)


def test_a_tree_in_order_passes(tmp_path):
    found = plant(tmp_path)
    assert len(found) == 3 and backward(found) == [] and cycle(found) == []


@pytest.mark.parametrize("place", PLANTED)
def test_a_planted_import_that_goes_down_the_list_is_found(tmp_path, place):
    found = plant(tmp_path, **{"privacy/budget.py": PLANTED[place]})
    assert backward(found) == [("privacy.budget", "engine.memory")]


@pytest.mark.parametrize("place", PLANTED)
def test_a_planted_cycle_inside_a_package_is_found(tmp_path, place):
    back = "from holdfast.engine.stages import stages\n"
    found = plant(tmp_path, **{"engine/memory.py": back, "engine/stages.py": PLANTED[place]})
    assert backward(found) == [] and set(cycle(found)) == {"engine.memory", "engine.stages"}
