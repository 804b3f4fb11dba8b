import numpy as np
import pytest

from holdfast.errors import HoldfastError
from holdfast.paper.experiments.datasets import DATASETS, SYNTHETIC, dataset

SHAPES = {  # n and N, from the paper's appendix on the rule of thumb and its experiments
    "binomial": (21, 10_000),
    "uniform": (30, 3_000),
    "left-skewed": (70, 10_000),
    "right-skewed": (70, 10_000),
    "bimodal": (40, 20_000),
    "zero-inflated": (80, 10_000),
    "top-inflated": (80, 10_000),
    "schools": (81, 95_969),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_made_set_has_the_papers_size_and_says_that_it_was_made(name):
    made = dataset(name)
    assert (len(made.histogram), made.histogram.sum()) == SHAPES[name]
    assert "seed" in made.source
    assert np.array_equal(made.histogram, dataset(name).histogram)


def test_the_stand_in_for_schools_is_labelled_and_shaped_like_schools():
    schools = dataset("schools")
    assert schools.source.startswith("STAND-IN")
    eta = schools.histogram
    assert eta[0] > eta[4]  # a spike of tiny schools
    assert 20 <= 5 + np.argmax(eta[5:80]) <= 35
    assert eta[40] > eta[60] > eta[75]


@pytest.mark.parametrize("name", ["crime", "bird-flu"])
def test_what_nobody_can_make_needs_a_folder(name, tmp_path):
    for folder in (None, tmp_path):
        with pytest.raises(HoldfastError, match="Hint: give the folder"):
            dataset(name, folder)


def test_the_published_files_are_read_where_they_are(shared_data):
    for name in ("binomial", *SYNTHETIC):
        published = dataset(name, shared_data)
        assert (len(published.histogram), published.histogram.sum()) == SHAPES[name]
        assert published.source.endswith("_histogram.csv")
        # the published draw and ours come from one law
        distance = np.abs(published.distribution - dataset(name).distribution).sum() / 2
        assert distance < 0.06
    crime = dataset("crime", shared_data)
    assert (len(crime.histogram), crime.histogram.sum(), crime.histogram[0]) == (51, 3136, 1648)
    flu = dataset("bird-flu", shared_data)
    assert (len(flu.histogram), flu.histogram.sum(), flu.histogram[0]) == (41, 50, 38)
    assert flu.histogram @ np.arange(41) == 70


def test_schools_come_from_the_users_file(tmp_path):
    rows = "\n".join(["NAME;FT_TEACHER", "a;12", "b;-999", "c;300", "d;12.0", "e;"])
    (tmp_path / "us-public-schools.csv").write_text(rows, encoding="utf-8-sig")
    schools = dataset("schools", tmp_path)
    assert (schools.histogram[12], schools.histogram[80], schools.histogram.sum()) == (2, 1, 3)
    assert schools.source == "us-public-schools.csv, FT_TEACHER"


def test_top_coding_elsewhere_keeps_everybody():
    for top in (20, 300):
        schools = dataset("schools", n=top + 1)
        assert (len(schools.histogram), schools.histogram.sum()) == (top + 1, 95_969)
    few = dataset("uniform", n=10).histogram
    assert few[:9].tolist() == dataset("uniform").histogram[:9].tolist()
    assert few.sum() == 3000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("count,categories\n0,3\n2,4\n", "in this order"),
        ("count,kinds\n0,3\n", "categories"),
        ("count,categories\n0,x\n", "row 2 of the file"),
        ("count,categories\n0,-3\n", "row 2 of the file"),
    ],
)
def test_a_broken_file_is_an_error(tmp_path, text, message):
    (tmp_path / "uniform_histogram.csv").write_text(text)
    with pytest.raises(HoldfastError, match=message):
        dataset("uniform", tmp_path)


def test_unknown_names_and_folders_are_errors(tmp_path):
    with pytest.raises(HoldfastError, match="`name` must be one of"):
        dataset("schoolz")
    with pytest.raises(HoldfastError, match="`folder`"):
        dataset("uniform", tmp_path / "nowhere")
    assert set(SYNTHETIC) < set(DATASETS)
