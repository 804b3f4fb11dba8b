"""The analyst's way: from a release, which is verified and loaded once, to an answer."""

import hashlib
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from holdfast.errors import HoldfastError
from holdfast.page.checks import Recipe
from holdfast.page.folder import read_json, stamp, write_json
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
    """A release in its folder, with a name for addresses."""

    name: str
    folder: Path

    @staticmethod
    def of(site: Site, folder: Path) -> "Opened":
        """The release in a folder, known from now on."""
        name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        place = site.state.make("releases", name)
        write_json(place / "path.json", str(folder))
        return Opened(name, folder)

    @staticmethod
    def find(site: Site, name: str) -> "Opened":
        """One that was opened before."""
        path = read_json(site.state.place("releases", name) / "path.json")
        if path is None:
            raise HoldfastError("this release is not open. Hint: open it from the first page.")
        return Opened(name, Path(path))

    @property
    def address(self) -> str:
        """Where it is shown."""
        return f"/releases/{self.name}"

    def shown(self, site: Site) -> str:
        """Its path as people type it."""
        inside = self.folder.is_relative_to(site.folder.root)
        return site.folder.shown(self.folder) if inside else self.folder.name

    def verified(self, site: Site) -> "Verification":
        """What `holdfast.verify` finds, as long as no file changes."""
        import holdfast

        return site.remembered.get(self.key("verify"), lambda: holdfast.verify(self.folder))

    def loaded(self, site: Site) -> "Release":
        """The release; raises if it is damaged."""
        from holdfast.release.load import load

        self.verified(site).require()
        return site.remembered.get(self.key("load"), lambda: load(self.folder))

    def overview(self, site: Site) -> dict[str, Any]:
        """What is shown of it first: the verdict, and of a whole release its report."""
        verdict = self.verified(site)
        values = {"opened": self, "at": self.shown(site), "verdict": verdict, "recipe": None}
        if not verdict:
            return values | {"report": ""}
        release = self.loaded(site)
        return values | {
            "report": site.remembered.get(self.key("report"), lambda: _report(release))
        }

    def key(self, what: str) -> Any:
        """What a result about it is remembered by: its files as they are now."""
        if not self.folder.is_dir():
            raise HoldfastError(f"`{self.folder.name}` is gone. Hint: open another release.")
        files = sorted(path for path in self.folder.iterdir() if path.is_file())
        return (what, str(self.folder), tuple(map(stamp, files[:64])))


def _report(release: "Release") -> str:
    """Its report as elements of the page."""
    from holdfast.answers.report import content_of
    from holdfast.answers.report.blocks import elements

    return elements(content_of(release), release)


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
    values |= {"columns": release.published, "titles": [c.name for c in release.columns]}
    values |= {"simulated": release.promise.simulated, "recipe": None}
    values |= {"questions": examples()}
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
    opened.verified(site).require()  # nothing else is in it, and no links
    place, folder = site.state.make("zips"), opened.folder
    made = shutil.make_archive(str(place / "release"), "zip", folder.parent, folder.name)
    removal = BackgroundTask(shutil.rmtree, place, ignore_errors=True)
    return FileResponse(made, filename=f"{folder.name}.zip", background=removal)


def _opened(site: Site, request: Request) -> Opened:
    return Opened.find(site, request.path_params["release"])
