"""The analyst's way: from a release to an answer."""

import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from holdfast.errors import HoldfastError
from holdfast.page.checks import Recipe
from holdfast.page.releases import MOST_ROWS, Opened
from holdfast.page.site import Site, to

if TYPE_CHECKING:
    from holdfast.answers.result import QuestionResult
    from holdfast.release.release import Release

FILES = {
    "answers": "answers.csv",
    "rows": "rows.csv",
    "distribution": "distribution.csv",
    "picture": "distribution.svg",
}
"""Files of a release that can be taken away one by one, beside its table."""
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


def open_release(site: Site, request: Request, form: FormData) -> Response:
    """A folder of a release."""
    return to(Opened.of(site, site.folder.find(str(form.get("path", "")))).address)


def overview(site: Site, request: Request) -> Response:
    """The verdict, the promise, the distribution, common answers and groups."""
    return site.show(request, "overview.html", **_opened(site, request).overview(site))


def ask(site: Site, request: Request) -> Response:
    """A question, and its answer in words."""
    opened = _opened(site, request)
    release, asked = opened.loaded(site), dict(request.query_params)
    values: dict[str, Any] = {"opened": opened, "at": opened.shown(site), "asked": asked}
    values |= {"said_answer": None, "problem": "", "recipe": opened.recipe(site)}
    values |= {"columns": release.published, "titles": [c.title for c in release.columns]}
    values |= {"simulated": release.promise.simulated, "example": _example(release)}
    if asked.get("question", "").strip():
        try:
            key = opened.key("ask")
            how = tuple(sorted(asked.items()))
            values["said_answer"] = site.remembered.get((*key, how), lambda: answer(release, asked))
            values["recipe"] = _recipe(opened.shown(site), asked)
        except HoldfastError as error:
            values["problem"] = site.said(str(error))
    return site.show(request, "ask.html", **values)


def options(asked: dict[str, str]) -> dict[str, str]:
    """What was said beside the question."""
    names = ("where", "less", "by", "of", "label")
    return {name: asked[name] for name in names if asked.get(name, "").strip()}


def answer(release: "Release", asked: dict[str, str]) -> dict[str, Any]:
    """The answer to a question as it was typed: a sentence or a table, and notes."""
    how: dict[str, Any] = options(asked)
    result: QuestionResult = release.ask(asked["question"].strip(), **how)
    header, rows = result.cells()
    said = {"words": result.title, "header": header, "rows": rows[:MOST_ROWS]}
    return said | {"notes": result.remarks}


def _recipe(at: str, asked: dict[str, str]) -> Recipe:
    question, how = asked["question"].strip(), options(asked)
    words = [word for name, value in how.items() for word in (f"--{name}", value)]
    call = ", ".join([repr(question), *(f"{name}={value!r}" for name, value in how.items())])
    return Recipe(
        command=shlex.join(["holdfast", "ask", at, question, *words]),
        python=f"import holdfast\n\nrelease = holdfast.load({at!r})\nprint(release.ask({call}))",
    )


def _example(release: "Release") -> str:
    """The label of some row, for an example."""
    batch = next(release.batches())
    cells = batch.cells.get(release.category or "")
    return "" if cells is None or not len(cells) else str(cells[0])[:40]


def report(site: Site, request: Request) -> Response:
    """The report as it would be written, in a page of its own that may run nothing."""
    made = _opened(site, request).report(site)
    return HTMLResponse(made, headers={"Content-Security-Policy": REPORT_POLICY})


def download(site: Site, request: Request) -> Response:
    """One of the files of a release, or all of them."""
    opened, what = _opened(site, request), request.path_params["what"]
    if what == "zip":
        opened.verified(site).require()  # nothing else is in it, and no links
        return _zip(site, opened.folder)
    name = _table(opened) if what == "table" else FILES.get(what)
    if name is None or not (opened.folder / name).is_file():
        raise HoldfastError("there is no such file. Hint: go back to the release.")
    return FileResponse(
        opened.folder / name,
        filename=f"{opened.shown(site).replace('/', '-')}-{name}",
        media_type="application/octet-stream",
    )


def _table(opened: Opened) -> str | None:
    names = (path.name for path in opened.folder.glob("table.*") if path.is_file())
    return next(names, None)


def _zip(site: Site, folder: Path) -> Response:
    """The whole folder of a release, in a zip file that is removed once it was sent."""
    place = site.state.make("zips")
    made = shutil.make_archive(str(place / "release"), "zip", folder.parent, folder.name)
    return FileResponse(
        made,
        media_type="application/zip",
        filename=f"{folder.name}.zip",
        background=BackgroundTask(shutil.rmtree, place, ignore_errors=True),
    )


def _opened(site: Site, request: Request) -> Opened:
    return Opened.find(site, request.path_params["release"])
