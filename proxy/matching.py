"""Holding claims against texts: the reference they are scored by, and the request they may have come from.

In: claims, the texts that go first, the recalled sentences, the request's texts. Out: a `ClaimScore` a claim, and who
in the request supports a claim. The one stage that asks the NLI model about claims (contract, section 5); correction
asks through it too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Final, Literal

from proxy.claims.claim import Claim
from proxy.claims.markdown import plain_text
from proxy.claims.segment import split_sentences
from proxy.context import Context
from proxy.nli.scoring import (
    TOLERANCE,
    ClaimScore,
    Pair,
    Probabilities,
    choose_premises,
    score_claim,
    split_windows,
)
from proxy.quantities.comparison import align_quantities, compare_quantities
from proxy.quantities.quantity import Quantity
from proxy.quantities.reading import read_quantities
from proxy.services import Nli
from proxy.wire import ChatRequest
from proxy.wording import find_nearest

NEAREST_REQUEST_TEXTS: Final = 8
"""Windows and sentences of the request that a contradicted claim is held against."""
_WINDOW_SHARE: Final = 0.5
"""Part of the model's limit that a window of the request or context may take; the claim needs the rest."""
_TOKEN_CHARACTERS: Final = 8
"""More than a token has on average, so that no quantity is missed that the model sees."""
_CONTEXT_WINDOW_TOKENS: Final = 128
"""Longest window of a context, some five sentences: small models lose a fact among many others."""
_QUESTION: Final = re.compile(r"[?？؟][!?？\s\"'”’»)\]]*$")

Support = Literal["given", "user"]
"""Whose text entails a claim: the operator's or a tool's, or only the user's."""


@dataclass(frozen=True, slots=True)
class ScoredClaim:
    """A claim and its score; without one where the claim is unverifiable."""

    claim: Claim
    score: ClaimScore | None
    by_context: bool = False
    """Whether the texts that go before the recall gave the score."""

    @property
    def is_open(self) -> bool:
        """Whether nothing so far decides the claim."""
        return self.score is not None and self.score.label == "neutral"


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
    """Asks one NLI model about claims against what is known for one request."""

    def __init__(self, nli: Nli, recalls: Sequence[Sequence[str]], context: Context | None = None) -> None:
        """Hold claims against `context` first, then `recalls`, each the sentences of one; no premise mixes two."""
        self.nli: Final = nli
        self.recalls: Final = recalls
        self.context: Final = context or Context()
        self.reference: Final = tuple(chain.from_iterable(recalls))
        """All recalled sentences."""
        # A reference sentence is counted and read for every claim; once is enough.
        self._count_tokens = lru_cache(maxsize=None)(nli.count_tokens)
        self._read_quantities = lru_cache(maxsize=None)(self._read)

    async def score(self, claims: Sequence[Claim]) -> tuple[ScoredClaim, ...]:
        """Score each claim, in order: by the context, and where that is silent by the recalls.

        Raises:
            NliFailed: the model gave no usable result.
        """
        if not self.context:
            return await self._score(claims, [self._choose_from_recalls(claim) for claim in claims])
        # Long texts take a while to be searched, and other requests are not to wait for it.
        premises = await asyncio.to_thread(lambda: [self._choose_from_context(claim) for claim in claims])
        first = [replace(scored, by_context=True) for scored in await self._score(claims, premises)]
        undecided = [scored.claim for scored in first if scored.is_open and self.recalls]
        recalled = iter(await self._score(undecided, [self._choose_from_recalls(claim) for claim in undecided]))
        return tuple(next(recalled, scored) if scored.is_open else scored for scored in first)

    async def probe(self, hypothesis: str, premises: Sequence[str]) -> list[Probabilities]:
        """Return what each premise says of one hypothesis."""
        return await self._ask([Pair(premise, hypothesis) for premise in premises])

    async def _ask(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Ask the model, and check numbers, dates and units beside it.

        It is shown each hypothesis with its quantities in the premise's form, since equal ones in two forms are unlike
        to it. Where they are unequal, the premise does not entail it, whatever the model says.
        """
        read = self._read_quantities
        shown = [replace(pair, hypothesis=align_quantities(pair.hypothesis, pair.premise, read)) for pair in pairs]
        results = zip(pairs, await self.nli.score(shown), strict=True)
        return [
            found.without_entailment() if compare_quantities(pair.premise, pair.hypothesis, read) == "differ" else found
            for pair, found in results
        ]

    async def _score(
        self, claims: Sequence[Claim], premises: Sequence[Sequence[str] | None]
    ) -> tuple[ScoredClaim, ...]:
        """Score claims against the premises chosen for each."""
        pairs = [Pair(p, claim.text) for claim, found in zip(claims, premises, strict=True) for p in found or ()]
        results = iter(await self._ask(pairs) if pairs else ())
        return tuple(_pair_up(claim, found, results) for claim, found in zip(claims, premises, strict=True))

    def _read(self, text: str) -> tuple[Quantity, ...]:
        """Read the quantities of a text about as far as the model reads it."""
        return read_quantities(text[: self.nli.max_tokens * _TOKEN_CHARACTERS])

    def _choose_from_context(self, claim: Claim) -> list[str] | None:
        if claim.unverifiable is not None:
            return None
        is_too_long = choose_premises(claim.text, (), self._count_tokens, self.nli.max_tokens) is None
        return None if is_too_long else self.context.find_premises(claim.text)

    def _choose_from_recalls(self, claim: Claim) -> list[str] | None:
        if claim.unverifiable is not None:
            return None
        chosen: dict[str, None] = {}
        for recall in self.recalls:
            premises = choose_premises(claim.text, recall, self._count_tokens, self.nli.max_tokens)
            if premises is None:
                return None
            chosen |= dict.fromkeys(premises)
        return list(chosen)


def _pair_up(claim: Claim, premises: Sequence[str] | None, results: Iterator[Probabilities]) -> ScoredClaim:
    """Take a claim's results, one a premise, from the front of all results."""
    if premises is None:
        return ScoredClaim(replace(claim, unverifiable=claim.unverifiable or "too_long"), None)
    score = score_claim(premises, list(islice(results, len(premises))))
    return ScoredClaim(replace(claim, unverifiable="contested") if score.contested else claim, score)


def read_request_texts(request: ChatRequest, nli: Nli) -> RequestTexts:
    """Return the request's texts, to be cut as it suits the model."""
    window_tokens = int(nli.max_tokens * _WINDOW_SHARE)
    return RequestTexts(request.given_texts, request.user_texts, nli.count_tokens, window_tokens)


def read_context(texts: Sequence[str], nli: Nli) -> Context:
    """Return texts that go before the recall, to be cut as it suits the model."""
    window_tokens = min(_CONTEXT_WINDOW_TOKENS, int(nli.max_tokens * _WINDOW_SHARE))
    return Context(texts, lru_cache(maxsize=None)(nli.count_tokens), window_tokens)


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
