"""The cache of compiled kernels: used where it can be, done without where it cannot."""

import importlib.util

import pytest

from holdfast.compiled import watched

KERNEL = """
from holdfast.compiled import compiled

@compiled()
def double(x):
    return 2 * x
"""


NESTED = """

@compiled()
def four_times(x):
    return double(double(x))
"""


def load(path, name="double"):
    """The module again, as a new process would load it."""
    spec = importlib.util.spec_from_file_location("some_kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "some_kernel.py"
    path.write_text(KERNEL)
    return path


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


def test_a_kernel_is_compiled_once(kernel):
    assert load(kernel)(4) == 8
    again = load(kernel)
    assert again(4) == 8 and hits(again) == 1


def cache_files(kernel):
    files = [*kernel.parent.rglob("*.nbi"), *kernel.parent.rglob("*.nbc")]
    assert len(files) == 2
    return files


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "garbage", "folder"])
@pytest.mark.parametrize("which", [0, 1], ids=["index", "code"])
def test_a_damaged_cache_file_is_not_used_and_is_replaced(kernel, damage, which):
    load(kernel)(4)
    file = cache_files(kernel)[which]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    if damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        changed = {"flip": content, "cut": content[:99], "empty": b"", "garbage": b"\xff" * 500}
        file.write_bytes(changed[damage])
    damaged = load(kernel)
    assert damaged(4) == 8 and hits(damaged) == 0
    if damage != "folder":
        repaired = load(kernel)
        assert repaired(4) == 8 and hits(repaired) == 1


def test_without_a_place_for_a_cache_a_kernel_is_compiled_all_the_same(kernel, monkeypatch):
    (kernel.parent / "__pycache__").write_text("a file where a folder should be")
    for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.setenv(name, "/dev/null")
    assert load(kernel)(4) == 8


def test_a_cache_that_cannot_be_written_to_is_no_fault(kernel):
    double = load(kernel)
    for file in kernel.parent.glob("__pycache__/*"):
        file.unlink()
    (kernel.parent / "__pycache__").rmdir()
    (kernel.parent / "__pycache__").write_text("")
    assert double(4) == 8


def test_who_waits_is_told_of_compiling_and_not_of_what_the_cache_holds(kernel):
    kernel.write_text(KERNEL + NESTED)
    for expected in ([True, False], []):
        told, four_times = [], load(kernel, "four_times")
        with watched(told.append):
            assert four_times(4) == 16
        assert told == expected
    load(kernel, "four_times")(4.0)
    assert told == []
