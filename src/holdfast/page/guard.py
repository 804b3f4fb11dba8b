"""Who may use the page, and what stands before every request: address, origin, session, size; and
what goes with replies."""

import hmac
import os
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from threading import Lock
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.page.site import SESSION, texts

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
READS = ("GET", "HEAD")
OWN = ("same-origin", "none")
"""What a browser says of requests that no other site made."""


class Access:
    """Tokens that open the page once each, and the sessions that they opened.

    >>> access = Access(lambda token: None)
    >>> session = access.enter(access.token)
    >>> access.knows(session), access.knows("guess")
    (True, False)
    """

    def __init__(self, announce: Callable[[str], None]) -> None:
        """`announce` is told each new token, for whoever sits at the terminal."""
        self.token = secrets.token_urlsafe(24)
        self._announce, self._sessions, self._lock = announce, set[str](), Lock()

    def enter(self, token: str) -> str | None:
        """A new session for a token, which then opens nothing more; None for a wrong one."""
        with self._lock:
            if not _same(token, self.token):
                return None
            self.token = secrets.token_urlsafe(24)
            session = secrets.token_urlsafe(24)
            self._sessions.add(session)
        self._announce(self.token)
        return session

    def knows(self, session: str) -> bool:
        """Whether a browser has been let in."""
        return any(_same(session, other) for other in tuple(self._sessions))


def _same(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(), right.encode())


@dataclass(frozen=True, kw_only=True)
class Guard:
    """Lets through what a browser of a known session asks of this very address."""

    app: ASGIApp
    access: Access
    hosts: Collection[str]
    """The names under which the page may be asked for, each with its port."""
    cookie: str
    """The name of the session's cookie."""
    most: int
    """Bytes that a request may have."""
    locked: str
    """The page for whoever has no session."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers, sender = Headers(scope=scope), _dressed(send)
        refused = self._refusal(scope, headers)
        if refused is not None:
            await refused(scope, receive, sender)
            return
        try:
            await self.app(scope, self._counted(receive), sender)
        except Exception:  # answered already; what it says could show counts, so nobody logs it
            if os.environ.get("HOLDFAST_DEBUG"):
                raise

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """The reply to a request that goes no further; a token's way in is one as well."""
        host = headers.get("host", "")
        if host not in self.hosts or len(headers.getlist("host")) != 1:
            return PlainTextResponse("This address is not the page's.\n", 421)
        if scope["method"] not in READS and headers.get("origin") != f"http://{host}":
            return PlainTextResponse("This did not come from the page itself.\n", 403)
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] == "GET" and scope["path"] == "/" and token:
            return self._let_in(token)
        if headers.get("sec-fetch-site", "none") not in OWN:
            return PlainTextResponse("Another site asked for this.\n", 403)
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self.most:
            return PlainTextResponse(
                texts()["error"]["large"], 413, headers={"Connection": "close"}
            )
        if scope["path"].startswith("/static/"):
            return None
        session = HTTPConnection(scope).cookies.get(self.cookie, "")
        if not self.access.knows(session):
            return HTMLResponse(self.locked, 401)
        scope[SESSION] = session
        return None

    def _let_in(self, token: str) -> Response:
        session = self.access.enter(token)
        if session is None:
            return HTMLResponse(self.locked, 401)
        reply = RedirectResponse("/", 303)
        reply.set_cookie(self.cookie, session, httponly=True, samesite="strict")
        return reply

    def _counted(self, receive: Receive) -> Receive:
        seen = 0

        async def counted() -> Message:
            """The next piece of a request, as long as there are not too many."""
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.most:
                raise HTTPException(413)  # the application answers
            return message

        return counted


def _dressed(send: Send) -> Send:
    """Replies with the headers that all have, where they have none of their own."""

    async def dressed(message: Message) -> None:
        """Send a piece of a reply."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return dressed
