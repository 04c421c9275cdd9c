"""Holding claims against texts: the reference they are scored by, and the request they may have come from.

In: claims, the recalled sentences, the request's texts. Out: a `ClaimScore` a claim, and who in the request supports
a claim. The one stage that asks the NLI model about claims (contract, section 5); correction asks through it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Final, Literal

from proxy.claims.claim import Claim
from proxy.claims.markdown import plain_text
from proxy.claims.segment import split_sentences
from proxy.nli.scoring import (
    TOLERANCE,
    ClaimScore,
    Pair,
    Probabilities,
    choose_premises,
    score_claim,
    split_windows,
)
from proxy.services import Nli
from proxy.wire import ChatRequest
from proxy.wording import find_nearest

NEAREST_REQUEST_TEXTS: Final = 8
"""Windows and sentences of the request that a contradicted claim is held against."""
_REQUEST_WINDOW_SHARE: Final = 0.5
"""Part of the model's limit that a window of the request may take; the claim needs the rest."""
_QUESTION: Final = re.compile(r"[?？؟][!?？\s\"'”’»)\]]*$")

Support = Literal["given", "user"]
"""Whose text entails a claim: the operator's or a tool's, or only the user's."""


@dataclass(frozen=True, slots=True)
class ScoredClaim:
    """A claim and its score; without one where the claim is unverifiable."""

    claim: Claim
    score: ClaimScore | None


@dataclass(frozen=True)
class RequestTexts:
    """What the request itself says, in pieces: windows and single sentences.

    Texts are cut when a piece is first asked for: they can be long, and few answers have a contradicted claim.
    """

    given_texts: tuple[str, ...]
    """System, developer and tool texts."""
    user_texts: tuple[str, ...]
    count_tokens: Callable[[str], int] = len
    window_tokens: int = 0
    """Longest window; a sentence that is longer stands alone."""

    @cached_property
    def given(self) -> tuple[str, ...]:
        """Return the pieces of the given texts."""
        return self._cut(self.given_texts)

    @cached_property
    def user(self) -> tuple[str, ...]:
        """Return the pieces of the user's texts, without questions: these state nothing, however they are put."""
        return self._cut(self.user_texts, questions=False)

    def find_nearest(self, claim: str) -> list[tuple[str, Support]]:
        """Return the pieces nearest to a claim, nearest first, and whose they are."""
        pieces: list[tuple[str, Support]] = [(piece, "given") for piece in self.given]
        pieces += [(piece, "user") for piece in self.user]
        return [pieces[at] for at in find_nearest(claim, [piece for piece, _ in pieces], NEAREST_REQUEST_TEXTS)]

    def _cut(self, texts: Iterable[str], *, questions: bool = True) -> tuple[str, ...]:
        pieces: dict[str, None] = {}
        for text in texts:
            sentences = [plain_text(sentence.text) for sentence in split_sentences(text)]
            stated = [sentence for sentence in sentences if questions or not _QUESTION.search(sentence)]
            windows = split_windows(stated, self.count_tokens, self.window_tokens)
            pieces |= dict.fromkeys([*stated, *windows])
        return tuple(pieces)


def scores_of(claims: Sequence[ScoredClaim]) -> list[float]:
    """Return the scores of the claims that have one: what mu and sigma are drawn from."""
    return [scored.score.score for scored in claims if scored.score is not None and scored.score.score is not None]


class Matcher:
    """Asks one NLI model about claims against the recalls of one request."""

    def __init__(self, nli: Nli, recalls: Sequence[Sequence[str]]) -> None:
        """Hold claims against `recalls`, each the sentences of one; no premise mixes two of them."""
        self.nli: Final = nli
        self.recalls: Final = recalls
        self.reference: Final = tuple(chain.from_iterable(recalls))
        # A reference sentence is counted for every claim; the tokenizer is asked once.
        self._count_tokens = lru_cache(maxsize=None)(nli.count_tokens)

    async def score(self, claims: Sequence[Claim]) -> tuple[ScoredClaim, ...]:
        """Score each claim against the reference, in order.

        Raises:
            NliFailed: the model gave no usable result.
        """
        premises = [self._premises_of(claim) for claim in claims]
        pairs = [Pair(p, claim.text) for claim, found in zip(claims, premises, strict=True) for p in found or ()]
        results = iter(await self.nli.score(pairs))
        return tuple(_pair_up(claim, found, results) for claim, found in zip(claims, premises, strict=True))

    async def probe(self, hypothesis: str, premises: Sequence[str]) -> list[Probabilities]:
        """Return what each premise says of one hypothesis."""
        return await self.nli.score([Pair(premise, hypothesis) for premise in premises])

    def _premises_of(self, claim: Claim) -> list[str] | None:
        if claim.unverifiable is not None:
            return None
        chosen: dict[str, None] = {}
        for recall in self.recalls:
            premises = choose_premises(claim.text, recall, self._count_tokens, self.nli.max_tokens)
            if premises is None:
                return None
            chosen |= dict.fromkeys(premises)
        return list(chosen)


def _pair_up(claim: Claim, premises: list[str] | None, results: Iterator[Probabilities]) -> ScoredClaim:
    """Take a claim's results, one a premise, from the front of all results."""
    if premises is None:
        return ScoredClaim(replace(claim, unverifiable=claim.unverifiable or "too_long"), None)
    score = score_claim(premises, list(islice(results, len(premises))))
    return ScoredClaim(replace(claim, unverifiable="contested") if score.contested else claim, score)


def read_request_texts(request: ChatRequest, nli: Nli) -> RequestTexts:
    """Return the request's texts, to be cut as it suits the model."""
    window_tokens = int(nli.max_tokens * _REQUEST_WINDOW_SHARE)
    return RequestTexts(request.given_texts, request.user_texts, nli.count_tokens, window_tokens)


async def find_support(claim: str, texts: RequestTexts, matcher: Matcher, *, floor: float) -> Support | None:
    """Return who in the request entails the claim with at least `floor`, or None.

    Raises:
        NliFailed: the model gave no usable result.
    """
    nearest = texts.find_nearest(claim)
    results = await matcher.probe(claim, [piece for piece, _ in nearest])
    entailing = {whose for (_, whose), p in zip(nearest, results, strict=True) if p.entailment >= floor - TOLERANCE}
    return "given" if "given" in entailing else "user" if entailing else None


async def is_contradicted(claim: str, texts: RequestTexts, matcher: Matcher, *, floor: float) -> bool:
    """Return whether a text of the request contradicts the claim with at least `floor`.

    Raises:
        NliFailed: the model gave no usable result.
    """
    results = await matcher.probe(claim, [piece for piece, _ in texts.find_nearest(claim)])
    return any(p.contradiction >= floor - TOLERANCE for p in results)
