"""Whatever a client or an upstream sends: no fault of ours, no hang, an answer that is whole.

`FUZZ_EXAMPLES=100000 pytest tests/flow/test_fuzz.py -o timeout=3600` is the long run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import httpx
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fakes import Script, Step, completion, sse, talk
from fakes.scene import Scene
from fakes.script import F, R

Play = Callable[[Script], Scene]

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "30"))
fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20)
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
)
PARTS = st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url"]), "text": st.text()})
TEXTS = st.sampled_from([F, R, "Hi!", "- **A:** 1931 [2]\n- B", "```\ncode", '"x" said he.', "| a | b |"]) | st.text()
CONTENTS = TEXTS | st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "image_url"]), "text": TEXTS}) | JSON
)


def mostly(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw what is usual, and sometimes anything that JSON can hold."""
    return st.one_of(usual, usual, usual, JSON)


MESSAGES = st.lists(
    mostly(
        st.fixed_dictionaries(
            {"role": mostly(st.sampled_from(["user", "system", "assistant", "tool"])), "content": mostly(CONTENTS)}
        )
    ),
    max_size=4,
)
REQUESTS = st.fixed_dictionaries(
    {"messages": mostly(MESSAGES)},
    optional={
        "stream": mostly(st.booleans()),
        "stream_options": mostly(st.just({"include_usage": True})),
        "n": mostly(st.integers(1, 3)),
        "response_format": mostly(st.just({"type": "json_object"})),
        "verify": mostly(
            st.fixed_dictionaries({}, optional={"mode": st.sampled_from(["detect", "off"]), "k": SCALARS})
        ),
        "x": JSON,
    },
)
CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "index": mostly(st.integers(0, 3)),
        "message": mostly(
            st.fixed_dictionaries(
                {}, optional={"content": mostly(CONTENTS), "tool_calls": JSON, "refusal": mostly(st.none()), "x": JSON}
            )
        ),
        "finish_reason": mostly(st.sampled_from(["stop", "length", "content_filter"])),
        "logprobs": JSON,
    },
)
COMPLETIONS = mostly(st.fixed_dictionaries({"choices": mostly(st.lists(mostly(CHOICES), max_size=3))}))


def check(reply: httpx.Response) -> None:
    """Refuse a fault of ours and a reply that cannot be read."""
    assert reply.status_code != 500, reply.text
    if reply.headers.get("content-type", "").startswith("application/json"):
        json.loads(reply.content)


@fuzz
@given(body=REQUESTS)
def test_any_request(play: Play, body: dict[str, Any]) -> None:
    """Odd requests are answered or refused, never a fault."""
    streamed = body.get("stream") is True
    draft = sse(*talk(F)) if streamed else completion(F)
    scene = play(Script(draft=draft, correction=completion(R)))
    check(scene.client.post("/v1/chat/completions", json={"model": scene.model} | body))


@fuzz
@given(raw=st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_body(play: Play, raw: bytes) -> None:
    """Bytes that are no request are forwarded for the upstream to refuse."""
    scene = play(Script(correction=completion(R)))
    check(scene.client.post("/v1/chat/completions", content=raw, headers={"content-type": "application/json"}))


@fuzz
@given(body=COMPLETIONS)
def test_any_completion(play: Play, body: object) -> None:
    """Odd completions are verified as far as can be, or passed on unchanged."""
    raw = json.dumps(body).encode()
    step = Step(headers=(("content-type", "application/json"),), body=(raw,))
    reply = play(Script(draft=step, correction=completion(R))).ask()
    check(reply)
    assert reply.content == raw or "verification" in reply.json()


@fuzz
@given(recall=mostly(COMPLETIONS), claims=TEXTS | JSON.map(json.dumps), correction=TEXTS)
def test_any_reply_to_our_own_calls(play: Play, recall: object, claims: str, correction: str) -> None:
    """Whatever our own calls get, the user has an answer."""
    raw = json.dumps(recall).encode()
    script = Script(
        recall=Step(headers=(("content-type", "application/json"),), body=(raw,)),
        claims=completion(claims),
        correction=completion(correction),
    )
    reply = play(script).ask()
    check(reply)
    assert reply.status_code == 200
    assert reply.json()["choices"][0]["message"]["content"]


SEAMS = [b"\r", b"\n\n", b"data: ", b": x\n", b"event: y\n"]


@st.composite
def broken_streams(draw: st.DrawFn) -> bytes:
    """Draw a valid stream with some bytes left out, put in or repeated."""
    raw = sse(*talk(*draw(st.lists(TEXTS, max_size=4)))).content
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(raw)))
        length = draw(st.integers(0, 30))
        change = draw(st.sampled_from(["cut", "insert", "repeat", "end"]))
        if change == "cut":
            raw = raw[:at] + raw[at + length :]
        elif change == "insert":
            raw = (
                raw[:at]
                + draw(st.binary(max_size=10) | st.sampled_from([b"\r", b"\n\n", b"data: ", b": x\n"]))
                + raw[at:]
            )
        elif change == "repeat":
            raw = raw[: at + length] + raw[at:]
        else:
            raw = raw[:at]
    return raw


@fuzz
@given(raw=broken_streams(), size=st.integers(1, 200))
def test_any_stream(play: Play, raw: bytes, size: int) -> None:
    """A broken stream ends as a whole one, with its report, or with one error event; never in between."""
    step = Step(headers=(("content-type", "text/event-stream"),), body=(raw,), framing="chunked")
    cut = step.cut(*range(0, len(raw), size))
    reply = play(Script(draft=cut, correction=completion(R))).ask(stream=True)
    check(reply)
    if reply.status_code == 200:
        assert reply.text.endswith("\n\n")
        events = [block for block in reply.text.split("\n\n") if block]
        ended = events[-1] == "data: [DONE]"
        assert ended or json.loads(events[-1].removeprefix("data: "))["error"]["code"] == "upstream_incomplete"
        assert not ended or '"verification"' in reply.text or '"finish_reason":' not in reply.text
