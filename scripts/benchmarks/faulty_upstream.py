"""An upstream that answers, errs, stalls, cuts and hangs up, as the request's model name tells it to.

Run by `load.py` in a process of its own: `python faulty_upstream.py PORT`. It says back in every answer what it was
told: the marks in the user's text, the key, and any cookie, so that whatever reaches the wrong client can be seen.
What it answers follows from the request alone, so the client knows what to expect.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from exchange import HOST, Cut, Message, read_message, write_chunk, write_head, write_reply

Fault = Literal["none", "error", "limit", "drop", "stall", "cut", "freeze"]
"""None; a 500; a 429; no answer: hanging up, saying nothing; half an answer: hanging up, saying nothing more."""
FAULTS: Final[tuple[Fault, ...]] = ("none", "error", "limit", "drop", "stall", "cut", "freeze")
MARK: Final = re.compile(r"(?:text|key|cookie)-c\d+(?:-r\d+)?")
"""What tells clients and requests apart: `text-c7-r3`, `key-c7`, `cookie-c7`."""
FALSE: Final = "Verdane Bridge opened in 1931."
TRUE: Final = "Verdane Bridge opened in 1913."

_OWN_ROLES: Final = {"system", "developer"}
_LONGEST_PAUSE_S: Final = 0.05
_REFUSALS: Final = {"error": "500 Internal Server Error", "limit": "429 Too Many Requests"}
_NO_ANSWERS: Final = {"drop", "stall"}
_SILENCES: Final = {"stall", "freeze"}
_HARMLESS: Final = {"none", *_REFUSALS}
"""After these the connection goes on."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to go wrong with the user's own call, and with the proxy's calls; travels as the model's name."""

    draft: Fault = "none"
    own: Fault = "none"

    @property
    def model(self) -> str:
        """The plan as a model's name."""
        return f"gpt-3.5-turbo:{self.draft}:{self.own}"


def read_plan(model: str) -> Plan:
    """Return the plan that a model's name stands for; plain names stand for no fault."""
    found = [fault for word in model.split(":")[1:] for fault in FAULTS if fault == word]
    return Plan(*found)


def say(model: str, marks: Sequence[str]) -> dict[str, Any]:
    """Return the completion of the user's own call: a false fact, then what the upstream was told."""
    return _complete(model, f"{FALSE} The note of the visitor says {' and '.join(marks)}.")


def say_streamed(model: str, marks: Sequence[str]) -> list[bytes]:
    """Return the same answer as events, a few words each."""
    text = say(model, marks)["choices"][0]["message"]["content"]
    deltas: list[dict[str, str]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in re.findall(r"\S+\s*\S*\s*", text)]
    whole = {"id": "chatcmpl-load", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": model}
    chunks = [{**whole, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]


async def serve(port: int) -> None:
    """Serve until the process is stopped."""
    server = await asyncio.start_server(_converse, HOST, port)
    await server.serve_forever()


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection until either side hangs up."""
    with suppress(Cut, ConnectionError):
        while (request := await read_message(reader)) is not None:
            if not request.body:
                writer.write(write_reply("200 OK", {}, b""))
                continue
            fault = await _answer(request, writer)
            if fault in _SILENCES:
                await reader.read(1)  # nothing comes on a call without an answer, but its end
            if fault not in _HARMLESS:
                break
    writer.transport.abort()


async def _answer(request: Message, writer: asyncio.StreamWriter) -> Fault:
    """Send an answer, as much of it as there is to be; return what goes wrong with it."""
    asked = json.loads(request.body)
    is_own = asked["messages"][0]["role"] in _OWN_ROLES
    plan = read_plan(asked["model"])
    marks = _read_marks(request, asked)
    headers = {"x-request-id": f"req-{'-'.join(marks)}", "Set-Cookie": f"session={marks[-1].replace('key', 'cookie')}"}
    fault = plan.own if is_own else plan.draft
    dice = random.Random(f"{marks}{is_own}")  # noqa: S311  # no secret
    await asyncio.sleep(dice.uniform(0, _LONGEST_PAUSE_S))
    if fault in _REFUSALS:
        body = json.dumps({"error": {"message": f"told to: {marks}", "type": "load", "param": None, "code": fault}})
        writer.write(write_reply(_REFUSALS[fault], {**headers, "Content-Type": "application/json"}, body.encode()))
    elif fault not in _NO_ANSWERS:
        whole = _answer_own(asked, marks) if is_own else _answer_user(asked, marks)
        for piece in _frame(whole, headers, broken=fault != "none"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(dice.uniform(0, _LONGEST_PAUSE_S))
    return fault


@dataclass(frozen=True, slots=True)
class _Body:
    """A body in pieces; of known length where it has only one."""

    kind: str
    pieces: list[bytes]


def _frame(body: _Body, headers: dict[str, str], *, broken: bool) -> Iterator[bytes]:
    """Yield the answer's bytes in pieces, half of them where it is to be broken off."""
    lines = {**headers, "Content-Type": body.kind}
    if len(body.pieces) == 1:
        whole = write_reply("200 OK", lines, body.pieces[0])
        yield whole[: -len(body.pieces[0]) // 2] if broken else whole
        return
    yield write_head("HTTP/1.1 200 OK", {**lines, "Transfer-Encoding": "chunked"})
    yield from map(write_chunk, body.pieces[: len(body.pieces) // 2] if broken else body.pieces)
    if not broken:
        yield write_chunk(b"")


def _answer_user(asked: dict[str, Any], marks: Sequence[str]) -> _Body:
    if asked.get("stream"):
        return _Body("text/event-stream", say_streamed(asked["model"], marks))
    return _Body("application/json", [json.dumps(say(asked["model"], marks)).encode()])


def _answer_own(asked: dict[str, Any], marks: Sequence[str]) -> _Body:
    """Answer a recall with the truth and the marks, a correction with the true sentence."""
    is_correction = FALSE in asked["messages"][-1]["content"]
    text = TRUE if is_correction else f"{TRUE} The note of the visitor says {' and '.join(marks)}."
    return _Body("application/json", [json.dumps(_complete(asked["model"], text)).encode()])


def _read_marks(request: Message, asked: dict[str, Any]) -> list[str]:
    """Return all marks that came with a request: in its user's text, its key, its cookie."""
    told = [request.header("cookie") or "", asked["messages"][-1]["content"], request.header("authorization") or ""]
    return list(dict.fromkeys(mark for text in told for mark in MARK.findall(text)))


def _complete(model: str, text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 20, "completion_tokens": 20, "total_tokens": 40}
    whole = {"id": "chatcmpl-load", "object": "chat.completion", "created": 1_700_000_000, "model": model}
    return {**whole, "choices": [choice], "usage": usage}


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
