"""Makers of scripted answers in OpenAI's shapes, and the replies that read the prompt before they answer.

In: contents, events, tables. Out: `Step`s, or functions from a `Call` to a `Step` for a `Script`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from fakes.call import Call, JsonObject
from fakes.step import Item, Step

MODEL = "gpt-test"
NUMBERED_LINE = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
"""How a decomposition prompt numbers its sentences."""

Content = str | list[JsonObject] | None
"""A message's content: text, a list of parts, or null."""


def _json_step(value: object, *, status: int = 200) -> Step:
    # Text stays raw UTF-8, so that a cut can fall inside a character.
    body = json.dumps(value, ensure_ascii=False).encode()
    return Step(status=status, headers=(("content-type", "application/json"),), body=(body,))


def completion(
    *contents: Content,
    finish_reason: str = "stop",
    message: JsonObject | None = None,
    choice: JsonObject | None = None,
    **extra: object,
) -> Step:
    """Return a chat completion with one choice a content.

    `message` and `choice` add to (or replace) fields of every message and choice, `extra` those of the whole.
    """
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": content} | (message or {}),
            "finish_reason": finish_reason,
        }
        | (choice or {})
        for index, content in enumerate(contents)
    ]
    whole = {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": MODEL,
        "choices": choices,
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    return _json_step(whole | extra)


def error(
    status: int,
    message: str = "The fake refuses.",
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: str | None = None,
) -> Step:
    """Return an error answer in OpenAI's shape; `kind` is its `type`."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return _json_step(body, status=status)


def html(status: int = 502, page: str = "<html><body>Bad gateway</body></html>") -> Step:
    """Return a web page, as a gateway in front of an API sends it."""
    return Step(status=status, headers=(("content-type", "text/html"),), body=(page.encode(),))


def chunk(
    delta: JsonObject | None = None, *, index: int = 0, finish_reason: str | None = None, **extra: object
) -> JsonObject:
    """Return one `chat.completion.chunk` with one choice; `extra` adds or replaces fields of the whole."""
    whole: JsonObject = {
        "id": "chatcmpl-fake",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": MODEL,
        "choices": [{"index": index, "delta": delta or {}, "finish_reason": finish_reason}],
    }
    return whole | extra


def talk(*texts: str, finish_reason: str = "stop", index: int = 0) -> list[JsonObject]:
    """Return the chunks of one choice: its role, one chunk a text, its finish."""
    return [
        chunk({"role": "assistant", "content": ""}, index=index),
        *(chunk({"content": text}, index=index) for text in texts),
        chunk(index=index, finish_reason=finish_reason),
    ]


def sse(*events: JsonObject | Item, done: bool = True) -> Step:
    """Return an event stream: an object is one event and one piece, bytes and pauses stand as they are."""
    body = [
        f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode() if isinstance(event, dict) else event
        for event in events
    ]
    if done:
        body.append(b"data: [DONE]\n\n")
    return Step(headers=(("content-type", "text/event-stream"),), body=tuple(body), framing="chunked")


def claims_reply(claims: Iterable[tuple[int, str]], *, none: Sequence[int] = ()) -> str:
    """Return the decomposition's JSON (contract, section 10) for (sentence number, claim) pairs."""
    items = [{"sentence": number, "text": text} for number, text in claims]
    return json.dumps({"claims": items, "none": list(none)}, ensure_ascii=False)


def claims_by_sentence(
    table: Mapping[str, Sequence[str]] | None = None, *, line: re.Pattern[str] = NUMBERED_LINE
) -> Callable[[Call], Step]:
    """Return a decomposition that looks each numbered sentence of the prompt up in a table.

    An empty list means that the sentence holds no claim; a sentence not in the table is its own claim.
    """

    def decompose(call: Call) -> Step:
        sentences = [(int(number), text) for number, text in line.findall(call.prompt)]
        found = [(number, (table or {}).get(text, [text])) for number, text in sentences]
        claims = [(number, claim) for number, claims in found for claim in claims]
        return completion(claims_reply(claims, none=[number for number, claims in found if not claims]))

    return decompose


def corrections(table: Mapping[str, str]) -> Callable[[Call], Step]:
    """Return a correction that answers with the table's entry for the one sentence on a line of its own."""

    def correct(call: Call) -> Step:
        lines = call.prompt.splitlines()
        found = [corrected for sentence, corrected in table.items() if sentence in lines]
        if len(found) != 1:
            raise LookupError(f"the table fits {len(found)} sentences of the correction prompt, not one")
        return completion(found[0])

    return correct
