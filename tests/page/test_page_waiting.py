"""What takes longer than a moment: a sign of life, and then what was asked for."""

import re
from threading import Event

import pytest

from holdfast.errors import HoldfastError
from holdfast.page.draft import Draft
from holdfast.page.releases import Opened
from page_visitor import visit


@pytest.fixture
def impatient(folder):
    """Somebody who is told soon that it takes longer."""
    with visit(folder, moment=0.05) as somebody:
        yield somebody


@pytest.fixture
def goes_on():
    """What holds up the work, until somebody lets it go on."""
    event = Event()
    yield event
    event.set()


def state_of(visitor, page):
    """Whether the script would look again."""
    assert page.status_code == 202 and "Working on it" in page.text
    assert '<noscript><meta http-equiv="refresh"' in page.text
    return visitor.get(re.search(r'data-watch="(/waiting/\w+/state)"', page.text)[1]).json()


def looked_again(visitor, page):
    """What is there once the work is done."""
    while not state_of(visitor, page)["ended"]:
        pass
    return visitor.get(page.url.path)


def test_a_page_that_takes_long_says_so_and_is_computed_once(impatient, goes_on, monkeypatch):
    asked = []

    def slow(_site, name):
        asked.append(name)
        goes_on.wait(60)
        raise HoldfastError("that is what was asked for.")

    monkeypatch.setattr(Opened, "find", slow)
    page = impatient.get("/releases/0000")
    assert not state_of(impatient, page)["ended"]
    assert impatient.get("/releases/0000").status_code == 202
    goes_on.set()
    page = looked_again(impatient, page)
    assert page.status_code == 400 and "that is what was asked for" in page.text.lower()
    assert asked == ["0000"]


def test_a_form_that_takes_long_is_taken_in_once_and_leads_on(impatient, goes_on, monkeypatch):
    def slow(state, new=Draft.new):
        goes_on.wait(60)
        return new(state)

    monkeypatch.setattr(Draft, "new", slow)
    files = {"upload": ("deaths.csv", b"county,deaths\nA,1\nB,2\n")}
    page = impatient.post("/drafts", files=files)
    assert page.url.path.startswith("/waiting/") and not state_of(impatient, page)["ended"]
    assert impatient.site.state.names("drafts") == []
    goes_on.set()
    page = looked_again(impatient, page)
    while page.status_code == 202:
        page = looked_again(impatient, page)
    assert page.url.path.startswith("/drafts/") and "deaths" in page.text
    assert len(impatient.site.state.names("drafts")) == 1


def test_whoever_waits_is_told_what_for(impatient, goes_on, folder, monkeypatch):
    (folder / "first").mkdir()
    monkeypatch.setattr("holdfast.verify", lambda _folder: goes_on.wait(60))
    page = impatient.post("/releases", {"path": "first"})
    while not (state := state_of(impatient, page))["doing"]:
        pass
    assert state == {"ended": False, "doing": "Recomputing everything that first claims"}
    assert state["doing"] in impatient.get(page.url.path).text


def test_nobody_sees_a_page_from_before_a_change(impatient, goes_on, monkeypatch):
    monkeypatch.setattr(Opened, "find", lambda _site, _name: goes_on.wait(60))
    page = impatient.get("/releases/0000")
    assert not state_of(impatient, page)["ended"]
    impatient.post("/drafts", {"path": ""})
    assert state_of(impatient, page)["ended"]


def test_what_nobody_waits_for_leads_to_the_first_page(visitor):
    assert visitor.get("/waiting/form00").url.path == "/"
