"""What the two ways of decomposition are given while a draft grows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from proxy.claims.claim import Claims, Sentence
from proxy.claims.local import split_claims
from proxy.claims.splitting import Splitter

ENGLISH = frozenset({"en"})


async def split_locally(sentences: AsyncIterator[Sentence]) -> Claims:
    return Claims(tuple(split_claims([sentence async for sentence in sentences])))


async def split(*pieces: str) -> list[str]:
    splitter = Splitter(split_locally, ENGLISH)
    for piece in pieces:
        splitter.hear(piece)
    splitter.close("".join(pieces), cut=False)
    claims = await splitter.finish()
    assert isinstance(claims, Claims)
    return [claim.text for claim in claims.items]


def test_an_answer_knows_its_question() -> None:
    """A question states nothing, but says what the answer's pronoun stands for (C24)."""
    draft = ("When did Verdane Bridge open? ", "It opened ", "in 1913. I like it.")
    assert asyncio.run(split(*draft)) == ["Verdane Bridge opened in 1913."]


def test_what_states_nothing_gives_no_claim() -> None:
    """A draft without statements has no claims (C26)."""
    assert asyncio.run(split("Hi! Which ", "colour?")) == []
