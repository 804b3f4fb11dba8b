"""The analyst's way: from a release to an answer."""

import shutil
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.background import BackgroundTask
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from holdfast.errors import HoldfastError
from holdfast.former.page import answers, zips
from holdfast.former.page.draft import Draft
from holdfast.former.page.recipe import of_release, script
from holdfast.former.page.releases import LEVEL, Opened
from holdfast.former.page.rows import counts_in_words, readable
from holdfast.former.page.runs import Run
from holdfast.former.page.site import Site, recipe_values, to

if TYPE_CHECKING:
    from holdfast.former.tables.csv import CsvTable

ROWS = 50
CSV = "text/csv; charset=utf-8"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


def open_release(site: Site, request: Request, form: FormData) -> Response:
    """A folder, or a zip in the folder or dropped in."""
    dropped = form.get("upload")
    if isinstance(dropped, UploadFile) and dropped.filename:
        return to(_unpacked(site, dropped.file).address)
    path = site.folder.find(str(form.get("path", "")))
    if path.is_file():
        with path.open("rb") as file:
            return to(_unpacked(site, file).address)
    return to(Opened.of(site, path).address)


def overview(site: Site, request: Request) -> Response:
    """What was promised, the verdict, and the distribution with intervals."""
    opened = _opened(site, request)
    values, questions = opened.overview(site), opened.questions(site)
    return site.show(request, "overview.html", tab="overview", questions=questions, **values)


def ask(site: Site, request: Request) -> Response:
    """A question built by choosing what, where and by, and its answer."""
    opened = _opened(site, request)
    release, chosen = opened.loaded(site), dict(request.query_params)
    values: dict[str, Any] = {"chosen": chosen, "columns": release.unchanged_columns}
    values |= {
        "lines": [],
        "rows": (),
        "ranked_by": "",
        "notes": [],
        "groups": {},
        "coefficients": [],
    }
    values |= {"sentence": "", "problem": "", "command": "", "python": ""}
    values |= {"example": answers.example(release), "write": counts_in_words(release, site.words)}
    try:
        asked = answers.regression if chosen.get("what") == "regress" else answers.answer
        if chosen:
            key = ("ask", opened.key("ask"), *sorted(chosen.items()))
            at = opened.shown(site)
            values |= site.remembered.get(key, lambda: asked(release, chosen, at))
    except HoldfastError as error:
        values["problem"] = site.said(str(error))
    return _tab(site, request, opened, "ask", **values)


def together(site: Site, request: Request) -> Response:
    """A question about two columns of counts, and its answer."""
    opened, chosen = _opened(site, request), dict(request.query_params)
    release, at = opened.several(site), opened.shown(site)
    values: dict[str, Any] = {"opened": opened, "at": at, "verdict": opened.verified(site)}
    values |= {"counts": list(opened.columns(site).items()), "columns": opened.public(site)}
    values |= {"chosen": chosen, "lines": [], "groups": {}, "problem": ""}
    values |= {"command": "", "python": ""}
    try:
        key = ("ask", opened.key("together"), *sorted(chosen.items()))
        values |= site.remembered.get(key, lambda: answers.together(release, chosen, at))
    except HoldfastError as error:
        values["problem"] = site.said(str(error))
    return site.show(request, "together.html", tab="", **values)


def table(site: Site, request: Request) -> Response:
    """The table with intervals, searched and turned by pages."""
    opened = _opened(site, request)
    release = opened.loaded(site)
    found, notes = _intervals(site, opened)
    search = request.query_params.get("search", "").strip()
    matching = [row for row in found.rows if _holds(row, search)] if search else found.rows
    pages = max(-(-len(matching) // ROWS), 1)
    number = request.query_params.get("page", "1")
    here = min(max(int(number) if number.isdecimal() and len(number) < 9 else 1, 1), pages)
    return _tab(
        site,
        request,
        opened,
        "table",
        **readable(found, matching[(here - 1) * ROWS : here * ROWS], release, site.words),
        number=len(matching),
        whole=len(found.rows),
        missing=int((release.counts < 0).sum()),
        here=here,
        pages=pages,
        search=search,
        notes=notes,
        **recipe_values(
            of_release(
                opened.shown(site),
                "report",
                "--with-intervals",
                python="release.intervals(0.9).columns()",
            )
        ),
    )


def compare(site: Site, request: Request) -> Response:
    """Two releases side by side."""
    from holdfast.former.page.comparing import choices, compared

    opened = _opened(site, request)
    name, listed = request.query_params.get("with", ""), choices(site, opened)
    values: dict[str, Any] = {"choices": listed, "other": name, "rows": [], "pictures": []}
    values |= {"command": "", "python": ""}
    if name in listed:
        values |= compared(site, opened, Opened.find(site, name))
    elif name:
        Opened.find(site, name)  # says where there is none; one of several counts is to be chosen
    return _tab(site, request, opened, "compare", **values)


def report(site: Site, request: Request) -> Response:
    """The report as it is handed on: a page with a policy of its own."""
    text = _opened(site, request).report(site)
    if text is None:
        raise HoldfastError("there is no report of such a release yet. Hint: see the overview.")
    return HTMLResponse(text, headers={"Content-Security-Policy": REPORT_POLICY})


def download(site: Site, request: Request) -> Response:
    """A file to keep: the table, the table with intervals, the report, or all in a zip."""
    opened, what = _opened(site, request), request.path_params["what"]
    name = opened.folder.name if opened.root == opened.folder else opened.shown(site)
    name = name.replace("/", "-")
    if what == "table":
        if not opened.verified(site):
            opened.loaded(site)  # says what is wrong
        path = next(opened.root.glob("table.*"))
        return FileResponse(path, filename=f"{name}{path.suffix}")
    if what == "intervals":
        return attached(_intervals(site, opened)[0].to_bytes(), f"{name}-intervals.csv", CSV)
    if what == "excel":
        from holdfast.former.analysis.report.workbook import workbook

        return attached(workbook(opened.loaded(site), LEVEL), f"{name}.xlsx", XLSX)
    if what == "zip":
        return _zip(site, opened)
    raise HoldfastError("there is no such file. Hint: choose one of the links.")


def attached(data: bytes, name: str, kind: str) -> Response:
    """A reply that is a file of this name."""
    disposition = f"attachment; filename*=utf-8''{quote(name)}"
    return Response(data, media_type=kind, headers={"Content-Disposition": disposition})


def _opened(site: Site, request: Request) -> Opened:
    return Opened.find(site, request.path_params["release"])


def _tab(site: Site, request: Request, opened: Opened, tab: str, **values: Any) -> Response:
    opened.loaded(site)
    at, verdict = opened.shown(site), opened.verified(site)
    shared: dict[str, Any] = {"opened": opened, "at": at, "verdict": verdict, "tab": tab}
    shared["counts"] = []
    return site.show(request, f"{tab}.html", **shared, **values)


def _unpacked(site: Site, file: Any) -> Opened:
    place = site.state.make("unpacked") / "release"
    zips.unpack(file, place)
    return Opened.of(site, place)


def _intervals(site: Site, opened: Opened) -> "tuple[CsvTable, tuple[str, ...]]":
    """The table with intervals; without them where they cannot be stated."""
    from holdfast.former.analysis.report.table import table_for_people

    release = opened.loaded(site)
    return site.remembered.get(opened.key("rows"), lambda: table_for_people(release, LEVEL))


def _holds(row: list[str], search: str) -> bool:
    return any(search.casefold() in cell.casefold() for cell in row)


def _zip(site: Site, opened: Opened) -> Response:
    """The release with its report and, where it was made here, the script; the file goes when it
    is sent."""
    report, beside = opened.report(site), _script(site, opened)
    beside |= {} if report is None else {"report.html": report}
    place = site.state.make("zips")
    with (place / "release.zip").open("wb") as file:
        zips.pack(opened.root, beside, file)
    return FileResponse(
        place / "release.zip",
        filename=f"{opened.root.name}.zip",
        media_type="application/zip",
        background=BackgroundTask(shutil.rmtree, place, ignore_errors=True),
    )


def _script(site: Site, opened: Opened) -> dict[str, str]:
    for name in site.state.names("drafts"):
        run = Run.of(Draft.find(site.state, name)).chosen
        if run is not None and run.out == str(opened.root):
            return {"again.py": script(run, site.folder.root, site.words.content["script"])}
    return {}
