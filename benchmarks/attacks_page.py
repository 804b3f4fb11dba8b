"""Attacks on a running page: foreign names and sites, paths, a gigabyte, 200 at once, kills.

    python benchmarks/attacks_page.py

`holdfast page` is started on a folder of its own, as anybody would. Each line says what was tried
and what happened; the run stops with an error if something was let through, shown, paid twice or
left half.
"""

import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import holdfast.former as holdfast
from holdfast.former.ledger.ledger import Ledger
from holdfast.former.page.runs import Phase
from holdfast.former.page.state import read_json

PIECE = b"x" * (1 << 20)
TRICKS = ("../secret.csv", "/etc/passwd", "link.csv", "a/../../secret.csv", "deaths.csv\0", "..")
STEPS = {
    "columns": {"role:county": "category", "role:deaths": "count"},
    "protected": {"contributions": "1"},
    "budget": {
        "epsilon": "1", "top": "number", "max_count": "6", "prior": "",
        "ledger": "b.ledger", "dataset": "deaths",
    },
}  # fmt: skip


class Page:
    """A page in a process, and somebody with its cookie."""

    def __init__(self, place: Path) -> None:
        words = [sys.executable, "-m", "holdfast", "page", "--no-open"]
        self.process = subprocess.Popen(
            [*words, "--folder", str(place / "tables")],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | {"XDG_RUNTIME_DIR": str(place / "private"), "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        assert self.process.stdout is not None
        address = urlsplit(next(line for line in self.process.stdout if "token=" in line).strip())
        self.place, self.cookie = address.netloc, ""
        found = self.ask("GET", f"/?{address.query}")[0].headers["set-cookie"]
        self.cookie = found.partition(";")[0]

    def ask(self, method, address, body=None, **headers):
        own = {"Cookie": self.cookie, "Origin": f"http://{self.place}", "Host": self.place}
        connection = http.client.HTTPConnection(self.place, timeout=300)
        try:
            sent = {name.replace("_", "-"): text for name, text in (own | headers).items() if text}
            connection.request(method, address, body=body, headers=sent)
            reply = connection.getresponse()
            return reply, reply.read().decode(errors="replace")
        finally:
            connection.close()

    def post(self, address, fields, **headers):
        key = re.search(r'name="key" value="(\w+)"', self.ask("GET", "/")[1])[1]
        kind = {"Content_Type": "application/x-www-form-urlencoded"}
        sent = self.ask("POST", address, urlencode({"key": key} | fields), **kind | headers)
        place = sent[0].headers["location"] or ""
        return self.patiently(place) if place.startswith("/waiting/") else sent

    def patiently(self, address):
        """What is at an address once the page has stopped saying that it works on it."""
        while (found := self.ask("GET", address))[0].status == 202:
            time.sleep(0.2)
        return found

    def run(self, draft):
        """What is said of a run that has ended, and of its release."""
        while "being made" in (words := self.patiently(f"{draft}/run")[1]):
            time.sleep(0.2)
        return words

    def draft(self, epsilon="1"):
        """A draft that is filled in up to the button; its address and what the button sends."""
        start = {"path": "deaths.csv", "rows": "counts"}
        draft = self.post("/drafts", start)[0].headers["location"].rpartition("/")[0]
        for step, fields in STEPS.items():
            self.post(f"{draft}/{step}", fields | {"epsilon": epsilon})
        last = self.patiently(f"{draft}/release")[1]
        seen = re.search(r'name="seen" value="(\w+)"', last)[1]
        return draft, {"seen": seen}

    def memory(self):
        """MiB at the most so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) >> 10

    def stop(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        self.process.wait()


def refusals(page):
    """What a stranger's request is answered with."""
    form = {"path": "deaths.csv"}
    yield "a foreign Host", page.ask("GET", "/", Host="evil.example")[0].status, 421
    yield (
        "a foreign Origin",
        page.post("/drafts", form, Origin="http://evil.example")[0].status,
        403,
    )
    yield "no Origin", page.post("/drafts", form, Origin="")[0].status, 403
    yield "another site", page.ask("GET", "/", Sec_Fetch_Site="cross-site")[0].status, 403
    yield "no key of the form", page.post("/drafts", form | {"key": ""})[0].status, 403
    yield "no cookie", page.ask("GET", "/", Cookie="")[0].status, 401
    yield "a guessed token", page.ask("GET", "/?token=guess", Cookie="")[0].status, 401
    for path in TRICKS:
        yield f"the release {path!r}", page.post("/releases", {"path": path})[0].status, 400
        address = page.post("/drafts", {"path": path})[0].headers["location"]
        yield f"the table {path!r}", "SECRET" in page.ask("GET", address)[1], False
    yield "a path in an address", page.ask("GET", "/static/../../../etc/passwd")[0].status, 404


def gigabyte(page, said):
    """The status of an upload of a gigabyte, whose length is said or not."""
    connection = http.client.HTTPConnection(page.place, timeout=300)
    connection.putrequest("POST", "/drafts")
    length = ("Content-Length", str(1 << 30)) if said else ("Transfer-Encoding", "chunked")
    own = ("Cookie", page.cookie), ("Origin", f"http://{page.place}")
    for name, value in (*own, length, ("Content-Type", "multipart/form-data; boundary=b")):
        connection.putheader(name, value)
    connection.endheaders()
    try:
        for _ in range(1024):
            part = PIECE if said else b"100000\r\n" + PIECE + b"\r\n"
            connection.send(part)
        return connection.getresponse().status
    except OSError:  # it hung up
        return "cut off"
    finally:
        connection.close()


def killed(place, phase, epsilon):
    """What is there after page and run were killed when the run had come so far."""
    page = Page(place)
    draft, seen = page.draft(epsilon)
    page.post(f"{draft}/run", seen | {"out": phase})
    (run,) = (place / "private").glob(f"*{draft}/run")
    while (
        phase not in (reached := read_json(run / "phase.json")) and not (run / "end.json").exists()
    ):
        time.sleep(0.002)
    os.kill(read_json(run / "process.json"), signal.SIGKILL)
    page.stop(signal.SIGKILL)
    again = Page(place)
    words = again.run(draft)
    again.stop()
    whole = (place / "tables" / phase).is_dir()
    assert not whole or holdfast.verify(place / "tables" / phase)
    assert ("recomputed and holds" in words) == whole
    return f"{reached}: {'a whole release' if whole else 'nothing'}"


def main():
    """Try all of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("tables", "private"):
            (place / name).mkdir(mode=0o700)
        rows = "".join(f"C{i},{i * i * 31 % 7}\n" for i in range(200))
        (place / "tables" / "deaths.csv").write_text("county,deaths\n" + rows)
        (place / "secret.csv").write_text("county,SECRET\nA,1\n")
        (place / "tables" / "link.csv").symlink_to(place / "secret.csv")
        ledger = Ledger(place / "tables" / "b.ledger")
        ledger.set_limit("deaths", epsilon=100)
        page = Page(place)
        for name, found, wanted in refusals(page):
            print(f"{name}: {found}")
            assert found == wanted, name
        before = page.memory()
        for said in (True, False):
            print(
                f"a gigabyte, its length {'said' if said else 'not said'}: {gigabyte(page, said)}"
            )
        print(f"memory before it {before} MiB, after it {page.memory()} MiB at the most")
        with ThreadPoolExecutor(200) as pool:
            codes = Counter(pool.map(lambda _: page.ask("GET", "/")[0].status, range(200)))
        print(f"200 requests at once: {dict(codes)}")
        draft, seen = page.draft()
        with ThreadPoolExecutor(20) as pool:
            list(pool.map(lambda _: page.post(f"{draft}/run", seen | {"out": "once"}), range(20)))
        page.run(draft)
        spent = ledger.balance("deaths").epsilon_spent
        print(f"the button pressed 20 times at once: epsilon {spent} spent")
        assert spent == 1
        page.stop()
        for number, phase in enumerate(Phase):
            left = killed(place, phase, f"1.{number}")
            spent = ledger.balance("deaths").epsilon_spent
            print(f"killed while {left}; in all epsilon {float(spent):g} spent")
        assert not list((place / "private").iterdir())


if __name__ == "__main__":
    main()
