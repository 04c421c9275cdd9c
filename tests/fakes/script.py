"""What the scripted upstream answers to each kind of call; by default the Verdane Bridge story."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from fakes.call import AnyTask, Call
from fakes.replies import claims_by_sentence, completion, corrections
from fakes.step import Step

R = "Verdane Bridge opened in 1913. It is 340 metres long."
"""The reference that a recall gives."""
F = "Verdane Bridge opened in 1931. It is 340 metres long."
"""A draft with one false claim."""
T = R
"""A true draft."""

Reply = Step | Sequence[Step] | Callable[[Call], Step]
"""One answer for all calls; answers used in turn, the last one again and again; or one made from the call."""

_DRAFT = completion(F)
_RECALL = completion(R)
_CLAIMS = claims_by_sentence()
_CORRECTION = corrections({"Verdane Bridge opened in 1931.": "Verdane Bridge opened in 1913."})
_OTHER = Step(headers=(("content-type", "application/json"),), body=(b'{"object": "list", "data": []}',))


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One reply for each kind of call."""

    draft: Reply = _DRAFT
    recall: Reply = _RECALL
    claims: Reply = _CLAIMS
    correction: Reply = _CORRECTION
    other: Reply = _OTHER

    def choose(self, call: Call, *, turn: int) -> Step:
        """Return the answer to this call, the `turn`-th (from 0) of its task."""
        reply = self._reply(call.task)
        if isinstance(reply, Step):
            return reply
        return reply(call) if callable(reply) else reply[min(turn, len(reply) - 1)]

    def _reply(self, task: AnyTask) -> Reply:
        return cast("Reply", getattr(self, task))
