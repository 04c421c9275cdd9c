"""Whether drawn claims say what labelled ones say.

In: the claims drawn from a sentence and those labelled for it. Out: which of the labelled ones are covered, and which
of the drawn ones are right. Words are compared, after endings, contractions and the names that mean the same are made
alike; numbers, names, negations and modal verbs have to agree exactly, and the subject has to be named.

Limits: the order of words is not seen ("A beat B" is "B beat A"), nor what a preposition changes (before, after); a
paraphrase in other words counts as wrong, which is harder on a model that rewords than on rules that copy; an irregular
form (wrote, written) is another word; and a wrong word goes unnoticed in a claim of more than five words where it is
neither name, number nor subject. In Korean, pairs of letters stand for words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from proxy.wording import numbers_of, words_of

MISSING: Final = 0.2
"""Share of a claim's words from which on it is another claim when the other side lacks them: one word of five."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATIONS: Final = _words(
    """
    not never no none neither nor nobody nothing without cannot denied
    nicht nie kein keine keinen keiner ohne nunca ni sin ningún ninguna 않 못 없 아니
    """
)
_MODALS: Final = _words("may might can could must should shall would if unless perhaps probably possibly only")
_NUMBER_WORDS: Final = _words(
    """
    two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand million billion half
    second third fourth sixth zwei drei vier fünf dos tres cuatro
    """
)
_FUNCTION_WORDS: Final = _words(
    """
    a an the and or but so as at by for from in into of on to with than then that which who whom whose where when while
    because is are was were be been being am has have had do does did it its he she they them his her their him there
    this these those itself himself herself also however although though after before during under until since
    der die das den dem des ein eine einen und oder in im am mit von zu zur wurde wird ist sind war hat es er sie ihr
    ihre auch el la los las un una y e o de del en con por para que es fue son era su sus se al ha
    """
)
_PRONOUNS: Final = _words(
    "he she it they him her them his its their this these those there ich er sie es ihr ihre seine"
)
_OPENERS: Final = _PRONOUNS | _words("that such both 그는 그녀는 그의 그것은 이는 su")
_CONTRACTED: Final = re.compile(r"n['’]t\b")
_SEPARATOR: Final = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_OWNER: Final = re.compile(r"['’]s?\b")
_ADVERBIAL: Final = re.compile(
    r"(?:in|on|at|by|after|before|during|under|according to|as|without|contrary to)\b[^,]*, ", re.IGNORECASE
)
_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_ENDINGS: Final = ("ies", "ing", "es", "ed", "s", "e", "y")
_SHORTEST_STEM: Final = 3


@dataclass(frozen=True)
class Statement:
    """A claim's text, made ready to be compared."""

    text: str

    @cached_property
    def plain(self) -> str:
        """Contractions written out; case, width and separators of thousands made alike."""
        text = _CONTRACTED.sub(" not", unicodedata.normalize("NFKC", self.text).replace("cannot", "can not"))
        return _SEPARATOR.sub("", _OWNER.sub(" ", text)).casefold()

    @cached_property
    def all_words(self) -> frozenset[str]:
        """Every word as it stands."""
        return frozenset(words_of(self.plain))

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of the words that say something."""
        return frozenset(_stem(word) for word in self.all_words - _FUNCTION_WORDS)

    @cached_property
    def names(self) -> frozenset[str]:
        """The stems of the words with a capital."""
        capitals = (word.casefold() for word in re.findall(r"[^\W\d_]+", self.text) if word[0].isupper())
        return frozenset(_stem(word) for word in capitals if word not in _FUNCTION_WORDS | _NEGATIONS | _MODALS)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Numbers, in digits or words."""
        return frozenset(numbers_of(self.text)) | (self.all_words & _NUMBER_WORDS)

    @cached_property
    def negations(self) -> int:
        """How many words negate."""
        latin = sum(word in _NEGATIONS for word in re.findall(r"[^\W\d_]+", self.plain))
        return latin + sum(self.plain.count(sign) for sign in ("않", "못", "없", "아니"))

    @cached_property
    def modals(self) -> frozenset[str]:
        """Words that make more or less of it than a plain statement."""
        return self.all_words & _MODALS

    @cached_property
    def pronouns(self) -> frozenset[str]:
        """Words that stand for others."""
        return self.all_words & _PRONOUNS

    @cached_property
    def subject(self) -> str:
        """The stem of the first word that says something, an adverbial before it aside; empty where there is none."""
        body = _ADVERBIAL.sub("", self.plain, count=1) if _ADVERBIAL.match(self.plain) else self.plain
        first = next((word for word in _WORD.findall(body) if word not in _FUNCTION_WORDS), "")
        return _stem(first if first in self.all_words else first[:2])

    @property
    def points_back(self) -> bool:
        """Whether it begins with a word that stands for something else."""
        opener = re.match(r"[^\W_]+", self.plain.lstrip("\"'“”‘’ "))
        return opener is not None and opener.group() in _OPENERS and not self._is_expletive

    @property
    def _is_expletive(self) -> bool:
        return re.match(r"there (?:is|are|was|were|has|have)\b|it (?:is|was)\b.* that\b", self.plain) is not None


@dataclass(frozen=True)
class Agreement:
    """What became of one sentence's claims."""

    covered: tuple[bool, ...]
    """For each labelled claim, whether what was drawn holds it."""
    alone: tuple[bool, ...]
    """For each labelled claim, whether it is held without another one in the same drawn claim."""
    right: tuple[bool, ...]
    """For each drawn claim, whether the sentence states it and it stands by itself."""
    compound: tuple[bool, ...]
    """For each drawn claim, whether it is right and holds more than one labelled claim."""


def compare_claims(drawn: Sequence[str], labelled: Sequence[str], aliases: Sequence[Sequence[str]] = ()) -> Agreement:
    """Compare the claims drawn from one sentence with its labelled ones; `aliases` are names that mean the same."""
    gold = [Statement(_unify(text, aliases)) for text in labelled]
    said = [Statement(_unify(text, aliases)) for text in drawn]
    held = [_find_held(statement, gold) for statement in said]
    parts = [None if held[at] else _find_whole(statement, gold) for at, statement in enumerate(said)]
    alone = []
    for at, claim in enumerate(gold):
        own = any(found == [at] for found in held)
        pieces = [said[place] for place, whole in enumerate(parts) if whole == at]
        alone.append(own or _is_pieced_together(claim, pieces))
    return Agreement(
        covered=tuple(alone[at] or any(at in found for found in held) for at in range(len(gold))),
        alone=tuple(alone),
        right=tuple(bool(found) or parts[at] is not None for at, found in enumerate(held)),
        compound=tuple(len(found) > 1 for found in held),
    )


def _find_held(said: Statement, gold: Sequence[Statement]) -> list[int]:
    """Return the labelled claims that a drawn one holds; none where it says anything else besides."""
    found = [at for at, claim in enumerate(gold) if _holds(said, claim)]
    # Of two labelled claims one may hold the other's words; what is the same as one of them holds just that.
    found = [at for at in found if gold[at].words == said.words] or found
    claims = [gold[at] for at in found]
    words = frozenset().union(*(claim.words for claim in claims))
    agrees = (
        _is_within(said.words, words)
        and said.names <= words
        and said.numbers == frozenset().union(*(claim.numbers for claim in claims))
        and said.modals == frozenset().union(*(claim.modals for claim in claims))
        and said.negations == sum(claim.negations for claim in claims)
    )
    return found if agrees and not _is_dangling(said, claims) else []


def _holds(said: Statement, claim: Statement) -> bool:
    """Tell whether nearly all words, and all names and numbers of a labelled claim are in a drawn one."""
    return (
        _is_within(claim.words, said.words)
        and claim.names <= said.words
        and claim.numbers <= said.numbers
        and claim.subject in said.words
    )


def _find_whole(said: Statement, gold: Sequence[Statement]) -> int | None:
    """Return the labelled claim of which a drawn one is a part: its subject and some of the rest; None if of none."""
    for at, claim in enumerate(gold):
        if (
            len(said.words) > 1
            and _is_within(said.words, claim.words)
            and said.names <= claim.words
            and said.numbers <= claim.numbers
            and said.modals == claim.modals
            and said.negations == claim.negations
            and claim.subject in said.words
            and said.pronouns <= claim.pronouns
            and not _is_dangling(said, [claim])
        ):
            return at
    return None


def _is_within(some: AbstractSet[str], others: AbstractSet[str]) -> bool:
    """Tell whether nearly all of some words are among others."""
    return len(some - others) < MISSING * len(some)


def _is_pieced_together(claim: Statement, pieces: Sequence[Statement]) -> bool:
    """Tell whether parts of a labelled claim make up the whole of it."""
    words = frozenset().union(*(piece.words for piece in pieces))
    numbers = frozenset().union(*(piece.numbers for piece in pieces))
    return _is_within(claim.words, words) and claim.names <= words and claim.numbers <= numbers


def _is_dangling(said: Statement, claims: Sequence[Statement]) -> bool:
    """Tell whether a drawn claim begins with a word for something that it does not name, and no labelled one does."""
    return said.points_back and not any(claim.points_back for claim in claims)


def _unify(text: str, aliases: Sequence[Sequence[str]]) -> str:
    """Write the same name for all that mean the same, the longest first."""
    for group in aliases:
        names = sorted(map(re.escape, group), key=len, reverse=True)
        text = re.sub(rf"(?i)(?<!\w)(?:{'|'.join(names)})(?![^\W가-힣])", group[0], text)
    return text


def _stem(word: str) -> str:
    """Take one English ending off; a word of another language loses one too, the same on both sides."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word
