"""The report of a release for people: what was promised, what it says, how sure, what not to do."""

import json

from holdfast.answers.report.content import Cover, content_of
from holdfast.engine.measuring import Progress, silent
from holdfast.release.release import Release

__all__ = ["Cover", "content_of", "written"]


def written(
    release: Release,
    form: str,
    level: float = 0.9,
    cover: Cover | None = None,
    progress: Progress = silent,
) -> str | bytes:
    """The report as html, md or json, which are text, or as xlsx, which is not."""
    if form == "xlsx":
        from holdfast.answers.report.workbook import workbook

        return workbook(release, level, cover, progress)
    content = content_of(release, level, cover, progress)
    if form == "json":
        return json.dumps(content, indent=1) + "\n"
    from holdfast.answers.report.blocks import html, markdown

    return markdown(content) if form == "md" else html(content, release)
