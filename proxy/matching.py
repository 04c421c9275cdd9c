"""Holding claims against texts: the reference they are scored by, and the request they may have come from.

In: claims, the recalled sentences, the request's texts. Out: a `ClaimScore` a claim, and who in the request supports
a claim. The one stage that asks the NLI model about claims (contract, section 5); correction asks through it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from proxy.claims.claim import Claim
from proxy.claims.segment import plain_text, split_sentences
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
_QUESTION_MARKS: Final = ("?", "？", "؟")

Support = Literal["given", "user"]
"""Whose text entails a claim: the operator's or a tool's, or only the user's."""


@dataclass(frozen=True, slots=True)
class ScoredClaim:
    """A claim and its score; without one where the claim is unverifiable."""

    claim: Claim
    score: ClaimScore | None


@dataclass(frozen=True, slots=True)
class RequestTexts:
    """What the request itself says, cut into windows and sentences, the user's questions left out."""

    given: tuple[str, ...]
    user: tuple[str, ...]


def scores_of(claims: Sequence[ScoredClaim]) -> list[float]:
    """Return the scores of the claims that have one: what mu and sigma are drawn from."""
    return [scored.score.score for scored in claims if scored.score is not None and scored.score.score is not None]


class Matcher:
    """Asks one NLI model about claims against one reference."""

    def __init__(self, nli: Nli, reference: Sequence[str]) -> None:
        """Hold claims against `reference`, the sentences of all recalls."""
        self.nli: Final = nli
        self.reference: Final = tuple(reference)
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
        return choose_premises(claim.text, self.reference, self._count_tokens, self.nli.max_tokens)


def _pair_up(claim: Claim, premises: list[str] | None, results: Iterable[Probabilities]) -> ScoredClaim:
    if premises is None:
        return ScoredClaim(replace(claim, unverifiable=claim.unverifiable or "too_long"), None)
    score = score_claim(premises, [result for _, result in zip(premises, results, strict=False)])
    return ScoredClaim(replace(claim, unverifiable="contested") if score.contested else claim, score)


def read_request_texts(request: ChatRequest, nli: Nli) -> RequestTexts:
    """Cut the request's texts into what a claim can be held against."""
    budget = int(nli.max_tokens * _REQUEST_WINDOW_SHARE)

    def cut(texts: Iterable[str]) -> tuple[str, ...]:
        pieces: dict[str, None] = {}
        for text in texts:
            sentences = [plain_text(sentence.text) for sentence in split_sentences(text)]
            stated = [sentence for sentence in sentences if not sentence.rstrip().endswith(_QUESTION_MARKS)]
            pieces |= dict.fromkeys([*stated, *split_windows(stated, nli.count_tokens, budget)])
        return tuple(pieces)

    return RequestTexts(given=cut(request.given_texts), user=cut(request.user_texts))


async def find_support(claim: str, texts: RequestTexts, matcher: Matcher, *, floor: float) -> Support | None:
    """Return who in the request entails the claim with at least `floor`, or None.

    Raises:
        NliFailed: the model gave no usable result.
    """
    pieces = [*texts.given, *texts.user]
    nearest = find_nearest(claim, pieces, NEAREST_REQUEST_TEXTS)
    results = await matcher.probe(claim, [pieces[index] for index in nearest])
    entailing = [index for index, p in zip(nearest, results, strict=True) if p.entailment >= floor - TOLERANCE]
    if any(index < len(texts.given) for index in entailing):
        return "given"
    return "user" if entailing else None


async def is_contradicted(claim: str, texts: RequestTexts, matcher: Matcher, *, floor: float) -> bool:
    """Return whether a text of the request contradicts the claim with at least `floor`.

    Raises:
        NliFailed: the model gave no usable result.
    """
    pieces = [*texts.given, *texts.user]
    nearest = [pieces[index] for index in find_nearest(claim, pieces, NEAREST_REQUEST_TEXTS)]
    return any(p.contradiction >= floor - TOLERANCE for p in await matcher.probe(claim, nearest))
