"""The steward's way: a file, what is asked of it, what would happen, and one button."""

import shutil
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.errors import HoldfastError
from holdfast.page.analyst import Opened
from holdfast.page.checks import Checked, balances, check, look_at, recipe
from holdfast.page.form import Context, placed, read_form, sections
from holdfast.page.runs import STOPPABLE, Draft, DraftRun, Ended, Phase, Status, Task, safe_name
from holdfast.page.site import Site, to
from holdfast.tables.formats import UNKNOWN, format_of


def start(site: Site, request: Request, form: FormData) -> Response:
    """A new draft from the first page's form, and a look at the file."""
    dropped = form.get("upload")
    if isinstance(dropped, UploadFile) and dropped.filename:
        name = safe_name(dropped.filename)
        if format_of(name) is UNKNOWN:
            raise HoldfastError(
                f"“{name}” is no table that can be read. Hint: CSV, Parquet or Excel."
            )
        draft = Draft(site.state.make("drafts"))
        with draft.upload(name).open("wb") as file:
            shutil.copyfileobj(dropped.file, file)
        return to(draft.keep(dropped=name).address)
    path = site.folder.find(str(form.get("path", "")))
    return to(Draft(site.state.make("drafts")).keep(path=site.folder.shown(path)).address)


def show(site: Site, request: Request) -> Response:
    """The look at the file, the form as it was filled in, and what would happen."""
    draft = _draft(site, request)
    if _busy(draft):
        return to(f"{draft.address}/run")
    look = look_at(site, draft)
    filled = draft.filled
    if not draft.checked:
        filled = look.suggested | {"out": [site.folder.free("release")]} | filled
    checked = check(site, draft) if draft.checked else Checked()
    context = Context(
        look=look,
        folder=site.folder,
        counted=filled.get("count", ()),
        leaks=checked.leaks,
        wrong=checked.wrong,
    )
    return site.show(
        request,
        "draft.html",
        draft=draft,
        look=look,
        sections=list(sections(filled, context)),
        checked=checked,
        older="older" in request.query_params,
        ledgers=site.folder.ledgers(),
    )


def save(site: Site, request: Request, form: FormData) -> Response:
    """Keep what was filled in, and show what would happen, or the file in another way."""
    draft = _draft(site, request)
    if not _busy(draft):
        columns = [column.name for column in look_at(site, draft).columns]
        draft.keep(filled=read_form(form, columns), checked=form.get("go") != "look")
    at = "" if form.get("go") == "look" else "#happens"
    return to(f"{draft.address}{at}")


def start_ledger(site: Site, request: Request, form: FormData) -> Response:
    """Start a ledger, or a dataset in one, with a limit; a limit that is there is not changed."""
    from holdfast.ledger.ledger import Ledger

    draft = _draft(site, request)
    file, dataset, limit = (
        str(form.get(name, "")).strip() for name in ("file", "dataset", "limit")
    )
    name = file if file.endswith(".ledger") else f"{file}.ledger"
    path = site.folder.find(name) if name in site.folder.ledgers() else site.folder.new(name)
    ledger = Ledger(path)
    if path.exists() and any(balance.dataset == dataset for balance in ledger.balances()):
        raise HoldfastError(
            f"“{dataset}” has a limit in this ledger already. "
            "Hint: whoever answers for the data can change it with `holdfast ledger set-limit`."
        )
    ledger.set_limit(dataset, epsilon=limit)
    named = {"ledger": [site.folder.shown(path)], "dataset": [dataset]}
    draft.keep(filled=draft.filled | named)
    return to(f"{draft.address}#happens")


def run(site: Site, request: Request, form: FormData) -> Response:
    """The one button: start the run that the steward was shown, once."""
    draft = _draft(site, request)
    if not _busy(draft):
        checked = check(site, draft)
        unsure = checked.doubts and not form.get("sure")
        if checked.problem or unsure or form.get("seen") != checked.digest:
            return to(f"{draft.address}?older#happens")
        source = str(draft.source(site.folder))
        task = Task(source=source, placed=placed(draft.filled, site.folder))
        DraftRun.of(draft).start(task, _queue(site))
    return to(f"{draft.address}/run")


def show_run(site: Site, request: Request) -> Response:
    """Progress, and then the result."""
    draft = _draft(site, request)
    status = DraftRun.of(draft).status()
    if status is None:
        return to(draft.address)
    if status.done:
        return site.show(request, "done.html", draft=draft, **_result(site, draft, status))
    values: dict[str, Any] = {"draft": draft, "status": status, "ends": Ended}
    values |= {"phases": list(Phase), "ledger": "ledger" in draft.filled}
    values |= {"waits": DraftRun.of(draft).waits(_queue(site)), "stoppable": STOPPABLE}
    template = "running.html" if status.ended is None else "ended.html"
    return site.show(request, template, **values)


def progress(site: Site, request: Request) -> Response:
    """Where a run stands, for the script: a phase and whether it ended."""
    run = DraftRun.of(_draft(site, request))
    status = run.status()
    if status is None:
        return JSONResponse({"phase": None, "ended": True})
    reply = {"phase": status.phase, "share": status.share, "ended": status.ended is not None}
    stoppable = status.phase in STOPPABLE
    return JSONResponse(reply | {"waits": run.waits(_queue(site)), "stoppable": stoppable})


def cancel(site: Site, request: Request, form: FormData) -> Response:
    """Stop a run."""
    draft = _draft(site, request)
    DraftRun.of(draft).cancel()
    return to(f"{draft.address}/run")


def copy(site: Site, request: Request, form: FormData) -> Response:
    """Another draft like this one, to change something."""
    return to(_draft(site, request).copy(site.state).address)


def forget(site: Site, request: Request, form: FormData) -> Response:
    """Remove a draft, and the file that was dropped for it."""
    draft = _draft(site, request)
    status = DraftRun.of(draft).status()
    if status is not None and status.ended is None:
        raise HoldfastError("a run of this draft is under way. Hint: cancel it first.")
    shutil.rmtree(draft.place, ignore_errors=True)
    return to("/")


def _draft(site: Site, request: Request) -> Draft:
    return Draft.find(site.state, request.path_params["draft"])


def _queue(site: Site) -> Path:
    """What runs lock in turn."""
    return site.state.root / "queue"


def _busy(draft: Draft) -> bool:
    status = DraftRun.of(draft).status()
    return status is not None and (status.ended is None or status.done)


def _result(site: Site, draft: Draft, status: Status) -> dict[str, Any]:
    result = status.result or {}
    return {
        "repeated": bool(result.get("repeated")),
        "balances": balances(site, draft),
        **Opened(site, Path(result["folder"])).overview(),
        "recipe": recipe(draft.file, draft.filled),
    }
