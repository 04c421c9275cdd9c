"""The whole story of one request: draft beside recall, claims, scores, verdicts, corrections, answer.

In: a request and its draft, whole or as it comes. Out: a result for each choice. Start reading here, at
`verify_completion` and `verify_choice`. Every stage is one call; what fails comes back as a value, so that
verification never breaks the answer that it was to check.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import structlog

from proxy.background import in_background
from proxy.claims.checkable import is_refusal
from proxy.claims.claim import Claims, Sentence
from proxy.claims.decompose import ClaimsFailed, decompose
from proxy.claims.local import split_claims
from proxy.claims.splitting import Split, Splitter
from proxy.context import Context
from proxy.correction import Corrector, hold_back, plan_revisions, settle_edits
from proxy.errors import NliBusy, NliFailed, VerifierFailed
from proxy.headers import RawHeaders
from proxy.language import is_listed
from proxy.matching import Matcher, ScoredClaim, find_support, read_context, scores_of
from proxy.reassembly import apply_edits, rebuild_completion
from proxy.recall import Evidence, NotFactual, QuestionUnclear, Recalled, RecallFailed, recall_facts
from proxy.report import ChoiceResult, write_report
from proxy.services import Nli
from proxy.verdict import (
    Flag,
    Threshold,
    Verdict,
    draw_threshold,
    excuse,
    find_doubtful,
    first_flag,
    flag_all,
    is_reference_suspect,
    judge,
    status_of,
)
from proxy.wire import Choice, Completion, skip_reason
from proxy.work import Work

HANG_RESERVE_S: Final = 0.25
"""A decomposition that has not answered so long before the deadline has failed, and is reported as that."""
SEARCH_SHARE: Final = 0.5
"""Part of the remaining budget that a search may take: the verdicts must still be drawn, with or without it."""
FAILURES: Final = frozenset({"recall_failed", "claims_failed", "nli_failed", "nli_not_ready", "deadline", "busy"})
"""Reasons that are a failure of ours or of the upstream, not a property of the answer."""

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
class Answer:
    """What the client gets: the draft as it came, or rebuilt with a report."""

    draft: Draft
    body: bytes
    report: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Case:
    """One choice on its way through the stages."""

    choice: Choice
    work: Work
    recalling: asyncio.Task[Recalled]
    splitter: Splitter
    context: Context
    """The texts that go before the recall."""
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
    async with Investigation(work) as investigation:
        draft = await work.watch.time("draft", fetch_draft())
        if draft.completion is None:
            return Answer(draft, draft.raw, None)
        results = await investigation.verify(draft.completion.choices)
        report = investigation.report(results)
    parts = {position: result.parts for position, result in enumerate(results) if result.edits}
    return Answer(draft, rebuild_completion(draft.completion, parts, report), report)


async def verify_choice(case: Case, nli: Nli) -> ChoiceResult:
    """Verify one choice: claims, scores, verdicts, corrections. What goes wrong is its result, never an error."""
    try:
        async with asyncio.timeout_at(case.deadline):
            judged = await judge_choice(case, nli)
    except TimeoutError:
        return ChoiceResult(case.choice, "unavailable", "deadline")
    except NliBusy:
        return ChoiceResult(case.choice, "unavailable", "busy")
    except NliFailed as error:
        _log.warning("nli failed", id=case.work.id, error=str(error))
        return ChoiceResult(case.choice, "unavailable", "nli_failed")
    return judged if isinstance(judged, ChoiceResult) else await correct_choice(case, judged)


async def judge_choice(case: Case, nli: Nli) -> Judged | ChoiceResult:
    """Split a choice into claims, score them, draw the line and decide; a result where less than that settles it."""
    choice, work = case.choice, case.work
    claims = await work.watch.time("claims", split(case))
    sentences = tuple(case.splitter.sentences)
    if isinstance(claims, Claims) and not claims.items:
        return ChoiceResult(choice, "skipped", "refusal" if any(map(is_refusal, sentences)) else "no_claims")

    recalled = await asyncio.shield(case.recalling)
    if isinstance(recalled, NotFactual | QuestionUnclear) and case.context:
        recalled = Evidence(())
    if isinstance(recalled, NotFactual):
        return ChoiceResult(choice, "skipped", "not_factual")
    if isinstance(recalled, RecallFailed):
        return ChoiceResult(choice, "unavailable", "recall_failed")
    if isinstance(claims, ClaimsFailed):
        return ChoiceResult(choice, "unavailable", "claims_failed")
    if isinstance(recalled, QuestionUnclear):
        return ChoiceResult(choice, "unavailable", "unclear_question")
    if not is_listed(choice.text, nli.languages) or not recalled.is_listed(nli.languages):
        return ChoiceResult(choice, "unavailable", "language")
    if case.context and not await asyncio.to_thread(case.context.is_listed, nli.languages):
        return ChoiceResult(choice, "unavailable", "language")

    with work.watch.stage("nli"):
        matcher, scored = await score_claims(case, claims, Matcher(nli, recalled.recalls, case.context))
        threshold = draw_threshold(scores_of(scored), work.line)
        verdicts = await excuse_by_request(judge(scored, threshold), work, matcher)
    return Judged(sentences, claims, threshold, verdicts, matcher)


async def score_claims(case: Case, claims: Claims, matcher: Matcher) -> tuple[Matcher, tuple[ScoredClaim, ...]]:
    """Score the claims; those that the recall is not sure to be false are looked up, where the operator runs a search.

    Returns:
        The matcher that knows what was found too, and the scores.
    """
    work = case.work
    scored = await matcher.score(claims.items)
    if work.retrieval is None:
        return matcher, scored
    doubtful = find_doubtful(scored, draw_threshold(scores_of(scored), work.line))[: work.searches]
    within_s = (case.deadline - asyncio.get_running_loop().time()) * SEARCH_SHARE
    queries = [scored[position].claim.text for position in doubtful]
    passages = await work.retrieval.search(queries, within_s=within_s, request_id=work.id)
    readable = [passage for passage in passages if is_listed(passage, matcher.nli.languages)]
    if not readable:
        return matcher, scored
    informed = Matcher(matcher.nli, matcher.recalls, matcher.context.joined(readable))
    again = dict(zip(doubtful, await informed.score([scored[at].claim for at in doubtful]), strict=True))
    return informed, tuple(again.get(position, one) for position, one in enumerate(scored))


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


class Investigation:
    """All that goes on beside and after a draft; it begins and ends with its block, and nothing outlives that."""

    def __init__(self, work: Work) -> None:
        """Prepare for one request."""
        self._work = work
        self._running = AsyncExitStack()
        self._splitters: dict[int, Splitter] = {}
        self._context = Context() if work.nli is None else read_context(work.controls.context, work.nli)

    async def __aenter__(self) -> Self:
        """Start the recall, beside the draft."""
        recalling = in_background(self._work.watch.time("recall", recall(self._work)))
        self._recalling = await self._running.enter_async_context(recalling)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancel whatever is unfinished."""
        await self._running.aclose()

    def listen(self, position: int, nli: Nli) -> Splitter:
        """Return what splits the choice at that position, from the first piece of its draft on."""
        if position not in self._splitters:
            splitter = Splitter(choose_split(self._work, position), nli.languages)
            self._running.push_async_callback(splitter.drop)
            self._splitters[position] = splitter
        return self._splitters[position]

    async def verify(self, choices: Sequence[Choice]) -> list[ChoiceResult]:
        """Verify the choices of a complete draft, side by side; the budget runs from here."""
        self._work.watch.mark_draft()
        deadline = asyncio.get_running_loop().time() + self._work.controls.timeout_ms / 1000
        verifying = (self._verify(position, choice, deadline) for position, choice in enumerate(choices))
        return await asyncio.gather(*verifying)

    async def _verify(self, position: int, choice: Choice, deadline: float) -> ChoiceResult:
        skipped = skip_reason(self._work.request, choice)
        if skipped is not None:
            return ChoiceResult(choice, "skipped", skipped)
        if self._work.nli is None:
            return ChoiceResult(choice, "unavailable", "nli_not_ready")
        splitter = self.listen(position, self._work.nli)
        splitter.close(choice.text, cut=choice.finish_reason == "length")
        case = Case(choice, self._work, self._recalling, splitter, self._context, deadline)
        return await verify_choice(case, self._work.nli)

    def report(self, results: Sequence[ChoiceResult]) -> dict[str, Any]:
        """Return the `verification` object.

        Raises:
            VerifierFailed: verification could not finish, and the operator wants that to be an error.
        """
        work, recalling = self._work, self._recalling
        if work.policy.fail_if_unavailable and any(result.reason in FAILURES for result in results):
            raise VerifierFailed("Verification could not finish; send `X-Verify: off` for the unverified answer.")
        recalled = recalling.result() if recalling.done() else None
        facts = {
            "id": work.id,
            "models": name_models(work),
            "usage": asdict(work.llm.usage),
            "timings_ms": work.watch.read(),
        }
        report = write_report(results, work.controls, recalled.recalls if isinstance(recalled, Evidence) else (), facts)
        _log.info(
            "verified",
            id=work.id,
            status=report["status"],
            reason=report["reason"],
            choices=len(results),
            claims=sum(len(result.verdicts) for result in results),
            edits=sum(len(result.edits) for result in results),
            calls=work.llm.usage.calls,
            timings_ms=facts["timings_ms"],
        )
        return report


def name_models(work: Work) -> dict[str, str | None]:
    """Return the models that judged; null for what was not asked."""
    recall = work.llm.model_of("recall") if work.controls.reference == "recall" else None
    return {"nli": None if work.nli is None else work.nli.name, "recall": recall}


async def recall(work: Work) -> Recalled:
    """Ask for the facts behind the question, unless nothing could be made of them or the context is to do alone."""
    if work.nli is None or not work.request.user_texts:
        return RecallFailed()
    if work.controls.reference == "context":
        return Evidence(())
    instruction, count = work.policy.recall_instruction, work.policy.recalls
    return await recall_facts(work.request.user_texts, work.llm, instruction=instruction, count=count)


def choose_split(work: Work, position: int) -> Split:
    """Return the way of decomposition that was asked for, within the choice's budget."""
    budget = work.budget_of(position)

    async def split_locally(sentences: AsyncIterator[Sentence]) -> Claims:
        return Claims(tuple(split_claims([sentence async for sentence in sentences]))).capped(budget.claims)

    async def split_by_model(sentences: AsyncIterator[Sentence]) -> Claims | ClaimsFailed:
        return await decompose(sentences, work.llm, budget)

    return split_locally if work.controls.claims == "local" else split_by_model


async def split(case: Case) -> Claims | ClaimsFailed:
    """Wait for the claims; a decomposition that hangs has failed before the deadline, where there is time to tell."""
    limit = case.deadline - HANG_RESERVE_S
    has_reserve = limit - asyncio.get_running_loop().time() > HANG_RESERVE_S
    try:
        async with asyncio.timeout_at(limit if has_reserve else None):
            return await case.splitter.finish()
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
