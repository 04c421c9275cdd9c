"""Evidence from a search that the operator runs, for contradictions the recall alone is not sure of.

In: claims. Out: passages of text; what fails is logged and gives none, since the answer is not to suffer from it. The
protocol is in docs/retrieval.md. Only a claim's text leaves: no draft, no question, no credentials of the request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import chain
from typing import Final

import httpx2
import msgspec
import structlog

LIMIT_S: Final = 3.0
"""Longest that a search may take; the budget of a request may allow less."""
PASSAGES: Final = 5
"""Passages asked for with one claim, and most that are taken."""
MOST_REPLY_BYTES: Final = 1_000_000
LONGEST_PASSAGE: Final = 4000
"""Characters; what is over is left out."""

_log = structlog.get_logger()


class Passage(msgspec.Struct):
    """One result; members that are not named here are ignored."""

    text: str


class Found(msgspec.Struct):
    """A reply of the search."""

    passages: list[Passage]


class SearchFailed(ValueError):
    """The search answered with something that cannot be used."""


class Retrieval:
    """The operator's search; one for the whole process."""

    def __init__(self, url: str) -> None:
        """Set up; no connection is made yet."""
        self._url = url
        self._client = httpx2.AsyncClient(timeout=LIMIT_S, follow_redirects=False)

    async def search(self, claims: Sequence[str], *, within_s: float, request_id: str) -> list[str]:
        """Return the passages found for some claims, all asked for at once, without repeats.

        Args:
            claims: the queries.
            within_s: what the request's budget allows, in seconds.
            request_id: names the verification in the log.
        """
        limit_s = min(LIMIT_S, within_s)
        found = await asyncio.gather(*(self._search(claim, limit_s, request_id) for claim in claims))
        return list(dict.fromkeys(chain.from_iterable(found)))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _search(self, claim: str, limit_s: float, request_id: str) -> list[str]:
        try:
            async with asyncio.timeout(limit_s):
                return read_passages(await self._ask(claim))
        except (httpx2.HTTPError, TimeoutError, SearchFailed) as error:
            # The error's text may hold the address, and that a key.
            _log.warning("retrieval failed", id=request_id, error=type(error).__name__)
            return []

    async def _ask(self, claim: str) -> bytes:
        body = json.dumps({"query": claim, "limit": PASSAGES})
        headers = {"content-type": "application/json"}
        async with self._client.stream("POST", self._url, content=body, headers=headers) as reply:
            reply.raise_for_status()
            raw = bytearray()
            async for piece in reply.aiter_bytes():
                raw += piece
                if len(raw) > MOST_REPLY_BYTES:
                    raise SearchFailed("The reply is too long.")
        return bytes(raw)


def read_passages(raw: bytes) -> list[str]:
    """Return the texts of a reply.

    Raises:
        SearchFailed: it is not of the protocol's form.
    """
    try:
        found = msgspec.json.decode(raw, type=Found)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SearchFailed("The reply is not as docs/retrieval.md says.") from error
    return [passage.text[:LONGEST_PASSAGE] for passage in found.passages[:PASSAGES] if passage.text.strip()]
