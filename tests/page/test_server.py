"""`holdfast page` as a process: started, stopped, killed; it goes on where it was."""

import http.client
import re
import signal
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from browsers import serve
from page_visitor import COUNTIES, write_deaths


class Caller:
    """Somebody with a cookie and no browser."""

    def __init__(self, served):
        self.place = urlsplit(served.root).netloc
        self.cookie = ""
        reply = self.ask("GET", served.address.removeprefix(served.root))[0]
        self.cookie = reply.headers["set-cookie"].partition(";")[0]

    def ask(self, method, address, body=None, **headers):
        connection = http.client.HTTPConnection(self.place, timeout=60)
        try:
            kept = {"Cookie": self.cookie, "Origin": f"http://{self.place}"}
            connection.request(method, address, body=body, headers=kept | headers)
            reply = connection.getresponse()
            return reply, reply.read().decode(errors="replace")
        finally:
            connection.close()

    def get(self, address):
        return self.ask("GET", address)[1]

    def post(self, address, fields):
        key = re.search(r'name="key" value="(\w+)"', self.get("/"))[1]
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        reply, _ = self.ask("POST", address, urlencode({"key": key} | fields), **kind)
        return reply.headers["location"]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "tables").mkdir()
    write_deaths(tmp_path / "tables" / "deaths.csv", rows=60)
    return tmp_path


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A page that several look at."""
    place = tmp_path_factory.mktemp("running")
    (place / "tables").mkdir()
    served = serve(place / "tables", place / "private", "--demo")
    yield served
    assert served.stop() == 143


@pytest.fixture(scope="module")
def caller(running):
    return Caller(running)


def test_a_page_goes_on_after_it_was_killed_and_leaves_nothing_when_it_is_stopped(place):
    served = serve(place / "tables", place / "private")
    caller = Caller(served)
    draft = caller.post("/drafts", {"path": "deaths.csv"})
    served.stop(signal.SIGKILL)
    served = serve(place / "tables", place / "private")
    caller = Caller(served)
    assert draft in caller.get("/")  # the draft goes on
    caller.post(draft, COUNTIES)
    seen = re.search(r'name="seen" value="(\w+)"', caller.get(draft))[1]
    assert caller.post(f"{draft}/run", {"seen": seen}) == f"{draft}/run"
    served.stop(signal.SIGKILL)  # the run goes on without the page
    served = serve(place / "tables", place / "private")
    caller = Caller(served)
    while "being made" in (page := caller.get(f"{draft}/run")):
        time.sleep(0.1)
    assert "recomputed and holds" in page
    assert caller.post(f"{draft}/run", {"seen": seen}) == f"{draft}/run"
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S+", served.next_address())
    caller.get("/nowhere")
    caller.ask("GET", "/", Host="evil.example")
    assert served.stop(signal.SIGINT) == 130 and served.rest == ""  # nothing was printed
    names = sorted(path.name for path in (place / "tables").iterdir())
    assert names == ["deaths.csv", "out"] and list((place / "private").iterdir()) == []


def test_a_gigabyte_is_refused_before_it_is_sent(caller):
    connection = http.client.HTTPConnection(caller.place, timeout=30)
    connection.putrequest("POST", "/drafts")
    for name, value in (("Cookie", caller.cookie), ("Origin", f"http://{caller.place}")):
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(1 << 30))
    connection.endheaders()
    connection.send(b"x" * 1000)
    assert connection.getresponse().status == 413
    connection.close()


def test_a_port_that_is_taken_is_said(cli, running, place):
    port = running.root.rpartition(":")[2]
    code, _, words = cli("page", "--no-open", "--folder", str(place), "--port", port)
    assert code == 2 and "is not free" in words


def test_a_folder_that_is_not_there_is_said(cli, place):
    code, _, words = cli("page", "--no-open", "--folder", str(place / "nowhere"))
    assert code == 2 and "there is no folder" in words


def test_the_demo_starts_filled_in(caller):
    page = caller.get("/")
    assert "2,197 US counties" in page and "county_homicides_1996.csv" in page
    draft = re.search(r"/drafts/\w+", page)[0]
    assert "Make the release" in caller.get(draft)


def test_only_this_machine_is_listened_to(running):
    port = int(running.root.rpartition(":")[2])
    tables = [Path("/proc/net/tcp").read_text(), Path("/proc/net/tcp6").read_text()]
    listening = re.findall(rf" ([0-9A-F]+):{port:04X} [0-9A-F]+:0000 0A ", "".join(tables))
    assert listening == ["0100007F"]
