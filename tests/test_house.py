"""The house stays small enough to know: its entries, and what a call walks through."""

import pytest

from house import HERE, calls, walk

ENTRIES = 20
MOST = {"privatize": (60, 300), "ask": (50, 250), "verify": (40, 300)}
"""Files and functions that a call on a small file may enter."""


def test_the_package_has_few_entries():
    entries = {path.name for path in HERE.iterdir() if path.name != "__pycache__"}
    assert len(entries) <= ENTRIES, sorted(entries)


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    made = calls(tmp_path_factory.mktemp("walks"))
    for name in MOST:
        made[name]()  # what is imported on the way, and made once, does not count
    return {name: set(walk(made[name])) for name in MOST}


@pytest.mark.parametrize("name", MOST)
def test_a_call_on_a_small_file_enters_few_files_and_functions(walks, name):
    files = {file for file, _ in walks[name]}
    most_files, most_functions = MOST[name]
    assert "measure/room.py" in files or name != "privatize"  # the walk sees what it should
    assert 20 < len(files) <= most_files, sorted(files)
    assert 100 < len(walks[name]) <= most_functions
