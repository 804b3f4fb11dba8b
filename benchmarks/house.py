"""The size of the source, and how much of it a call walks through.

    python benchmarks/house.py [folder of another tree's src/holdfast]

Prints lines and files of every package, lengths of functions and files, names bound most often,
class names that stand twice, definitions without a docstring where they need one, and the traced
walk: which functions and files of this tree are entered by `privatize` on a small file, by `ask`
and by `verify`. Modules are imported beforehand, and do not count.
"""

import ast
import pkgutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import holdfast

HERE = Path(holdfast.__file__).parent
LONG_FUNCTION, LONG_FILE, COMMONEST = 40, 320, 20
TABLE = ["county,state,homicides"] + [
    f"c{row},{'NY' if row % 3 else 'NE'},{row * 7 % 5}" for row in range(60)
]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def lines(path: Path) -> int:
    """Lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def sizes(root: Path) -> None:
    """Print lines and files by package, and the sums that are bounded."""
    table = dict[str, tuple[int, int]]()
    for path in root.rglob("*.py"):
        place = path.relative_to(root).parts
        name = place[0] if len(place) > 1 else "(top)"
        total, files = table.get(name, (0, 0))
        table[name] = (total + lines(path), files + 1)
    for name, (total, files) in sorted(table.items()):
        print(f"{name:12}{total:8,}{files:6}")
    print(f"{'all':12}{sum(t for t, _ in table.values()):8,}{sum(f for _, f in table.values()):6}")
    rest = [size for name, size in table.items() if name != "paper"]
    print(f"{'not paper':12}{sum(t for t, _ in rest):8,}{sum(f for _, f in rest):6}")


def definitions(root: Path) -> Iterator[tuple[Path, Definition]]:
    """Every class and function with the file where it stands."""
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Definition):
                yield path.relative_to(root), node


def lengths(root: Path) -> None:
    """Print how long functions and files are, and which are longer than the house wants."""
    functions = [
        (node.end_lineno - node.lineno + 1, path, node.name)  # type: ignore[operator]
        for path, node in definitions(root)
        if not isinstance(node, ast.ClassDef)
    ]
    long = sorted(each for each in functions if each[0] > LONG_FUNCTION)
    mean = sum(length for length, *_ in functions) / len(functions)
    print(f"\n{len(functions):,} functions, {mean:.1f} lines on average;", end=" ")
    print(f"{len(long)} longer than {LONG_FUNCTION}:")
    for length, path, name in long:
        print(f"  {length:4} {path} {name}")
    files = [(lines(path), path.relative_to(root)) for path in root.rglob("*.py")]
    print(f"files longer than {LONG_FILE} lines:")
    for length, path in sorted(each for each in files if each[0] > LONG_FILE):
        print(f"  {length:4} {path}")


def names(root: Path) -> None:
    """Print the names of variables and parameters that are bound most often, and twins."""
    bound = Counter[str]()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound[node.id] += 1
            elif isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
                bound[node.arg] += 1
    print(f"\nbound most often of {len(bound):,} names:")
    print("  " + ", ".join(f"{name} {times}" for name, times in bound.most_common(COMMONEST)))
    classes = Counter(n.name for _, n in definitions(root) if isinstance(n, ast.ClassDef))
    twins = sorted(name for name, times in classes.items() if times > 1)
    print(f"{len(classes)} classes; names that stand twice: {', '.join(twins) or 'none'}")


def undocumented(root: Path) -> None:
    """Print public definitions without a docstring."""
    bare = [
        f"{path}:{node.lineno} {node.name}"
        for path, node in definitions(root)
        if not node.name.startswith("_") and ast.get_docstring(node) is None
    ]
    print(f"public definitions without a docstring: {len(bare)}")
    print("".join(f"  {line}\n" for line in bare), end="")


def walk(call: Callable[[], object]) -> list[tuple[str, str]]:
    """File and name of every function of holdfast that a call enters, in their order."""
    entered = list[tuple[str, str]]()

    def note(frame, event, argument) -> None:  # type: ignore[no-untyped-def]
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HERE)):
            name = code.co_qualname.split(".<locals>.<")[0].split(".<lambda>")[0]
            entered.append((code.co_filename.removeprefix(f"{HERE}/"), name))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def calls(folder: Path) -> dict[str, Callable[[], object]]:
    """The calls that most users make, of a small file that is written to an empty folder."""
    table = folder / "homicides.csv"
    table.write_text("\n".join(TABLE) + "\n")
    columns = {"count": "homicides", "category": "county"}
    release = holdfast.privatize(table, epsilon="1.0", **columns)
    release.save(folder / "release")
    return {
        "privatize": lambda: holdfast.privatize(table, epsilon="1.0", **columns),
        "save": lambda: release.save(Path(tempfile.mkdtemp(dir=folder)) / "release"),
        "load": lambda: holdfast.load(folder / "release"),
        "ask": lambda: holdfast.load(folder / "release").ask("share", equal=0),
        "verify": lambda: holdfast.verify(folder / "release"),
    }


def walks(list_all: bool) -> None:
    """Print the walk of each call, once its modules are imported."""
    for module in pkgutil.walk_packages([str(HERE)], "holdfast."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    every = calls(Path(tempfile.mkdtemp()))
    print(f"\n{'walk':12}{'files':>8}{'functions':>11}{'calls':>9}{'changes of package':>20}")
    for name, call in every.items():
        call()
        entered = walk(call)
        packages = [file.split("/")[0] for file, _ in entered]
        changes = sum(a != b for a, b in pairwise(packages))
        files = len({file for file, _ in entered})
        print(f"{name:12}{files:8}{len(set(entered)):11}{len(entered):9,}{changes:20,}")
        if list_all:
            for file in sorted({file for file, _ in entered}):
                inside = sorted({function for at, function in entered if at == file})
                print(f"    {file}: {', '.join(inside)}")


if __name__ == "__main__":
    others = [Path(argument) for argument in sys.argv[1:] if argument != "--walk"]
    root = others[0] if others else HERE
    for report in (sizes, lengths, names, undocumented):
        report(root)
    if not others:
        walks("--walk" in sys.argv)
