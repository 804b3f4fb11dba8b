"""Checks a built site: links inside it lead somewhere, and no page asks the network for a part.

`python docs/check_site.py build/docs`, which `make docs` runs. Links to other sites are left alone.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page refers to, and what can be referred to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = {""}
        self.links: list[str] = []
        self.parts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember links, parts and names."""
        found = {name: value or "" for name, value in attrs}
        self.names |= {found["id"]} if "id" in found else set()
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        self.parts += [found["src"]] if "src" in found else []
        self.parts += [found["href"]] if tag == "link" and "href" in found else []


def problems(site: Path) -> list[str]:
    """What is broken, in words."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        outside = [part for part in page.parts if urlsplit(part).netloc]
        found += [f"{path.name} needs {part} from the network" for part in outside]
        for link in [*page.links, *page.parts]:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                continue
            place = (path.parent / unquote(target.path)).resolve() if target.path else path
            names = pages[place].names if place in pages else {unquote(target.fragment)}
            if not place.exists() or unquote(target.fragment) not in names:
                found.append(f"{path.name}: {link} leads nowhere")
    return found


if __name__ == "__main__":
    broken = problems(Path(sys.argv[1]))
    print(*broken, sep="\n", file=sys.stderr)
    sys.exit(bool(broken))
