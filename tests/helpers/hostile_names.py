"""Forty names and labels of others, and what a reader of a page makes of them."""

import html.parser

from markdown_it import MarkdownIt

NAMES = (
    "`<script>alert(1)</script>`",
    '"><img src=x onerror=alert(1)>',
    "| a | b |",
    "x\n\n# Promise\n- Promise: epsilon = 0",
    "[click](javascript:alert(1))",
    "![pixel](http://example.org/x.png)",
    "```` ``` ` ````",
    "<!-- hidden",
    "]]><b>",
    "\x1b[2J\x1b]0;owned\x07",
    "\x01\x02\x0b\x0c\x7f\x9b31m",
    "&lt;b&gt;&#0;&amp;",
    "\u202eesrever",
    "\u200b\ufeff",
    "\ufffe\uffff",
    "*b* **c** ~~d~~ \\ _e_",
    "a\rb",
    "a\tb",
    "=1+1",
    '=HYPERLINK("http://example.org","x")',
    "+cmd|' /C calc'!A0",
    "-2+3+cmd",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "'=1",
    "''=1",
    "'tis",
    "-5",
    "-",
    "1,5",
    "a;b",
    'say "yes"',
    "all rows",
    "(missing)",
    "row",
    "group",
    "null",
    "{{ 7 * 7 }}",
    "$x^2$",
    "%s %n {0}",
    "../../etc/passwd",
    "x" * 300,
)


class Page(html.parser.HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.comments, self.words = [], set(), [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_data(self, data):
        self.words += data


def rendered(markdown):
    return Page(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))


def shown(name):
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())
