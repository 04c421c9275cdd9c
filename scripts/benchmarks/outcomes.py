"""One call of a load test, what may come of it, and what did come of it.

In: a call's kind and what the upstream is told to do with it. Out: the request, the outcomes that are right, and the
name of the outcome of a reply. Pure, so that what counts as right can be read, apart from what happens to run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from exchange import CHAT_PATH, Cut, Message, write_request
from faulty_upstream import MARK, Plan, say, say_streamed

Kind = Literal["off", "off streamed", "plain", "streamed", "annotated"]
OFF: Final = frozenset({"off", "off streamed"})
STREAMS: Final = frozenset({"off streamed", "streamed", "annotated"})
HUNG_UP: Final = "client hung up"
CUT: Final = "cut"
PASSED_ON: Final = "passed on"

_OK: Final = 200
_BROKEN_OFF: Final = "error event"
_TOO_MANY: Final = "429 too_many_requests"
_OVERLOAD: Final = frozenset({"unavailable: deadline", "unavailable: busy"})
_JUDGED: Final = frozenset(
    {
        "corrected",
        "partial",
        "inconclusive",
        "flagged: detect",
        "flagged: correction_failed",
        "flagged: reference_suspect",
    }
)
_REFUSED: Final = {
    "error": "500 error",
    "limit": "429 limit",
    "drop": "502 upstream_unreachable",
    "stall": "504 upstream_timeout",
}
"""Outcomes of faults before the reply's head, whatever the kind."""
_BROKEN: Final[dict[str, dict[str, str]]] = {
    "cut": {"plain": "502 upstream_incomplete"},
    "freeze": {"plain": "504 upstream_timeout"},
}
"""Outcomes of faults within the body, where they differ from the stream's."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request of one client."""

    client: int
    number: int
    kind: Kind
    plan: Plan = field(default_factory=Plan)
    detail: str = "summary"
    patience_s: float | None = None
    """After so many seconds the client hangs up; None for one that waits."""

    @property
    def marks(self) -> list[str]:
        """The only marks that the reply may hold, in the order in which the upstream says them; the cookie is none."""
        return [f"text-c{self.client}-r{self.number}", f"key-c{self.client}"]

    def write(self) -> bytes:
        """Return the request."""
        text, key = self.marks
        headers = {"Authorization": f"Bearer {key}", "Cookie": f"session=cookie-c{self.client}"}
        if self.kind in OFF:
            headers["X-Verify"] = "off"
        else:
            headers |= {"X-Verify-Claims": "local", "X-Verify-Detail": self.detail}
        if self.kind == "annotated":
            headers["X-Verify-Stream"] = "annotate"
        question = f"When did Verdane Bridge open? Keep the note {text} of the visitor in mind."
        body = {"model": self.plan.model, "messages": [{"role": "user", "content": question}]}
        return write_request(CHAT_PATH, headers, body | ({"stream": True} if self.kind in STREAMS else {}))

    def expected(self) -> frozenset[str]:
        """Return the outcomes that are right."""
        may = {HUNG_UP} if self.patience_s is not None else set()
        if self.kind not in OFF:
            may.add(_TOO_MANY)
        fault = self.plan.draft
        if fault in _REFUSED:
            may.add(_REFUSED[fault])
        elif fault in _BROKEN:
            at_stream = CUT if self.kind in OFF else f"{_BROKEN_OFF} upstream_incomplete"
            may.add(_BROKEN[fault].get(self.kind, at_stream))
        elif self.kind in OFF:
            may.add(PASSED_ON)
        elif self.plan.own != "none":
            may |= {"unavailable: recall_failed", *_OVERLOAD}
        else:
            may |= _JUDGED | _OVERLOAD
        return frozenset(may)


def name_outcome(call: Call, reply: Message | Cut) -> str:
    """Return the outcome's name: a verification's status and reason, an error's status and code, and the like."""
    if isinstance(reply, Cut):
        return CUT
    if reply.status != _OK:
        return f"{reply.status} {_read_code(reply.body)}"
    if call.kind in OFF:
        return PASSED_ON if reply.body == _passed_on(call) else "changed on the way"
    return _name_events(reply.body) if call.kind in STREAMS else _name_report(json.loads(reply.body))


def find_foreign_marks(call: Call, reply: Message | Cut) -> set[str]:
    """Return the marks that are not this call's own, and any cookie."""
    found = {mark for part in (reply.head, reply.body) for mark in MARK.findall(part.decode(errors="replace"))}
    return found - set(call.marks)


def lacks_own_marks(call: Call, outcome: str, reply: Message | Cut) -> bool:
    """Return whether an answer that was not broken off lacks what the upstream said to this call."""
    whole = isinstance(reply, Message) and reply.status == _OK and not outcome.startswith(_BROKEN_OFF)
    return whole and not all(mark.encode() in reply.body for mark in call.marks)


def _passed_on(call: Call) -> bytes:
    if call.kind in STREAMS:
        return b"".join(say_streamed(call.plan.model, call.marks))
    return json.dumps(say(call.plan.model, call.marks)).encode()


def _name_events(body: bytes) -> str:
    """Name the outcome of a verified stream by its events: the report before `[DONE]`, or the error at the end."""
    events = [event.removeprefix(b"data: ") for event in body.split(b"\n\n") if event.startswith(b"data: ")]
    if not events:
        return "empty stream"
    if events[-1] != b"[DONE]":
        return f"{_BROKEN_OFF} {_read_code(events[-1])}"
    chunks = [json.loads(event) for event in events[:-1]]
    return next((_name_report(chunk) for chunk in chunks if "verification" in chunk), "stream without report")


def _name_report(completion: dict[str, Any]) -> str:
    report = completion.get("verification")
    if not isinstance(report, dict):
        return "no report"
    return f"{report['status']}: {report['reason']}" if report["reason"] else str(report["status"])


def _read_code(body: bytes) -> str:
    """Return an error's code; its body is OpenAI's."""
    try:
        return str(json.loads(body)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return "without an error object"
