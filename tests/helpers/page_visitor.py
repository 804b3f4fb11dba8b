"""A page in process, and somebody who fills in its forms."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from holdfast.page.app import MOST_UPLOADED, app
from holdfast.page.folder import Folder, PrivateFolder
from holdfast.page.guard import Access
from holdfast.page.site import Site

PORT = 8123
ORIGIN = f"http://127.0.0.1:{PORT}"
COUNTIES = {"count": "deaths", "category": "county", "epsilon": "2", "out": "out"}
Fields = dict[str, Any]


@dataclass
class Visitor:
    """A browser without a script: it has a session, and follows where it is sent."""

    site: Site
    client: TestClient
    access: Access
    keys: dict[str, str] = field(default_factory=dict)

    def get(self, address: str, **options: Any) -> Any:
        return self.client.get(address, **options)

    def post(self, address: str, fields: Fields | None = None, **options: Any) -> Any:
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
        found = re.search(r'name="key" value="([0-9a-f]+)"', self.get("/").text)
        assert found is not None
        return found[1]

    def start(self, path: str = "deaths.csv") -> str:
        """A draft of a file in the folder; its address."""
        return self._begun(self.post("/drafts", {"path": path}))

    def drop(self, name: str, content: bytes) -> str:
        """A draft of a dropped file; its address."""
        return self._begun(self.post("/drafts", files={"upload": (name, content)}))

    def _begun(self, reply: Any) -> str:
        found = re.match(r"/drafts/[0-9a-f]+$", reply.url.path)
        assert found is not None, reply.text
        return found[0]

    def fill(self, draft: str, fields: Fields | None = None, **more: Any) -> Any:
        """The form filled in, and what the page then shows."""
        return self.post(draft, (COUNTIES if fields is None else fields) | more | {"go": "check"})

    def press(self, draft: str, **options: Any) -> Any:
        """The button, with what the page said was seen."""
        page = self.get(draft).text
        found = re.search(r'name="seen" value="([0-9a-f]+)"', page)
        assert found is not None, words_of(page)
        return self.post(f"{draft}/run", {"seen": found[1], "sure": "yes"}, **options)


@contextmanager
def visit(folder: Path, *, most: int = MOST_UPLOADED) -> Iterator[Visitor]:
    """Somebody who was let in; when they leave, so does all that the page kept."""
    access = Access(lambda token: None)
    place = Folder.at(folder)
    site = Site(folder=place, state=PrivateFolder.take(place.root))
    guarded = app(site, access, port=PORT, most=most)
    client = TestClient(guarded, base_url=ORIGIN, raise_server_exceptions=False)
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


def write_deaths(path: Path, rows: int = 300) -> Path:
    """A table of counties with their state, population and deaths."""
    lines = ["county,state,population,deaths"]
    lines += [
        f"C{i:03d},{'NE' if i % 3 else 'AL'},{1000 + (i * 7919) % 50021},{(i * i * 31) % 7}"
        for i in range(rows)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path
