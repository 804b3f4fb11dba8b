"""Nothing outside of the folder is read or written."""

import os

import pytest

from holdfast.errors import HoldfastError
from holdfast.page.folder import Folder
from page_visitor import problem_of, words_of

TRICKS = (
    "../secret.csv",
    "sub/../../secret.csv",
    "/etc/passwd",
    "link.csv",
    "linked/secret.csv",
    "..",
    "",
    "  ",
    "deaths.csv\0.txt",
    "~/.bashrc",
    "x" * 5000,
    "loop",
)


@pytest.fixture
def tricky(folder):
    (folder.parent / "secret.csv").write_text("a,b\n1,2\n")
    (folder / "sub").mkdir()
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "linked").symlink_to(folder.parent)
    (folder / "loop").symlink_to(folder / "loop")
    return folder


@pytest.mark.parametrize("path", TRICKS)
def test_no_trick_leads_out(tricky, path):
    with pytest.raises(HoldfastError, match=r"nothing is named|there is no"):
        Folder.at(tricky).find(path)


def test_a_link_that_stays_inside_is_followed_to_its_end(tricky):
    (tricky / "also.csv").symlink_to(tricky / "deaths.csv")
    assert Folder.at(tricky).find("also.csv") == (tricky / "deaths.csv").resolve()


def test_an_absolute_path_inside_is_inside(tricky):
    assert Folder.at(tricky).find(str(tricky / "deaths.csv")).name == "deaths.csv"


@pytest.mark.parametrize("name", ("../out", "a/b", ".hidden", "", "a\nb", "out ", "x" * 300, "a\0"))
def test_a_new_folder_has_a_plain_name(folder, name):
    with pytest.raises(HoldfastError, match="cannot be the name"):
        Folder.at(folder).new(name)


def test_links_and_hidden_files_are_not_listed(tricky):
    (tricky / ".hidden.csv").write_text("a\n1\n")
    assert Folder.at(tricky).tables() == ["deaths.csv"]


def test_what_a_ledger_keeps_is_not_listed_among_the_releases(folder):
    for name in ("first", "b.ledger.releases/000001-ab", "old.releases/second"):
        (folder / name).mkdir(parents=True)
        (folder / name / "release.json").touch()
    (folder / "b.ledger").touch()
    assert Folder.at(folder).releases() == ["first", "old.releases/second"]


def test_how_many_more_releases_there_are_is_said(visitor, folder):
    for number in range(15):
        (folder / f"r{number}").mkdir()
        (folder / f"r{number}" / "release.json").touch()
    assert "<li>3 more: type the name" in visitor.get("/").text


def test_few_of_many_files_are_listed(folder):
    for number in range(400):
        (folder / f"t{number:03d}.csv").touch()
    assert len(Folder.at(folder).tables()) <= 300


@pytest.mark.parametrize("path", TRICKS[:5])
def test_the_page_says_so_and_shows_nothing(visitor, tricky, path):
    page = visitor.post("/drafts", {"path": path})
    assert page.status_code == 400
    assert "in the folder of this page" in words_of(page.text) and "NOT PRIVATE" not in page.text
    reply = visitor.post("/releases", {"path": path})
    assert reply.status_code == 400


@pytest.mark.parametrize("name", ("out", "ledger", "categories", "corrects"))
def test_no_field_of_the_form_leads_out(visitor, tricky, name):
    page = visitor.fill(visitor.start(), **{name: "../secret.csv"})
    assert problem_of(page) and "What would happen" not in page.text
    fields = {"file": "../b.ledger", "dataset": "d", "limit": "1"}
    assert visitor.post(f"{visitor.start()}/ledger", fields).status_code == 400
    assert not (tricky.parent / "b.ledger").exists()


def test_what_the_page_keeps_is_for_its_user_alone(visitor):
    visitor.start(path="deaths.csv")
    for place, folders, _ in os.walk(visitor.site.state.root):
        for name in folders:
            assert (os.stat(os.path.join(place, name)).st_mode & 0o077) == 0
    assert visitor.site.state.root.stat().st_mode & 0o077 == 0


def test_what_somebody_else_could_read_is_not_taken_over(folder, tmp_path):
    from holdfast.page.folder import PrivateFolder

    first = PrivateFolder.take(folder)
    first.remove()
    first.root.mkdir(mode=0o755)
    second = PrivateFolder.take(folder)
    assert second.root != first.root
    second.remove()


def test_a_second_page_on_the_same_folder_keeps_to_itself(visitor, folder):
    from holdfast.page.folder import PrivateFolder

    other = PrivateFolder.take(folder.resolve())
    assert other.root != visitor.site.state.root
    other.remove()
