"""`holdfast.privatize`: any table in, a release out."""

from typing import Any

from holdfast.engine.run import run
from holdfast.release.release import Release
from holdfast.request import Request
from holdfast.request.documentation import declared
from holdfast.request.source import opened


@declared
def privatize(table: Any, **options: Any) -> Release:
    """Made from the fields of a request: `holdfast.request.documentation`."""
    request = Request.read(**options)
    with opened(table, request) as checked:
        return run(checked, request, file=table)
