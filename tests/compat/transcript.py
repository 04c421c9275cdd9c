"""What the tests read out of a client's chunks and of the upstream's record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, cast

from fakes import Step

JsonObject = dict[str, Any]


def body_of(step: Step) -> JsonObject:
    """Return the JSON object that a scripted answer holds."""
    return cast("JsonObject", json.loads(step.content))


def events_of(step: Step) -> list[JsonObject]:
    """Return the chunks that a scripted stream holds."""
    events = step.content.decode().removesuffix("\n\n").split("\n\n")
    return [json.loads(event.removeprefix("data: ")) for event in events if event != "data: [DONE]"]


def take_report(completion: JsonObject) -> JsonObject:
    """Take the report out of a completion, which is then the upstream's own."""
    return cast("JsonObject", completion.pop("verification"))


def text_of(chunks: Iterable[JsonObject], index: int = 0) -> str:
    """Return one choice's content, joined."""
    choices = [choice for chunk in chunks for choice in chunk["choices"] if choice["index"] == index]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def report_of(chunks: Sequence[JsonObject]) -> JsonObject:
    """Return a stream's report, which rides on exactly one chunk: the last finish chunk."""
    carrying = [chunk for chunk in chunks if "verification" in chunk]
    finishing = [chunk for chunk in chunks if any(choice.get("finish_reason") for choice in chunk["choices"])]
    assert carrying == finishing[-1:]
    return cast("JsonObject", carrying[0]["verification"])


def outcome_of(report: JsonObject) -> str:
    """Return a report's status and reason, as in `flagged: detect`."""
    return ": ".join(part for part in (report["status"], report["reason"]) if part)
