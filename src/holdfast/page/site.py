"""What all views share: folder, state, templates, what was computed before, the key of a session's
forms; all words of the page, from one file, and messages of holdfast in them."""

import hmac
import re
import shlex
import tomllib
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any, TypeVar

import jinja2
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from holdfast.errors import plainly
from holdfast.page.folder import Folder, PrivateFolder
from holdfast.request import FIELDS

SESSION = "holdfast.session"
"""Where the session of a request is found."""
KEPT = 48  # results that are remembered
MOST_FIELDS, LONGEST_FIELD = 50_000, 8 << 20
_NAMES = "|".join(name.replace("_", "[-_]") for name in sorted(FIELDS, key=len, reverse=True))
_FIELD = re.compile(rf"`({_NAMES})`|`?--({_NAMES})\b`?")
_IN_PYTHON = re.compile(rf"\b(?:{_NAMES})=(?:\[[^\]]*\]|\{{[^}}]*\}}|'[^']*'|\w+), (?=--)")
T = TypeVar("T")
Read = Callable[["Site", Request], Response]
Change = Callable[["Site", Request, FormData], Response]


def label_of(name: str) -> str:
    """What a field is called on the page.

    >>> label_of("header_row"), label_of("per")
    ('Header row', 'Whose row it is')
    """
    name = name.replace("-", "_")
    return str(texts()["labels"].get(name, name.replace("_", " ").capitalize()))


@cache
def texts() -> dict[str, Any]:
    """All words by their place: `texts()["home"]["title"]`."""
    path = files("holdfast.page") / "texts" / "en.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def in_page_words(message: str) -> str:
    """A message of holdfast with fields called as the page calls them; a command at its end stays
    as it is.

    >>> in_page_words("`header_row` must be 3. Hint: --keep COLUMN, or `keep`.")
    '“Header row” must be 3. Hint: “Columns to keep” COLUMN, or “Columns to keep”.'
    >>> in_page_words("Hint: missing=['-9'], --missing -9; `keep`, --keep.")
    'Hint: “Codes for missing counts” -9; “Columns to keep”.'
    >>> in_page_words("count them: holdfast count a.csv --by state")
    'Count them: holdfast count a.csv --by state'
    """
    message, colon, command = message.partition(": holdfast ")
    message = _FIELD.sub(
        lambda name: f"“{label_of(name[1] or name[2])}”", _IN_PYTHON.sub("", message)
    )
    message = re.sub(r"(“[^”]*”), \1", r"\1", message)  # the same as Python and as an option
    return message[:1].upper() + message[1:] + colon + command


def form_key(session: str) -> str:
    """What every form of a session carries, so that no other site can send one."""
    return hmac.digest(session.encode(), b"form", "sha256").hex()


def is_form_key(session: str, key: str) -> bool:
    """Whether a form is one of this session's own.

    >>> is_form_key("s", form_key("s")), is_form_key("s", "")
    (True, False)
    """
    return hmac.compare_digest(key.encode(), form_key(session).encode())


class Remembered:
    """Results by what they follow from; each is computed once, whoever asks meanwhile."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._locks: defaultdict[Hashable, Lock] = defaultdict(Lock)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for a key; what raises is not remembered."""
        with self._locks[key]:
            if key not in self._results:
                self._results[key] = make()
                while len(self._results) > KEPT:
                    self._locks.pop(self._results.popitem(last=False)[0], None)
            self._results.move_to_end(key)
            return self._results[key]  # type: ignore[no-any-return]


@cache
def environment() -> jinja2.Environment:
    """The templates and their filters."""
    folder = str(files("holdfast.page") / "templates")
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"plainly": plainly, "typed": shlex.quote}
    return made


@dataclass(frozen=True, kw_only=True)
class Site:
    """The page as it was started."""

    folder: Folder
    state: PrivateFolder
    demo: bool = False
    remembered: Remembered = field(default_factory=Remembered)

    def said(self, message: str) -> str:
        """A message of holdfast in the page's words, with paths as they are typed, or as a dropped
        file was called."""
        kept = re.escape(str(self.state.root))
        message = re.sub(rf"{kept}/drafts/\w+/upload/", "", message)
        return in_page_words(message.replace(f"{self.folder.root}/", ""))

    def render(self, template: str, **values: Any) -> str:
        """A page as text."""
        shared = {
            "t": texts(),
            "said": self.said,
            "label_of": label_of,
            "markup": Markup,  # only for elements that holdfast makes
        }
        return environment().get_template(template).render(**shared, **values)

    def show(self, request: Request, template: str, code: int = 200, **values: Any) -> Response:
        """A page for somebody who is let in."""
        key = form_key(request.scope[SESSION])
        text = self.render(template, key=key, demo=self.demo, root=self.folder.root, **values)
        return HTMLResponse(text, code)


async def reading(view: Read, request: Request) -> Response:
    """A view that changes nothing, off the event loop."""
    return await run_in_threadpool(view, request.app.state.site, request)


async def changing(view: Change, request: Request) -> Response:
    """A view that takes a form, which must carry the key of its session."""
    site: Site = request.app.state.site
    async with request.form(
        max_files=2, max_fields=MOST_FIELDS, max_part_size=LONGEST_FIELD
    ) as form:
        if not is_form_key(request.scope[SESSION], str(form.get("key", ""))):
            return site.show(request, "error.html", 403, message=texts()["stale"])
        return await run_in_threadpool(view, site, request, form)


def to(address: str) -> Response:
    """On to another page: a reload there sends no form again."""
    return RedirectResponse(address, 303)
