"""Words, names and numbers of a text: the lexical side of finding, anchoring and re-checking.

In: texts. Out: the words they share, the numbers and names they hold, which of several texts is nearest. Plain
Python without a model, in any script, always with the same result; a leaf, since several stages need it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

# Scripts written without spaces, or whose words take endings that hide them (Hangul): pairs of letters stand in
# for words there.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)
_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_LONG_WORD: Final = 8
"""Letters from which on a word weighs as much as a number."""
_FUNCTION_TEXT: Final = """
a an and are as at be been but by did do does for from had has have he her his in is it its not of on or she that the
their there they this to was were which who will with
"""
_FUNCTION_WORDS: Final = frozenset(_FUNCTION_TEXT.split())
"""Words that two sentences share without speaking of the same thing."""


def find_nearest(text: str, candidates: Sequence[str], count: int) -> list[int]:
    """Return the indices of the `count` candidates nearest to `text`, nearest first; of equal ones the first.

    Nearness is the weight of the words shared. Numbers and long words weigh most, short ones little; a word
    weighs the less, the more of the candidates hold it.
    """
    return rank_by_words(words_of(text), [words_of(candidate) for candidate in candidates], count)


def rank_by_words(wanted: AbstractSet[str], candidates: Sequence[AbstractSet[str]], count: int) -> list[int]:
    """Return what `find_nearest` does, for candidates whose words are known: many texts are read once, asked often."""
    found = [wanted & words for words in candidates]
    spread = Counter(word for words in found for word in words)
    weights = {word: _weigh(word) * math.log1p(len(candidates) / times) for word, times in spread.items()}
    nearness = [math.fsum(weights[word] for word in words) for words in found]
    return sorted(range(len(candidates)), key=lambda index: -nearness[index])[:count]


def words_of(text: str) -> set[str]:
    """Return the distinct words of `text`: case and width aside, numbers whole, unspaced scripts in letter pairs."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    runs = _UNSPACED.findall(plain)
    letter_pairs = (run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1)))
    return {*_WORD.findall(_UNSPACED.sub(" ", plain)), *letter_pairs}


def content_words_of(text: str) -> set[str]:
    """Return the words that say what the text is about."""
    return words_of(text) - _FUNCTION_WORDS


def numbers_of(text: str) -> set[str]:
    """Return the numbers written in digits, thousands separators aside."""
    plain = unicodedata.normalize("NFKC", text)
    return {re.sub(r"[.,](?=\d{3}(?!\d))", "", number) for number in re.findall(r"\d+(?:[.,]\d+)*", plain)}


def names_of(text: str) -> set[str]:
    """Return the words with a capital, case aside; the first word counts too, since a name may stand there."""
    plain = unicodedata.normalize("NFKC", text)
    return {word.casefold() for word in _WORD.findall(plain) if word[0].isupper()} - _FUNCTION_WORDS


def _weigh(word: str) -> float:
    """Return what one shared word says by itself, over 0 and up to 1."""
    if word[0].isdigit() or _UNSPACED.match(word):
        return 1.0
    return min(len(word), _LONG_WORD) / _LONG_WORD
