"""Rewriting contradicted sentences, and only those, each rewrite checked before it is used (contract, section 7).

In: the verdicts of one choice, the draft's sentences, the reference. Out: an `Edit` for each sentence that could be
corrected. A wrong correction is worse than none, so a rewrite that fails its checks never reaches the client: the
ladder is the model's sentence, one retry, the reference's own sentence, and else the draft as it stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from proxy.claims.claim import Claim, Sentence
from proxy.claims.markdown import plain_text
from proxy.claims.replies import drop_reasoning
from proxy.errors import LlmCallFailed, NliFailed
from proxy.matching import Matcher, RequestTexts
from proxy.prompts import correction as prompt
from proxy.proofreading import Proofreader, Revision, find_quotations, is_quotation, touches_quotation
from proxy.services import Llm
from proxy.verdict import Flag, Verdict, first_flag
from proxy.wire import Choice
from proxy.wording import content_words_of, find_nearest, names_of

ATTEMPTS: Final = 2
"""Times that the model is asked for one sentence."""
CONTEXT_SENTENCES: Final = 12
"""Sentences before one that is corrected, for what its pronouns stand for."""
PROMPTED_FACTS: Final = 12
"""Reference sentences that the prompt holds, the nearest ones."""
_QUOTES: Final = {'"': '"', "“": "”"}


@dataclass(frozen=True, slots=True)
class Edit:
    """One sentence's replacement; it stands at the sentence's span of the draft."""

    sentence: Sentence
    after: str


def plan_revisions(verdicts: Sequence[Verdict], sentences: Sequence[Sentence]) -> list[Revision]:
    """Return the sentences whose contradicted claims may be edited: all of a sentence's claims or none."""
    planned = []
    for position, sentence in enumerate(sentences):
        own = [verdict for verdict in verdicts if verdict.claim.sentence.index == sentence.index]
        wrong = [verdict for verdict in own if verdict.ruling == "contradicted"]
        if wrong and all(verdict.reason is None for verdict in wrong):
            planned.append(
                Revision(
                    sentence,
                    contradicted=tuple(verdict.claim for verdict in wrong),
                    kept=tuple(verdict.claim for verdict in own if verdict.ruling in {"accepted", "neutral"}),
                    single=len(own) == 1,
                    before=tuple(sentences[max(0, position - CONTEXT_SENTENCES) : position]),
                )
            )
    return planned


def hold_back(verdicts: Sequence[Verdict], choice: Choice) -> tuple[Verdict, ...]:
    """Say of contradicted claims that nothing may be edited where they stand: quotations, seams of two text parts."""
    quotations = find_quotations(choice.text)

    def why(claim: Claim) -> Flag | None:
        start, end = claim.sentence.span
        if is_quotation(claim) or any(first <= start and end <= last for first, last in quotations):
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
        if verdict.ruling != "contradicted" or verdict.reason is not None:
            return verdict
        if verdict.claim.sentence.index in edited:
            return replace(verdict, ruling="corrected")
        return replace(verdict, reason="quoted" if touches_quotation(verdict.claim) else "correction_failed")

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

    @property
    def _proofreader(self) -> Proofreader:
        return Proofreader(self.matcher, self.texts, self.floor)

    async def correct(self, revisions: Sequence[Revision], *, deadline: float) -> list[Edit]:
        """Correct all sentences at once; what is not finished by the deadline (loop time, seconds) is left out."""
        remaining = deadline - asyncio.get_running_loop().time()
        if not revisions or remaining <= 0:
            return []
        tasks = [asyncio.create_task(self._correct_sentence(revision)) for revision in revisions]
        try:
            await asyncio.wait(tasks, timeout=remaining)
            return [edit for task in tasks if task.done() and (edit := task.result()) is not None]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _correct_sentence(self, revision: Revision) -> Edit | None:
        """Climb down the ladder until a rewrite passes; None where none does."""
        try:
            after = await self._rewrite(revision) or await self._quote_reference(revision)
        except NliFailed:
            return None
        return None if after is None else Edit(revision.sentence, after)

    async def _rewrite(self, revision: Revision) -> str | None:
        """Ask the model for the sentence, twice at most; None where it does not give one that passes."""
        claims = [claim.text for claim in revision.contradicted]
        facts = await self._find_facts(claims)
        refused = None
        for _ in range(ATTEMPTS):
            # At temperature 0 the same question has the same answer, so that a retry names what was refused.
            question = prompt.write_question(revision.sentence.text, claims, facts, refused)
            try:
                reply = await self.llm.ask("correction", prompt.INSTRUCTION, question)
            except LlmCallFailed:
                return None
            sentence = read_sentence(reply.text)
            if reply.complete and await self._proofreader.passes(sentence, revision):
                return sentence
            refused = sentence
        return None

    async def _quote_reference(self, revision: Revision) -> str | None:
        """Return the reference's sentence on the same subject where it can stand for all of the draft's."""
        text = revision.sentence.text
        if not revision.single or plain_text(text) != " ".join(text.split()):
            return None
        claim = revision.contradicted[0].text
        about = names_of(claim) or content_words_of(claim)
        facts = await self._find_facts([claim])
        same = [fact for fact in facts if about & (names_of(fact) or content_words_of(fact))]
        results = await self.matcher.probe(claim, same)
        against = [(p.contradiction, fact) for fact, p in zip(same, results, strict=True) if p.contradicts]
        if not against:
            return None
        fact = max(against, key=lambda found: found[0])[1]
        return fact if await self._proofreader.passes(fact, revision) else None

    async def _find_facts(self, claims: Sequence[str]) -> list[str]:
        """Return the reference sentences nearest to some claims, in the reference's order.

        Where the context contradicts one of them it stands alone: it goes before the recall, which may say otherwise.
        """
        about = " ".join(claims)
        given = _choose_nearest(about, self.matcher.context.read_near(about))
        for claim in claims if given else ():
            if any(result.contradicts for result in await self.matcher.probe(claim, given)):
                return given
        return _choose_nearest(about, [*given, *self.matcher.reference])


def _choose_nearest(about: str, facts: Sequence[str]) -> list[str]:
    return [facts[at] for at in sorted(find_nearest(about, facts, PROMPTED_FACTS))]


def read_sentence(reply: str) -> str:
    """Return the sentence of a correction reply, its lines joined and quotation marks around the whole left out."""
    sentence = " ".join(drop_reasoning(reply).split())
    closer = _QUOTES.get(sentence[:1])
    # With more such marks inside, those at the ends belong to two quotations.
    whole = closer is not None and sentence.find(closer, 1) == len(sentence) - 1
    return sentence[1:-1].strip() if whole else sentence
