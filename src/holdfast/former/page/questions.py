"""Questions built by choosing: the choices of a form as a sentence that holdfast knows."""

from collections.abc import Mapping

from holdfast.errors import HoldfastError

PLAIN = ("mean", "total", "median", "variance", "gini")


def sentence(chosen: Mapping[str, str]) -> str:
    """The question that was chosen, in the words of `holdfast ask`; nothing for no choice.

    >>> sentence({"what": "share", "is": "at_least", "count": "3"})
    'share at least 3'
    >>> sentence({"what": "compare", "first": "Kent", "second": "Ely"})
    'compare Kent with Ely'
    """
    what = chosen.get("what", "")
    if what in PLAIN or not what:
        return what
    if what == "typed":
        return chosen.get("typed", "").strip()
    if what == "share":
        return _share(chosen)
    if what == "compare":
        first, second = (_filled(chosen, name) for name in ("first", "second"))
        return f"compare {first} with {second}"
    fields = {"quantile": "at", "released": "released", "top": "top", "total_of": "rows"}
    if what not in fields:
        raise HoldfastError("there is no such question. Hint: choose one from the list.")
    words = {"total_of": "total of"}.get(what, what)
    return f"{words} {_filled(chosen, fields[what])}"


def _share(chosen: Mapping[str, str]) -> str:
    kind, count = chosen.get("is", ""), _filled(chosen, "count")
    if kind == "between":
        return f"share between {count} and {_filled(chosen, 'other')}"
    return f"share {kind.replace('_', ' ')} {count}"


def _filled(chosen: Mapping[str, str], name: str) -> str:
    value = chosen.get(name, "").strip()
    if not value:
        raise HoldfastError("a part of the question is empty. Hint: fill it in beside its words.")
    return value
