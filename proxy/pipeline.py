"""The whole story of one request: draft beside recall, claims, scores, verdicts, corrections, answer.

In: a request, its controls, and a way to get the draft. Out: an `Answer`. Start reading here. Every stage is one
call; what fails comes back as a value, so that verification never breaks the answer it was to check.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar

import structlog

from proxy.claims.checkable import is_refusal
from proxy.claims.claim import Claims, Sentence
from proxy.claims.decompose import Budget, ClaimsFailed, decompose
from proxy.claims.local import split_claims
from proxy.claims.screening import screen_sentences
from proxy.claims.segment import split_sentences
from proxy.controls import Controls
from proxy.correction import Corrector, hold_back, plan_revisions, settle_edits
from proxy.errors import NliBusy, NliFailed, VerifierFailed
from proxy.headers import RawHeaders
from proxy.language import is_listed
from proxy.llm import LlmSession
from proxy.matching import Matcher, RequestTexts, find_support, scores_of
from proxy.reassembly import apply_edits, rebuild_completion
from proxy.recall import Evidence, NotFactual, QuestionUnclear, Recalled, RecallFailed, recall_facts
from proxy.report import ChoiceResult, write_report
from proxy.services import Nli
from proxy.stopwatch import Stopwatch
from proxy.verdict import (
    Flag,
    Line,
    Threshold,
    Verdict,
    draw_threshold,
    excuse,
    first_flag,
    flag_all,
    is_reference_suspect,
    judge,
    status_of,
)
from proxy.wire import ChatRequest, Choice, Completion, skip_reason

DECOMPOSITION_SHARE: Final = 0.75
"""Part of a request's calls that decomposition may take."""
CALLS_A_CHOICE: Final = 8
HANG_RESERVE_S: Final = 0.25
"""A decomposition that has not answered so long before the deadline has failed, and is reported as that."""

FAILURES: Final = frozenset({"recall_failed", "claims_failed", "nli_failed", "nli_not_ready", "deadline", "busy"})
"""Reasons that are a failure of ours or of the upstream, not a property of the answer."""

T = TypeVar("T")

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Draft:
    """What the upstream answered to the user's own call."""

    status: int
    headers: RawHeaders
    raw: bytes
    completion: Completion | None
    """None where there is nothing that could be verified: a refusal, or a reply without choices."""

    @property
    def is_success(self) -> bool:
        """Whether the upstream answered 2xx."""
        return 200 <= self.status < 300  # noqa: PLR2004  # HTTP's own numbers


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator decided for all requests."""

    recall_instruction: str
    recalls: int
    floor: float
    ceiling: float
    flag_share: float
    max_calls: int
    max_claims: int
    fail_if_unavailable: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What the client gets: the draft as it came, or rebuilt with a report."""

    draft: Draft
    body: bytes
    report: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Work:
    """What the stages of one request share."""

    request: ChatRequest
    controls: Controls
    policy: Policy
    llm: LlmSession
    nli: Nli | None
    """None while the model is not ready."""
    request_texts: RequestTexts
    watch: Stopwatch

    @property
    def line(self) -> Line:
        """How each choice's threshold is to be drawn."""
        return Line(self.controls.rule, self.controls.k, self.policy.floor, self.policy.ceiling)


@dataclass(frozen=True, slots=True)
class Case:
    """One choice on its way through the stages."""

    choice: Choice
    work: Work
    recalling: asyncio.Task[Recalled]
    budget: Budget
    deadline: float
    """Loop time in seconds."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One choice with all its verdicts, before anything is edited."""

    sentences: tuple[Sentence, ...]
    claims: Claims
    threshold: Threshold | None
    verdicts: tuple[Verdict, ...]
    matcher: Matcher


async def verify_completion(work: Work, fetch_draft: Callable[[], Awaitable[Draft]]) -> Answer:
    """Verify one request from draft to answer.

    Raises:
        HttpError: the upstream could not be asked, or verification failed and the operator wants that to be an error.
    """
    async with in_background(work.watch.time("recall", recall(work))) as recalling:
        draft = await work.watch.time("draft", fetch_draft())
        if draft.completion is None:
            return Answer(draft, draft.raw, None)
        cases = open_cases(draft.completion, work, recalling)
        results = await asyncio.gather(*map(verify_choice, cases))
        return assemble(draft, draft.completion, results, work, recalling)


async def verify_choice(case: Case) -> ChoiceResult:
    """Verify one choice: claims, scores, verdicts, corrections. What goes wrong is its result, never an error."""
    skipped = skip_reason(case.work.request, case.choice)
    if skipped is not None:
        return ChoiceResult(case.choice, "skipped", skipped)
    if case.work.nli is None:
        return ChoiceResult(case.choice, "unavailable", "nli_not_ready")
    try:
        async with asyncio.timeout_at(case.deadline):
            judged = await judge_choice(case, case.work.nli)
    except TimeoutError:
        return ChoiceResult(case.choice, "unavailable", "deadline")
    except NliBusy:
        return ChoiceResult(case.choice, "unavailable", "busy")
    except NliFailed as error:
        _log.warning("nli failed", error=str(error))
        return ChoiceResult(case.choice, "unavailable", "nli_failed")
    return judged if isinstance(judged, ChoiceResult) else await correct_choice(case, judged)


async def judge_choice(case: Case, nli: Nli) -> Judged | ChoiceResult:
    """Split a choice into claims, score them, draw the line and decide; a result where less than that settles it."""
    choice, watch = case.choice, case.work.watch
    sentences = split_sentences(choice.text)
    stating = screen_sentences(sentences, cut=choice.finish_reason == "length", languages=nli.languages)
    if not stating:
        return ChoiceResult(choice, "skipped", "refusal" if any(map(is_refusal, sentences)) else "no_claims")
    readable = is_listed(choice.text, nli.languages)
    claims = await watch.time("claims", split(stating, case)) if readable else ClaimsFailed()
    if isinstance(claims, Claims) and not claims.items:
        return ChoiceResult(choice, "skipped", "no_claims")

    recalled = await asyncio.shield(case.recalling)
    if isinstance(recalled, NotFactual):
        return ChoiceResult(choice, "skipped", "not_factual")
    if isinstance(recalled, RecallFailed):
        return ChoiceResult(choice, "unavailable", "recall_failed")
    if not readable or (isinstance(recalled, Evidence) and not recalled.is_listed(nli.languages)):
        return ChoiceResult(choice, "unavailable", "language")
    if isinstance(claims, ClaimsFailed):
        return ChoiceResult(choice, "unavailable", "claims_failed")
    if isinstance(recalled, QuestionUnclear):
        return ChoiceResult(choice, "unavailable", "unclear_question")

    with watch.stage("nli"):
        matcher = Matcher(nli, recalled.sentences)
        scored = await matcher.score(claims.items)
        threshold = draw_threshold(scores_of(scored), case.work.line)
        verdicts = await excuse_by_request(judge(scored, threshold), case.work, matcher)
    return Judged(tuple(sentences), claims, threshold, verdicts, matcher)


async def correct_choice(case: Case, judged: Judged) -> ChoiceResult:
    """Edit what may be edited of a judged choice, and settle its status."""
    work = case.work
    verdicts = flag_all(judged.verdicts, why_not_edited(work, judged))
    verdicts = hold_back(verdicts, case.choice)
    corrector = Corrector(judged.matcher, work.llm, work.request_texts, work.policy.floor)
    with work.watch.stage("correction"):
        edits = await corrector.correct(plan_revisions(verdicts, judged.sentences), deadline=case.deadline)
    edited = apply_edits(case.choice, edits)
    verdicts = settle_edits(verdicts, {edit.sentence.index for edit in edits})
    return ChoiceResult(
        choice=case.choice,
        status=status_of(verdicts, incomplete=judged.claims.incomplete),
        reason=first_flag(verdicts),
        threshold=judged.threshold,
        verdicts=verdicts,
        edits=edited.edits,
        parts=edited.parts,
        dropped=judged.claims.dropped,
    )


def assemble(
    draft: Draft,
    completion: Completion,
    results: Sequence[ChoiceResult],
    work: Work,
    recalling: asyncio.Task[Recalled],
) -> Answer:
    """Put the answer together: edited choices, everything else as it came, and the report."""
    if work.policy.fail_if_unavailable and any(result.reason in FAILURES for result in results):
        raise VerifierFailed("Verification could not finish; send `X-Verify: off` for the unverified answer.")
    recalled = recalling.result() if recalling.done() and not recalling.cancelled() else None
    facts = {
        "id": f"ver_{uuid.uuid4().hex}",
        "models": {"nli": None if work.nli is None else work.nli.name, "recall": work.llm.model_of("recall")},
        "usage": asdict(work.llm.usage),
        "timings_ms": work.watch.read(),
    }
    reference = recalled.recalls if isinstance(recalled, Evidence) else ()
    report = write_report(results, work.controls, reference, facts)
    parts = {position: result.parts for position, result in enumerate(results) if result.edits}
    return Answer(draft, rebuild_completion(completion, parts, report), report)


def open_cases(completion: Completion, work: Work, recalling: asyncio.Task[Recalled]) -> list[Case]:
    """Give each choice its share of the calls, claims and time; the draft has just come."""
    work.watch.mark_draft()
    deadline = asyncio.get_running_loop().time() + work.controls.timeout_ms / 1000
    n = len(completion.choices)
    calls = int(work.policy.max_calls * DECOMPOSITION_SHARE)
    # With more choices than calls the first ones get one each, and the rest is reported as too many.
    shares = [min(CALLS_A_CHOICE, calls // n) or int(position < calls) for position in range(n)]
    return [
        Case(choice, work, recalling, Budget(share, work.policy.max_claims // n), deadline)
        for choice, share in zip(completion.choices, shares, strict=True)
    ]


async def recall(work: Work) -> Recalled:
    """Ask for the facts behind the question, unless nothing could be made of them."""
    if work.nli is None or not work.request.user_texts:
        return RecallFailed()
    instruction, count = work.policy.recall_instruction, work.policy.recalls
    return await recall_facts(work.request.user_texts, work.llm, instruction=instruction, count=count)


async def split(sentences: Sequence[Sentence], case: Case) -> Claims | ClaimsFailed:
    """Split sentences into claims by the method asked for."""
    if case.work.controls.claims == "local":
        return Claims(tuple(split_claims(sentences))).capped(case.budget.claims)
    limit = case.deadline - HANG_RESERVE_S
    # A budget too short for a reserve is left to the deadline itself.
    has_reserve = limit - asyncio.get_running_loop().time() > HANG_RESERVE_S
    try:
        async with asyncio.timeout_at(limit if has_reserve else None):
            return await decompose(_each(sentences), case.work.llm, case.budget)
    except TimeoutError:
        return ClaimsFailed()


async def excuse_by_request(verdicts: Sequence[Verdict], work: Work, matcher: Matcher) -> tuple[Verdict, ...]:
    """Let off contradicted claims that the request itself supports."""
    floor, texts = work.policy.floor, work.request_texts
    support = {
        position: await find_support(verdict.claim.text, texts, matcher, floor=floor)
        for position, verdict in enumerate(verdicts)
        if verdict.ruling == "contradicted"
    }
    return excuse(verdicts, support)


def why_not_edited(work: Work, judged: Judged) -> Flag | None:
    """Return why nothing of a choice may be edited, or None."""
    if work.controls.mode == "detect":
        return "detect"
    if work.request.has_unseen_input:
        return "unseen_input"
    suspect = is_reference_suspect(judged.verdicts, judged.threshold, work.policy.flag_share)
    return "reference_suspect" if suspect else None


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Run something beside the block; what is unfinished at its end is cancelled, so nothing outlives a request."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _each(sentences: Sequence[Sentence]) -> AsyncIterator[Sentence]:
    for sentence in sentences:
        yield sentence
