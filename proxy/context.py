"""Texts that go before the recall: the user's documents, or what a search has found (contract, section 5).

In: texts of any length. Out: what of them is nearest to a claim: the premises to judge it by, the sentences to correct
it by. Texts are read in blocks, and only blocks near to a claim are cut into sentences, so that the cost follows the
claims and hardly the texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, groupby
from typing import Final

from proxy.claims.markdown import plain_text
from proxy.claims.segment import split_sentences
from proxy.language import is_listed
from proxy.nli.scoring import split_windows
from proxy.wording import find_nearest, rank_by_words, words_of

BLOCK_CHARACTERS: Final = 1500
NEAREST_BLOCKS: Final = 4
"""Blocks that are cut into sentences for one claim; texts of no more are read whole."""
NEAREST_WINDOWS: Final = 2
NEAREST_SENTENCES: Final = 1
"""Few premises: each that is beside the point is one more that may seem to contradict."""
LANGUAGE_SAMPLE: Final = 4000
"""Characters of a text by which its language is judged."""

_FILL: Final = rf".{{1,{BLOCK_CHARACTERS}}}"
_BLOCK: Final = re.compile(
    rf"{_FILL}(?:(?<=\n\n)|\Z)|{_FILL}(?<=[.!?。！？])[\"'”’»)\]]{{,3}}(?=\s)|{_FILL}(?=\s)|{_FILL}", re.DOTALL
)
"""As much as fits, up to the end of a paragraph; else of a sentence; else of a word."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of one text."""

    text: str
    source: int
    """Which of the texts it is from."""
    words: frozenset[str]


class Context:
    """Some texts, asked about claims; false where there are none."""

    def __init__(
        self, texts: Sequence[str] = (), count_tokens: Callable[[str], int] = len, window_tokens: int = 0
    ) -> None:
        """Keep the texts; nothing is read before the first question.

        Args:
            texts: no premise mixes two of them.
            count_tokens: tokens of a text without special ones, as of `Nli`.
            window_tokens: longest window; a sentence that is longer stands alone.
        """
        self._texts: Final = tuple(texts)
        self._count_tokens: Final = count_tokens
        self._window_tokens: Final = window_tokens
        self._split: Final = lru_cache(maxsize=None)(_split_block)

    def __bool__(self) -> bool:
        """Whether there is any text."""
        return bool(self._texts)

    def joined(self, texts: Sequence[str]) -> Context:
        """Return these texts and some more."""
        return Context((*self._texts, *texts), self._count_tokens, self._window_tokens)

    def is_listed(self, languages: frozenset[str]) -> bool:
        """Whether every text is, by its beginning, in a language that the NLI model lists."""
        return all(is_listed(text[:LANGUAGE_SAMPLE], languages) for text in self._texts)

    def find_premises(self, claim: str) -> list[str]:
        """Return what a claim is held against: the windows and the sentences nearest to it."""
        runs = self._read_runs(claim)
        windows = list(chain.from_iterable(split_windows(run, self._count_tokens, self._window_tokens) for run in runs))
        sentences = list(chain.from_iterable(runs))
        near = [windows[at] for at in sorted(find_nearest(claim, windows, NEAREST_WINDOWS))]
        return list(dict.fromkeys(near + [sentences[at] for at in find_nearest(claim, sentences, NEAREST_SENTENCES)]))

    def read_near(self, about: str) -> list[str]:
        """Return the sentences of the blocks nearest to a text, in their order."""
        return list(chain.from_iterable(self._read_runs(about)))

    def _read_runs(self, about: str) -> list[list[str]]:
        """Return the same, those of blocks that follow each other together: a window must not bridge a gap."""
        blocks = self._blocks
        nearest = sorted(rank_by_words(words_of(about), [block.words for block in blocks], NEAREST_BLOCKS))
        runs = groupby(enumerate(nearest), key=lambda place: (blocks[place[1]].source, place[1] - place[0]))
        return [[sentence for _, at in run for sentence in self._split(blocks[at].text)] for _, run in runs]

    @cached_property
    def _blocks(self) -> list[Block]:
        return [
            Block(found.group(), source, frozenset(words_of(found.group())))
            for source, text in enumerate(self._texts)
            for found in _BLOCK.finditer(text)
        ]


def _split_block(text: str) -> list[str]:
    return [plain for sentence in split_sentences(text) if (plain := plain_text(sentence.text))]
