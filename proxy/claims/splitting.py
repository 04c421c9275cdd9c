"""Splitting a draft into claims while it is still being written.

In: the text of one choice, in pieces of any size. Out: the same claims as of the whole text at once. Both ways of
decomposition see sentences as they come, so that a streamed draft is mostly split by the time it is complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

from proxy.claims.claim import Claims, Sentence
from proxy.claims.decompose import ClaimsFailed
from proxy.claims.screening import screen_sentence
from proxy.claims.segment import SentenceStream

Split = Callable[[AsyncIterator[Sentence]], Awaitable[Claims | ClaimsFailed]]
"""A way of decomposition: sentences to claims, with none of those that do not state anything."""


class Splitter:
    """Splits one choice; at work from its making until it is finished or dropped."""

    def __init__(self, split: Split, languages: frozenset[str]) -> None:
        """Split by `split`; sentences in other languages than these are marked as such."""
        self.sentences: list[Sentence] = []
        """All sentences so far, those that state nothing included."""
        self._languages = languages
        self._text = SentenceStream()
        self._heard = 0
        self._screened: asyncio.Queue[Sentence | None] = asyncio.Queue()
        self._splitting = asyncio.ensure_future(split(self._iterate()))

    def hear(self, text: str) -> None:
        """Take the next piece of the draft."""
        self._heard += len(text)
        self._take(self._text.feed(text))

    def close(self, draft: str, *, cut: bool) -> None:
        """Take the whole draft's end, of which less or nothing may have been heard.

        Args:
            draft: the whole text, beginning with what was heard.
            cut: whether it ended by its length limit.
        """
        self.hear(draft[self._heard :])
        self._take(self._text.close(), cut=cut)
        self._screened.put_nowait(None)

    async def finish(self) -> Claims | ClaimsFailed:
        """Return the claims, once the draft is closed."""
        return await asyncio.shield(self._splitting)

    async def drop(self) -> None:
        """Cancel what is not finished."""
        self._splitting.cancel()
        await asyncio.wait([self._splitting])

    def _take(self, sentences: list[Sentence], *, cut: bool = False) -> None:
        self.sentences += sentences
        for sentence in sentences:
            last = sentence is sentences[-1]
            screened = screen_sentence(sentence, cut=cut and last, languages=self._languages)
            # What states nothing goes along: the answer to a question says "it" of what the question names.
            self._screened.put_nowait(screened or replace(sentence, states=False))

    async def _iterate(self) -> AsyncIterator[Sentence]:
        while (sentence := await self._screened.get()) is not None:
            yield sentence
