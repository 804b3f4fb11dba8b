"""The routes of the page; it starts on this machine alone, opens, and cleans up after itself."""

import asyncio
import shutil
import socket
import tempfile
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from threading import Thread

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from holdfast.errors import HoldfastError
from holdfast.page import analyst, steward
from holdfast.page.folder import Folder, PrivateFolder
from holdfast.page.guard import Access, Guard
from holdfast.page.runs import UNPAID, Draft, DraftRun
from holdfast.page.site import SESSION, Site, changing, reading, texts

MOST_UPLOADED = 200 << 20
"""Bytes of a file that may be dropped in; larger ones are named in the folder."""
HOST = "127.0.0.1"
DEMO = "county_homicides_1996.csv"
DEMO_FILLED = {
    "count": ["homicides"],
    "category": ["county"],
    "epsilon": ["0.5"],
    "out": ["release"],
    "keep_none": ["yes"],
}
PATIENCE = 60.0  # seconds that a run past paying is given to end well


def app(site: Site, access: Access, *, port: int, most: int = MOST_UPLOADED) -> Guard:
    """The page for a folder, at a port of this machine."""
    routes = [
        Route("/", partial(reading, _home)),
        Route("/drafts", partial(changing, steward.start), methods=["POST"]),
        Route("/drafts/{draft}", partial(reading, steward.show)),
        Route("/drafts/{draft}", partial(changing, steward.save), methods=["POST"]),
        Route("/drafts/{draft}/ledger", partial(changing, steward.start_ledger), methods=["POST"]),
        Route("/drafts/{draft}/run", partial(reading, steward.show_run)),
        Route("/drafts/{draft}/run", partial(changing, steward.run), methods=["POST"]),
        Route("/drafts/{draft}/progress", partial(reading, steward.progress)),
        Route("/drafts/{draft}/cancel", partial(changing, steward.cancel), methods=["POST"]),
        Route("/drafts/{draft}/copy", partial(changing, steward.copy), methods=["POST"]),
        Route("/drafts/{draft}/forget", partial(changing, steward.forget), methods=["POST"]),
        Route("/releases", partial(changing, analyst.open_release), methods=["POST"]),
        Route("/releases/{release}", partial(reading, analyst.overview)),
        Route("/releases/{release}/ask", partial(reading, analyst.ask)),
        Route("/releases/{release}/zip", partial(reading, analyst.zipped)),
        Mount("/static", StaticFiles(packages=[("holdfast.page", "static")])),
    ]
    handlers = {HoldfastError: _refused, HTTPException: _missing, Exception: _failed}
    inside = Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]
    inside.state.site = site
    return Guard(
        app=inside,
        access=access,
        hosts=(f"127.0.0.1:{port}", f"localhost:{port}"),
        cookie=f"holdfast-{port}",
        most=most,
        locked=site.render("locked.html"),
    )


def _home(site: Site, request: Request) -> Response:
    drafts = [Draft.find(site.state, name) for name in site.state.names("drafts")]
    return site.show(
        request,
        "home.html",
        drafts=[(draft, DraftRun.of(draft).status()) for draft in drafts],
        tables=site.folder.tables(),
        releases=site.folder.releases(),
    )


def _error(request: Request, message: str, status: int) -> Response:
    if SESSION not in request.scope:
        return PlainTextResponse(f"{message}\n", status)
    site: Site = request.app.state.site
    return site.show(request, "error.html", status, message=message)


async def _refused(request: Request, error: HoldfastError) -> Response:
    return _error(request, request.app.state.site.said(str(error)), 400)


async def _missing(request: Request, error: HTTPException) -> Response:
    kind = {404: "missing", 413: "large"}.get(error.status_code, "odd")
    return _error(request, texts()["error"][kind], error.status_code)


async def _failed(request: Request, error: Exception) -> Response:
    """By its type alone: what it says could show counts."""
    return _error(request, texts()["error"]["failed"].format(name=type(error).__name__), 500)


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
                draft = Draft(state.make("drafts"))
                draft.keep(path=DEMO, filled=DEMO_FILLED, checked=True)
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
