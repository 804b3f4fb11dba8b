"""Who may use the page: whoever opened it with the address that the terminal shows."""

import hmac
import secrets
from collections.abc import Callable
from threading import Lock


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


def form_key(session: str) -> str:
    """What every form of a session carries, so that no other site can send one."""
    return hmac.digest(session.encode(), b"form", "sha256").hex()


def is_form_key(session: str, key: str) -> bool:
    """Whether a form is one of this session's own.

    >>> is_form_key("s", form_key("s")), is_form_key("s", "")
    (True, False)
    """
    return _same(key, form_key(session))


def _same(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(), right.encode())
