"""`holdfast page`: the same in a browser."""

from pathlib import Path

import typer

from holdfast.cli.options import explained
from holdfast.errors import needed, whole_number


@explained
def page(
    folder: Path | None = None, port: int = 0, open_browser: bool = True, demo: bool = False
) -> None:
    """Open a local page that leads from a file to a release, and from a release to an answer.

    It listens on this machine alone and asks the network for nothing. The address that it prints
    opens it once; what it prints next opens it in another browser.

    Examples:

        holdfast page --demo

        holdfast page --folder tables --no-open --port 8123

    Options:

    --folder FOLDER: What it may read and write; default: the folder you are in.
    --port NUMBER: Default: one that is free.
    --open/--no-open: Open a browser.
    --demo: Start with the built-in public table.
    """
    whole_number(port, "port", most=65535)
    with needed("the page needs starlette, uvicorn, jinja2 and python-multipart", "page"):
        from holdfast.page.app import run
    typer.echo("The page stops with Ctrl-C. Each of these addresses opens it once:")
    run(folder, port=port, browser=open_browser, demo=demo, say=typer.echo)
