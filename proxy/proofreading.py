"""Whether a rewrite may take the place of its sentence (contract, section 7).

In: a rewritten sentence, and what is known of the one that it is to replace. Out: yes or no. A wrong correction is
worse than none, so that every condition is one reason to refuse. Apart from the correction, which proposes: here
nothing is asked of the model that wrote the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from proxy.claims.claim import Claim, Sentence, Span
from proxy.claims.local import split_claims
from proxy.claims.markdown import CITATION, plain_text
from proxy.claims.segment import split_sentences
from proxy.matching import Matcher, RequestTexts, is_contradicted
from proxy.nli.scoring import TOLERANCE
from proxy.quantities.comparison import adds_quantities
from proxy.wording import content_words_of, names_of

_LONGEST_QUOTATION: Final = 2000
"""Characters; a straight mark without partner is no opening one after so many."""
_QUOTATION: Final = (
    rf"(?<!\w)\"[^\"]{{1,{_LONGEST_QUOTATION}}}\"|“[^“”]+”|„[^“”„]+[“”]|‘[^‘’]+’"
    r"|«[^«»]+»|‹[^‹›]+›|「[^「」]+」|『[^『』]+』"
)
_CODE: Final = r"`++[^`]+`++|\$\$[^$]+\$\$|\$(?! )[^$\n]+(?<! )\$(?!\d)"
_HALF_QUOTATION: Final = (
    r"(?<!\w)\"[^\"]+$|[“„][^“”]+$|«[^»]+$|「[^」]+$|『[^』]+$|^[^“„]+”|^[^«]+»|^[^「]+」|^[^『]+』"
)
"""A quotation that goes on in another sentence."""
_QUOTED: Final = re.compile(f"{_CODE}|{_QUOTATION}|{_HALF_QUOTATION}")
_FIXED: Final = re.compile(
    rf"{_QUOTED.pattern}|{CITATION}|\]\([^()\s]*(?:\s\"[^\"]*\")?\)|https?://[^\s)\]]+|</?[A-Za-z][^<>]*>"
    r"|\*+|~~|(?<!\w)_+|_+(?!\w)|\||^#+|!?\["
)
"""What a rewrite keeps as it is: quotations, code, citations, addresses, tags and Markdown's marks."""
_CLOSING: Final = re.compile(r"[.!?…。！？:;,]*[\s*_\"'”’»)\]]*$")


@dataclass(frozen=True, slots=True)
class Revision:
    """A sentence to be corrected, and what is known of it."""

    sentence: Sentence
    contradicted: tuple[Claim, ...]
    kept: tuple[Claim, ...]
    """The sentence's other scored claims; they must survive."""
    single: bool
    """One contradicted claim is all that the sentence states."""
    before: tuple[Sentence, ...]
    """The draft's last sentences before it, for what its pronouns stand for."""


@dataclass(frozen=True)
class Proofreader:
    """Checks the rewrites of one choice's sentences against one reference."""

    matcher: Matcher
    texts: RequestTexts
    floor: float
    """Least probability at which a new claim counts as entailed, or as contradicted by the request."""

    async def passes(self, new: str, revision: Revision) -> bool:
        """Return whether a rewrite may replace its sentence; the cheap tests come first.

        Raises:
            NliFailed: the model gave no usable result.
        """
        old = revision.sentence.text
        if not new or new == old or not _keeps_form(old, new) or self._brings_in_foreign_words(old, new):
            return False
        claims = _split_in_place(new, revision)
        return (
            bool(claims)
            and await self._is_borne_out(claims, revision)
            and await self._keeps_the_rest(claims, new, revision)
        )

    def _brings_in_foreign_words(self, old: str, new: str) -> bool:
        """Return whether a number or name is new to both the sentence and the reference; another form is not new."""
        known = " ".join([old, *self.matcher.context.read_near(f"{old} {new}"), *self.matcher.reference])
        return adds_quantities(new, known) or not names_of(new) <= content_words_of(known)

    async def _is_borne_out(self, claims: Sequence[Claim], revision: Revision) -> bool:
        """Return whether every new claim is supported, and each contradicted claim replaced by what the reference says.

        A deletion is no correction: of the new claims that the reference entails, one has to contradict the old one.
        """
        stated = [
            scored.claim.text
            for scored in await self.matcher.score(claims)
            if scored.score is not None
            and scored.score.label == "entailment"
            and (scored.score.score or 0) >= self.floor - TOLERANCE
        ]
        old = _readings(revision.sentence.text, _split_in_place(revision.sentence.text, revision))
        for claim in claims:
            if claim.text not in stated and await self._entailment(old, claim.text) < self.floor - TOLERANCE:
                return False
            if await is_contradicted(claim.text, self.texts, self.matcher, floor=self.floor):
                return False
        for claim in revision.contradicted:
            if not any(result.contradicts for result in await self.matcher.probe(claim.text, stated)):
                return False
        return True

    async def _keeps_the_rest(self, claims: Sequence[Claim], new: str, revision: Revision) -> bool:
        """Return whether the new sentence entails all that was right in the old one, and nothing that was wrong."""
        now = _readings(new, claims)
        for claim in (*revision.kept, *revision.contradicted):
            entailed = any(result.entails for result in await self.matcher.probe(claim.text, now))
            if entailed is (claim in revision.contradicted):
                return False
        return True

    async def _entailment(self, premises: Sequence[str], hypothesis: str) -> float:
        """Return the probability of the strongest entailment."""
        return max(result.entailment for result in await self.matcher.probe(hypothesis, premises))


def is_quotation(claim: Claim) -> bool:
    """Return whether the claim is a quotation's own, or one of code: nothing of these is ever edited."""
    words = content_words_of(claim.text)
    return claim.sentence.quoted or (bool(words) and words <= _quoted_words(claim.sentence))


def touches_quotation(claim: Claim) -> bool:
    """Return whether the claim has words that stand only inside quotation marks, so that these may be what is wrong."""
    outside = content_words_of(_QUOTED.sub(" ", claim.sentence.text))
    return bool((content_words_of(claim.text) & _quoted_words(claim.sentence)) - outside)


def find_quotations(draft: str) -> list[Span]:
    """Return the spans of a draft's quotations, which may hold whole sentences; none goes on over a line end."""
    lines = re.finditer(r".+", draft)
    return [
        (line.start() + found.start(), line.start() + found.end())
        for line in lines
        for found in re.finditer(_QUOTATION, line.group())
    ]


def _quoted_words(sentence: Sentence) -> set[str]:
    return content_words_of(" ".join(_QUOTED.findall(sentence.text)))


def _keeps_form(old: str, new: str) -> bool:
    """Return whether a rewrite is one sentence with the same marks, citations, quotations and closing mark."""
    return (
        _FIXED.findall(old) == _FIXED.findall(new)
        and _closing(old) == _closing(new)
        and len(split_sentences(new)) <= max(1, len(split_sentences(old)))
    )


def _closing(text: str) -> str:
    found = _CLOSING.search(text)
    return re.sub(r"[^.!?…。！？:;,]", "", found.group()) if found else ""


def _split_in_place(text: str, revision: Revision) -> list[Claim]:
    """Split a text as if it stood in the draft in place of the sentence.

    What its pronouns stand for is settled by the claims that it replaces, so that one left in it is no obstacle.
    """
    there = replace(revision.sentence, text=text, unverifiable=None)
    claims = [claim for claim in split_claims([*revision.before, there]) if claim.sentence.index == there.index]
    return [replace(claim, unverifiable=None) if claim.unverifiable == "unresolved" else claim for claim in claims]


def _readings(text: str, claims: Sequence[Claim]) -> list[str]:
    """Return a sentence as it stands and with its pronouns resolved, two premises for what it entails."""
    resolved = " ".join(claim.text for claim in claims)
    return list(dict.fromkeys(reading for reading in (plain_text(text), resolved) if reading))
