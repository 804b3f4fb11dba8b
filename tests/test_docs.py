"""The documentation is a book: every page has its place in it, and its links lead somewhere."""

import inspect
import pkgutil
import re
from itertools import pairwise
from pathlib import Path

import pytest

import holdfast

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}


def test_every_page_has_one_place_in_the_book():
    listed = [
        name
        for toc in re.findall(r"```\{toctree\}\n(.*?)```", PAGES["index"], re.DOTALL)
        for name in toc.splitlines()
        if name and not name.startswith(":")
    ]
    assert sorted(listed) == sorted(set(PAGES) - {"index"})


def test_every_door_and_every_question_is_on_the_first_pages():
    for door in ("steward", "analyst", "researcher"):
        assert f"]({door}.md)" in PAGES["index"]


ENTRIES = re.findall(r"\{api\} (\S+)", PAGES["api"])
TYPE = re.compile(r"\b[A-Z]\w+")


def named(entry):
    return entry.rpartition(":")[2].rpartition(".")[2]


def methods(cls):
    """Public methods and properties that a class has of its own or of a holdfast class above it."""
    for base in cls.__mro__:
        if base.__module__.startswith("holdfast"):
            for name, member in vars(base).items():
                found = getattr(member, "fget", None) or getattr(member, "func", None) or member
                if not name.startswith("_") and inspect.isfunction(found):
                    yield found


def sections(function):
    """The sections that a docstring must have, and the names that it must say."""
    signature = inspect.signature(function)
    names = [name for name in signature.parameters if name not in ("self", "table")]
    wanted = ["Raises", ">>>"] + ["Parameters"] * bool(names)
    return wanted + ["Returns"] * (signature.return_annotation is not None), names


def test_every_public_name_is_in_the_reference():
    for module in (holdfast, holdfast.paper.privatizers, holdfast.paper.constructors):
        missing = set(module.__all__) - {"paper"} - set(map(named, ENTRIES))
        assert not missing, module


def test_every_type_that_a_public_call_returns_is_in_the_reference():
    released = set()
    for function in (
        *(getattr(holdfast, name) for name in ("plan", "compare", "explain", "load", "verify")),
        *(holdfast.paper.privatize, holdfast.paper.load, holdfast.paper.verify),
        *methods(holdfast.Release),
    ):
        said = inspect.signature(function).return_annotation
        said = said if isinstance(said, str) else getattr(said, "__name__", str(said))
        released |= set(TYPE.findall(said))
    known = {"Any", "Callable", "Iterator", "Path", "None"}
    known |= {"RowBatch", "Groups"}  # batches of a long table; a dictionary of groups
    assert not released - known - set(map(named, ENTRIES))
    assert {"Answer", "RowChanges", "Regression", "Plan", "Verification"} <= released


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_has_what_a_reader_looks_for(entry):
    """A function all its sections and an example that runs; a type that calls return an example."""
    found = pkgutil.resolve_name(entry)
    text = found.__doc__ or ""
    if inspect.isclass(found):
        abstract = ("Error", "Privatizer", "Constructor", "Construction", "Representation")
        assert ">>>" in text or entry.endswith(abstract) or entry.endswith("Certificate")
        return
    wanted, names = sections(found)
    if "Nothing is raised" in text:
        wanted.remove("Raises")
    assert not [section for section in wanted if section not in text]
    missing = [name for name in names if not re.search(rf"(^|[ ,*]){name}\b", text, re.MULTILINE)]
    assert not missing


@pytest.mark.parametrize("cls", [holdfast.Release, holdfast.Ledger])
def test_methods_say_what_each_of_their_parameters_is(cls):
    inner = {"record", "prints", "paid_for", "folder"}  # what the engine asks of a ledger
    for method in methods(cls):
        names = sections(method)[1]
        if names and method.__name__ not in inner:
            part = (method.__doc__ or "").partition("Parameters")[2]
            missing = [name for name in names if not re.search(rf"\b{name}\b", part)]
            assert not missing, method.__qualname__


def test_links_between_pages_lead_to_pages():
    for name, text in PAGES.items():
        for link in re.findall(r"\]\(([a-z0-9_-]+\.(?:md|svg))", text):
            assert (DOCS / link).exists(), f"{name}: {link}"


def test_links_are_called_by_what_they_lead_to_and_not_by_a_file():
    for name, text in PAGES.items():
        assert not re.findall(r"\[[\w-]+\.md\]\(", text), name


def test_no_line_of_a_paragraph_is_taken_for_a_list():
    start = re.compile(r"(?:[-+*]|[0-9]+[.)]) ")
    for name, text in PAGES.items():
        lines = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).splitlines()
        for before, line in pairwise(lines):
            inside = before.strip() and not start.match(before.strip()) and before[:1] != " "
            if start.match(line) and inside:
                assert before.rstrip().endswith(":"), f"{name}: {before} / {line}"
