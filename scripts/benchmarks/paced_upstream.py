"""An upstream that takes the time the paper's model takes: a wait for the first token, then so much a token.

Run by `latency.py` in a process of its own: `python paced_upstream.py PORT`. It knows what it is asked by the
instruction that our own calls carry, and answers from a few scenes: a draft with as many false sentences as the model's
name says, the facts as recall, each sentence as its one claim, and the true sentence as correction.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from exchange import HOST, Cut, Message, read_message, write_chunk, write_head, write_reply

from proxy.prompts import claims, correction, recall

FIRST_TOKEN_MS: Final = 200.0
TOKEN_MS: Final = 14.8
"""With 42 tokens this gives the 820 ms that the paper measured for GPT-3.5 Turbo."""
ANSWER_TOKENS: Final = 42
"""Of a draft, and of a recall."""
CLAIM_TOKENS: Final = 20
"""Of a decomposition, for each sentence."""
CORRECTION_TOKENS: Final = 15

_JSON: Final = {"Content-Type": "application/json"}
_NUMBERED: Final = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Scene:
    """A question with its facts; the false twin of the first two can stand in a draft."""

    question: str
    facts: tuple[str, str, str]
    false: tuple[str, str]

    def write_draft(self, errors: int) -> str:
        """Return an answer of three sentences, of which the first `errors` are false."""
        return " ".join((*self.false[:errors], *self.facts[errors:]))


SCENES: Final = (
    Scene(
        "Tell me about Ottawa.",
        (
            "Ottawa is the capital of Canada.",
            "Ottawa lies in the province of Ontario.",
            "The city stands on the south bank of the Ottawa River.",
        ),
        ("Ottawa is the capital of Australia.", "Ottawa lies in the province of Manitoba."),
    ),
    Scene(
        "Who was Marie Curie?",
        (
            "Marie Curie was born in Warsaw.",
            "Marie Curie won the Nobel Prize in Physics in 1903.",
            "She discovered polonium and radium together with Pierre Curie.",
        ),
        ("Marie Curie was born in Vienna.", "Marie Curie won the Nobel Prize in Physics in 1936."),
    ),
    Scene(
        "What is the Golden Gate Bridge?",
        (
            "The Golden Gate Bridge opened in 1937.",
            "The Golden Gate Bridge stands in San Francisco.",
            "Its main span is 1,280 metres long and it is painted in orange.",
        ),
        ("The Golden Gate Bridge opened in 1973.", "The Golden Gate Bridge stands in Los Angeles."),
    ),
    Scene(
        "What do you know of the planet Mars?",
        (
            "Mars is the fourth planet from the Sun.",
            "Mars has two moons.",
            "The red colour of its surface comes from iron oxide in the dust.",
        ),
        ("Mars is the second planet from the Sun.", "Mars has seven moons."),
    ),
)
_BY_QUESTION: Final[Mapping[str, Scene]] = {scene.question: scene for scene in SCENES}
_TRUE: Final[Mapping[str, str]] = {
    false: true for scene in SCENES for false, true in zip(scene.false, scene.facts, strict=False)
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What is said, and how many tokens long that counts as."""

    text: str
    tokens: int

    @property
    def seconds(self) -> float:
        """How long it takes to say it."""
        return (FIRST_TOKEN_MS + self.tokens * TOKEN_MS) / 1000


def name_model(errors: int) -> str:
    """Return the model name that asks for a draft with so many false sentences."""
    return f"paced-{errors}"


def answer(asked: Mapping[str, Any]) -> Reply:
    """Return the reply to a request, by the instruction that it begins with."""
    first, last = asked["messages"][0]["content"], asked["messages"][-1]["content"]
    if first == claims.INSTRUCTION:
        return _decompose(last)
    if first == correction.INSTRUCTION:
        return Reply(_TRUE[last.rstrip("\n").rpartition("\n")[2]], CORRECTION_TOKENS)
    scene = _BY_QUESTION[last]
    if first == recall.INSTRUCTION:
        return Reply(" ".join(scene.facts), ANSWER_TOKENS)
    return Reply(scene.write_draft(int(asked["model"].rpartition("-")[2])), ANSWER_TOKENS)


def _decompose(question: str) -> Reply:
    found = _NUMBERED.findall(question.rpartition("Sentences:\n")[2])
    listed = [{"sentence": int(number), "text": text} for number, text in found]
    return Reply(json.dumps({"claims": listed, "none": []}), CLAIM_TOKENS * len(found))


async def serve(port: int) -> None:
    """Serve until the process is stopped."""
    server = await asyncio.start_server(_converse, HOST, port)
    await server.serve_forever()


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection until the other side hangs up."""
    with suppress(Cut, ConnectionError):
        while (request := await read_message(reader)) is not None:
            await _send(request, writer)
    writer.transport.abort()


async def _send(request: Message, writer: asyncio.StreamWriter) -> None:
    """Send one answer at the pace of its tokens."""
    if not request.body:
        writer.write(write_reply("200 OK", {}, b""))
        return
    asked = json.loads(request.body)
    reply = answer(asked)
    if not asked.get("stream"):
        await asyncio.sleep(reply.seconds)
        choice = {"index": 0, "message": {"role": "assistant", "content": reply.text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 20, "completion_tokens": reply.tokens, "total_tokens": 20 + reply.tokens}
        whole = {**_name(asked, "chat.completion"), "choices": [choice], "usage": usage}
        writer.write(write_reply("200 OK", _JSON, json.dumps(whole).encode()))
        return
    writer.write(write_head("HTTP/1.1 200 OK", {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}))
    begun = asyncio.get_running_loop().time()
    for number, delta in enumerate(_cut(reply)):
        due = begun + (FIRST_TOKEN_MS + number * TOKEN_MS) / 1000
        await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
        finish = "stop" if number == reply.tokens else None
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = json.dumps({**_name(asked, "chat.completion.chunk"), "choices": [choice]})
        writer.write(write_chunk(f"data: {event}\n\n".encode()))
    writer.write(write_chunk(b"data: [DONE]\n\n") + write_chunk(b""))


def _cut(reply: Reply) -> Iterator[dict[str, str]]:
    """Yield the deltas: the role, the text in one piece a token, and the empty last one."""
    size = len(reply.text) / (reply.tokens - 1)
    ends = [round(number * size) for number in range(reply.tokens)]
    yield {"role": "assistant", "content": ""}
    yield from ({"content": reply.text[start:end]} for start, end in pairwise(ends))
    yield {}


def _name(asked: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-paced", "object": kind, "created": 1_700_000_000, "model": asked["model"]}


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
