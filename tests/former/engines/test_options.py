import inspect
from typing import get_type_hints

import pytest

import holdfast.former as holdfast
from holdfast.former.engines.options import (
    Options,
    RepeatableOptions,
    check_options,
    sorted_options,
)


def test_the_options_are_the_parameters_of_privatize() -> None:
    named = set(inspect.signature(holdfast.privatize).parameters) - {"table", "count"}
    assert named == set(get_type_hints(RepeatableOptions))


def test_every_option_is_of_one_sort() -> None:
    sorts = sorted_options(dict.fromkeys(get_type_hints(RepeatableOptions)))
    assert sorted(name for sort in sorts for name in sort) == sorted(
        get_type_hints(RepeatableOptions)
    )


@pytest.mark.parametrize("name", ["seed", "corrects", "kep"])
def test_an_engine_refuses_an_option_that_it_does_not_take(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        check_options({"epsilon": 1, name: None}, Options)


def test_a_stream_refuses_a_misspelled_option(tmp_path) -> None:
    with pytest.raises(TypeError, match="max_cuont"):
        holdfast.privatize_stream("t.csv", tmp_path / "out", epsilon=1, max_cuont=3)
