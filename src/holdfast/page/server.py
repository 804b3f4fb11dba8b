"""Starts the page on this machine alone, opens it, and cleans up after it."""

import asyncio
import shutil
import socket
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path
from threading import Thread

import uvicorn

from holdfast.errors import HoldfastError
from holdfast.page.access import Access
from holdfast.page.app import app
from holdfast.page.draft import Draft
from holdfast.page.folder import Folder
from holdfast.page.runs import UNPAID, DraftRun
from holdfast.page.site import Site
from holdfast.page.state import PrivateFolder

HOST = "127.0.0.1"
DEMO = "county_homicides_1996.csv"
DEMO_WORDS = {
    "count": ["homicides"],
    "category": ["county"],
    "epsilon": ["0.5"],
    "out": ["release"],
    "keep_none": ["yes"],
}
PATIENCE = 60.0  # seconds that a run past paying is given to end well


def run(
    folder: Path | None, *, port: int, browser: bool, demo: bool, say: Callable[[str], None]
) -> None:
    """Serve until it is stopped. `say` is told each address that opens the page, once each."""
    with _listening(port) as listener, _folder(folder, demo) as place:
        number = listener.getsockname()[1]
        state = PrivateFolder.take(place.root)
        try:
            access = Access(lambda token: say(address(number, token)))
            site = Site(folder=place, state=state, demo=demo)
            if demo and not state.names("drafts"):
                _fill_demo(state)
            first = address(number, access.token)
            say(first)
            if browser:
                Thread(target=webbrowser.open, args=(first,), daemon=True).start()
            settings = uvicorn.Config(
                app(site, access, port=number),
                log_level="critical",
                access_log=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=2,
            )
            with suppress(KeyboardInterrupt):  # uvicorn raises it again when it is done
                asyncio.run(uvicorn.Server(settings).serve(sockets=[listener]))
        finally:
            end_runs(state)
            state.remove()


def address(port: int, token: str) -> str:
    """What opens the page, once."""
    return f"http://{HOST}:{port}/?token={token}"


def end_runs(state: PrivateFolder) -> None:
    """Cancel what is not paid yet; what is has a minute to end."""
    runs = [DraftRun.of(Draft.find(state, name)) for name in state.names("drafts")]
    until = time.monotonic() + PATIENCE
    for run in runs:
        status = run.status()
        if status is not None and status.ended is None and status.phase in UNPAID:
            run.cancel()
        while status is not None and status.ended is None and time.monotonic() < until:
            time.sleep(0.1)
            status = run.status()


def _listening(port: int) -> socket.socket:
    """A socket that listens before the address is said: whoever is quick waits a moment."""
    try:
        return socket.create_server((HOST, port), backlog=2048)
    except (OSError, OverflowError):
        raise HoldfastError(
            f"port {port} is not free. Hint: leave --port out, or try another."
        ) from None


@contextmanager
def _folder(folder: Path | None, demo: bool) -> Iterator[Folder]:
    """The folder to work in; for the demo a temporary one, unless one is named, with the built-in
    table in it."""
    with ExitStack() as stack:
        if demo and folder is None:
            made = tempfile.TemporaryDirectory(prefix="holdfast-demo-")
            folder = Path(stack.enter_context(made))
        place = Folder.at(folder or Path.cwd())
        if demo and not (place.root / DEMO).exists():
            table = stack.enter_context(as_file(files("holdfast") / "plan" / "data" / DEMO))
            shutil.copy(table, place.root / DEMO)
        yield place


def _fill_demo(state: PrivateFolder) -> None:
    draft = Draft.new(state)
    draft.keep(path=DEMO, words=DEMO_WORDS, checked=True)
