"""A release that somebody has opened: verified, loaded, and what is shown of it."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError
from holdfast.page.folder import stamp
from holdfast.page.site import Site
from holdfast.page.state import read_json, write_json

if TYPE_CHECKING:
    from holdfast.release.release import Release
    from holdfast.verify.report import Verification

MOST_ROWS = 2_000
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
