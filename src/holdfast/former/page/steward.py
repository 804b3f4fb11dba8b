"""The steward's way: five steps from a file to a release."""

from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from holdfast.errors import HoldfastError
from holdfast.former.page import checks
from holdfast.former.page.chosen import LISTED, chosen, columns_with
from holdfast.former.page.draft import STEPS, Draft, Filled, safe_name
from holdfast.former.page.recipe import of_run
from holdfast.former.page.runs import STOPPABLE, Ended, Phase, Run, Status
from holdfast.former.page.site import Site, recipe_values, to
from holdfast.former.page.source import rows_as_shown
from holdfast.former.tables.files import is_table_file

COPIED = 1 << 20


def start(site: Site, request: Request, form: FormData) -> Response:
    """A new draft from the first page's form, and a look at the file."""
    draft = _same_begun(site, form) or Draft.new(site.state)
    _save(site, draft, "file", form)
    return to(_address(draft, "file"))


def _same_begun(site: Site, form: FormData) -> Draft | None:
    """A draft of the same file in which nothing else was filled in yet."""
    fields = _fields(form)
    dropped = form.get("upload")
    if isinstance(dropped, UploadFile) and dropped.filename:
        return None
    begun = [Draft.find(site.state, name) for name in site.state.names("drafts")]
    return next((one for one in begun if one.reached == 1 and one.filled("file") == fields), None)


def show_step(site: Site, request: Request) -> Response:
    """A step as it was filled in last, with what is wrong about it."""
    draft, step = _draft(site, request), request.path_params["step"]
    if step not in STEPS:
        raise HoldfastError("there is no such step. Hint: start from the first page.")
    if STEPS.index(step) > draft.reached:
        return to(_address(draft, STEPS[draft.reached]))
    if _busy(draft):
        return to(f"/drafts/{draft.name}/run")
    values = checks.CHECKS[step](site, draft)
    return site.show(
        request,
        f"{step}.html",
        draft=draft,
        step=step,
        steps=STEPS,
        here=STEPS.index(step),
        unfolded="unfold" in request.query_params,
        **values,
        **_recipe(site, draft, step),
    )


def save_step(site: Site, request: Request, form: FormData) -> Response:
    """Keep what was filled in; go on if it is in order."""
    draft, step = _draft(site, request), request.path_params["step"]
    if step not in STEPS or STEPS.index(step) > draft.reached:
        raise HoldfastError("there is no such step yet. Hint: start from the first page.")
    if _busy(draft):
        return to(f"/drafts/{draft.name}/run")
    return _save(site, draft, step, form)


def run(site: Site, request: Request, form: FormData) -> Response:
    """The one button: start the run that the steward was shown, once."""
    draft = _draft(site, request)
    if _busy(draft):
        return to(f"/drafts/{draft.name}/run")
    if _wrong(site, draft, "release", _fields(form)) or form.get("seen") != draft.digest:
        return to(_address(draft, "release"))
    Run.of(draft).start(chosen(draft, site.folder), _queue(site))
    return to(f"/drafts/{draft.name}/run")


def show_run(site: Site, request: Request) -> Response:
    """Progress, and then the result."""
    draft = _draft(site, request)
    status = Run.of(draft).status()
    if status is None:
        return to(_address(draft, STEPS[min(draft.reached, len(STEPS) - 1)]))
    values: dict[str, Any] = {"draft": draft, "status": status, "phases": list(Phase)}
    if status.done:
        return site.show(request, "done.html", **values, **_result(site, draft, status))
    template = "running.html" if status.ended is None else "ended.html"
    message = rows_as_shown(status.message, draft, site.folder)
    values |= {"ledger": draft.one("budget", "dataset"), "message": site.said(message)}
    values |= {"waits": Run.of(draft).waits(_queue(site)), "stoppable": STOPPABLE}
    return site.show(request, template, **values, ends=Ended)


def progress(site: Site, request: Request) -> Response:
    """Where a run stands, for the script: a phase and whether it ended."""
    run = Run.of(_draft(site, request))
    status = run.status()
    if status is None:
        return JSONResponse({"phase": None, "ended": True})
    waits, ended = run.waits(_queue(site)), status.ended is not None
    told = {"phase": status.phase, "waits": waits, "ended": ended}
    return JSONResponse(told | {"stoppable": status.phase in STOPPABLE})


def cancel(site: Site, request: Request, form: FormData) -> Response:
    """Stop a run."""
    draft = _draft(site, request)
    Run.of(draft).cancel()
    return to(f"/drafts/{draft.name}/run")


def copy(site: Site, request: Request, form: FormData) -> Response:
    """Another draft like this one, to change something."""
    draft = _draft(site, request).copy(site.state)
    return to(_address(draft, "columns"))


def mend(site: Site, request: Request, form: FormData) -> Response:
    """Leave rows out of a table that is refused because of them."""
    draft = _draft(site, request)
    if _busy(draft):
        return to(f"/drafts/{draft.name}/run")
    rows = [draft.one("file", "leave_out"), *(str(row) for row in form.getlist("row"))]
    _wrong(site, draft, "file", draft.filled("file") | {"leave_out": [" ".join(rows).strip()]})
    return to(_address(draft, "columns"))


def forget(site: Site, request: Request, form: FormData) -> Response:
    """Remove a draft, those that are no different, and the file that was dropped for it."""
    import shutil

    draft = _draft(site, request)
    status = Run.of(draft).status()
    if status is not None and status.ended is None:
        raise HoldfastError("a run of this draft is under way. Hint: cancel it first.")
    others = [Draft.find(site.state, name) for name in site.state.names("drafts")]
    alike = [one for one in others if status is None and Run.of(one).status() is None]
    same = draft.likeness
    for one in [draft, *(one for one in alike if one.likeness == same)]:
        shutil.rmtree(one.place, ignore_errors=True)
    return to("/")


def _draft(site: Site, request: Request) -> Draft:
    return Draft.find(site.state, request.path_params["draft"])


def _queue(site: Site) -> Path:
    """What runs lock in turn."""
    return site.state.root / "queue"


def _address(draft: Draft, step: str) -> str:
    return f"/drafts/{draft.name}/{step}"


def _busy(draft: Draft) -> bool:
    status = Run.of(draft).status()
    return status is not None and (status.ended is None or status.done)


def _save(site: Site, draft: Draft, step: str, form: FormData) -> Response:
    fields, go, here = _fields(form), str(form.get("go", "on")), STEPS.index(step)
    if step == "file":
        _take_file(draft, form, fields)
    if step == "columns":
        _publish_together(fields)
    if go in ("keep", "back"):
        if fields != draft.filled(step):
            draft.type(step, fields)
        return Response(status_code=204) if go == "keep" else to(_address(draft, STEPS[here - 1]))
    if _wrong(site, draft, step, fields) or go == "stay":
        return to(_address(draft, step))
    return to(_address(draft, STEPS[min(here + 1, len(STEPS) - 1)]))


def _wrong(site: Site, draft: Draft, step: str, fields: Filled) -> bool:
    """Whether what was filled in is not in order; it is kept either way."""
    draft.type(step, fields)
    if step == "columns":
        _write_list(draft)
    if checks.CHECKS[step](site, draft)["problem"]:
        return True
    draft.fill(step, fields)
    return False


def _publish_together(fields: Filled) -> None:
    """Publish the column that tells rows of the same name apart, where that was ticked."""
    column = fields.pop("together", [""])[-1]
    if column:
        fields |= {f"role:{column}": ["keep"], "repeated": ["yes"]}


def _fields(form: FormData) -> Filled:
    found: Filled = {}
    for name, value in form.multi_items():
        if isinstance(value, str) and name not in ("key", "go", "seen"):
            found.setdefault(name, []).append(value)
    return found


def _take_file(draft: Draft, form: FormData, fields: Filled) -> None:
    """Keep a dropped file; one that was dropped before stays where no other is named."""
    dropped = form.get("upload")
    if isinstance(dropped, UploadFile) and dropped.filename:
        name = safe_name(dropped.filename)
        if not is_table_file(name):
            fields["refused"] = [name]
            return
        with draft.upload(name).open("wb") as file:
            while chunk := dropped.file.read(COPIED):
                file.write(chunk)
        fields["dropped"] = [name]
    elif draft.one("file", "dropped") and not fields.get("path", [""])[0].strip():
        fields["dropped"] = [draft.one("file", "dropped")]


def _write_list(draft: Draft) -> None:
    """Categories that were typed in, as a file with the name of their column."""
    from holdfast.former.tables.csv import CsvTable

    listed = draft.one("columns", "listed").strip()
    if listed:
        columns = columns_with(draft, "by")
        rows = [[part.strip() for part in line.split(";")] for line in listed.splitlines()]
        table = CsvTable(tuple(columns), [row for row in rows if len(row) == len(columns)])
        draft.upload(LISTED).write_bytes(table.to_bytes())


def _recipe(site: Site, draft: Draft, step: str) -> dict[str, Any]:
    """The command and the Python so far; nothing while that cannot be said."""
    try:
        return recipe_values(of_run(chosen(draft, site.folder), site.folder.root))
    except HoldfastError:
        return {"command": "", "python": ""}


def _result(site: Site, draft: Draft, status: Status) -> dict[str, Any]:
    from holdfast.former.page.releases import Opened

    result = status.result or {}
    opened = Opened.of(site, Path(result["folder"]))
    repeated = bool(result.get("repeated"))
    return {"repeated": repeated, "balance": checks.balance(site, draft), **opened.overview(site)}
