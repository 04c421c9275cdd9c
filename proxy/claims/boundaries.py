"""Whether a sentence ends between two words.

In: the last word of a sentence with all its punctuation, and the word that follows the white space. Out: the
decision. Which words are abbreviations, and which words rather start a sentence after one, is looked up in
sentencex; the tables here hold only what it lacks. It stands apart because it is pure and needs no more of
the text than these two words, so that a streamed draft is cut exactly as a whole one.
"""

from __future__ import annotations

import re
from typing import Final

import sentencex  # type: ignore[import-untyped]  # compiled, ships no type information

from proxy.claims.markdown import CITATION

WIDE_STOPS = "。！？｡"
"""Full stops of scripts written without spaces: they end a sentence wherever they stand."""
STOPS = ".!?…।॥؟۔" + WIDE_STOPS

_LAST_STOP = re.compile(rf".*[{re.escape(STOPS)}]", re.DOTALL)
_EMOJI = "\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff"
_CLOSING = re.compile(rf"(?:[\"'”’»›)\]}}*_~」』）¹²³⁰⁴-⁹{_EMOJI}]|\[\^?[\w ,–-]{{1,16}}\]|</[A-Za-z][A-Za-z0-9]*>)*")
_ASIDE = re.compile(rf"(?:{CITATION})+[.,;]?")
_BRAND = re.compile(r"[a-z]{1,2}[A-Z]")
_ADDRESS = re.compile(r"[a-z]+://|www\.")
_LETTERS = re.compile(r"[^\W\d_]+")
_DOTTED = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*")

_NEVER_FINAL_TEXT: Final = """
mr mrs ms mx dr prof rev hon gen col maj capt cmdr lt sgt gov sen rep pres adm msgr mme mlle messrs mt
vs v cf e.g i.e eg ie viz approx incl excl resp eq eqs figs vol vols ch pp
"""
_NEVER_FINAL: Final = frozenset(_NEVER_FINAL_TEXT.split())
"""Abbreviations that stand before the name, number or thing they belong to, so never end a sentence."""
_BEFORE_NUMBERS: Final = frozenset(("no", "nos", "nr", "art", "sec", "fig", "min", "op", "est", *"pbcdnr", "fl"))
"""Abbreviations before a number, ordinary words elsewhere: "No. 5", "He said no."."""
_ORDINARY_TEXT: Final = """
me no No ok ill ark arc art may May miss con fig min ore ref ken sec ma pa id la del det med res ind loc
mm ft lb oz yd hr mph pt qt
"""
_ORDINARY: Final = frozenset(_ORDINARY_TEXT.split())
"""Words and units that sentencex takes for abbreviations (Ill., Ore., ft.), though they often end a sentence."""


def closes_sentence(word: str) -> bool:
    """Tell whether `word` ends in a full stop of any script, closing marks and citations aside."""
    return _split_stop(word) is not None


def is_aside(word: str) -> bool:
    """Tell whether `word`, met after a full stop, says nothing of its own: a citation, an emoji, a dash."""
    if any(map(str.isalnum, word)):
        return _ASIDE.fullmatch(word) is not None
    return word[-1] not in STOPS


def is_boundary(word: str, following: str, *, numbers: bool = False, new_line: bool = False) -> bool:
    """Tell whether a sentence ends after `word`, which `closes_sentence`, and before `following`.

    `numbers` says that a number here counts items (1. Open the valve), `new_line` that `following` starts a line.
    """
    split = _split_stop(word)
    if split is None:
        return False
    core, stop = split
    if stop[-1] in WIDE_STOPS:
        return True
    start = next((place for place, char in enumerate(following) if char.isalnum()), None)
    if start is None:
        return new_line
    name = core.lstrip("\"'“‘«‹([{*_~¿¡—–-")
    if following[start].islower() and not (new_line or _starts_low(following, start)):
        return False
    if stop[-1] not in ".!":
        return any(map(str.isalnum, name))
    if stop[0] == "!":
        return _ends_before(f"{name}!", following[start:])
    if len(stop) > 1:
        return any(map(str.isalnum, name))
    if numbers and name.isdigit():
        return False
    return not _is_abbreviation(name, following[start:])


def starts_upper(word: str) -> bool | None:
    """Tell whether the first letter or digit of `word` is no lower-case letter; None where it has none."""
    first = next((char for char in word if char.isalnum()), None)
    return None if first is None else not first.islower()


def _split_stop(word: str) -> tuple[str, str] | None:
    """Split `word` into what precedes its final stop and the stop; None where it does not end in one."""
    link = word.rfind("](") if word.endswith(")") else -1
    body = word if link < 0 else word[: link + 1]
    last = _LAST_STOP.match(body)
    if last is None or _CLOSING.fullmatch(body, last.end()) is None:
        return None
    core = last.group().rstrip(STOPS)
    return core, body[len(core) : last.end()]


def _starts_low(following: str, start: int) -> bool:
    """Tell whether the word may start a sentence in lower case: a brand (iPhone), code, an address."""
    return (
        following.startswith("`")
        or _BRAND.match(following, start) is not None
        or _ADDRESS.match(following, start) is not None
    )


def _is_abbreviation(name: str, following: str) -> bool:
    bare = name.lower()
    if bare in _NEVER_FINAL:
        return True
    if bare in _BEFORE_NUMBERS and following[0].isdigit():
        return True
    if name in _ORDINARY or (len(name) == 1 and name.islower()):
        return False
    return _DOTTED.fullmatch(name) is not None and not _ends_before(f"{name}.", following)


def _ends_before(word: str, following: str) -> bool:
    """Ask sentencex whether a sentence ends after `word`, given the letters that follow."""
    letters = _LETTERS.match(following)
    # It joins whatever a digit or lower-case letter follows; a capital shows what it knows of the word.
    probe = letters.group()[:30] if letters and letters.group()[0].isupper() else "Xx"
    return len(sentencex.segment("en", f"{word} {probe} x")) > 1
