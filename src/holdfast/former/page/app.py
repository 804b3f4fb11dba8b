"""The routes of the page."""

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from holdfast.errors import HoldfastError
from holdfast.former.page import analyst, steward
from holdfast.former.page.access import Access
from holdfast.former.page.chosen import columns_with
from holdfast.former.page.draft import Draft
from holdfast.former.page.guard import SESSION, Guard
from holdfast.former.page.runs import Run, Status
from holdfast.former.page.site import Site, changing, reading, sending, wait, waited

MOST = 200 << 20
"""Bytes of a file that may be dropped in; larger ones are named in the folder."""


def app(site: Site, access: Access, *, port: int, most: int = MOST) -> Guard:
    """The page for a folder, at a port of this machine."""
    routes = [
        Route("/", reading(_home)),
        Route("/glossary", reading(_glossary)),
        Route("/drafts", changing(steward.start), methods=["POST"]),
        Route("/drafts/{draft}/run", reading(steward.show_run)),
        Route("/drafts/{draft}/run", changing(steward.run), methods=["POST"]),
        Route("/drafts/{draft}/progress", sending(steward.progress)),
        Route("/drafts/{draft}/cancel", changing(steward.cancel), methods=["POST"]),
        Route("/drafts/{draft}/copy", changing(steward.copy), methods=["POST"]),
        Route("/drafts/{draft}/mend", changing(steward.mend), methods=["POST"]),
        Route("/drafts/{draft}/forget", changing(steward.forget), methods=["POST"]),
        Route("/drafts/{draft}/{step}", reading(steward.show_step)),
        Route("/drafts/{draft}/{step}", changing(steward.save_step), methods=["POST"]),
        Route("/releases", changing(analyst.open_release), methods=["POST"]),
        Route("/releases/{release}", reading(analyst.overview)),
        Route("/releases/{release}/ask", reading(analyst.ask)),
        Route("/releases/{release}/together", reading(analyst.together)),
        Route("/releases/{release}/table", reading(analyst.table)),
        Route("/releases/{release}/compare", reading(analyst.compare)),
        Route("/releases/{release}/report", reading(analyst.report)),
        Route("/releases/{release}/get/{what}", sending(analyst.download)),
        Route("/waiting/{name}", wait),
        Route("/waiting/{name}/state", waited),
        Mount("/static", StaticFiles(packages=[("holdfast.former.page", "static")])),
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
    drafts: dict[str, tuple[Draft, str, Status | None, str]] = {}
    for name in site.state.names("drafts"):
        draft = Draft.find(site.state, name)
        file = draft.one("file", "dropped") or draft.one("file", "path")
        status = Run.of(draft).status()
        same = draft.likeness if status is None else draft.name
        drafts.setdefault(same, (draft, file, status, _about(site, draft, status)))
    listed: dict[str, Any] = {"tables": site.folder.tables(), "releases": site.folder.releases()}
    return site.show(request, "home.html", drafts=drafts.values(), **listed)


def _about(site: Site, draft: Draft, status: Status | None) -> str:
    """What tells a draft apart from others of the same file: its counts, epsilon and release."""
    said = site.words.content["home"]
    epsilon, counts = draft.one("budget", "epsilon"), columns_with(draft, "count")
    out = draft.one("release", "out") if status is not None else ""
    parts = [", ".join(counts), said["draft_epsilon"].format(epsilon=epsilon) if epsilon else ""]
    return "; ".join(part for part in [*parts, out] if part)


def _glossary(site: Site, request: Request) -> Response:
    terms = {k: v for k, v in site.words.content["glossary"].items() if k != "title"}
    return site.show(request, "glossary.html", glossary=terms)


def _error(request: Request, message: str, status: int) -> Response:
    if SESSION not in request.scope:
        return PlainTextResponse(f"{message}\n", status)
    site: Site = request.app.state.site
    return site.show(request, "error.html", status, message=message)


async def _refused(request: Request, error: HoldfastError) -> Response:
    return _error(request, request.app.state.site.said(str(error)), 400)


async def _missing(request: Request, error: HTTPException) -> Response:
    words = request.app.state.site.words.content["error"]
    kind = {404: "missing", 413: "large"}.get(error.status_code, "odd")
    return _error(request, words[kind], error.status_code)


async def _failed(request: Request, error: Exception) -> Response:
    """By its type alone: what it says could show counts."""
    words = request.app.state.site.words.content["error"]
    return _error(request, words["failed"].format(name=type(error).__name__), 500)
