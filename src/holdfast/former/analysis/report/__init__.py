"""The report of a release: what it says, and how HTML, Markdown and pictures dress it."""
