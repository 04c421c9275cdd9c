"""Decomposition without a model: sentences to claims by the sentence's own words.

In: sentences in the order of the draft. Out: `Claim`s, one or more a checkable sentence. Predicates that share a named
subject, relative clauses on it and whole clauses are taken apart where that is safe, a pronoun subject is replaced
where one name alone can be meant; else the sentence is the claim, `unresolved` where it points at what it does not
name. A claim depends on its sentence and those before, those that state nothing too: the question that it answers.
Pure, deterministic; well under 5 ms for 200 words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy

from proxy.claims.checkable import find_stated
from proxy.claims.claim import Claim, Sentence
from proxy.claims.clauses import split_clauses
from proxy.claims.discourse import Discourse, is_section
from proxy.claims.markdown import plain_text
from proxy.claims.predicates import read_words
from proxy.claims.pronouns import find_pointer
from proxy.claims.subjects import Subject, find_subject
from proxy.claims.vocabulary import FINITE, INTRANSITIVE_PAST, PASSIVE, TRANSITIVE_PAST

_OPENING = re.compile(
    r"(?:yes|no|sure|certainly|absolutely|of course|indeed|however|moreover|furthermore|additionally|in addition"
    r"|interestingly|notably|actually|in fact|overall|in summary|in conclusion|in short|therefore|thus|consequently"
    r"|as a result|for example|for instance|that said|nevertheless|nonetheless|meanwhile)[,:] (?=\S)",
    re.IGNORECASE,
)
_NAMED_SECTION = re.compile(r" (?:of|in|by) (?:the )?[A-Z]")
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
        self._lead_in: str | None = None

    def split(self, sentence: Sentence) -> list[Claim]:
        """Return the claims of the next sentence; none where it is not checkable."""
        self._enter(sentence)
        if sentence.unverifiable is not None:
            self._discourse.lose_topic()
            return [Claim(sentence.text, sentence, sentence.unverifiable)]
        plain = plain_text(sentence.text)
        stated = find_stated(plain) if sentence.states else ""
        if not stated:
            self._hear(_strip(plain))
            return []
        claims = [_make_claim(text, sentence) for text in self._split_text(_strip(stated), sentence.heading)]
        if stated.split()[-1] != plain.split()[-1]:
            # What was left out at the end may have named others.
            self._discourse.lose_topic()
        return claims

    def complete(self, sentence: Sentence, claims: Sequence[Claim]) -> list[Claim]:
        """Return a model's claims of the next sentence, each with a subject; to be called before `split`.

        One that begins with a pronoun gets the name that alone can be meant, one that begins with its verb the subject
        of the sentence. Where there is none it is `unresolved`: judged as it is, it could be about anything.
        """
        self._enter(sentence)
        discourse = copy(self._discourse)
        subject = find_subject(discourse.resolve(_strip(plain_text(sentence.text))))
        completed = []
        for claim in claims:
            if claim.unverifiable is not None:
                completed.append(claim)
                continue
            text = _add_subject(claim.text, subject) if _lacks_subject(claim.text) else discourse.resolve(claim.text)
            discourse.follow([text])
            completed.append(_make_claim(text, sentence))
        return completed

    def _enter(self, sentence: Sentence) -> None:
        """Take note of where a sentence stands, unless that has been done."""
        last, self._last = self._last, sentence
        if last is sentence:
            return
        if last and (sentence.index != last.index + 1 or sentence.quoted != last.quoted):
            # A sentence in between was left out, or someone else speaks: what was said there is not known.
            self._discourse.lose_topic()
            self._lead_in = None
        self._discourse.enter_section(sentence.heading)

    def _hear(self, plain: str) -> None:
        """Take note of a sentence that states nothing: what a question asks about, what a list is of."""
        self._lead_in = plain if plain.endswith(":") and FINITE & set(read_words(plain)) else None
        if plain.endswith(("?", ":")):
            self._discourse.hear_question(plain)
        else:
            self._discourse.lose_topic()

    def _split_text(self, plain: str, heading: str | None) -> list[str]:
        if _is_fragment(plain):
            self._discourse.return_to_heading()
            bare = heading is not None and is_section(heading) and not _NAMED_SECTION.search(heading)
            named = heading is None or bare or heading.casefold() in plain.casefold()
            above = self._lead_in or (None if named else f"{heading}:")
            return [_finish(f"{above} {plain}" if above else plain)]
        self._lead_in = None
        statements = split_clauses(self._discourse.resolve(plain))
        self._discourse.follow(statements)
        return list(dict.fromkeys(map(_finish, statements)))


def _make_claim(text: str, sentence: Sentence) -> Claim:
    """Make a claim; one that points at something it does not name is not judged (C24)."""
    return Claim(text, sentence, None if find_pointer(text) is None else "unresolved")


def _lacks_subject(text: str) -> bool:
    """Tell whether a claim begins with its verb: "opened in 1913"."""
    first = text.split(" ", 1)[0]
    return first in FINITE | PASSIVE


def _add_subject(text: str, subject: Subject | None) -> str:
    """Put the sentence's subject before a claim that lacks one; where that is not known it stays as it is."""
    if subject is None or not subject.is_known:
        return text
    return f"{subject.text} {text}"


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
