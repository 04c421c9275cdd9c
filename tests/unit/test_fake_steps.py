"""Scripted answers before anything is sent: bytes, cuts and OpenAI's shapes."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest

from fakes import CLOSE, HANG, Step, claims_reply, completion, error, html, sse, talk

TEXT = Step(body=("서울 🌉".encode(),))


def test_response_bytes_are_exactly_the_step() -> None:
    """Status, header case and order, body and framing go out as written."""
    step = Step(status=418, headers=(("X-B", "1"), ("x-a", "2"), ("X-B", "3")), body=(b"ab", b"c"))
    assert b"".join(item for item in step.wire() if isinstance(item, bytes)) == (
        b"HTTP/1.1 418 I'm a Teapot\r\nX-B: 1\r\nx-a: 2\r\nX-B: 3\r\ncontent-length: 3\r\n\r\nabc"
    )


def test_cuts_keep_pauses_in_place() -> None:
    """Cutting again moves neither the pauses nor the bytes."""
    step = TEXT.interrupt(5, HANG).cut(2, 5, 7)
    assert step.body == (TEXT.content[:2], TEXT.content[2:5], HANG, TEXT.content[5:7], TEXT.content[7:])


def test_interrupt_past_the_end_is_refused() -> None:
    """A test that breaks a body off after its end is wrong, and is told so."""
    with pytest.raises(ValueError, match="not in list"):
        TEXT.interrupt(len(TEXT.content) + 1, CLOSE)


def test_gzipped_stream_can_be_unpacked_piece_by_piece() -> None:
    """What has been sent so far can be read so far; the whole is one gzip file."""
    unpack = zlib.decompressobj(wbits=31)
    step = sse(*talk("Ver", "dane"))
    packed = step.gzipped()
    assert [unpack.decompress(item) for item in packed.body if isinstance(item, bytes)] == [*step.body, b""]
    assert gzip.decompress(packed.content) == step.content
    assert packed.headers[-1] == ("content-encoding", "gzip")


def test_completion_has_openai_shape() -> None:
    """One choice a content, extra fields where they belong, text as raw UTF-8."""
    step = completion("é", None, finish_reason="length", message={"refusal": None}, choice={"logprobs": None}, id="x")
    whole = json.loads(step.content)
    assert whole["id"] == "x"
    assert whole["object"] == "chat.completion"
    assert whole["choices"] == [
        {
            "index": index,
            "message": {"role": "assistant", "content": content, "refusal": None},
            "finish_reason": "length",
            "logprobs": None,
        }
        for index, content in enumerate(["é", None])
    ]
    assert "é".encode() in step.content


def test_refusals() -> None:
    """Errors come in OpenAI's shape, a gateway's page as HTML."""
    refusal = error(429, "Slow down.", code="rate_limit_exceeded").with_headers(("Retry-After", "7"))
    assert (refusal.status, refusal.headers[-1]) == (429, ("Retry-After", "7"))
    assert json.loads(refusal.content)["error"] == {
        "message": "Slow down.",
        "type": "invalid_request_error",
        "param": None,
        "code": "rate_limit_exceeded",
    }
    assert html().headers == (("content-type", "text/html"),)


def read_data(event: object) -> bytes:
    assert isinstance(event, bytes)
    assert event.endswith(b"\n\n")
    return event.removeprefix(b"data: ")


def test_event_stream() -> None:
    """Events come as written, in order, each as one piece, with what stands between them."""
    step = sse(b": hello\n\n", *talk("Ver", "dane"))
    comment, *events, done = step.body
    assert (step.framing, step.headers) == ("chunked", (("content-type", "text/event-stream"),))
    assert (comment, done) == (b": hello\n\n", b"data: [DONE]\n\n")
    choices = [json.loads(read_data(event))["choices"][0] for event in events]
    assert [choice["delta"] for choice in choices] == [
        {"role": "assistant", "content": ""},
        {"content": "Ver"},
        {"content": "dane"},
        {},
    ]
    assert [choice["finish_reason"] for choice in choices] == [None, None, None, "stop"]
    assert sse(done=False).content == b""


def test_claims_reply_follows_the_contract() -> None:
    """The JSON is that of section 10."""
    assert json.loads(claims_reply([(1, "A"), (1, "B")], none=[2])) == {
        "claims": [{"sentence": 1, "text": "A"}, {"sentence": 1, "text": "B"}],
        "none": [2],
    }
