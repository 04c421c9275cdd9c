"""The isolated recall: what the model knows about the question, asked without the draft (contract, section 6).

In: the user turns of the request. Out: `Evidence`, or a value that says why there is none, so that a failure here
never breaks the user's own call. It stands apart so that its isolation can be seen: this file never sees a draft.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proxy.claims.markdown import plain_text
from proxy.claims.replies import drop_reasoning
from proxy.claims.screening import is_closed
from proxy.claims.segment import split_sentences
from proxy.errors import LlmCallFailed
from proxy.language import is_listed
from proxy.prompts import recall as prompt
from proxy.services import Llm, Reply

_NO_FACTS: Final = re.compile(rf"(?<!\w){prompt.NO_FACTS}(?!\w)[\"'`*”’.:;,]*", re.IGNORECASE)
_AROUND: Final = " \"'`*_“”‘’«».。!"
"""What may stand around the other token, which is an ordinary word within a sentence."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was recalled: one tuple of sentences for each recall that stated facts; none where none was wanted."""

    recalls: tuple[tuple[str, ...], ...]

    def is_listed(self, languages: frozenset[str]) -> bool:
        """Whether every recall is in a language that the NLI model lists."""
        return all(is_listed(" ".join(recall), languages) for recall in self.recalls)


@dataclass(frozen=True, slots=True)
class NotFactual:
    """Every recall says that nothing asked for is a fact."""


@dataclass(frozen=True, slots=True)
class QuestionUnclear:
    """A recall says that what is asked about can only be known from replies it does not see."""


@dataclass(frozen=True, slots=True)
class RecallFailed:
    """A recall call failed or said nothing."""


Recalled = Evidence | NotFactual | QuestionUnclear | RecallFailed


async def recall_facts(user_texts: Sequence[str], llm: Llm, *, instruction: str, count: int) -> Recalled:
    """Ask `count` times, independently of each other, for the facts behind the user's texts."""
    question = "\n\n".join(user_texts)
    try:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(llm.ask("recall", instruction, question)) for _ in range(count)]
    except* LlmCallFailed:
        asked = []
    return combine_recalls([read_recall(task.result()) for task in asked]) if asked else RecallFailed()


def combine_recalls(recalls: Sequence[Recalled]) -> Recalled:
    """Make one outcome of several: all must deny facts, one unclear or empty recall spoils the rest."""
    for spoiler in (RecallFailed, QuestionUnclear):
        if any(isinstance(recall, spoiler) for recall in recalls):
            return spoiler()
    stated = [recall for recall in recalls if isinstance(recall, Evidence)]
    return Evidence(tuple(one for recall in stated for one in recall.recalls)) if stated else NotFactual()


def read_recall(reply: Reply) -> Recalled:
    """Read one reply. A token counts where it stands alone; beside facts it is left out (contract, section 6)."""
    text, denials = _NO_FACTS.subn(" ", drop_reasoning(reply.text))
    sentences = [plain_text(sentence.text) for sentence in split_sentences(text)]
    if sentences and not (reply.complete or is_closed(sentences[-1])):
        sentences.pop()
    facts = tuple(sentence for sentence in sentences if sentence.strip(_AROUND).upper() != prompt.UNCLEAR)
    if facts:
        return Evidence((facts,))
    if sentences:
        return QuestionUnclear()
    return NotFactual() if denials else RecallFailed()
