"""Decomposition without a model: sentences to claims by the sentence's own words.

In: sentences in the order of the draft. Out: `Claim`s, one or more a checkable sentence. Predicates that share a named
subject, relative clauses on it and whole clauses are taken apart where that is safe, a pronoun subject is replaced
where one name alone can be meant; else the sentence is the claim. A claim depends on its sentence and those before.
Pure, deterministic; well under 5 ms for 200 words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from proxy.claims.checkable import is_checkable
from proxy.claims.claim import Claim, Sentence
from proxy.claims.clauses import split_clauses
from proxy.claims.discourse import Discourse, is_section
from proxy.claims.markdown import plain_text
from proxy.claims.vocabulary import FINITE, INTRANSITIVE_PAST, PASSIVE, TRANSITIVE_PAST

_OPENING = re.compile(
    r"(?:yes|no|sure|certainly|absolutely|of course|indeed|however|moreover|furthermore|additionally|in addition"
    r"|interestingly|notably|actually|in fact|overall|in summary|in conclusion|in short|therefore|thus|consequently"
    r"|as a result|for example|for instance|that said|nevertheless|nonetheless|meanwhile)[,:] (?=\S)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^.:!?\"“]{1,40}: \S")
_CLOSING = re.compile(r"[.…]+([\"'”’)]*)$")
_FINAL = re.compile(r"[.。｡？！।॥۔][\"'”’)」』]*$")
_BRAND = re.compile(r"[a-z]{1,2}[A-Z]")


def split_claims(sentences: Sequence[Sentence]) -> list[Claim]:
    """Split the sentences of a draft, in order, into claims."""
    splitter = LocalSplitter()
    return [claim for sentence in sentences for claim in splitter.split(sentence)]


class LocalSplitter:
    """Splits sentence after sentence, as a streamed draft yields them."""

    def __init__(self) -> None:
        """Start before the first sentence."""
        self._discourse = Discourse()
        self._last: Sentence | None = None

    def split(self, sentence: Sentence) -> list[Claim]:
        """Return the claims of the next sentence; none where it is not checkable."""
        last, self._last = self._last, sentence
        if last and (sentence.index != last.index + 1 or sentence.quoted != last.quoted):
            # A sentence in between was left out, or someone else speaks: what was said there is not known.
            self._discourse.lose_topic()
        self._discourse.enter_section(sentence.heading)
        if sentence.unverifiable is not None or not is_checkable(sentence):
            self._discourse.lose_topic()
            return [Claim(sentence.text, sentence, sentence.unverifiable)] if sentence.unverifiable else []
        return [Claim(text, sentence) for text in self._split_text(sentence)]

    def _split_text(self, sentence: Sentence) -> list[str]:
        plain = _strip(plain_text(sentence.text))
        if _is_fragment(plain):
            self._discourse.lose_topic()
            heading = sentence.heading
            named = heading is None or is_section(heading) or heading.casefold() in plain.casefold()
            return [_finish(plain if named else f"{heading}: {plain}")]
        statements = split_clauses(self._discourse.resolve(plain))
        self._discourse.follow(statements)
        return list(dict.fromkeys(map(_finish, statements)))


def _strip(text: str) -> str:
    """Take off what stands around a statement: marks, brackets around the whole, an opening like "However,"."""
    text = text.lstrip(" :,;–—•").rstrip()
    while opening := _OPENING.match(text):
        text = text[opening.end() :]
    if text.startswith("(") and text.find(")") == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _is_fragment(text: str) -> bool:
    """Tell whether a text is an entry of a list or table, which lacks a subject.

    That is a label with its value, a line that starts with its verb, or one with neither a verb nor a full stop.
    """
    first, *others = text.split(" ")
    if _LABEL.match(text) or first.lower() in TRANSITIVE_PAST | PASSIVE | INTRANSITIVE_PAST:
        return True
    return not _FINAL.search(text) and not any(word in FINITE for word in others)


def _finish(text: str) -> str:
    """Give a claim its capital and its full stop."""
    text = text.rstrip(" ,;:–—-")
    if not _BRAND.match(text):
        text = text[:1].upper() + text[1:]
    text = _CLOSING.sub(r".\1", text.rstrip("!"))
    return text if _FINAL.search(text) else f"{text}."
