"""The core never imports what it does not need."""

import subprocess
import sys

import pytest

OPTIONAL = (
    "numba scipy opendp narwhals pandas polars pyarrow duckdb matplotlib pyspark typer rich flint "
    "dp_accounting python_calamine xlsxwriter starlette uvicorn jinja2"
)


def loaded_after(code: str) -> set[str]:
    program = f"{code}\nimport sys\nprint(*{{m.split('.')[0] for m in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split()) & set(OPTIONAL.split())


def test_importing_holdfast_imports_nothing_heavy():
    assert loaded_after("import holdfast") == set()


def test_the_ledger_commands_load_nothing_heavy(tmp_path):
    code = (
        "import sys\nfrom holdfast.former.cli import main\n"
        "def run(*words):\n    sys.argv = ['holdfast', 'ledger', *words]\n"
        "    try:\n        main()\n    except SystemExit as stop:\n        assert not stop.code\n"
        f"run('set-limit', {str(tmp_path / 'b')!r}, 'd', '--epsilon', '1')\n"
        f"run('show', {str(tmp_path / 'b')!r})\nrun('--help')"
    )
    assert loaded_after(code) <= {"typer", "rich"}


def test_a_release_of_an_array_imports_no_frames_no_study_and_of_scipy_only_what_numba_does():
    loaded = loaded_after(
        "import sys, holdfast; holdfast.privatize([1, 0, 2, 5, 3], epsilon=1, max_count=6)\n"
        "late = ('holdfast.studies', 'holdfast.former.engines.spark', 'scipy.optimize', 'scipy.ndimage')\n"
        "assert not [name for name in late if name in sys.modules]"
    )
    assert not loaded & {"pandas", "polars", "pyarrow", "duckdb", "typer"}


def test_functions_win_over_the_packages_of_their_names():
    loaded_after(
        "import holdfast.former.verify.record, holdfast.verify.bundle, holdfast.studies.audit.exact\n"
        "from holdfast.former.verify import table\n"
        "assert all(map(callable, (holdfast.verify, holdfast.audit, holdfast.privatize)))"
    )


def test_the_public_names_are_there():
    import holdfast

    for name in holdfast.__all__:
        assert getattr(holdfast, name) is not None
    assert dir(holdfast) == sorted(holdfast.__all__)
    with pytest.raises(AttributeError, match="no attribute 'privatise'"):
        holdfast.privatise  # noqa: B018
    assert callable(holdfast.privatize) and callable(holdfast.count_by)
