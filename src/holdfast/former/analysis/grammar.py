"""A small language for questions, for people at a command line.

    share zero            share 3               share 3 or more       share at least 3
    share above 2         share at most 5       share below 6         share between 2 and 5
    mean                  total                 variance              gini
    median                quantile 0.9          released 7
    top 10                row Kent              compare Kent with Ely
    total of Kent, Ely, York

Against an earlier release, with `--against`, also:

    changes               change of Kent, Ely

Names with commas or "with" in them stand in quotes: total of "Washington, DC", Ely. Symbols work
too: `share >= 3`, `share > 2`, `share <= 5`, `share < 6`, `share = 0`.
"""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.former.release.release import Release

EXAMPLES = (
    "share zero", "share at least 3", "share between 2 and 5", "mean", "total", "median",
    "quantile 0.9", "variance", "gini", "released 7", "top 10", "row A", "compare A with B",
    "total of A, B, C",
)  # fmt: skip
_PLAIN = {
    "average": "mean", "mean": "mean", "sum": "total", "total": "total", "median": "median",
    "variance": "variance", "gini": "gini",
}  # fmt: skip
_FIRST = (*_PLAIN, "share", "quantile", "released", "top", "row", "compare", "changes", "change")
_WHOLE = r"(\d{1,9})"
_SHARES: tuple[tuple[str, str, int], ...] = (
    (rf"{_WHOLE} or more|(?:at least|>=) ?{_WHOLE}", "at_least", 0),
    (rf"{_WHOLE} or (?:less|fewer)|(?:at most|<=) ?{_WHOLE}", "at_most", 0),
    (rf"(?:above|over|more than|>) ?{_WHOLE}", "at_least", 1),
    (rf"(?:below|under|less than|fewer than|<) ?{_WHOLE}", "at_most", -1),
    (rf"(?:equal(?: to)?|exactly|=)? ?{_WHOLE}", "equal", 0),
)
_MEANT = {
    "zero": "share zero", "zeros": "share zero", "percentile": "quantile", "std": "variance",
    "sd": "variance", "standard deviation": "variance", "max": "top 1", "maximum": "top 1",
    "highest": "top 1", "average count": "mean", "mean count": "mean", "total count": "total",
}  # fmt: skip
_SHARE_WORDS = ("percent", "percentage", "fraction", "proportion", "part", "probability")
_PICTURES = ("histogram", "distribution", "distribution of counts", "counts")
_WORDS = {
    "share", "zero", "zeros", "at", "least", "most", "above", "below", "over", "under", "more",
    "less", "than", "fewer", "or", "equal", "to", "exactly", "between", "and", "of", "with", "rows",
}  # fmt: skip


class AnsweredBy(StrEnum):
    """The methods of `Release` that answer typed questions."""

    ASK = "ask"
    POSTERIOR = "posterior"
    TOP = "top"
    ROW = "row"
    COMPARE = "compare"
    TOTAL_OF = "total_of"
    CHANGES = "changes"
    """Of two releases."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a typed question asks of a release: a method, and what it is given."""

    method: AnsweredBy
    """Which method answers."""
    arguments: tuple[Any, ...] = ()
    """Positional."""
    options: dict[str, Any] = field(default_factory=dict)
    """By name."""

    def put_to(self, release: "Release", **how: Any) -> Any:
        """The answer of one release; changes are of two."""
        methods: dict[AnsweredBy, Callable[..., Any]] = {
            AnsweredBy.ASK: release.ask,
            AnsweredBy.POSTERIOR: release.posterior,
            AnsweredBy.TOP: release.top,
            AnsweredBy.ROW: release.row,
            AnsweredBy.COMPARE: release.compare,
            AnsweredBy.TOTAL_OF: release.total_of,
        }
        return methods[self.method](*self.arguments, **self.options, **how)


def parse(text: str) -> Call:
    """What a text asks for; raises with suggestions if it asks for nothing that is known.

    >>> parse("share at least 3").options, parse("share at least 1,000").options
    ({'at_least': 3}, {'at_least': 1000})
    >>> parse("compare Kent with Ely").arguments
    ('Kent', 'Ely')
    >>> parse("shre zero")
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: 'shre zero' is not a question that holdfast knows. Hint: did \
you mean 'share zero'?
    >>> parse("mean by state")
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: 'mean by state' is not a question that holdfast knows. Hint: \
ask for 'mean', and say the rest with `by` or `where`, --by or --where.
    """
    words = " ".join(text.split()).replace("≥", ">=").replace("≤", "<=")
    lower = re.sub(r"[?.!]$", "", words.lower())
    for prefix in ("what is the ", "the ", "p("):
        lower = lower.removeprefix(prefix)
    lower = re.sub(r"^(zeros$|above \d)", r"share \1", lower)  # as `plan` and `compare` say it
    if lower == "changes":
        return Call(method=AnsweredBy.CHANGES)
    if lower in _PLAIN:
        return Call(method=AnsweredBy.ASK, arguments=(_PLAIN[lower],))
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", lower)  # 1,000 as answers write it
    found = _share(plain) or _numbered(plain) or _named(words)
    if not words:
        raise HoldfastError(f"the question is empty. {_hint(lower)}")
    if found is None:
        asked = words if len(words) <= 80 else f"{words[:80]}…"
        raise HoldfastError(f"{asked!r} is not a question that holdfast knows. {_hint(lower)}")
    return found


def _share(text: str) -> Call | None:
    match = re.fullmatch(r"share(?: of)?(?: rows)?(?: with)? ?(.+)", text)
    if not match:
        return None
    rest = re.sub(r"\bzeros?\b|\bnone\b", "0", match[1])
    pair = re.fullmatch(rf"(?:between|from) {_WHOLE} (?:and|to) {_WHOLE}", rest)
    if pair:
        return _ask("share", between=(int(pair[1]), int(pair[2])))
    for pattern, option, shift in _SHARES:
        found = re.fullmatch(pattern, rest)
        if found:
            count = int(next(filter(None, found.groups()))) + shift
            if count < 0:
                raise HoldfastError("no count is below 0. Hint: ask for 'share zero'.")
            return _ask("share", **{option: count})
    return None


def _numbered(text: str) -> Call | None:
    match = re.fullmatch(r"quantile (?:at )?(0?\.\d+|\d{1,2} ?%)", text)
    if match:
        number = match[1].strip()
        return _ask("quantile", at=float(number.rstrip(" %")) / (100 if "%" in number else 1))
    match = re.fullmatch(rf"(released|top) {_WHOLE}", text)
    if match:
        method = AnsweredBy.POSTERIOR if match[1] == "released" else AnsweredBy.TOP
        return Call(method=method, arguments=(int(match[2]),))
    return None


def _named(text: str) -> Call | None:
    match = re.fullmatch(r"row (\".+\"|.+)", text, flags=re.IGNORECASE)
    if match:
        return Call(method=AnsweredBy.ROW, arguments=(match[1].strip('"'),))
    match = re.fullmatch(
        r"compare (\".+?\"|.+?) (?:with|and|to|vs\.?|versus) (.+)", text, flags=re.IGNORECASE
    )
    if match:
        names = tuple(name.strip('"') for name in match.groups())
        return Call(method=AnsweredBy.COMPARE, arguments=names)
    match = re.fullmatch(r"(total|sum|changes?) of (.+)", text, flags=re.IGNORECASE)
    if match:
        change = match[1].lower().startswith("change")
        method = AnsweredBy.CHANGES if change else AnsweredBy.TOTAL_OF
        parts = re.findall(r'\s*(?:"([^"]*)"|([^",]+))\s*(?:,|$)', match[2])
        labels = [(quoted or plain).strip() for quoted, plain in parts if (quoted or plain).strip()]
        return Call(method=method, arguments=(labels,)) if labels else None
    return None


def _ask(*arguments: Any, **options: Any) -> Call:
    return Call(method=AnsweredBy.ASK, arguments=arguments, options=options)


def _hint(text: str) -> str:
    """What was meant, or nearly written; otherwise what can be asked."""
    if text in _PICTURES:
        return "Hint: `holdfast report` shows the whole distribution, with its band."
    meant = _meant(text)
    if meant is not None:
        return f"Hint: did you mean {meant!r}?"
    asked, part, _ = text.partition(" by ") if " by " in text else text.partition(" where ")
    if part and _is_known(asked):
        return f"Hint: ask for {asked!r}, and say the rest with `by` or `where`, --by or --where."
    known, mended = _WORDS | set(_FIRST), []
    for word in text.split():
        near = difflib.get_close_matches(word, known, n=1, cutoff=0.7)
        mended.append(word if word in known or not near else near[0])
    suggestion = " ".join(mended)
    if suggestion != text and _is_known(suggestion):
        return f"Hint: did you mean {suggestion!r}?"
    first = text.split()[0] if text else ""
    fitting = [example for example in EXAMPLES if example.split()[0] == first]
    return f"Hint: ask for example {'; '.join(fitting or EXAMPLES)}."


def _meant(text: str) -> str | None:
    """A question that holdfast knows, for one in other words."""
    first, _, rest = text.partition(" ")
    rest = rest.removeprefix("of ").removeprefix("rows ").removeprefix("with ")
    guesses = [
        _MEANT.get(text, ""),
        f"share {rest}" if first in _SHARE_WORDS else "",
        re.sub(r"^(?:percentile|quantile|p) ?([1-9]\d?)$", r"quantile \1%", text),
        re.sub(
            r"^.*\b(?:how many|what share|which share)\b.*\b(?:have|has|with|are) ", "share ", text
        ),
        re.sub(r"^share at least (\d+) and at most (\d+)$", r"share between \1 and \2", text),
        re.sub(r"^top (\d+) .*$", r"top \1", text),
    ]
    return next((guess for guess in guesses if guess and guess != text and _is_known(guess)), None)


def _is_known(text: str) -> bool:
    try:
        parse(text)
    except HoldfastError:
        return False
    return True
