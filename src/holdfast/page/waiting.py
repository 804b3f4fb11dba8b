"""Replies that take longer than a moment: the browser is told so, and looks again by itself."""

import asyncio
import hashlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from holdfast.page.guard import SESSION

MOMENT = 2.0
"""Seconds after which somebody wants a sign of life."""
KEPT = 64
"""Replies that nobody has fetched yet."""
Task = asyncio.Task[Response]


@dataclass(frozen=True)
class Waiting:
    """Replies under way, by a name for what somebody waits for."""

    moment: float | None = MOMENT
    """None waits until the reply is there."""
    _tasks: dict[str, Task] = field(default_factory=dict)
    _running: set[Task] = field(default_factory=set)

    async def reply(self, name: str, make: Coroutine[Any, Any, Response]) -> Response | None:
        """What is made, if a moment is enough; None: it is kept under this name."""
        task = asyncio.ensure_future(make)
        self._running.add(task)  # asyncio itself would let go of it
        task.add_done_callback(self._running.discard)
        return await self._finish(name, task)

    async def again(self, name: str) -> Response | None:
        """A reply that somebody waits for; None while it is not there."""
        return await self._finish(name, self._tasks.pop(name))

    def has(self, name: str) -> bool:
        """Whether somebody was told to wait for this."""
        return name in self._tasks

    def is_there(self, name: str) -> bool:
        """Whether looking again would show something new."""
        return name not in self._tasks or self._tasks[name].done()

    def drop_pages(self) -> None:
        """Let nobody see a page from before something was changed."""
        for name in [name for name in self._tasks if name.startswith("page")]:
            del self._tasks[name]

    async def _finish(self, name: str, task: Task) -> Response | None:
        done, _ = await asyncio.wait({task}, timeout=self.moment)
        if done:
            return task.result()
        task.add_done_callback(_seen)
        self._tasks[name] = task
        for old in list(self._tasks)[:-KEPT]:
            del self._tasks[old]
        return None


def page_name(request: Request) -> str:
    """A name for an address as somebody sees it."""
    asked = f"{request.scope[SESSION]} {request.url.path} {request.url.query}"
    return "page" + hashlib.sha256(asked.encode()).hexdigest()[:32]


def _seen(task: Task) -> None:
    """What failed while nobody waited is told to nobody: asyncio would print it."""
    if not task.cancelled():
        task.exception()
