"""What is said of a subject, read as a verb and the words after it.

In: the text of a predicate. Out: its verb, whether it is passive, and who or what else it names that a pronoun in the
next sentence could mean. It stands apart because splitting and resolving ask the same of a predicate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from proxy.claims import vocabulary as words

_PUNCTUATION = "\"'“”‘’()[].,;:!?"
_PERSON_NOUN = re.compile(r"\w{3,}(?:ist|cian|logist|grapher)s?")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate's first verb and the words after it, without punctuation and adverbs."""

    verb: str
    rest: tuple[str, ...]

    @property
    def following(self) -> str:
        """The word after the verb."""
        return self.rest[0] if self.rest else ""

    @property
    def is_passive(self) -> bool:
        """Whether it says what was done to the subject: "was built in 1913"."""
        return self.verb in words.BE and _is_participle(self.following)

    @property
    def names_kind(self) -> bool:
        """Whether it says what the subject is: "is a bridge in Perth"."""
        return self.verb in words.BE and self.following in words.KIND_STARTERS

    @property
    def verb_length(self) -> int:
        """Words of the verb, its participle with it."""
        return 1 + (self.verb in words.BE | words.HAVE and _is_participle(self.following))

    def tells_thing(self) -> bool | None:
        """Tell from what is said whether it is said of a thing (True) or a person (False); None where it does not."""
        if self.verb in ("died", "married") or self.following == "born":
            return False
        if self.names_kind:
            kind = [word.lower() for word in self.rest[: self._count_kind()]]
            if any(word in words.PEOPLE or _PERSON_NOUN.fullmatch(word) for word in kind):
                return False
            return True if any(word in words.THINGS for word in kind) else None
        told = self.following if self.verb in words.BE else self.verb
        return True if told in words.SAID_OF_THINGS else None

    def may_name_thing(self) -> bool:
        """Tell whether "it" in the next sentence could mean something in this predicate."""
        if any(word in words.SUBORDINATORS for word in self.rest):
            return True
        if self.names_kind:
            return False
        if self.verb not in words.BE | words.SELF_STANDING:
            return True
        return any(
            word in words.DETERMINERS and not (following in words.NO_RIVALS or following[:1].isdigit())
            for word, following in zip(self.rest, (*self.rest[1:], ""), strict=False)
        )

    def may_name_person(self) -> bool:
        """Tell whether "he" or "she" in the next sentence could mean someone in this predicate.

        A name counts unless a place preposition or a determiner stands before it: "in Warsaw", "the Nobel Prize".
        """
        if any(word in words.SUBORDINATORS for word in self.rest):
            return True
        said = self._count_kind() if self.verb in words.BE else 0
        if any(word.lower() in words.PEOPLE or _PERSON_NOUN.fullmatch(word) for word in self.rest[said:]):
            return True
        before = (self.verb, *self.rest)
        harmless = False
        for place, word in enumerate(self.rest):
            if not word[0].isupper() or word.lower() in words.MONTHS:
                continue
            previous = before[place]
            if not (place and previous[0].isupper()) and previous not in ("and", "or"):
                harmless = _keeps_from_person(before[max(0, place - 2) : place + 1])
            followed = before[place + 2] if place + 2 < len(before) else ""
            if not harmless or word.endswith(("'s", "’s")) or followed in words.FINITE:
                return True
        return False

    def _count_kind(self) -> int:
        """Count the words that say what the subject is, up to the first preposition."""
        return next((place for place, word in enumerate(self.rest) if word in words.PREPOSITIONS), len(self.rest))


def read_predicate(text: str) -> Predicate:
    """Read a predicate; its verb is empty where the text holds no word."""
    parts = [word for word in read_words(text) if word not in words.ADVERBS]
    return Predicate(parts[0] if parts else "", tuple(parts[1:]))


def read_words(text: str) -> list[str]:
    """Return the words of a text without the punctuation around them."""
    return [bare for word in text.split(" ") if (bare := word.strip(_PUNCTUATION))]


def starts_object(word: str) -> bool:
    """Tell whether an object starts with this word: a determiner, a number, a name."""
    return word in words.OBJECT_STARTERS or word[:1].isdigit() or word[:1].isupper()


def _is_participle(word: str) -> bool:
    return word in words.PASSIVE or word in ("born", "known", "made", "held", "won", "been") or word.endswith("ed")


def _keeps_from_person(before: tuple[str, ...]) -> bool:
    """Tell whether the words before a capitalised one show that it names no person."""
    previous = before[-1]
    if previous in words.PLACE_PREPOSITIONS or previous in words.BE or previous == "of":
        return True
    if previous in ("to", "from"):
        return any(word in words.MOTION for word in before)
    return any(word in words.OBJECT_STARTERS or word[:1].isdigit() for word in before)
