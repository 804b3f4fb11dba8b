"""Forgeries whose sums are repaired: what people read must say what was certified."""

import shutil
from fractions import Fraction

import pytest

import holdfast.former as holdfast
from bundles import forge, make, read_record, replace_text

NEIGHBOURS_OF_SCHEMA_2 = (
    "Two tables are neighbours when one person is added to or removed from one of them: "
    "one row changes, by at most `contributions`. The number of rows, max_count, the "
    "structural zeros and all columns but the counts are public and published unchanged."
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    gaussian = holdfast.baselines.DiscreteGaussian(delta="1e-3")
    make().save(folder / "pure")
    make(constructor=gaussian, contributions=2).save(folder / "delta")
    quantile = holdfast.PrivateQuantile("0.9", epsilon="1/8", highest=20)
    make(max_count=quantile).save(folder / "bound")
    return folder


FORGERIES = {}


def forgery(kind, words):
    def shelve(function):
        FORGERIES[function.__name__.replace("_", " ").strip()] = (kind, function, words)
        return function

    return shelve


def text(name, kind, file, old, new, words):
    FORGERIES[name] = (kind, lambda bundle: replace_text(bundle, file, old, new), words)


def record(name, kind, words, **changes):
    FORGERIES[name] = (kind, lambda bundle: forge(bundle, **changes), words)


record(
    "a promise with a smaller delta", "delta", "promise does not say",
    privacy={"promise": "epsilon = 0.7 with delta = 1e-300"},
)  # fmt: skip
record("a worst ratio with a delta", "delta", "no worst ratio", certificate={"worst_ratio": "1/1"})
record("an output with a delta", "delta", "no worst ratio", certificate={"output": 1})
record("inputs with a delta", "delta", "no worst ratio", certificate={"inputs": [0, 1]})
record("no randomness", "pure", "randomness contradict", privacy={"randomness": "a seedling"})


@forgery("delta", "certified_epsilon must be its epsilon")
def a_certificate_of_nothing(bundle):
    privacy = read_record(bundle)["privacy"]
    rest = Fraction(privacy["bound_certified"]) + Fraction(privacy["stage_1_certified"])
    stage_2 = {"stage_2_certified": "0", "certified_epsilon_decimal": f"{float(rest):.12g}"}
    forge(bundle, certificate={"certified_epsilon": "0"}, privacy=stage_2)


@forgery("pure", "neighbours is not the relation")
def more_neighbours(bundle):
    said = read_record(bundle)["privacy"]["neighbours"]
    forge(bundle, privacy={"neighbours": said + " Groups of 100 people are protected likewise."})


@forgery("pure", "neighbours is not the relation")
def neighbours_as_an_older_schema_had_them(bundle):
    forge(bundle, privacy={"neighbours": NEIGHBOURS_OF_SCHEMA_2})


@forgery("bound", "neighbours is not the relation")
def neighbours_without_the_bound(bundle):
    said = read_record(bundle)["privacy"]["neighbours"]
    forge(bundle, privacy={"neighbours": said.partition(" max_count was")[0]})


YAML = "deployment.yaml"
LINE = "      epsilon: 0.7\n"
text("a second epsilon", "pure", YAML, LINE, LINE + "      epsilon: 0.001\n", "'epsilon' twice")
text(
    "an epsilon elsewhere", "pure", YAML, LINE, "    more:\n" + LINE, "as privacy_parameters"
)  # fmt: skip
text(
    "a quoted key", "pure", YAML, LINE,
    '      "epsilon": 0.001\n    details: |\n' + LINE, "line 27 is not a key and a value",
)  # fmt: skip
text("a flow mapping", "pure", YAML, LINE, "      {epsilon: 0.001}\n" + LINE, "is not a key")
text("an escape", "pure", YAML, LINE, LINE + '      "\\x65psilon": 1\n', "is not a key")
text("a delta that is none", "pure", YAML, LINE, LINE + "      delta: 0.1\n", "state the delta")
text("a mark of another document", "pure", YAML, "deployment:", "---\ndeployment:", "is not a key")
text("another variant", "pure", YAML, "Pure DP", "Approximate DP", "the variant Pure DP")
text("a purer variant", "delta", YAML, "Approximate DP", "Pure DP", "the variant Approximate DP")
text("another unit", "pure", YAML, "at most 1 to one", "at most 9 to one", "the contributions")
text(
    "another epsilon in the details", "pure", YAML, "Exactly epsilon = 7/10", "Exactly epsilon = 1",
    "deployment.yaml states another epsilon",
)  # fmt: skip
READ = "README.md"
text("contributions", "pure", READ, "adds at most 1\n", "adds at most 1000\n", "as its promise")
text("delta in the README", "delta", READ, " for a person", "0 for a person", "as its promise")
text(
    "a second epsilon in the README", "pure", READ, "- Columns", "- Truly epsilon = 1.\n- Columns",
    "README.md states another epsilon",
)  # fmt: skip
text(
    "a second delta in the README", "delta", READ, "- Columns", "- Rather delta = 1e-9.\n- Columns",
    "README.md states another delta",
)  # fmt: skip
text("a comment", "pure", READ, "- Promise", "<!-- hidden -->\n- Promise", "as its promise")
text("two promises", "pure", READ, "- Columns", "- Promise: none.\n- Columns", "as its promise")


@forgery("pure", "as its promise")
def the_truth_in_a_comment(bundle):
    replace_text(bundle, READ, "Promise: epsilon = 7/10", "Promise: epsilon = 1/100")
    replace_text(bundle, READ, "# A private", "<!-- epsilon = 7/10 -->\n# A private")


@forgery("pure", "README.md and fixed_point differ")
def a_distribution_that_is_not_kept(bundle):
    forge(bundle, fixed_point=False)


@forgery("delta", "deployment.yaml and fixed_point differ")
def a_registry_entry_of_a_kept_distribution(bundle):
    words = "Its distribution of counts is not kept by the mechanism."
    kept = "Its distribution of counts stays close to the true one."
    replace_text(bundle, YAML, words, kept)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found(whole, tmp_path, name):
    kind, inflict, words = FORGERIES[name]
    bundle = shutil.copytree(whole / kind, tmp_path / "release")
    inflict(bundle)
    damage = holdfast.verify(bundle).damage
    assert any(words in sentence for sentence in damage), damage


@pytest.mark.parametrize("kind", ["pure", "delta", "bound"])
def test_what_was_forged_was_whole_before(whole, kind):
    assert holdfast.verify(whole / kind).damage == ()


def test_columns_that_speak_of_epsilon_do_no_harm(tmp_path):
    import pandas as pd

    from bundles import COUNTS

    names = {"epsilon = 5": 1, "Promise": 2, "<!--": 3, "delta =": 4, "n": COUNTS}
    release = holdfast.privatize(
        pd.DataFrame(names), count="n", keep=["epsilon = 5", "Promise", "<!--", "delta ="],
        epsilon=1, max_count=8,
        constructor=holdfast.constructors.Heuristic(),
    )  # fmt: skip
    assert holdfast.verify(release.save(tmp_path / "release")).damage == ()
