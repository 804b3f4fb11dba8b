"""The command and the Python that do what the page does, to copy."""

import shlex
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import one_line
from holdfast.former.page.chosen import Chosen
from holdfast.former.tables.formats import Format, format_of, release_format

OPTIONS = (
    *("count", "category", "keep", "within", "publish_anyway", "order_by", "missing"),
    *("structural_zero", "contributions", "rows", "person_in", "subset", "ledger", "dataset"),
    "period",
)
"""Arguments of `holdfast.privatize` that are options of the command, with a value."""
FLAGS = ("repeated_categories", "totals", "joint")
"""Those without one."""
MADE_BY_COUNTING = {"count", "category", "keep", "repeated_categories"}


class Recipe(NamedTuple):
    """The same thing twice."""

    command: str
    python: str


def of_run(run: Chosen, folder: Path, *, dry: bool = False) -> Recipe:
    """A run as it is chosen so far; what is still open stands in capitals."""
    shown = {name: _shown(name, value, folder) for name, value in run.arguments.items()}
    open_ends = {} if dry else {"epsilon": "EPSILON", "max_count": "MAX_COUNT"}
    source, out = _near(run.source, folder), _near(run.out, folder) if run.out else "release"
    shown = open_ends | shown
    words = ["holdfast", "privatize", source]
    for name, value in run.part.items():
        several = value if isinstance(value, list) else [value]
        words += [word for one in several for word in (_option(name), str(one))]
    words += _options(run, shown, folder)
    words += ["--purpose", run.purpose] if run.purpose and "ledger" in shown else []
    words += ["--dry-run"] if dry else ["--out", out]
    return Recipe(_command(words), _python(run, shown, source, out, folder))


def of_release(folder: str, *words: str, python: str, load: str = "load") -> Recipe:
    """A command about a release, and lines of Python about `release`; `load` reads it."""
    first = f"import holdfast\n\nrelease = holdfast.{load}({folder!r})\n"
    return Recipe(_command(["holdfast", words[0], folder, *words[1:]]), first + python)


def of_plan(options: dict[str, Any]) -> Recipe:
    """The command and the call that plan a budget."""
    words = ["holdfast", "plan"]
    for name, value in options.items():
        if name == "epsilons":
            words += ["--epsilon", ",".join(value)]
        else:
            words += [_option(name), str(value)]
    lines = "".join(f"    {name}={value!r},\n" for name, value in options.items())
    return Recipe(_command(words), f"import holdfast\n\nplan = holdfast.plan(\n{lines})\nplan.rows")


def script(run: Chosen, folder: Path, words: dict[str, str]) -> str:
    """A file that makes such a release again, from the table's name alone; it says first that this
    spends epsilon once more."""
    recipe = of_run(run, folder)
    ledger = [words["ledger"]] if "ledger" in run.arguments else []
    told = [words["makes"], words["spends"], *ledger, words["command"]]
    lines = "\n\n".join(textwrap.fill(part, 88) for part in told)
    return f'"""{lines}\n\n{recipe.command}\n"""\n\n{recipe.python}'


def _options(run: Chosen, shown: dict[str, Any], folder: Path) -> list[str]:
    words = []
    if run.people is not None:
        words += ["--from-people", *(word for by in run.people["by"] for word in ("--by", by))]
        words += ["--categories", _near(run.people["categories"], folder)]
        words += ["--per", run.people["per"]] if "per" in run.people else []
        shown = {name: value for name, value in shown.items() if name not in MADE_BY_COUNTING}
    elif "keep" not in shown:
        words.append("--keep-none")
    words += _top(shown.get("max_count"), run.several)
    words += ["--epsilon", str(shown["epsilon"])] if "epsilon" in shown else []
    for name, value in shown.items():
        if name in FLAGS:
            words.append(_option(name))
        elif name in OPTIONS:
            values = value if isinstance(value, list) else [value]
            words += [word for one in values for word in (_option(name), _word(name, one))]
    return words


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _word(name: str, value: Any) -> str:
    if name == "subset":
        return "=".join(*value.items())
    if isinstance(value, dict):
        return f"{value['column']}:{value['number'] or 'auto'}"
    return str(value)


def _top(value: Any, several: list[str]) -> list[str]:
    if value is None:
        return []
    if isinstance(value, list):
        pairs = zip(several, value, strict=False)  # too many or too few are refused elsewhere
        return [word for pair in pairs for word in ("--max-count", "{}={}".format(*pair))]
    if not isinstance(value, dict):
        return ["--max-count", str(value)]
    part = [] if value["epsilon"] is None else ["--quantile-epsilon", value["epsilon"]]
    return ["--max-count", f"quantile:{value['q']}", *part]


def _python(run: Chosen, shown: dict[str, Any], source: str, out: str, folder: Path) -> str:
    lines, table = ["import holdfast", ""], repr(source)
    if run.part:
        part = ", ".join(f"{name}={value!r}" for name, value in run.part.items())
        kind = "excel" if format_of(run.source) is Format.EXCEL else "csv"
        table = f"holdfast.read_{kind}({table}, {part})"
    if run.people is not None:
        near = run.people | {"categories": _near(run.people["categories"], folder)}
        counted = ", ".join(f"{name}={value!r}" for name, value in near.items())
        lines.append(f"table = holdfast.count_by({table}, {counted})")
        table = "table"
    values = {name: _value(value) for name, value in shown.items() if name != "subset"}
    values |= {"subset": repr(shown["subset"])} if "subset" in shown else {}
    if run.purpose and "ledger" in values:
        told = f"telling(purpose={run.purpose!r})"
        values["ledger"] = f"holdfast.Ledger({values['ledger']}).{told}"
    given = "".join(f"    {name}={value},\n" for name, value in values.items())
    if run.streamed:
        lines.append(f"release = holdfast.privatize_stream(\n    {table},\n    {out!r},\n{given})")
    else:
        kind = ', table_format="parquet"' if table_format(run) == "parquet" else ""
        lines.append(f"release = holdfast.privatize(\n    {table},\n{given})")
        lines.append(f"release.save({out!r}{kind})")
    return "\n".join(lines) + "\n"


def table_format(run: Chosen) -> str:
    """The format in which the table of a release is written: that of the file."""
    return release_format(run.source) if run.people is None else "csv"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict) and "column" in value:
        number = "" if value["number"] is None else f", {value['number']}"
        return f"holdfast.classes({value['column']!r}{number})"
    if isinstance(value, dict):
        part = "" if value["epsilon"] is None else f", epsilon={value['epsilon']!r}"
        return f"holdfast.PrivateQuantile({value['q']!r}{part})"
    return value if value in ("EPSILON", "MAX_COUNT") else repr(value)


def _shown(name: str, value: Any, folder: Path) -> Any:
    return _near(value, folder) if name == "ledger" else value


def _near(path: str, folder: Path) -> str:
    """A path as seen from the folder; of a dropped file its name."""
    full = Path(path)
    return full.relative_to(folder).as_posix() if full.is_relative_to(folder) else full.name


def _command(words: list[str]) -> str:
    return one_line(shlex.join(words))
