"""A page in process, and somebody who fills in its forms."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from holdfast.former.page.access import Access
from holdfast.former.page.app import MOST, app
from holdfast.former.page.folder import Folder
from holdfast.former.page.site import Site
from holdfast.former.page.state import State
from holdfast.former.page.waiting import Waiting
from holdfast.former.page.words import Words

PORT = 8123
ORIGIN = f"http://127.0.0.1:{PORT}"
COUNTY_ROLES = {"role:county": "category", "role:population": "", "role:deaths": "count"}
BUDGET = {"epsilon": "2", "top": "number", "max_count": "4", "prior": ""}


@dataclass
class Visitor:
    """A browser without a script: it has a session, and follows where it is sent."""

    site: Site
    client: TestClient
    access: Access
    keys: dict[str, str] = field(default_factory=dict)

    def get(self, address: str, **options: Any) -> Any:
        return self.client.get(address, **options)

    def post(self, address: str, fields: dict[str, Any] | None = None, **options: Any) -> Any:
        headers = {"Origin": ORIGIN} | options.pop("headers", {})
        data = {"key": self.key()} | (fields or {})
        return self.client.post(address, data=data, headers=headers, **options)

    def key(self) -> str:
        """The key of the session's forms."""
        session = str(self.client.cookies)
        if session not in self.keys:
            self.keys = {session: self._key()}
        return self.keys[session]

    def _key(self) -> str:
        page = self.get("/")
        while page.status_code == 202:  # "Working on it"
            page = self.get("/")
        found = re.search(r'name="key" value="([0-9a-f]+)"', page.text)
        assert found is not None
        return found[1]

    def start(self, **fields: str) -> str:
        """A draft of a file; its address."""
        reply = self.post("/drafts", {"rows": "counts"} | fields)
        found = re.match(r"(/drafts/[0-9a-f]+)/", reply.url.path)
        assert found is not None, reply.text
        return found[1]

    def fill(self, draft: str, roles: dict[str, str] = COUNTY_ROLES, **budget: str) -> Any:
        """All steps but the last."""
        self.post(f"{draft}/columns", roles)
        self.post(f"{draft}/protected", {"contributions": "1"})
        return self.post(f"{draft}/budget", BUDGET | budget)

    def press(self, draft: str, out: str = "out", **options: Any) -> Any:
        """The button, with what the last page said was seen."""
        page = self.get(f"{draft}/release").text
        found = re.search(r'name="seen" value="([0-9a-f]+)"', page)
        assert found is not None, page
        return self.post(f"{draft}/run", {"seen": found[1], "out": out}, **options)


@contextmanager
def visit(folder: Path, *, most: int = MOST, moment: float | None = None) -> Iterator[Visitor]:
    """Somebody who was let in; when they leave, so does all that the page kept."""
    access = Access(lambda token: None)
    place = Folder.at(folder)
    site = Site(
        folder=place, state=State.take(place.root), words=Words.of(), waiting=Waiting(moment)
    )
    guarded = app(site, access, port=PORT, most=most)
    with TestClient(guarded, base_url=ORIGIN, raise_server_exceptions=False) as client:
        client.get(f"/?token={access.token}")
        yield Visitor(site, client, access)
    site.state.remove()


def words_of(page: str) -> str:
    """What a page says, without its markup."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def problem_of(page: Any) -> str:
    """What a page says is wrong; nothing where all is in order."""
    found = re.search(r'<div class="problem".*?</div>', page.text, re.DOTALL)
    return words_of(found[0]) if found else ""


def write_counties(path: Path, rows: int = 300) -> Path:
    """A table of counties with their population and deaths."""
    lines = ["county,population,deaths"]
    lines += [f"C{i:03d},{1000 + (i * 7919) % 50021},{(i * i * 31) % 7}" for i in range(rows)]
    path.write_text("\n".join(lines) + "\n")
    return path
