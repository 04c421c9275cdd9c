"""Which sentences of a draft are to be split into claims, and which cannot be judged as they stand.

In: the draft's sentences. Out: those that state something, the unverifiable ones marked with the reason (contract,
sections 4 to 6). Before decomposition, because both ways of splitting treat them alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from proxy.claims.checkable import is_checkable
from proxy.claims.claim import Sentence, Unverifiable
from proxy.language import is_listed

_CLOSED: Final = re.compile(r"[.!?…。！？][\s*_\"'”’»)\]]*$")


def screen_sentences(sentences: Sequence[Sentence], *, cut: bool, languages: frozenset[str]) -> list[Sentence]:
    """Leave out what is plainly no claim; mark what cannot be judged.

    Args:
        sentences: all sentences of the draft.
        cut: whether the draft ended by its length limit, so that its last sentence may be unfinished.
        languages: those that the NLI model lists.
    """
    unfinished = sentences[-1].index if cut and sentences and not is_closed(sentences[-1].text) else None

    def why_not(sentence: Sentence) -> Unverifiable | None:
        if sentence.index == unfinished:
            return "truncated"
        if not is_listed(sentence.text, languages):
            return "language"
        return sentence.unverifiable

    marked = [replace(sentence, unverifiable=why_not(sentence)) for sentence in sentences]
    return [sentence for sentence in marked if sentence.unverifiable is not None or is_checkable(sentence)]


def is_closed(text: str) -> bool:
    """Return whether a text ends with closing punctuation, marks and brackets after it aside."""
    return _CLOSED.search(text) is not None
