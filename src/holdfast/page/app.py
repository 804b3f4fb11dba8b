"""The routes of the page."""

from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from holdfast.errors import HoldfastError
from holdfast.page import analyst, steward
from holdfast.page.access import Access
from holdfast.page.draft import Draft
from holdfast.page.guard import SESSION, Guard
from holdfast.page.runs import DraftRun
from holdfast.page.site import Site, changing, reading
from holdfast.page.words import texts

MOST = 200 << 20
"""Bytes of a file that may be dropped in; larger ones are named in the folder."""


def app(site: Site, access: Access, *, port: int, most: int = MOST) -> Guard:
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
