"""One answer put through the product's own stages, under many rules at once.

In: an `Answer` and the lines to be tried. Out: for each line what became of every statement. Scoring, the line, the
verdicts, what is flagged, the correction with its checks and the splicing are the product's; only the model behind
the corrections is an oracle, which answers with the evidence, so that what is measured are the decisions and the
checks and not some model's knowledge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from evaluation.answers import Answer, Kind, Label, Statement
from proxy.correction import Corrector, Edit, hold_back, plan_revisions
from proxy.matching import Matcher, RequestTexts, ScoredClaim, scores_of
from proxy.proofreading import Revision
from proxy.reassembly import EditedText, apply_edits
from proxy.services import Nli, Reply, Task
from proxy.verdict import Line, draw_threshold, flag_all, is_reference_suspect, judge
from proxy.wire import Choice, read_completion

FLAG_SHARE: Final = 0.6
"""The product's default: with a larger share contradicted nothing is edited."""
_PATIENCE_S: Final = 3600
_NO_REQUEST: Final = RequestTexts((), ())


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one statement under one line."""

    source: str
    label: Label
    marked: bool
    """Contradicted beyond the line and not flagged, so that it is to be edited."""
    rewritten: bool
    """A rewrite that the oracle offered, or the reference's own sentence, passed every check."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer under one line."""

    line: Line
    kind: Kind
    size: int
    """Statements of the answer."""
    outcomes: tuple[Outcome, ...]
    intact: bool
    """Every character outside the edited sentences, and nothing else, is that of the draft."""


class OracleLlm:
    """An `Llm` that knows the truth: it answers a correction with the evidence, the next sentence at each retry."""

    def __init__(self, statement: Statement) -> None:
        """Answer for one statement."""
        self._facts = iter(statement.evidence)

    async def ask(self, task: Task, instruction: str, text: str) -> Reply:  # noqa: ARG002  # the Protocol's
        """Return the next evidence sentence; nothing once they are used up."""
        return Reply(next(self._facts, ""))


async def try_lines(answer: Answer, nli: Nli, lines: Sequence[Line]) -> list[Trial]:
    """Put an answer through scoring, verdicts and corrections under each line.

    Raises:
        NliFailed: the model gave no usable result.
    """
    matcher = Matcher(nli, [answer.reference])
    scored = await matcher.score(answer.claims)
    choice = _make_choice(answer.text)
    plans = [_plan(answer, choice, scored, line) for line in lines]
    edits = {
        revision: await _correct(answer, revision, matcher)
        for revision in dict.fromkeys(r for plan in plans for r in plan)
    }
    return [
        _settle(answer, choice, line, {revision: edits[revision] for revision in plan})
        for line, plan in zip(lines, plans, strict=True)
    ]


def is_intact(draft: str, edited: EditedText, marked: Sequence[tuple[int, int]]) -> bool:
    """Return whether an edited text is its draft, character by character, outside the sentences marked for editing.

    Args:
        draft: as it was.
        edited: its one part, and the edits.
        marked: spans of the draft that may be edited.
    """
    (text,) = edited.parts
    old, new, at_old, at_new = [], [], 0, 0
    for edit in edited.edits:
        if edit.draft_span not in marked:
            return False
        old.append(draft[at_old : edit.draft_span[0]])
        new.append(text[at_new : edit.span[0]])
        at_old, at_new = edit.draft_span[1], edit.span[1]
    return [*old, draft[at_old:]] == [*new, text[at_new:]]


def _plan(answer: Answer, choice: Choice, scored: Sequence[ScoredClaim], line: Line) -> list[Revision]:
    """Return what is to be edited under a line."""
    threshold = draw_threshold(scores_of(scored), line)
    verdicts = judge(scored, threshold)
    suspect = is_reference_suspect(verdicts, threshold, FLAG_SHARE)
    verdicts = hold_back(flag_all(verdicts, "reference_suspect" if suspect else None), choice)
    return plan_revisions(verdicts, [statement.sentence for statement in answer.statements])


async def _correct(answer: Answer, revision: Revision, matcher: Matcher) -> Edit | None:
    oracle = OracleLlm(answer.statements[revision.sentence.index])
    corrector = Corrector(matcher, oracle, _NO_REQUEST, matcher.nli.tau_floor)
    edits = await corrector.correct([revision], deadline=asyncio.get_running_loop().time() + _PATIENCE_S)
    return edits[0] if edits else None


def _settle(answer: Answer, choice: Choice, line: Line, edits: dict[Revision, Edit | None]) -> Trial:
    marked = {revision.sentence.index for revision in edits}
    made = [edit for edit in edits.values() if edit is not None]
    rewritten = {edit.sentence.index for edit in made}
    outcomes = tuple(
        Outcome(
            source=statement.source,
            label=statement.label,
            marked=statement.sentence.index in marked,
            rewritten=statement.sentence.index in rewritten,
        )
        for statement in answer.statements
    )
    spans = [revision.sentence.span for revision in edits]
    return Trial(line, answer.kind, answer.size, outcomes, is_intact(answer.text, apply_edits(choice, made), spans))


def _make_choice(text: str) -> Choice:
    """Return the text as the choice of a completion."""
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
    completion = read_completion(msgspec.json.encode(body))
    assert completion is not None
    return completion.choices[0]
