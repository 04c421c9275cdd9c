"""Who or what a sentence is about.

In: a plain sentence. Out: its subject with the place of its verb, or None where the structure is not understood. It
stands apart because both splitting a sentence and resolving a pronoun start from the subject. Reads English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, Literal

from proxy.claims import vocabulary as words

Kind = Literal["name", "definite", "phrase", "pronoun"]

_TOKEN = re.compile(r"\S+")
_LONGEST_SUBJECT: Final = 14
"""Words."""
_LONGEST_ASIDE: Final = 160
"""Characters."""
_MONTHS: Final = "|".join(month.capitalize() for month in sorted(words.MONTHS))
_TIME = re.compile(
    r"(?:(?:In|On|By|Since|Until|Around|During|From) (?:(?:the|early|late|mid|about|year|spring|summer|autumn|winter"
    rf"|{_MONTHS}|\d{{1,2}},?) )*\d{{1,4}}(?:s|st|nd|rd|th century)?"
    r"|Later|Today|Originally|Eventually|Subsequently|Initially|Finally|Then|Now|Currently),? "
)


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a sentence and where its verb stands."""

    text: str
    kind: Kind
    """`name` is a proper name, `definite` one that is known: "The bridge"; `phrase` is anything else."""
    start: int
    """Offset of the subject."""
    verb: int
    """Offset of what is said of it: its first verb, or the adverb before that."""
    aside: str = ""
    """What stands between commas after it."""

    @property
    def is_known(self) -> bool:
        """Whether it names what a later sentence may speak of."""
        return self.kind in ("name", "definite")


def find_subject(text: str) -> Subject | None:
    """Find the subject of a plain sentence; None where its structure is not understood."""
    time = _TIME.match(text)
    start = time.end() if time else 0
    tokens = list(islice(_TOKEN.finditer(text, start), _LONGEST_SUBJECT))
    for place, token in enumerate(tokens):
        word = token.group()
        if place and word in words.FINITE:
            return _describe(text, tokens[:place], token.start())
        if word.endswith(",") and place < _LONGEST_SUBJECT:
            return _skip_aside(text, tokens[: place + 1])
        if word[0] == "(" and place:
            return _skip_brackets(text, tokens[:place], token.start())
        if word.lower() in words.SUBORDINATORS or (word[-1] in ";:!?" or (word[-1] == "." and not word[0].isupper())):
            return None
    return None


def _describe(text: str, tokens: list[re.Match[str]], verb: int, aside: str = "") -> Subject | None:
    """Make a subject of the words before the verb, adverbs aside."""
    while len(tokens) > 1 and tokens[-1].group() in words.ADVERBS:
        verb = min(verb, tokens[-1].start())
        tokens = tokens[:-1]
    start = tokens[0].start()
    name = text[start : tokens[-1].end()].rstrip(",")
    kind = _kind_of(name.split(" "))
    return None if kind is None else Subject(name, kind, start, verb, aside)


def _kind_of(parts: list[str]) -> Kind | None:
    first = parts[0].lower()
    if len(parts) == 1 and first in words.PRONOUNS:
        return "pronoun"
    if first in words.POSSESSIVES and len(parts) > 1:
        return "phrase"
    if first == "the":
        return "definite" if _is_definite(parts) else "phrase"
    if first in words.NO_NAMES or not parts[0][0].isalnum():
        return None
    named = all(_is_name(part) or part in words.PARTICLES for part in parts) and parts[0][0].isupper()
    return "name" if named and _is_name(parts[-1]) else "phrase"


def _is_definite(parts: list[str]) -> bool:
    """Tell whether words after "the" are one noun; else a verb that is not in the tables may stand among them."""
    joining = words.PREPOSITIONS | {"and", "the", "The"}
    if parts[-1] in joining | words.DETERMINERS or (len(parts) == 2 and parts[1] in words.ELLIPTIC):  # noqa: PLR2004
        return False
    for place, (before, word) in enumerate(pairwise(parts)):
        if word.endswith(("'s", "’s", "s'", "s’")) or (word.endswith("ed") and word.islower()):
            return False
        if word.lower() in words.DETERMINERS and before not in joining:
            return False
        # A name after a noun: "The planet Mars", but not "The report notes Mars".
        if word[0].isupper() and before.islower() and before not in joining and (place != 1 or before.endswith("s")):
            return False
    return True


def _is_name(word: str) -> bool:
    return not word.endswith(("'s", "’s", "'", "’")) and (word[0].isupper() or word[0].isdigit())


def _skip_aside(text: str, tokens: list[re.Match[str]]) -> Subject | None:
    """Find the verb after an insertion between commas: "Marie Curie, born in Warsaw, was"."""
    start = end = tokens[-1].end()
    while (end := text.find(", ", end + 1, start + _LONGEST_ASIDE)) >= 0:
        following = _TOKEN.match(text, end + 2)
        if following and following.group() in words.FINITE:
            subject = _describe(text, tokens, following.start(), text[start + 1 : end])
            return subject if subject and subject.is_known else None
    return None


def _skip_brackets(text: str, tokens: list[re.Match[str]], start: int) -> Subject | None:
    """Find the verb after an insertion in brackets: "Marie Curie (1867-1934) was"."""
    end = text.find(") ", start, start + _LONGEST_ASIDE)
    following = _TOKEN.match(text, end + 2) if end >= 0 else None
    if following is None or following.group() not in words.FINITE:
        return None
    return _describe(text, tokens, following.start())
