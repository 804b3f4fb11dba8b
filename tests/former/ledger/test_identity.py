"""Which parameters count as the same from one run to the next."""

import functools
import subprocess
import sys
from dataclasses import dataclass
from inspect import isabstract

import numpy as np
import pandas as pd
import pytest
from test_spending import ledger, release, spent  # noqa: F401

import holdfast.former as holdfast
from holdfast.former.constructors import Heuristic, Optimal
from holdfast.former.ledger import identity as identities
from holdfast.former.ledger.identity import identity
from holdfast.former.privatizers import CumulativeIsotonic


@dataclass(frozen=True)
class Maker:
    selector: str

    def build(self, z, *, epsilon):
        return Heuristic(selector=self.selector)(z, epsilon=epsilon)


class Shown:
    def __repr__(self):
        return "Shown()"


def build(z, *, epsilon):
    return Heuristic()(z, epsilon=epsilon)


@functools.wraps(Heuristic.__call__)
def disguised(*args, **options):
    return build(*args, **options)


STAGES = (holdfast.former.constructors.Constructor, holdfast.privatizers.Privatizer)


class Derived(CumulativeIsotonic):
    pass


class Named(Derived):
    ledger_name = "mine, second edition"


ZEROS = np.zeros(5000)
NEVER = {
    "a method": Maker("max").build,
    "a method of ours": Heuristic(selector="max").__call__,
    "a class of one's own": Maker("max"),
    "a function of one's own": build,
    "a function under our name": disguised,
    "a function of ours": holdfast.metrics.wasserstein,
    "a class derived from ours": Derived(),
    "a lambda": lambda z, epsilon: build(z, epsilon=epsilon),
    "a partial": functools.partial(Maker.build, Maker("max")),
    "an object with a text": Shown(),
    "a frame": pd.DataFrame({"a": [1]}),
    "an array of objects": np.array([1, None]),
    "a list of such": [Shown()],
    "a constructor with such": Optimal(error=pd.DataFrame(np.zeros((2, 2)))),
}


@pytest.mark.parametrize("name", NEVER)
def test_what_may_be_something_else_next_time_is_never_the_same(name):
    assert identity(NEVER[name]) != identity(NEVER[name])


PAIRS = [
    (Heuristic(selector="max"), Heuristic(selector="min")),
    (Optimal(error=ZEROS), Optimal(error=np.append(ZEROS[1:], 1.0))),
    (Optimal(error=[ZEROS, ZEROS]), Optimal(error=[ZEROS, ZEROS + (np.arange(5000) == 2500)])),
    (ZEROS, ZEROS.astype(np.float32)),
    (ZEROS, ZEROS.reshape(50, 100)),
    ([1, 2], (1, 2)),
    (["1, 2"], ["1", "2"]),
    (1, True),
    (1, "1"),
    ({"a": 1}, {"a": 2}),
    (holdfast.PrivateQuantile("0.9"), holdfast.PrivateQuantile("0.8")),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_what_differs_is_told_apart_and_what_is_the_same_is_recognised(pair):
    assert identity(pair[0]) != identity(pair[1])
    assert all(identity(part) == identity(part) for part in pair)


def test_ledgers_know_what_has_moved_by_the_name_it_had_before():
    assert identity(holdfast.baselines.Staircase()).startswith("holdfast.baselines.staircase.")
    assert identity(holdfast.PrivateQuantile("0.9")).startswith("holdfast.private_quantile.")


def test_ledgers_know_everything_that_holdfast_offers():
    offered = (holdfast.constructors, holdfast.baselines, holdfast.privatizers)
    kinds = [vars(module)[name] for module in offered for name in module.__all__]
    stages = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, STAGES)]
    assert {kind for kind in stages if not isabstract(kind)} < set(identities._KNOWN_AS)
    assert len(stages) > 15


def test_a_stage_of_ones_own_is_known_by_the_name_that_it_declares(ledger):  # noqa: F811
    assert identity(Named()) == identity(Named()) != identity(Derived())
    assert [release(ledger, privatizer=Named()).repeated for _ in range(2)] == [False, True]


def test_the_text_is_the_same_in_another_process():
    code = "import holdfast\nfrom holdfast.former.ledger.identity import *\nprint(identity(holdfast.{}))"
    for words in ("constructors.Optimal(error=[[0.0, 1.0], [1.0, 0.0]])", "PrivateQuantile('1/3')"):
        run = [sys.executable, "-c", code.format(words)]
        said = subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()
        assert said == identity(eval(words, vars(holdfast)))


def test_two_methods_of_two_objects_are_two_releases(ledger):  # noqa: F811
    made = [release(ledger, constructor=Maker(name).build) for name in ("max", "min")]
    assert not made[1].repeated and spent(ledger) == 1


def test_holdfasts_own_parts_are_recognised(ledger):  # noqa: F811
    for _ in range(2):
        made = release(ledger, privatizer=CumulativeIsotonic(), constructor=Heuristic())
    assert made.repeated
