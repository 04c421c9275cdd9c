"""What is said of a subject, read as a verb and the words after it.

In: the text of a predicate. Out: its verb, whether it is passive, and who or what else it names that a pronoun in the
next sentence could mean. It stands apart because splitting and resolving ask the same of a predicate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
        """Whether it says what the subject is: "is a bridge in Perth", "are insects"."""
        several = self.verb in ("are", "were") and self.following.islower() and self.following.endswith("s")
        return several or (self.verb in words.BE | words.BECOME and self.following in words.KIND_STARTERS)

    @property
    def kind(self) -> frozenset[str]:
        """The words for what the subject is: "the", "largest" and "river" of "is the largest river by volume"."""
        return frozenset(self.rest[: self._count_kind()]) if self.names_kind else frozenset()

    @property
    def verb_length(self) -> int:
        """Words of the verb, its participle with it."""
        return 1 + (self.verb in words.BE | words.HAVE and _is_participle(self.following))

    def tells_thing(self) -> bool | None:
        """Tell from what is said whether it is said of a thing (True) or a person (False); None where it does not."""
        if self.verb in words.DONE_BY_PEOPLE or self.following == "born":
            return False
        if self.names_kind:
            kind = [word.lower() for word in self.kind]
            if any(word in words.PEOPLE or _PERSON_NOUN.fullmatch(word) for word in kind):
                return False
            return True if any(word in words.THINGS for word in kind) else None
        if self.verb in words.BE:
            return True if self.following in words.SAID_OF_THINGS else None
        # "The bridge opened in 1913", but not "Ada Lorne painted 900 works".
        acts = self.verb in words.TRANSITIVE_PAST and self.following not in words.PREPOSITIONS - words.ROUGHLY
        told = words.DONE_BY_THINGS | (frozenset() if acts else words.SAID_OF_THINGS)
        return True if self.verb in told else None

    def may_name_thing(self) -> bool:
        """Tell whether "it" in the next sentence could mean something in this predicate."""
        clause = next((place for place, word in enumerate(self.rest) if word in words.SUBORDINATORS), len(self.rest))
        if self.names_kind:
            return _names_thing(self.rest[clause + 1 :])
        if clause < len(self.rest):
            return True
        if self.verb not in words.BE | words.SELF_STANDING and not self._has_no_rival():
            return True
        return _names_thing(self.rest)

    def may_name_person(self) -> bool:
        """Tell whether "he" or "she" in the next sentence could mean someone in this predicate.

        A name counts unless a place preposition or a determiner stands before it: "in Warsaw", "the Nobel Prize".
        """
        if any(word in words.OF_PEOPLE for word in self.rest):
            return True
        said = self._count_kind() if self.verb in words.BE | words.BECOME or self.following == "been" else 0
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

    def _has_no_rival(self) -> bool:
        """Tell whether the object is hardly what "it" means: none at all, a number, a measure, a stuff."""
        if self.following in words.PREPOSITIONS:  # "fell in 1989", "moved to Perth"
            return all(word in words.PREPOSITIONS or not word[0].islower() for word in self.rest)
        said = [word for word in self.rest if word not in words.ROUGHLY]
        if said and (said[0][0].isdigit() or said[0] in words.SEVERAL):  # "has 1,665 steps"
            return True
        if said and said[0] in words.KIND_STARTERS:  # "has a population of 5 million"
            return len(said) > 1 and said[1] in words.NO_RIVALS
        end = next((place for place, word in enumerate(said) if word in words.PREPOSITIONS), len(said))
        several = end > 0 and said[end - 1].endswith("s") and not said[end - 1].endswith(("ss", "us", "is"))
        # What is said in general of a thing goes on about it: "DNA carries genetic information. It".
        bare = all(word.islower() and word not in words.OBJECT_STARTERS for word in said[:end])
        return bare and (several or self.verb in words.PRESENT)

    def _count_kind(self) -> int:
        """Count the words that say what the subject is, up to the first preposition or clause."""
        ends = words.PREPOSITIONS | words.SUBORDINATORS
        return next((place for place, word in enumerate(self.rest) if word in ends), len(self.rest))


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


def _names_thing(said: Sequence[str]) -> bool:
    """Tell whether words name a thing that "it" could mean; not where something is: "lies on the coast"."""
    places = words.PLACE_PREPOSITIONS | {"through", "along", "behind", "under", "over", "between", "before", "after"}
    return any(
        word in words.DETERMINERS and not (before in places or after in words.NO_RIVALS or after[:1].isdigit())
        for before, word, after in zip(("", *said), said, (*said[1:], ""), strict=False)
    )


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
