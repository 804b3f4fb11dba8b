"""The analyst's way: from a release, which is verified and loaded once, to an answer."""

import shlex
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from holdfast.errors import HoldfastError
from holdfast.page.checks import Recipe
from holdfast.page.folder import stamp
from holdfast.page.site import Site, to
from holdfast.request.questions import examples

if TYPE_CHECKING:
    from holdfast.answers.result import QuestionResult
    from holdfast.release.release import Release
    from holdfast.verify.report import Verification

SHOWN_ROWS = 2_000
"""Lines of a table that a page shows; files have them all."""


@dataclass(frozen=True)
class Opened:
    """A release in the folder of the page."""

    site: Site
    folder: Path

    @property
    def at(self) -> str:
        """Its path as people type it."""
        return self.site.folder.shown(self.folder)

    @property
    def address(self) -> str:
        """Where it is shown."""
        return f"/releases/{self.at.encode().hex()}"

    def verified(self) -> "Verification":
        """What `holdfast.verify` finds, as long as no file changes."""
        import holdfast

        return self.site.remembered.get(self.key("verify"), lambda: holdfast.verify(self.folder))

    def loaded(self) -> "Release":
        """The release; raises if it is damaged."""
        from holdfast.release.load import load

        self.verified().require()
        return self.site.remembered.get(self.key("load"), lambda: load(self.folder))

    def overview(self) -> dict[str, Any]:
        """What is shown of it first: the verdict, and of a whole release its report."""
        verdict = self.verified()
        report = self.site.remembered.get(self.key("report"), self._report) if verdict else ""
        return {"opened": self, "verdict": verdict, "recipe": None, "report": report}

    def _report(self) -> str:
        """Its report as elements of the page."""
        from holdfast.answers.report import content_of
        from holdfast.answers.report.blocks import elements

        release = self.loaded()
        return elements(content_of(release), release)

    def key(self, what: str) -> Any:
        """What a result about it is remembered by: its files as they are now."""
        if not self.folder.is_dir():
            raise HoldfastError(f"`{self.at}` is no folder of a release. Hint: open another.")
        files = sorted(path for path in self.folder.iterdir() if path.is_file())
        return (what, str(self.folder), tuple(map(stamp, files[:64])))


def open_release(site: Site, request: Request, form: FormData) -> Response:
    """A folder of a release."""
    return to(Opened(site, site.folder.find(str(form.get("path", "")))).address)


def overview(site: Site, request: Request) -> Response:
    """The verdict, the promise, the distribution, common answers and groups."""
    return site.show(request, "overview.html", **_opened(site, request).overview())


def ask(site: Site, request: Request) -> Response:
    """A question, and its answer in words."""
    opened = _opened(site, request)
    release, asked = opened.loaded(), dict(request.query_params)
    values: dict[str, Any] = {"opened": opened, "asked": asked, "questions": examples()}
    values |= {"said_answer": None, "problem": "", "recipe": None}
    values |= {"columns": release.published, "titles": [c.name for c in release.columns]}
    values |= {"simulated": release.promise.simulated}
    if asked.get("question", "").strip():
        try:
            values |= {"said_answer": answer(release, asked), "recipe": _recipe(opened.at, asked)}
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
    table = {"header": header, "rows": rows[:SHOWN_ROWS]}
    return {"words": result.title, "notes": result.remarks} | table


def _recipe(at: str, asked: dict[str, str]) -> Recipe:
    question, how = asked["question"].strip(), options(asked)
    options_typed = [word for name, value in how.items() for word in (f"--{name}", value)]
    call = ", ".join([repr(question), *(f"{name}={value!r}" for name, value in how.items())])
    return Recipe(
        command=shlex.join(["holdfast", "ask", at, question, *options_typed]),
        python=f"import holdfast\n\nrelease = holdfast.load({at!r})\nprint(release.ask({call}))",
    )


def zipped(site: Site, request: Request) -> Response:
    """The whole folder of a release, in a zip file that is removed once it was sent."""
    opened = _opened(site, request)
    opened.verified().require()  # nothing else is in it, and no links
    place, folder = site.state.make("zips"), opened.folder
    made = shutil.make_archive(str(place / "release"), "zip", folder.parent, folder.name)
    removal = BackgroundTask(shutil.rmtree, place, ignore_errors=True)
    return FileResponse(made, filename=f"{folder.name}.zip", background=removal)


def _opened(site: Site, request: Request) -> Opened:
    """The release that an address names."""
    with suppress(ValueError):
        return Opened(
            site, site.folder.find(bytes.fromhex(request.path_params["release"]).decode())
        )
    raise HTTPException(404)
