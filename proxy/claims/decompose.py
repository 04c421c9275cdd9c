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
from typing import Final

from proxy.claims.claim import Claim, Claims, Sentence, join_claims
from proxy.claims.replies import ReadReply, read_reply
from proxy.errors import LlmCallFailed
from proxy.prompts import claims as prompt
from proxy.services import Llm
from proxy.wording import content_words_of, find_nearest, numbers_of

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
    """Sentences of one call; those that are unverifiable as they stand are in it, but not asked about."""

    before: tuple[Sentence, ...]
    sentences: tuple[Sentence, ...]

    @property
    def askable(self) -> list[Sentence]:
        return [sentence for sentence in self.sentences if sentence.unverifiable is None]


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
    start = room = filled = 0
    async for sentence in sentences:
        # Without a call to spend, a sentence cannot be split and so cannot be checked.
        seen.append(sentence if calls else replace(sentence, unverifiable=sentence.unverifiable or "too_many"))
        room += sentence.unverifiable is None
        if room == sizes[filled]:
            yield _Pack(tuple(seen[:start]), tuple(seen[start:]))
            start, room, filled = len(seen), 0, filled + 1
    if start < len(seen):
        yield _Pack(tuple(seen[:start]), tuple(seen[start:]))


async def _split_pack(pack: _Pack, llm: Llm) -> Claims:
    if not pack.askable:
        return Claims(tuple(Claim(s.text, s, s.unverifiable) for s in pack.sentences))
    before = [(sentence.heading, _as_line(sentence)) for sentence in pack.before[-CONTEXT_SENTENCES:]]
    question = prompt.write_question(before, [(s.heading, _as_line(s)) for s in pack.askable])
    reply = await llm.ask("claims", prompt.INSTRUCTION, question)
    read = read_reply(reply.text)
    return anchor_claims(replace(read, cut=read.cut or not reply.complete), pack.sentences, pack.before)


def anchor_claims(reply: ReadReply, sentences: Sequence[Sentence], before: Sequence[Sentence] = ()) -> Claims:
    """Give each claim of a reply the sentence that states it, in the order of the draft.

    A claim that no sentence can have stated is dropped and counted. A sentence that the reply leaves out, or whose
    claims all had to be dropped, stands as one claim, `unresolved`.
    """
    askable = [sentence for sentence in sentences if sentence.unverifiable is None]
    known_numbers = numbers_of(" ".join(f"{s.heading or ''} {s.text}" for s in (*before, *sentences)))
    stated: dict[int, dict[str, Claim]] = {sentence.index: {} for sentence in sentences}
    dropped = 0
    for number, text in reply.claims:
        sentence = _find_anchor(number, text, askable)
        if sentence is None or not numbers_of(text) <= known_numbers:
            dropped += 1
        else:
            stated[sentence.index].setdefault(text.casefold(), Claim(text, sentence))
    # A reply without any claim and without a list of `none` says of every sentence that it states nothing.
    without = set(range(1, len(askable) + 1)) if not reply.claims and reply.none is None else reply.none or ()
    for number, sentence in enumerate(askable, 1):
        if not stated[sentence.index] and number not in without:
            stated[sentence.index][""] = Claim(sentence.text, sentence, "unresolved")
    for sentence in sentences:
        if sentence.unverifiable is not None:
            stated[sentence.index][""] = Claim(sentence.text, sentence, sentence.unverifiable)
    items = tuple(claim for sentence in sentences for claim in stated[sentence.index].values())
    return Claims(items, dropped, incomplete=reply.cut)


def _find_anchor(number: int | None, text: str, sentences: Sequence[Sentence]) -> Sentence | None:
    """Return the sentence of that number if it shares words with the claim, else the nearest that does."""
    words = content_words_of(text)
    sharing = [sentence for sentence in sentences if words & content_words_of(_as_line(sentence))]
    if number is not None and 0 < number <= len(sentences) and sentences[number - 1] in sharing:
        return sentences[number - 1]
    nearest = find_nearest(text, [_as_line(sentence) for sentence in sharing], count=1)
    return sharing[nearest[0]] if nearest else None


def _as_line(sentence: Sentence) -> str:
    return " ".join(sentence.text.split())
