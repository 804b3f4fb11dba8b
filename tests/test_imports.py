"""The core never imports what it does not need."""

import subprocess
import sys

import pytest

OPTIONAL = (
    "numba scipy opendp narwhals pandas polars pyarrow duckdb matplotlib pyspark typer rich flint "
    "python_calamine xlsxwriter starlette uvicorn jinja2"
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
        "import sys\nfrom holdfast.cli import main\n"
        "def run(*words):\n    sys.argv = ['holdfast', 'ledger', *words]\n"
        "    try:\n        main()\n    except SystemExit as stop:\n        assert not stop.code\n"
        f"run('set-limit', {str(tmp_path / 'b')!r}, '--dataset', 'd', '--epsilon', '1')\n"
        f"run('show', {str(tmp_path / 'b')!r})\nrun('--help')"
    )
    assert loaded_after(code) <= {"typer", "rich"}


def test_a_release_of_an_array_imports_no_frames_no_study_and_no_kernels():
    loaded = loaded_after(
        "import sys, holdfast; holdfast.privatize([1, 0, 2, 5, 3], epsilon=1).counts\n"
        "late = ('holdfast.plan', 'holdfast.paper', 'holdfast.cli', 'scipy.optimize')\n"
        "assert not [name for name in late if name in sys.modules]"
    )
    assert not loaded & {"pandas", "polars", "pyarrow", "duckdb", "typer", "numba"}


def test_numba_is_not_on_the_path_of_a_release_its_verification_and_its_answers(tmp_path):
    (tmp_path / "t.csv").write_text("place,n\n" + "".join(f"p{k},{k * k % 7}\n" for k in range(90)))
    loaded = loaded_after(
        f"import os, holdfast; os.chdir({str(tmp_path)!r})\n"
        "holdfast.privatize('t.csv', count='n', category='place', epsilon=1, out='r')\n"
        "assert holdfast.verify('r') and holdfast.load('r').ask('share', equal=0)"
    )
    assert not loaded & {"pandas", "polars", "pyarrow", "duckdb", "typer", "numba", "scipy"}


def test_functions_win_over_the_packages_of_their_names():
    loaded_after(
        "import holdfast.verify.record, holdfast.plan.simulation, holdfast.plan.plan\n"
        "from holdfast.plan import before\n"
        "assert all(map(callable, (holdfast.verify, holdfast.plan, holdfast.privatize)))"
    )


def test_the_public_names_are_there():
    import holdfast

    for name in holdfast.__all__:
        assert getattr(holdfast, name) is not None
    assert dir(holdfast) == sorted(holdfast.__all__)
    assert holdfast.__version__[0].isdigit()
    with pytest.raises(AttributeError, match="no attribute 'privatise'"):
        holdfast.privatise  # noqa: B018
    assert callable(holdfast.privatize) and callable(holdfast.count_by)


def test_privatize_shows_every_field_of_a_request():
    import inspect

    import holdfast
    from holdfast.request import FIELDS

    assert list(inspect.signature(holdfast.privatize).parameters) == ["table", *FIELDS]
    for name, about in FIELDS.items():
        assert f"\n    {name} (" in holdfast.privatize.__doc__
        assert " ".join(about.help.split()) in " ".join(holdfast.privatize.__doc__.split())
