"""The analyst's way: from a release to an answer."""

import shlex
import shutil
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from holdfast.errors import HoldfastError
from holdfast.page.checks import Recipe
from holdfast.page.releases import MOST_ROWS, Opened
from holdfast.page.site import Site, to

if TYPE_CHECKING:
    from holdfast.answers.result import QuestionResult
    from holdfast.release.release import Release


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
    values |= {"said_answer": None, "problem": ""}
    values |= {"columns": release.published, "titles": [c.title for c in release.columns]}
    values |= {"simulated": release.promise.simulated, "recipe": None}
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
    table = {"header": header, "rows": rows[:MOST_ROWS]}
    return {"words": result.title, "notes": result.remarks} | table


def _recipe(at: str, asked: dict[str, str]) -> Recipe:
    question, how = asked["question"].strip(), options(asked)
    words = [word for name, value in how.items() for word in (f"--{name}", value)]
    call = ", ".join([repr(question), *(f"{name}={value!r}" for name, value in how.items())])
    return Recipe(
        command=shlex.join(["holdfast", "ask", at, question, *words]),
        python=f"import holdfast\n\nrelease = holdfast.load({at!r})\nprint(release.ask({call}))",
    )


def zipped(site: Site, request: Request) -> Response:
    """The whole folder of a release, in a zip file that is removed once it was sent."""
    opened = _opened(site, request)
    opened.verified(site).require()  # nothing else is in it, and no links
    place, folder = site.state.make("zips"), opened.folder
    made = shutil.make_archive(str(place / "release"), "zip", folder.parent, folder.name)
    removal = BackgroundTask(shutil.rmtree, place, ignore_errors=True)
    return FileResponse(made, filename=f"{folder.name}.zip", background=removal)


def _opened(site: Site, request: Request) -> Opened:
    return Opened.find(site, request.path_params["release"])
