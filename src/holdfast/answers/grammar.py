"""A small language for questions, the same on the command line and in `release.ask`.

    share zero            share 3               share 3 or more       share at least 3
    share above 2         share at most 5       share below 6         share between 2 and 5
    rows zero             rows at least 3       mean                  total
    median                quantile 0.9          quantiles 0.1, 0.9    standard deviation
    variance              gini                  maximum               top 10
    row Kent              compare Kent with Ely total of Kent, Ely, York
    mean Wake             mean by state         mean where population < 5000

Of two columns of counts: correlation of A and B, ratio of A and B, both zero A and B. Of a formula:
homicides ~ log(population), or ols homicides ~ log(population). Beside an earlier release: changes,
change of Kent, Ely.

Names with "with" or "to" in them stand in quotes: compare "Port to Port" with Ely. Symbols work
too: `share >= 3`, `share > 2`, `share <= 5`, `share < 6`, `share = 0`.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.answers.asking import ask
from holdfast.answers.changes import row_changes
from holdfast.answers.pairs import PAIRS, ask_pair
from holdfast.answers.regression import FAMILIES, regress
from holdfast.answers.rows import ask_row, compare, top
from holdfast.answers.sums import ask_derived
from holdfast.errors import HoldfastError
from holdfast.release.release import Release
from holdfast.request.questions import COUNTS, LEVEL, QUESTIONS, examples, spellings

EXAMPLES = ("top 10", "row A", "compare A with B", "total of A, B, C", "mean by state")
"""Questions about rows, beside those that `holdfast.request.questions` declares."""
LONGEST_QUESTION = 2000  # characters of a question
_WHOLE = r"(\d{1,15})"
_SHARES: tuple[tuple[str, str, int], ...] = (
    (rf"{_WHOLE}(?: or more|\+)|(?:at least|>=) ?{_WHOLE}", "at_least", 0),
    (rf"{_WHOLE} or (?:less|fewer)|(?:at most|<=) ?{_WHOLE}", "at_most", 0),
    (rf"(?:above|over|more than|>) ?{_WHOLE}", "at_least", 1),
    (rf"(?:below|under|less than|fewer than|<) ?{_WHOLE}", "at_most", -1),
    (rf"(?:equal(?: to)?|exactly|=)? ?{_WHOLE}", "equal", 0),
)
_SHARE_WORDS = "percent|percentage|fraction|proportion|part|probability|what share|which share"
_WORDS = {
    "share", "zero", "zeros", "at", "least", "most", "above", "below", "over", "under", "more",
    "less", "than", "fewer", "or", "equal", "to", "exactly", "between", "and", "of", "with", "rows",
    "top", "row", "compare", "change", "changes",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a typed question asks of a release: what answers it, and what that is given."""

    answered_by: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    """Positional, after the release."""
    options: dict[str, Any] = field(default_factory=dict)
    """By name; `where` and `by` among them, if they were typed."""
    names: tuple[str, ...] = ()
    """Labels of rows, or what a public column holds in them."""

    def of(self, release: Release, how: Mapping[str, Any]) -> Any:
        """The answer of a release."""
        return self.answered_by(release, *self.arguments, **how)


def parse(text: str) -> Call:
    """What a text asks for; raises with suggestions if it asks for nothing that is known.

    >>> parse("share at least 3").options, parse("share at least 1,000").options
    ({'at_least': 3}, {'at_least': 1000})
    >>> parse("compare Kent with Ely").arguments
    ('Kent', 'Ely')
    >>> parse("average by state").options, parse("mean Wake").names
    ({'by': 'state'}, ('Wake',))
    >>> parse("shre zero")
    Traceback (most recent call last):
    holdfast.errors.HoldfastError: 'shre zero' is not a question that holdfast knows. Hint: did \
you mean 'share zero'?
    """
    typed = " ".join(text[:LONGEST_QUESTION].split()).replace("≥", ">=").replace("≤", "<=")
    if not typed:
        raise HoldfastError(f"the question is empty. {_hint('')}")
    call = _parsed(typed)
    if call is None:
        asked = typed if len(typed) <= 80 else f"{typed[:80]}…"
        raise HoldfastError(
            f"{asked!r} is not a question that holdfast knows. {_hint(typed.lower())}"
        )
    return call


def _parsed(typed: str) -> Call | None:
    if "~" in typed:
        return _regression(typed)
    bare = re.sub(r"[?.!]$", "", typed)
    question, rest = _without_rest(bare)
    if rest:
        inner = _parsed(question)
        if inner is None or inner.answered_by not in (ask, top, ask_pair, ask_derived):
            return None
        return replace(inner, options=inner.options | rest)
    for prefix in ("what is the ", "the ", "p("):
        if bare.lower().startswith(prefix):
            bare = bare[len(prefix) :]
    lower = re.sub(r"^(zeros?$|above \d)", r"share \1", bare.lower())
    if lower in _plain() or lower == "rows":
        return _ask(lower)
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", lower)  # 1,000 as answers write it
    return _share(plain) or _numbered(plain) or _pair(bare) or _named(bare)


def _without_rest(typed: str) -> tuple[str, dict[str, Any]]:
    """The question, and what follows it after `where` and `by`."""
    rest: dict[str, Any] = {}
    match = re.fullmatch(r"(.+?) where (.+)", typed, flags=re.IGNORECASE)
    if match:
        typed, rest["where"] = match[1], match[2]
    grouped = r"(.+?) by ([\w`][^<>=]*)"
    for key in ("where", None):
        match = re.fullmatch(grouped, rest.get("where", "") if key else typed, flags=re.IGNORECASE)
        if match and "by" not in rest:
            columns = [name.strip(' "`') for name in match[2].split(",")]
            rest["by"] = columns[0] if len(columns) == 1 else columns
            if key:
                rest[key] = match[1]
            else:
                typed = match[1]
    return typed, rest


def _share(text: str) -> Call | None:
    begins = spellings(COUNTS)
    pattern = rf"({'|'.join(begins)})(?: of)?(?: rows)?(?: with| have)? ?(.+)"
    match = re.fullmatch(pattern, text)
    if not match:
        return None
    name = begins[match[1]]
    rest = re.sub(r"\bzeros?\b|\bnone\b", "0", match[2])
    pair = re.fullmatch(rf"(?:between|from) {_WHOLE} (?:and|to) {_WHOLE}", rest)
    if pair:
        return _ask(name, between=(int(pair[1]), int(pair[2])))
    for pattern, option, shift in _SHARES:
        limit = re.fullmatch(pattern, rest)
        if limit:
            count = int(next(filter(None, limit.groups()))) + shift
            if count < 0:
                raise HoldfastError(f"no count is below 0. Hint: ask for '{name} zero'.")
            return _ask(name, **{option: count})
    return None


def _numbered(text: str) -> Call | None:
    text = re.sub(r"^(\d+)(?:st|nd|rd|th) percentile$", r"p\1", text)
    begins = spellings(LEVEL)
    match = re.fullmatch(rf"({'|'.join(begins)}) ?(?:at )?([\d., %and]+)", text)
    if match:
        numbers = re.findall(r"(\d*\.?\d+) ?(%?)", match[2])
        of_100 = match[1] in ("p", "percentile", "percentiles") or "%" in match[2]
        levels = [float(number) / (100 if of_100 else 1) for number, _ in numbers]
        if levels and max(levels) <= 1:
            return _ask(begins[match[1]], at=levels[0] if len(levels) == 1 else levels)
    match = re.fullmatch(rf"top {_WHOLE}(?: (.*))?", text)
    if match is None or re.search(r"\b(?:percent\w*|rates?|of|per|shares?)\b|%", match[2] or ""):
        return None
    return Call(answered_by=top, arguments=(int(match[1]),))


def _pair(text: str) -> Call | None:
    names = "|".join(sorted(PAIRS, key=len, reverse=True))
    begin = rf"({names})(?: of| between)? (\".+?\"|.+?)"
    for between in ("(?: and |, | with | on | over )", " "):  # names of columns may have spaces
        match = re.fullmatch(f"{begin}{between}(.+)", text, flags=re.IGNORECASE)
        if match is None:
            continue
        pair = (match[2].strip('"'), match[3].strip('"'))
        return Call(answered_by=ask_pair, arguments=(match[1].lower(),), options={"of": pair})
    if re.fullmatch(r"[^=]+=.+\+.+|.+ \+ .+|(?:[^=]+=)?.+ per [\d,_]+ .+", text):
        return Call(answered_by=ask_derived, arguments=(text,))
    return None


def _named(text: str) -> Call | None:
    match = re.fullmatch(r"row (\".+\"|.+)", text, flags=re.IGNORECASE)
    if match:
        return Call(answered_by=ask_row, arguments=(match[1].strip('"'),))
    match = re.fullmatch(
        r"compare (\".+?\"|.+?) (?:with|and|to|vs\.?|versus) (.+)", text, flags=re.IGNORECASE
    )
    if match:
        names = tuple(name.strip('"') for name in match.groups())
        return Call(answered_by=compare, arguments=names)
    match = re.fullmatch(r"changes?(?: of (.+))?", text, flags=re.IGNORECASE)
    if match:
        return Call(answered_by=row_changes, names=_listed(match[1] or ""))
    match = re.fullmatch(rf"top {_WHOLE} of (.+)", text, flags=re.IGNORECASE)
    if match:
        return Call(answered_by=top, arguments=(int(match[1]),), names=_listed(match[2]))
    plain = "|".join(_plain())
    match = re.fullmatch(rf"({plain}) (?:(?:of|in|for|count of) )?(.+)", text, flags=re.IGNORECASE)
    if match:
        return replace(_ask(match[1].lower()), names=_listed(match[2]))
    match = re.fullmatch(r"(share .+?) (?:of|in|for) (\D.+)", text, flags=re.IGNORECASE)
    inner = _share(match[1].lower()) if match else None
    return replace(inner, names=_listed(match[2])) if match and inner else None


def _listed(text: str) -> tuple[str, ...]:
    parts = re.findall(r'\s*(?:"([^"]*)"|([^",]+))\s*(?:,|$)', text)
    return tuple(name for quoted, plain in parts if (name := (quoted or plain).strip()))


def _regression(typed: str) -> Call:
    first, _, rest = typed.partition(" ")
    family = first.lower() if first.lower() in FAMILIES else None
    if first.lower() == "regress":
        family, typed = None, rest
    options = {} if family is None else {"family": family}
    formula = typed if family is None else rest
    match = re.fullmatch(r"(.+~.+?) where (.+)", formula, flags=re.IGNORECASE)
    if match:
        formula, options["where"] = match[1], match[2]
    return Call(answered_by=regress, arguments=(formula,), options=options)


def _ask(name: str, **options: Any) -> Call:
    return Call(answered_by=ask, arguments=(spellings()[name],), options=options)


def _plain() -> list[str]:
    """What questions are called that need no option, and what others are called beside their name,
    as people who type it leave out what they take."""
    called = spellings().items()
    return [word for word, name in called if word != name or not QUESTIONS[name].takes]


def _hint(text: str) -> str:
    """What was meant, or nearly written; otherwise what can be asked."""
    if text in ("histogram", "distribution", "distribution of counts", "counts"):
        return "Hint: `holdfast report` shows the whole distribution."
    if text in FAMILIES:
        return f"Hint: {text} needs a formula, such as '{text} deaths ~ log(population)'."
    if re.match(r"rates?\b", text):
        return "Hint: such as 'deaths per 100,000 of population'."
    per = re.fullmatch(r"(.+) per ([^\d].*)", text)
    if per:
        return f"Hint: a rate is '{per[1]} per 1000 of {per[2]}'."
    if text in PAIRS:
        return f"Hint: {text!r} is about two columns of counts, such as '{text} of A and B'."
    meant = _meant(text)
    if meant is not None:
        return f"Hint: did you mean {meant!r}?"
    near = difflib.get_close_matches(text.partition(" ")[0], PAIRS, n=1)
    if near:
        return f"Hint: did you mean '{near[0]} of A and B'?"
    known, mended = {*_WORDS, *" ".join(spellings()).split()}, []
    for word in text.split():
        near = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.7)
        mended.append(word if word in known or not near else near[0])
    suggestion = " ".join(mended)
    if suggestion != text and _is_known(suggestion):
        return f"Hint: did you mean {suggestion!r}?"
    first = text.split()[0] if text else ""
    every = [*examples(), *EXAMPLES]
    fitting = [example for example in every if example.split()[0] == first]
    return f"Hint: ask for example {'; '.join(fitting or every)}."


def _meant(text: str) -> str | None:
    """A question that holdfast knows, for one in other words."""
    _, _, rest = text.partition(" ")
    rest = rest.removeprefix("of ").removeprefix("rows ").removeprefix("with ")
    guesses = [
        f"share {rest}" if re.match(_SHARE_WORDS, text) else "",
        re.sub(
            r"^.*\b(?:how many|what share|which share)\b.*\b(?:have|has|with|are) ", "share ", text
        ),
        re.sub(r"^share at least (\d+) and at most (\d+)$", r"share between \1 and \2", text),
    ]
    return next((guess for guess in guesses if guess and guess != text and _is_known(guess)), None)


def _is_known(text: str) -> bool:
    try:
        return _parsed(text) is not None
    except HoldfastError:
        return False
