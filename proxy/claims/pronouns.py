"""The word by which a sentence points at something that it does not name itself.

In: a plain sentence. Out: its first such pronoun with its place, or None. It stands apart because two ask it: the
discourse, which puts a name in its place, and both decompositions, whose claims must not be judged while one is left
(contract, section 4: `unresolved`). What the sentence itself may name before the pronoun is never pointed out of it.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from proxy.claims import vocabulary as words
from proxy.claims.claim import Span
from proxy.claims.predicates import read_predicate, read_words

_OWNERS: Final = {"his": "he", "her": "she", "its": "it", "their": "they"}
_OBJECTS: Final = {"him": "he", "her": "she", "it": "it", "them": "they"}
_LONGEST_LEAD: Final = 80
"""Characters of an adverbial before the subject."""

_TIME: Final = (
    r"(?:Later|Today|Originally|Eventually|Subsequently|Initially|Finally|Then|Now|Currently|Together|Soon),? "
)
_PREPOSITION: Final = (
    r"(?:In|On|At|After|Before|During|Under|By|From|With|Without|Despite|Since|Until|Throughout|Around|Within|As"
    r"|According to) "
)
_LEAD: Final = rf"(?:{_TIME}|{_PREPOSITION}[^,]{{1,{_LONGEST_LEAD}}}, |Because |because )?"
_SUBJECT: Final = re.compile(rf"(?P<lead>{_LEAD})(?P<word>(?i:he|she|it|they)) (?=\w)")
_OWNER: Final = re.compile(rf"(?P<lead>{_LEAD})(?P<word>(?i:his|her|its|their)) (?=\w)")
_LEAD_OWNER: Final = re.compile(
    rf"(?P<lead>{_PREPOSITION})(?P<word>his|her) [^,]{{1,{_LONGEST_LEAD}}}, (?:the|an?) (?P<rest>\w+ \w+)"
)
_SPEAKER: Final = re.compile(r"[”\"»],? (?P<word>he|she|they) (?=[a-z])")
_OBJECT: Final = re.compile(
    r" (?P<word>him|them|it(?! (?:\w+ )?(?:to|that)\b)"
    r"|her(?=[.,;!]| (?:in|at|on|for|to|from|as|with|after|before|by|and|an?|the)\b))(?=[ .,;!])"
)
_THERE: Final = re.compile(r"(?:^| )(?P<word>[Tt]here)(?=[,.;]| (?:in|on|at|from|until|since|after|before|and|for)\b)")
_BARE: Final = re.compile(r"(?P<word>This|That|These|Those) (?P<next>\w+)")
_ASIDE: Final = re.compile(r", [^,]+, ")
_QUOTE: Final = re.compile(r"[\"“”«»]")
_QUANTITY: Final = re.compile(r"^(?:More|Less|Fewer|Other) than |^(?:At least|At most|Up to) ")
_EXPLETIVE: Final = re.compile(
    r"it (?:is|was|takes|took|has been)\b[^,]*\b(?:that|(?<!ed )(?<!said )(?<!known )to(?= [a-z])|whether|who|when)\b"
    r"|it (?:rain|snow)",
    re.IGNORECASE,
)
# Who is meant by these is never looked for; that they stand for someone is known.
_OTHER_LANGUAGES: Final = re.compile(
    r"(?P<word>그는|그녀는|그들은|그의|그녀의|그것은|이것은|이는|Er|Sie|Seine?|Ihre?)"
    r"(?= [a-z가-힣0-9]| [A-ZÄÖÜ]\w+ \w)"
)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A word that stands for something outside its sentence."""

    pronoun: str
    """he, she, it or they; any other word where no name could take its place."""
    span: Span
    owner: bool = False
    """It says whose something is: his, her, its, their."""
    subject: bool = False
    """It is what the sentence is about."""
    lead: str = ""
    """What stands before it."""


def find_pointer(text: str) -> Pointer | None:
    """Return the first word of a plain sentence that points out of it, or None."""
    finders = (_find_subject, _find_owner, _find_speaker, _find_object, _find_place)
    return next((pointer for find in finders if (pointer := find(text)) is not None), None)


def find_named_kind(text: str, nouns: AbstractSet[str]) -> Pointer | None:
    """Return "This river" at the start of a sentence where it is one of `nouns`, which something has been called."""
    found = _BARE.match(text)
    if found is None or found["word"] not in ("This", "That") or found["next"] not in nouns:
        return None
    pronoun = "it" if found["next"] in words.THINGS else ""
    return Pointer(pronoun, found.span(), subject=True)


def is_expletive(text: str) -> bool:
    """Tell whether the "it" that a text starts with stands for nothing: "It is believed that"."""
    return _EXPLETIVE.match(text) is not None


def _find_subject(text: str) -> Pointer | None:
    found = _SUBJECT.match(text)
    if found is None or is_expletive(text[found.start("word") :]):
        return None
    pronoun = found["word"].lower()
    if _may_name(found["lead"], pronoun) or _is_named_later(found):
        return None
    return Pointer(pronoun, found.span("word"), subject=True, lead=found["lead"])


def _find_owner(text: str) -> Pointer | None:
    found = _OWNER.match(text) or _LEAD_OWNER.match(text)
    if found is None:
        return None
    pronoun = _OWNERS[found["word"].lower()]
    if _may_name(found["lead"], pronoun) or _is_named_later(found):
        return None
    # "In his youth, the painter" names later whose youth it was.
    if found.re is _LEAD_OWNER and not words.PEOPLE.isdisjoint(found["rest"].lower().split(" ")):
        return None
    return Pointer(pronoun, found.span("word"), owner=True, lead=found["lead"])


def _find_speaker(text: str) -> Pointer | None:
    """Find who said a quotation before: “It is open,” she said."""
    found = _SPEAKER.search(text)
    return None if found is None else Pointer(found["word"], found.span("word"))


def _find_object(text: str) -> Pointer | None:
    """Find an object that cannot be its own sentence's subject, where that subject is all that comes before it."""
    found = _OBJECT.search(text)
    if found is None:
        return None
    if read_predicate(text[found.end() :]).verb in words.FINITE:  # "think it is": a clause of its own
        return None
    before = _ASIDE.sub(" ", _QUANTITY.sub("", text[: found.start()]), count=1)
    said = read_words(before)
    pronoun = _OBJECTS[found["word"]]
    if pronoun in ("he", "she") and not _names_person(said):
        return Pointer(pronoun, found.span("word"))
    rest = said[1:] if said and said[0].lower() in words.DETERMINERS else said
    reaching = (
        words.DETERMINERS | words.SUBORDINATORS | words.PREPOSITIONS | words.PREPOSITION_OR_CLAUSE | {"and", "or"}
    )
    # After these it is the subject of a clause, and stands for that of the sentence: "expands when it freezes".
    opening = words.SUBORDINATORS | words.PREPOSITION_OR_CLAUSE | {"and", "or"}
    if (
        _QUOTE.search(before)
        or "," in before
        or not rest
        or rest[-1] in opening
        or any(word.lower() in reaching for word in rest[:-1])
    ):
        return None
    return Pointer(pronoun, found.span("word"))


def _find_place(text: str) -> Pointer | None:
    """Find "there" or a bare "this", or a pronoun of another language."""
    found = _THERE.search(text)
    if found is not None and not _names_place(read_words(_QUANTITY.sub("", text[: found.start("word")]))):
        return Pointer("there", found.span("word"))
    found = _BARE.match(text)
    if found is not None and found["next"] in words.FINITE:
        return Pointer(found["word"].lower(), found.span("word"))
    found = _OTHER_LANGUAGES.match(text)
    return None if found is None else Pointer(found["word"], found.span("word"))


def _may_name(lead: str, pronoun: str) -> bool:
    """Tell whether an adverbial before a pronoun may name what it stands for: "After the bridge fell, it"."""
    if lead.lower() == "because ":
        return False
    names_person = read_predicate(f"is {lead[:1].lower()}{lead[1:]}").may_name_person()
    if pronoun in ("he", "she"):
        return names_person
    names_thing = any(
        word in words.DETERMINERS and not (after in words.NO_RIVALS or after[0].isdigit())
        for word, after in pairwise(read_words(lead))
    )
    return names_thing or (pronoun == "they" and names_person)


def _is_named_later(found: re.Match[str]) -> bool:
    """Tell whether who "Because he" stands for may be named after the clause: "Because he was ill, Chopin left"."""
    later = found.string.find(", ", found.end())
    return found["lead"].lower() == "because " and found.string[later + 2 : later + 3].isupper()


def _names_person(said: list[str]) -> bool:
    """Tell whether words may name a person: a noun for one, or any name."""
    opening = words.NO_NAMES | {"the"}
    named = any(word[0].isupper() and (place or word.lower() not in opening) for place, word in enumerate(said))
    return named or any(word.lower() in words.PEOPLE for word in said)


def _names_place(said: list[str]) -> bool:
    """Tell whether a place may have been named: anything but a number after a preposition of place."""
    places = words.PLACE_PREPOSITIONS | {"to", "from"}
    return any(word.lower() in places and not after[0].isdigit() for word, after in pairwise(said))
