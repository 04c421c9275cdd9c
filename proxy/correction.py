"""Rewriting contradicted sentences, and only those, each rewrite checked before it is used (contract, section 7).

In: the verdicts of one choice, the draft's sentences, the reference. Out: an `Edit` for each sentence that could be
corrected. A wrong correction is worse than none, so a rewrite that fails its checks never reaches the client: the
ladder is the model's sentence, one retry, the reference's own sentence, and else the draft as it stands.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from proxy.claims.claim import Claim, Sentence
from proxy.claims.local import split_claims
from proxy.claims.segment import plain_text
from proxy.errors import LlmCallFailed, NliFailed
from proxy.matching import Matcher, RequestTexts, is_contradicted
from proxy.nli.scoring import TOLERANCE
from proxy.prompts import correction as prompt
from proxy.services import Llm
from proxy.verdict import Flag, Verdict, first_flag
from proxy.wire import Choice
from proxy.wording import content_words_of, find_nearest, names_of, numbers_of

ATTEMPTS: Final = 2
"""Times that the model is asked for one sentence."""
_PROMPTED_FACTS: Final = 12
"""Reference sentences that the prompt holds, the nearest ones."""
_MARKS: Final = re.compile(r"\*\*|__|`|~~|\[\d+\]|\[\^[^\]]+\]|\]\(|\||^#+|\$")
_QUOTED: Final = re.compile(r"\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“”]+[“”]|「[^」]+」")


@dataclass(frozen=True, slots=True)
class Edit:
    """One sentence's replacement; it stands at the sentence's span of the draft."""

    sentence: Sentence
    after: str


@dataclass(frozen=True, slots=True)
class Revision:
    """A sentence to be corrected, and what is known of it."""

    sentence: Sentence
    contradicted: tuple[Claim, ...]
    kept: tuple[Claim, ...]
    """The sentence's other scored claims; they must survive."""
    before: tuple[Sentence, ...]
    """The draft's sentences before it, for what its pronouns stand for."""


def plan_revisions(verdicts: Sequence[Verdict], sentences: Sequence[Sentence]) -> list[Revision]:
    """Return the sentences whose contradicted claims may be edited: all of a sentence's claims or none."""
    planned = []
    for sentence in sentences:
        own = [verdict for verdict in verdicts if verdict.claim.sentence.index == sentence.index]
        wrong = [verdict for verdict in own if verdict.ruling == "contradicted"]
        if wrong and all(verdict.reason is None for verdict in wrong):
            kept = [v.claim for v in own if v.ruling in {"accepted", "neutral"}]
            before = tuple(other for other in sentences if other.index < sentence.index)
            planned.append(Revision(sentence, tuple(v.claim for v in wrong), tuple(kept), before))
    return planned


def hold_back(verdicts: Sequence[Verdict], choice: Choice) -> tuple[Verdict, ...]:
    """Say of contradicted claims that nothing may be edited where they stand: quotations, seams of two text parts."""

    def why(claim: Claim) -> Flag | None:
        if is_quotation(claim.sentence, claim):
            return "quoted"
        return None if choice.is_within_part(claim.sentence.span) else "correction_failed"

    return tuple(
        replace(verdict, reason=verdict.reason or why(verdict.claim)) if verdict.ruling == "contradicted" else verdict
        for verdict in verdicts
    )


def settle_edits(verdicts: Sequence[Verdict], edited: AbstractSet[int]) -> tuple[Verdict, ...]:
    """Record what became of the contradicted claims; those that stay all carry the reason of their choice.

    Args:
        verdicts: as they were when the edits were planned.
        edited: indices of the sentences that were edited.
    """

    def settle(verdict: Verdict) -> Verdict:
        sentence = verdict.claim.sentence
        if verdict.ruling != "contradicted" or verdict.reason is not None:
            return verdict
        if sentence.index in edited:
            return replace(verdict, ruling="corrected")
        quoted = touches_quotation(sentence, verdict.claim)
        return replace(verdict, reason="quoted" if quoted else "correction_failed")

    settled = [settle(verdict) for verdict in verdicts]
    flag = first_flag(settled)
    return tuple(replace(v, reason=flag) if v.ruling == "contradicted" else v for v in settled)


@dataclass(frozen=True)
class Corrector:
    """Corrects the sentences of one choice by one reference."""

    matcher: Matcher
    llm: Llm
    texts: RequestTexts
    floor: float
    """Least probability at which a rewrite counts as entailed."""

    async def correct(self, revisions: Sequence[Revision], *, deadline: float) -> list[Edit]:
        """Correct all sentences at once; what is not finished by the deadline (loop time, seconds) is left out."""
        if not revisions:
            return []
        tasks = [asyncio.create_task(self._correct_sentence(revision)) for revision in revisions]
        try:
            remaining = max(0.0, deadline - asyncio.get_running_loop().time())
            await asyncio.wait(tasks, timeout=remaining)
            return [edit for task in tasks if task.done() and (edit := task.result()) is not None]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _correct_sentence(self, revision: Revision) -> Edit | None:
        """Climb down the ladder until a rewrite passes; None where none does."""
        try:
            async for candidate in self._propose(revision):
                if await self._is_sound(candidate, revision):
                    return Edit(revision.sentence, candidate)
        except NliFailed:
            pass
        return None

    async def _propose(self, revision: Revision) -> AsyncIterator[str]:
        """Yield rewrites in the order of the ladder, the next one only where the last was refused."""
        claims = [claim.text for claim in revision.contradicted]
        reference = self.matcher.reference
        facts = [reference[i] for i in sorted(find_nearest(" ".join(claims), reference, _PROMPTED_FACTS))]
        question = prompt.write_question(revision.sentence.text, claims, facts)
        try:
            for _ in range(ATTEMPTS):
                yield read_sentence((await self.llm.ask("correction", prompt.INSTRUCTION, question)).text)
        except LlmCallFailed:
            pass
        if len(revision.contradicted) == 1 and not revision.kept and not _MARKS.search(revision.sentence.text):
            sentence = await self._find_reference_sentence(claims[0], facts)
            if sentence is not None:
                yield sentence

    async def _find_reference_sentence(self, claim: str, facts: Sequence[str]) -> str | None:
        """Return the reference's sentence on the same subject: it contradicts the claim and shares a name with it."""
        shared = names_of(claim) or content_words_of(claim)
        same = [fact for fact in facts if shared & (names_of(fact) or content_words_of(fact))]
        results = await self.matcher.probe(claim, same)
        against = [(p.contradiction, fact) for fact, p in zip(same, results, strict=True) if p.contradicts]
        return max(against, key=lambda found: found[0])[1] if against else None

    async def _is_sound(self, new: str, revision: Revision) -> bool:
        """Return whether a rewrite may replace its sentence; the cheap tests come first."""
        old = revision.sentence.text
        if not new or new == old or not _keeps_form(old, new) or self._brings_in_foreign_words(old, new):
            return False
        claims = _split_in_place(new, revision)
        return bool(claims) and await self._says_the_right_things(claims, new, revision)

    def _brings_in_foreign_words(self, old: str, new: str) -> bool:
        """Return whether a number or name is new to both the sentence and the reference."""
        known = " ".join([old, *self.matcher.reference])
        return not numbers_of(new) <= numbers_of(known) or not names_of(new) <= content_words_of(known)

    async def _says_the_right_things(self, claims: Sequence[Claim], new: str, revision: Revision) -> bool:
        scores = [scored.score for scored in await self.matcher.score(claims)]
        by_reference = [
            score is not None and score.label == "entailment" and (score.score or 0) >= self.floor - TOLERANCE
            for score in scores
        ]
        # A deletion is no correction: what replaces a contradicted claim must come from the reference.
        for contradicted in revision.contradicted:
            replacement = find_nearest(contradicted.text, [claim.text for claim in claims], 1)[0]
            if not by_reference[replacement]:
                return False
        old = _readings(revision.sentence.text, _split_in_place(revision.sentence.text, revision))
        for claim, entailed in zip(claims, by_reference, strict=True):
            if not entailed and not await self._entails(old, claim.text, self.floor):
                return False
            if await is_contradicted(claim.text, self.texts, self.matcher, floor=self.floor):
                return False
        now = _readings(new, claims)
        for claim in revision.kept:
            if not await self._entails(now, claim.text):
                return False
        return not any([await self._entails(now, claim.text) for claim in revision.contradicted])

    async def _entails(self, premises: Sequence[str], hypothesis: str, least: float | None = None) -> bool:
        results = await self.matcher.probe(hypothesis, premises)
        if least is None:
            return any(result.entails for result in results)
        return any(result.entailment >= least - TOLERANCE for result in results)


def read_sentence(reply: str) -> str:
    """Return the sentence of a correction reply, its lines joined and quotation marks around the whole left out."""
    sentence = " ".join(reply.split())
    if sentence[:1] in {'"', "“"} and sentence[-1:] in {'"', "”"} and len(_QUOTED.findall(sentence)) == 1:
        sentence = sentence[1:-1].strip()
    return sentence


def is_quotation(sentence: Sentence, claim: Claim) -> bool:
    """Return whether the claim is a quotation's own: nothing in quotation marks or a block quote is ever edited."""
    return sentence.quoted or content_words_of(claim.text) <= _quoted_words(sentence)


def touches_quotation(sentence: Sentence, claim: Claim) -> bool:
    """Return whether the claim has words that stand only inside quotation marks, so that these may be what is wrong."""
    outside = content_words_of(_QUOTED.sub(" ", sentence.text))
    return bool((content_words_of(claim.text) & _quoted_words(sentence)) - outside)


def _quoted_words(sentence: Sentence) -> set[str]:
    return content_words_of(" ".join(_QUOTED.findall(sentence.text)))


def _keeps_form(old: str, new: str) -> bool:
    """Return whether the rewrite keeps the sentence's marks, citations and quotations, and its closing mark."""
    same_marks = Counter(_MARKS.findall(old)) == Counter(_MARKS.findall(new))
    return same_marks and _QUOTED.findall(old) == _QUOTED.findall(new) and _closing(old) == _closing(new)


def _closing(text: str) -> str:
    found = re.search(r"[.!?…。！？:;,]*[\s*_\"'”’»)\]]*$", text)
    return re.sub(r"[^.!?…。！？:;,]", "", found.group()) if found else ""


def _split_in_place(text: str, revision: Revision) -> list[Claim]:
    """Split a text as if it stood in the draft in place of the sentence."""
    there = replace(revision.sentence, text=text, unverifiable=None)
    return [claim for claim in split_claims([*revision.before, there]) if claim.sentence.index == there.index]


def _readings(text: str, claims: Iterable[Claim]) -> list[str]:
    """Return a sentence as it stands and with its pronouns resolved, two premises for what it entails."""
    return list(dict.fromkeys([plain_text(text), " ".join(claim.text for claim in claims) or plain_text(text)]))
