"""Which sentences of a draft are to be split into claims, and which cannot be judged as they stand.

In: one sentence at a time. Out: the sentence if it states something, marked with the reason where it is unverifiable
(contract, sections 4 to 6). Before decomposition, because both ways of splitting treat sentences alike.
"""

from __future__ import annotations

from dataclasses import replace

from proxy.claims.boundaries import closes_sentence
from proxy.claims.checkable import is_checkable
from proxy.claims.claim import Sentence, Unverifiable
from proxy.language import is_listed


def screen_sentence(sentence: Sentence, *, cut: bool, languages: frozenset[str]) -> Sentence | None:
    """Return the sentence, marked where it cannot be judged, or None where it is plainly no claim.

    Args:
        sentence: one of the draft's.
        cut: whether the draft ended with it, by its length limit, so that it may be unfinished.
        languages: those that the NLI model lists.
    """
    reason: Unverifiable | None = sentence.unverifiable
    if cut and not is_closed(sentence.text):
        reason = "truncated"
    elif not is_listed(sentence.text, languages):
        reason = "language"
    if reason is None and not is_checkable(sentence):
        return None
    return replace(sentence, unverifiable=reason)


def is_closed(text: str) -> bool:
    """Return whether a text ends with closing punctuation, marks, brackets and citations after it aside."""
    words = text.split()
    return bool(words) and closes_sentence(words[-1])
