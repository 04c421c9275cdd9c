"""The claims of a labelled draft, drawn as the pipeline draws them.

In: a labelled document, and for the way by a model an `Llm` that is asked or played back. Out: `Claim`s. Apart from
the measure, which does not care how claims were drawn: segmentation, screening and the packs of calls are the
product's own, so that what they do to a draft is measured too.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Final

from evaluation.labels import LabelledDocument
from evaluation.recordings import Recorder, Recording, hash_prompt, read_recordings, write_recording
from proxy.claims.claim import Claim, Claims, Sentence
from proxy.claims.decompose import Budget, ClaimsFailed, decompose
from proxy.claims.local import split_claims
from proxy.claims.screening import screen_sentence
from proxy.claims.segment import split_sentences
from proxy.embedded.launcher import run_embedded_upstream
from proxy.llm import OpenAiModels
from proxy.services import Llm, Task
from proxy.upstream import read_upstream_url

EMBEDDED: Final = "embedded"
LANGUAGES: Final = {"en": "English", "ko": "Korean", "de": "German", "es": "Spanish"}
"""Those of the labelled drafts; all count as listed by the NLI model."""
REPLY_TIMEOUT_S: Final = 600
BUDGET: Final = Budget(calls=8, claims=64)


def draw_locally(document: LabelledDocument) -> Sequence[Claim]:
    """Draw the claims of a document without a model."""
    return split_claims(_screen(document))


def draw_by_model(document: LabelledDocument, llm: Llm) -> Sequence[Claim]:
    """Draw the claims of a document by a model; none where its reply cannot be used."""
    claims = asyncio.run(_decompose(document, llm))
    return claims.items if isinstance(claims, Claims) else ()


async def record_replies(documents: Sequence[LabelledDocument], server: str, model: str) -> Recording:
    """Ask a model to decompose every document, and write its replies down after each; known ones are kept.

    The order mixes domains and languages, so that what an interrupted recording holds is a fair sample.
    """
    known = next((recording for recording in read_recordings() if recording.model == model), Recording(model))
    recording = Recording(model)
    names: dict[Task, str] = {"recall": model, "claims": model, "correction": model}
    async with AsyncExitStack() as running:
        base = await running.enter_async_context(run_embedded_upstream()) if server == EMBEDDED else server
        models = OpenAiModels(read_upstream_url(base), timeout_s=REPLY_TIMEOUT_S)
        running.push_async_callback(models.close)
        llm = models.session(models=names, credentials=[], query="", max_calls=sys.maxsize)
        for document in sorted(documents, key=lambda one: hash_prompt("", one.id)):
            await _decompose(document, Recorder(llm, known, recording))
            write_recording(recording)
    return recording


def _screen(document: LabelledDocument) -> list[Sentence]:
    """Cut a draft as the pipeline does, with every language listed."""
    languages = frozenset(LANGUAGES)
    return [
        screen_sentence(sentence, cut=False, languages=languages) or replace(sentence, states=False)
        for sentence in split_sentences(document.draft)
    ]


async def _decompose(document: LabelledDocument, llm: Llm) -> Claims | ClaimsFailed:
    async def iterate() -> AsyncIterator[Sentence]:
        for sentence in _screen(document):
            yield sentence

    return await decompose(iterate(), llm, BUDGET)
