"""The words around a number: what bounds it, and what it counts.

In: a text and a place. Out: the bound ("more than", "about") and where it begins, the words that follow. Only a few
characters are looked at, so that reading a long text stays linear.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Bound = Literal["about", "over", "from", "under", "to", "nearly", "unclear"]
"""How a number bounds what is meant: near it; more; it or more; less; it or less; a little less; in an unknown way."""

REACH: Final = 32
"""Characters before a number in which its bound may stand."""
_TOPIC_WORDS: Final = 3

_MORE: Final = "more|long|larg|great|high|tall|heavi|fast|wid|deep|old|bigg|lat"
_LESS: Final = "less|few|short|small|low|light|slow|young|narrow|earli"
_BEFORE: Final[tuple[tuple[Bound, str], ...]] = (
    ("from", r"at\s+least|no\s+(?:less|fewer)\s+than|not\s+(?:less|fewer)\s+than|a\s+minimum\s+of|≥|>="),
    ("to", r"at\s+most|up\s+to|no\s+more\s+than|not\s+more\s+than|a\s+maximum\s+of|≤|<="),
    ("over", rf"over|above|exceeding|beyond|upwards\s+of|>|(?:{_MORE})(?:er)?\s+than"),
    ("under", rf"under|below|<|(?:{_LESS})(?:er)?\s+than"),
    ("unclear", r"\w+er\s+than"),
    ("nearly", r"nearly|almost|close\s+to|just\s+under|just\s+below"),
    (
        "about",
        r"about|around|approximately|approx\.|roughly|some|circa|ca?\.|~|≈|약|estimated(?:\s+at)?|an?\s+estimated",
    ),
)
_BOUNDS: Final = {f"b{at}": bound for at, (bound, _) in enumerate(_BEFORE)}
_BOUND: Final = re.compile(
    "(?:(?<!\\w)(?:"
    + "|".join(f"(?P<b{at}>{pattern})" for at, (_, pattern) in enumerate(_BEFORE))
    + r"))\s*(?:(?:just|a\s+total\s+of|the\s+year)\s+)?$",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    r"\s+or\s+(?:(?P<more>more|over|above|older|longer)|(?P<less>less|fewer|under|younger)|(?P<so>so))\b|(?P<plus>\+)",
    re.IGNORECASE,
)
_NEXT_WORD: Final = re.compile(r"[\s-]{1,2}([^\W\d_][^\W_]*)")
_LAST_WORD: Final = re.compile(r"([^\W\d_]+)[\s(\[-]{0,3}$")
_IRREGULAR: Final = {"people": "person", "men": "man", "women": "woman", "children": "child", "lives": "life"}
_FUNCTION_TEXT: Final = """
a about after ago all although an and another any are as at away back because been before being between but by did
during each every for from had has have he her his if in into is it its near of off on only or out over per she since
so some than that the their them then there these they this those though through to under until up upon was were what
when where which while who whose will with within without would also
"""
_FUNCTION_WORDS: Final = frozenset(_FUNCTION_TEXT.split())


def read_bound(text: str, start: int, end: int) -> tuple[Bound | None, int, int]:
    """Return the bound of a quantity, or None, and the span with it."""
    behind = _BEHIND.match(text, end)
    if behind is not None:
        bound: Bound = "about" if behind["so"] else "to" if behind["less"] else "from"
        return bound, start, behind.end()
    low = max(0, start - REACH)
    before = _BOUND.search(text[low:start])
    if before is None:
        return None, start, end
    named = next(name for name, value in before.groupdict().items() if value is not None)
    return _BOUNDS[named], low + before.start(), end


def read_topics(text: str, end: int) -> frozenset[str]:
    """Return the words that follow a number, up to the first that says nothing of its own, in the singular."""
    topics = []
    for _ in range(_TOPIC_WORDS):
        found = _NEXT_WORD.match(text, end)
        if found is None or found.group(1).casefold() in _FUNCTION_WORDS:
            break
        topics.append(make_singular(found.group(1).casefold()))
        end = found.end()
    return frozenset(topics)


def read_last_word(text: str, start: int) -> str:
    """Return the word before a place, or nothing."""
    found = _LAST_WORD.search(text[max(0, start - REACH) : start])
    return found.group(1) if found else ""


def is_function_word(word: str) -> bool:
    """Return whether a word says nothing by itself."""
    return word.casefold() in _FUNCTION_WORDS


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text that is written as a list."""
    return frozenset(text.split())


def make_singular(word: str) -> str:
    """Return a word without its plural ending, near enough to find it again."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("ss", "ss"), ("s", "")):
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    return word
