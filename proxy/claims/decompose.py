"""Decomposition by the model: sentences to atomic claims, each anchored to its sentence (contract, section 10).

In: sentences as they come, from a streamed or a whole draft. Out: `Claims`, or `ClaimsFailed` as a value. Packs of
sentences are asked about as soon as they are full; their sizes depend on position only, so that both kinds of draft
lead to the same calls.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from proxy.claims.claim import Claim, Claims, Sentence, join_claims
from proxy.claims.local import LocalSplitter
from proxy.claims.replies import ReadReply, read_reply
from proxy.errors import LlmCallFailed
from proxy.prompts import claims as prompt
from proxy.services import Llm
from proxy.wording import content_words_of, find_nearest, numbers_of, words_of

PACK_SIZES: Final = (1, 1, 1, 1, 2, 4, 8, sys.maxsize)
"""Sentences a call: small ones first, so that a streamed draft is split while it still grows."""
CONTEXT_SENTENCES: Final = 12
"""Sentences before a pack that go with it, for what its pronouns stand for."""


@dataclass(frozen=True, slots=True)
class ClaimsFailed:
    """A decomposition call failed, or its reply could not be read."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one choice may spend on its decomposition."""

    calls: int
    claims: int


@dataclass(frozen=True, slots=True)
class _Pack:
    """Sentences of one call; those that state nothing or are unverifiable are in it, but not asked about."""

    before: tuple[Sentence, ...]
    sentences: tuple[Sentence, ...]

    @property
    def askable(self) -> list[Sentence]:
        return [sentence for sentence in self.sentences if _is_askable(sentence)]

    @property
    def context(self) -> tuple[Sentence, ...]:
        """What stands before the first sentence that is asked about: the question that it may answer, too."""
        silent = takewhile(lambda sentence: not sentence.states, self.sentences)
        return (*self.before, *silent)


async def decompose(sentences: AsyncIterator[Sentence], llm: Llm, budget: Budget) -> Claims | ClaimsFailed:
    """Split sentences into atomic claims, in the order of the draft, each pack as soon as it is full."""
    failed = False
    calls: list[asyncio.Task[Claims]] = []
    try:
        async with asyncio.TaskGroup() as group:
            async for pack in _fill_packs(sentences, budget.calls):
                calls.append(group.create_task(_split_pack(pack, llm)))  # noqa: PERF401  # started one by one
    except* LlmCallFailed:
        failed = True
    if failed:
        return ClaimsFailed()
    return join_claims([call.result() for call in calls]).capped(budget.claims)


async def _fill_packs(sentences: AsyncIterator[Sentence], calls: int) -> AsyncIterator[_Pack]:
    """Yield packs of the sizes of `PACK_SIZES`, the last of `calls` taking what is left."""
    sizes = (*PACK_SIZES[: max(calls, 1) - 1], sys.maxsize)
    seen: list[Sentence] = []
    start = filled = room_taken = 0
    async for sentence in sentences:
        # Without a call to spend, no sentence can be split, and so none can be checked.
        reason = sentence.unverifiable or (None if calls or not sentence.states else "too_many")
        seen.append(replace(sentence, unverifiable=reason))
        room_taken += _is_askable(seen[-1])
        if room_taken == sizes[filled]:
            yield _Pack(tuple(seen[:start]), tuple(seen[start:]))
            start, filled, room_taken = len(seen), filled + 1, 0
    if start < len(seen):
        yield _Pack(tuple(seen[:start]), tuple(seen[start:]))


async def _split_pack(pack: _Pack, llm: Llm) -> Claims:
    if not pack.askable:
        return Claims(tuple(_unsplit_claim(sentence) for sentence in pack.sentences if sentence.states))
    before = [(sentence.heading, _as_line(sentence)) for sentence in pack.context[-CONTEXT_SENTENCES:]]
    question = prompt.write_question(before, [(s.heading, _as_line(s)) for s in pack.askable])
    reply = await llm.ask("claims", prompt.INSTRUCTION, question)
    read = read_reply(reply.text)
    claims = anchor_claims(replace(read, cut=read.cut or not reply.complete), pack.sentences, pack.before)
    return replace(claims, items=complete_claims(claims.items, pack.sentences, pack.before))


def anchor_claims(reply: ReadReply, sentences: Sequence[Sentence], before: Sequence[Sentence] = ()) -> Claims:
    """Give each claim of a reply the sentence that states it, in the order of the draft.

    A claim that no sentence can have stated is dropped and counted. A sentence that the reply leaves out, or whose
    claims all had to be dropped, stands as one claim, `unresolved`.
    """
    askable = [sentence for sentence in sentences if _is_askable(sentence)]
    known_numbers = numbers_of(" ".join(f"{s.heading or ''} {s.text}" for s in (*before, *sentences)))
    stated: dict[int, dict[str, Claim]] = {sentence.index: {} for sentence in sentences}
    lost: list[int | None] = []
    for number, text in reply.claims:
        sentence = _find_anchor(number, text, askable)
        if sentence is None or not numbers_of(text) <= known_numbers:
            lost.append(number)
        else:
            stated[sentence.index].setdefault(text.casefold(), Claim(text, sentence))
    # A reply without any claim and without a list of `none` says of every sentence that it states nothing.
    says_nothing = not reply.claims and reply.none is None
    without = (reply.none or frozenset()).difference(lost)
    for number, sentence in enumerate(askable, 1):
        if not (stated[sentence.index] or says_nothing or number in without):
            stated[sentence.index][""] = Claim(sentence.text, sentence, "unresolved")
    for sentence in sentences:
        if sentence.unverifiable is not None:
            stated[sentence.index][""] = _unsplit_claim(sentence)
    items = tuple(claim for sentence in sentences for claim in stated[sentence.index].values())
    return Claims(items, len(lost), incomplete=reply.cut)


def complete_claims(
    claims: Sequence[Claim], sentences: Sequence[Sentence], before: Sequence[Sentence] = ()
) -> tuple[Claim, ...]:
    """Give claims that lack one the subject that the text shows, or say that there is none: `unresolved` (C24)."""
    reader = LocalSplitter()
    for sentence in before:
        reader.split(sentence)
    completed: list[Claim] = []
    for sentence in sentences:
        completed += reader.complete(sentence, [claim for claim in claims if claim.sentence.index == sentence.index])
        reader.split(sentence)
    return tuple(completed)


def _is_askable(sentence: Sentence) -> bool:
    return sentence.states and sentence.unverifiable is None


def _unsplit_claim(sentence: Sentence) -> Claim:
    """Return a sentence that cannot be judged as one claim, with the reason."""
    return Claim(sentence.text, sentence, sentence.unverifiable)


def _find_anchor(number: int | None, text: str, sentences: Sequence[Sentence]) -> Sentence | None:
    """Return the sentence of that number if it shares words with the claim, else the nearest that does."""
    words = content_words_of(text) or words_of(text)
    sharing = [sentence for sentence in sentences if words & words_of(sentence.text)]
    if number is not None and 0 < number <= len(sentences) and sentences[number - 1] in sharing:
        return sentences[number - 1]
    nearest = find_nearest(text, [_as_line(sentence) for sentence in sharing], count=1)
    return sharing[nearest[0]] if nearest else None


def _as_line(sentence: Sentence) -> str:
    return " ".join(sentence.text.split())
