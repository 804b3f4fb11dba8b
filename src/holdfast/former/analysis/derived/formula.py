"""What a derived column is made of, as people write it."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from holdfast.errors import HoldfastError, listed_names

_PER = re.compile(r"(?P<sum>.+?)\s+per\s+(?:(?P<number>\d[\d,_]*)\s+)?(?:of\s+)?(?P<column>\S.*)")
LONGEST = 1000


@dataclass(frozen=True, kw_only=True)
class DerivedFormula:
    """A sum of columns of counts, or so many of it for each so many of a public number."""

    name: str
    parts: tuple[str, ...]
    """The columns of counts that are added up."""
    per: int = 1
    column: str | None = None
    """The public number; None for a sum."""

    def __str__(self) -> str:
        total = " + ".join(self.parts)
        if self.column is None:
            return f"{self.name} = {total}"
        number = "" if self.per == 1 else f"{self.per:,} of "
        return f"{self.name} = {total} per {number}{self.column}"


def parse_derived(text: str, counts: Collection[str]) -> DerivedFormula:
    """What a text asks for, of these columns of counts.

    >>> parse_derived("violent = murder + rape per 100,000 of population", ["murder", "rape"])
    DerivedFormula(name='violent', parts=('murder', 'rape'), per=100000, column='population')
    >>> str(parse_derived("both = murder + rape", ["murder", "rape"]))
    'both = murder + rape'
    """
    name, equals, rest = (part.strip() for part in text[:LONGEST].partition("="))
    found = _PER.fullmatch(rest)
    total = rest if found is None else found["sum"]
    parts = tuple(_plain(part) for part in total.split("+"))
    if not equals or not name or not all(parts):
        raise HoldfastError(
            f"{text!r:.80} does not say what to derive. Hint: 'violent = murder + rape', or "
            "'rate = murder per 100,000 of population'."
        )
    for part in parts:
        if part not in counts:
            raise HoldfastError(
                f"this release has no column of counts {part!r:.60}. Hint: {listed_names(counts)}."
            )
    if len(set(parts)) < len(parts):
        raise HoldfastError("a column of counts can enter a sum once.")
    if found is None:
        return DerivedFormula(name=_plain(name), parts=parts)
    per = int(re.sub(r"[,_]", "", found["number"] or "1"))
    return DerivedFormula(
        name=_plain(name), parts=parts, per=max(per, 1), column=_plain(found["column"])
    )


def _plain(name: str) -> str:
    """A name without the quotes that may stand around it."""
    name = name.strip()
    quoted = len(name) > 1 and name[0] == name[-1] and name[0] in "\"'`"
    return name[1:-1] if quoted else name
