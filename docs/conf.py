"""The documentation site: `make docs` builds it, from these files and the docstrings alone."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

project = "holdfast"
author = project_copyright = "The holdfast developers"
release = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]["version"]

extensions = ["myst_parser", "mathml", "reference"]
exclude_patterns = ["_ext", "_static"]
nitpicky = True
suppress_warnings = ["myst.header"]  # a page that is included starts below its own heading

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

html_theme = "furo"
html_title = "holdfast"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["holdfast.css"]
html_theme_options = {"navigation_with_keys": True}
highlight_language = "none"
pygments_style, pygments_dark_style = "friendly", "monokai"

smartquotes = False  # "--" is an option, not a dash
