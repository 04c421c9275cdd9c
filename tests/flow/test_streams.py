"""Streams: what passes at once, what waits for its verdict, how they end (contract, section 4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from fakes import CLOSE, HANG, FakeNli, Gate, Script, Step, chunk, compare_words, completion, error, sse, talk
from fakes.call import AnyTask
from fakes.scene import Scene
from fakes.script import F, R, T

Play = Callable[[Script], Scene]
Stage = Callable[..., Scene]

PIECES = ["Verdane Bridge opened in 19", "31. It is", " 340 metres long."]
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


@dataclass(frozen=True)
class Received:
    """A stream as the client got it."""

    reply: httpx.Response

    @property
    def events(self) -> list[str]:
        """The data of each event."""
        assert self.reply.headers["content-type"].startswith("text/event-stream"), self.reply.text
        blocks = self.reply.text.split("\n\n")
        assert blocks.pop() == "", "the body ends with a blank line"
        return [block.removeprefix("data: ") for block in blocks if not block.startswith(":")]

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The chunks, without `[DONE]`."""
        return [json.loads(event) for event in self.events if event != "[DONE]"]

    def deltas(self, index: int = 0) -> list[dict[str, Any]]:
        """One choice's deltas."""
        return [c["delta"] for k in self.chunks for c in k.get("choices", []) if c["index"] == index and "delta" in c]

    def content(self, index: int = 0) -> str:
        """One choice's content, joined."""
        return "".join(delta.get("content") or "" for delta in self.deltas(index))

    @property
    def verification(self) -> dict[str, Any]:
        """The report, which rides on exactly one chunk: the last finish chunk."""
        carrying = [k for k in self.chunks if "verification" in k]
        finishing = [k for k in self.chunks if any(c.get("finish_reason") for c in k.get("choices", []))]
        assert carrying == finishing[-1:]
        return dict(carrying[0]["verification"])


def stream(scene: Scene, *, headers: dict[str, str] | None = None, **body: Any) -> Received:  # noqa: ANN401
    """Ask for a stream and read it to its end."""
    return Received(scene.ask(stream=True, headers=headers, **body))


def test_c08_what_is_false_is_in_no_delta(play: Play) -> None:
    """The false claim is corrected before any of its text is sent; the joined text is that of a plain reply."""
    scene = play(Script(draft=sse(*talk(*PIECES))))
    received = stream(scene)
    assert received.content() == T
    assert not any("31" in (delta.get("content") or "") for delta in received.deltas())
    assert received.events[-1] == "[DONE]"
    assert received.verification["status"] == "corrected"
    assert received.reply.headers["x-verify-id"] == received.verification["id"]
    assert "x-verify-status" not in received.reply.headers
    assert received.deltas()[0]["role"] == "assistant"
    assert {(k["id"], k["created"], k["model"], k["object"]) for k in received.chunks} == {
        ("chatcmpl-fake", 1_700_000_000, "gpt-test", "chat.completion.chunk")
    }


def test_a_true_stream_is_replayed_as_it_came(play: Play) -> None:
    """Without an edit the held chunks are sent as the upstream cut them, vendor fields included."""
    pieces = ["Verdane Bridge ", "opened in 1913. ", "It is 340 metres long."]
    logprobs = {"content": [{"token": "x", "logprob": -1.0}]}
    chunks = talk(*pieces)
    chunks[1]["choices"][0]["logprobs"] = logprobs
    chunks[1]["x_vendor"] = {"a": 1.0}
    received = stream(play(Script(draft=sse(*chunks))))
    assert [d["content"] for d in received.deltas() if d.get("content")] == pieces
    assert received.verification["status"] == "verified"
    [with_logprobs] = [k for k in received.chunks if k["choices"] and k["choices"][0].get("logprobs")]
    assert with_logprobs["choices"][0]["logprobs"] == logprobs
    assert with_logprobs["x_vendor"] == {"a": 1.0}


@pytest.mark.parametrize("asked", [True, False])
def test_c01_usage_comes_if_and_only_if_asked_for(play: Play, *, asked: bool) -> None:
    """One usage chunk after the finish chunk where the client asked, none otherwise."""
    step = sse(*talk(*PIECES), {"choices": [], "usage": USAGE})
    options: dict[str, Any] = {"stream_options": {"include_usage": True}} if asked else {}
    received = stream(play(Script(draft=step)), **options)
    usages = [k for k in received.chunks if not k["choices"]]
    assert [k["usage"] for k in usages] == ([USAGE] if asked else [])
    assert not asked or received.chunks[-1] == usages[0]
    assert received.content() == T


def test_c02_filter_chunks_pass(play: Play) -> None:
    """Chunks without choices, choices without delta or content: forwarded, and the text is whole."""
    before = {"id": "", "choices": [], "prompt_filter_results": [{"i": 0}]}
    after = {"id": "x", "choices": [{"index": 0, "finish_reason": None, "content_filter_results": {"a": {}}}]}
    chunks = talk(*PIECES)
    received = stream(play(Script(draft=sse(before, *chunks[:-1], after, chunks[-1]))))
    assert before in received.chunks
    assert any("content_filter_results" in c for k in received.chunks for c in k["choices"])
    assert received.content() == T


def test_c02_a_blocked_answer_is_skipped(play: Play) -> None:
    """A choice that a filter ended keeps its finish reason and is not judged, streamed or not."""
    received = stream(play(Script(draft=sse(*talk("Verdane", finish_reason="content_filter")))))
    assert received.verification["choices"][0]["reason"] == "content_filter"
    assert received.chunks[-1]["choices"][0]["finish_reason"] == "content_filter"
    blocked = {"index": 0, "finish_reason": "content_filter", "content_filter_results": {}}
    body = json.dumps({"choices": [blocked]}).encode()
    plain = play(Script(draft=Step(body=(body,), headers=(("content-type", "application/json"),)))).verify()
    assert plain.outcome == "skipped: content_filter"


def test_c03_characters_cut_anywhere_stay_whole(play: Play) -> None:
    """Raw UTF-8 written byte by byte comes out as it went in."""
    text = "서울 🌉 naïve café."
    step = sse(*talk(text))
    bytewise = step.cut(*range(len(step.content)))
    received = stream(play(Script(draft=bytewise)))
    assert received.content() == text
    assert "\ufffd" not in received.reply.text


@pytest.mark.parametrize("status", [401, 429, 500])
def test_c04_an_early_refusal_keeps_its_status(play: Play, status: int) -> None:
    """A refusal of a streaming request is its own status and JSON body, not a stream."""
    refusal = error(status, "no").with_headers(("retry-after", "7"))
    reply = stream(play(Script(draft=refusal))).reply
    assert reply.status_code == status
    assert reply.content == refusal.content
    assert reply.headers["retry-after"] == "7"


@pytest.mark.parametrize(
    ("code", "status"), [(400, 400), ("429", 429), (503, 503), (None, 502), ("server_error", 502), (200, 502)]
)
def test_c04_an_error_as_first_event_becomes_a_status(play: Play, code: object, status: int) -> None:
    """An error object as first event is turned into an HTTP error, since nothing has been sent yet."""
    event = {"error": {"message": "m", "type": "t", "param": None, "code": code}}
    reply = stream(play(Script(draft=sse(event)))).reply
    assert reply.status_code == status
    assert reply.json() == event
    assert reply.headers["content-type"] == "application/json"


def _without_finish(*texts: str) -> list[dict[str, Any]]:
    return talk(*texts)[:-1]


@pytest.mark.parametrize(
    "step",
    [
        sse(*_without_finish(*PIECES[:2]), CLOSE),
        sse(*_without_finish(*PIECES[:2]), done=False),
        sse(*_without_finish(*PIECES[:2]), done=True),
        sse(*_without_finish(*PIECES[:2]), {"error": {"message": "m", "code": 500}}),
        sse(*_without_finish(*PIECES[:2]), b"data: {broken\n\n"),
        sse(*_without_finish(*PIECES[:2]), b'data: {"choices": [{"delta": {"c\x9d": "x"}}]}\n\n'),
        sse(*_without_finish(*PIECES[:2]), b'data: {"choices": [{"delta": {"content": "\\ud83d"}}]}\n\n'),
    ],
)
def test_c05_a_cut_stream_is_never_taken_for_an_answer(play: Play, step: Step) -> None:
    """A stream that breaks off ends in one error event: no held text, no finish, no verdict, no `[DONE]`."""
    received = stream(play(Script(draft=step)))
    assert received.reply.status_code == 200
    assert received.content() == ""
    assert received.chunks[-1]["error"]["code"] == "upstream_incomplete"
    assert "[DONE]" not in received.events
    assert not any("verification" in k or any(c.get("finish_reason") for c in k.get("choices", []))
                   for k in received.chunks)  # fmt: skip
    assert "Verdane" not in received.reply.text


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: raw.replace(b"\n", b"\r"),
        lambda raw: raw.replace(b"data: ", b"data:"),
        lambda raw: b"\xef\xbb\xbf: hello\n\n" + raw.replace(b"\n\n", b"\nevent: x\nid: 1\n\n: note\n\n"),
        lambda raw: raw.replace(b"data: [DONE]\n\n", b""),
        lambda raw: raw.replace(b"data: [DONE]\n\n", b"").rstrip(b"\n"),
    ],
    ids=["crlf", "cr", "no space", "mark, comments, fields", "no done", "no end"],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_any_form_of_events_is_read(play: Play, change: Callable[[bytes], bytes], size: int) -> None:
    """Line endings, missing spaces, comments, other fields, a missing end: the text is the same however it is cut."""
    raw = change(sse(*talk(*PIECES)).content)
    step = Step(headers=(("content-type", "text/event-stream"),), body=(raw,), framing="chunked")
    received = stream(play(Script(draft=step.cut(*range(0, len(raw), size)))))
    assert received.content() == T
    assert received.events[-1] == "[DONE]"


def test_c07_silence_is_filled_with_comments(stage: Stage) -> None:
    """While the verdict is awaited a bare comment comes at every interval, and none where it is 0."""
    gate = Gate()
    script = Script(draft=sse(*talk(*PIECES)), recall=completion(R).held(gate))
    scene = stage(script, nli=FakeNli(compare_words), sse_keepalive_s=0.05)
    body = {"model": scene.model, "messages": [{"role": "user", "content": "When?"}], "stream": True}
    with scene.client.stream("POST", "/v1/chat/completions", json=body) as reply:
        lines = reply.iter_lines()
        seen = 0
        text = []
        for line in lines:
            text.append(line)
            seen += line == ": keep-alive"
            if seen == 2:
                gate.open()
    assert ": keep-alive" in text
    assert text[-2] == "data: [DONE]"


def test_c07_keep_alives_can_be_turned_off(stage: Stage) -> None:
    """With an interval of 0 there is none."""
    scene = stage(Script(draft=sse(*talk(*PIECES))), nli=FakeNli(compare_words), sse_keepalive_s=0)
    assert ": keep-alive" not in stream(scene).reply.text


def test_c09_tool_call_fragments_pass_as_they_come(play: Play) -> None:
    """Interleaved fragments of parallel calls keep their order; the choice is not judged."""
    fragments: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]},
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "g", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"x":'}}]},
        {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
    ]
    step = sse(*(chunk(delta) for delta in fragments), chunk(finish_reason="tool_calls"))
    received = stream(play(Script(draft=step)), tools=[{"type": "function", "function": {"name": "f"}}])
    assert [delta for delta in received.deltas() if delta] == fragments
    assert received.verification["choices"][0]["reason"] == "tool_calls"
    assert received.chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_reasoning_and_refusals_pass_as_they_come(play: Play) -> None:
    """Only content waits for its verdict: other members of a delta pass live, before it."""
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "reasoning_content": "hm"},
        {"reasoning_content": "so", "content": PIECES[0]},
    ]
    step = sse(*(chunk(delta) for delta in deltas), *talk(*PIECES[1:])[1:])
    received = stream(play(Script(draft=step)))
    assert [d["reasoning_content"] for d in received.deltas() if "reasoning_content" in d] == ["hm", "so"]
    assert received.content() == T
    refused = stream(
        play(Script(draft=sse(chunk({"role": "assistant", "refusal": "No."}), chunk(finish_reason="stop"))))
    )
    assert refused.verification["choices"][0]["reason"] == "refusal"
    assert {"role": "assistant", "refusal": "No."} in refused.deltas()


def test_interleaved_choices_are_kept_apart(play: Play) -> None:
    """Two choices that come in turns are judged each by itself, with one report on the last finish chunk."""
    first, second = talk(*PIECES), talk("Verdane Bridge opened in 1913.", index=1)
    step = sse(first[0], second[0], first[1], second[1], first[2], second[2], first[3], first[4])
    received = stream(play(Script(draft=step)), n=2)
    assert received.content(0) == T
    assert received.content(1) == "Verdane Bridge opened in 1913."
    assert [entry["status"] for entry in received.verification["choices"]] == ["corrected", "verified"]


def test_annotate_sends_the_draft_live_and_never_edits(play: Play) -> None:
    """With `annotate` the draft passes as it comes, before the recall is in, and the verdict rides at the end."""
    gate = Gate()
    scene = play(Script(draft=sse(*talk(*PIECES)), recall=completion(R).held(gate)))
    body = {"model": scene.model, "messages": [{"role": "user", "content": "When?"}], "stream": True}
    text = ""
    with scene.client.stream(
        "POST", "/v1/chat/completions", json=body, headers={"X-Verify-Stream": "annotate"}
    ) as reply:
        for line in reply.iter_lines():
            text += line + "\n"
            if "340 metres" in line:
                gate.open()
    chunks = [json.loads(line.removeprefix("data: ")) for line in text.split("\n") if line.startswith("data: {")]
    assert "".join(c["delta"].get("content") or "" for k in chunks for c in k["choices"]) == F
    assert chunks[-1]["verification"]["status"] == "flagged"
    assert chunks[-1]["verification"]["reason"] == "detect"
    assert chunks[-1]["verification"]["mode"] == "detect"


def test_decomposition_starts_before_the_draft_is_complete(play: Play) -> None:
    """A sentence is split as soon as it is complete, while the draft still comes."""
    gate = Gate()

    def split(call: Any) -> Step:  # noqa: ANN401
        gate.open()
        return _claims(call)

    step = sse(*talk(*PIECES)[:3], gate, *talk(*PIECES)[3:])
    received = stream(play(Script(draft=step, claims=split)))
    assert received.content() == T


def _claims(call: Any) -> Step:  # noqa: ANN401
    reply = Script().claims
    assert callable(reply)
    return reply(call)


def test_the_same_calls_as_of_a_plain_draft(play: Play) -> None:
    """A streamed draft leads to the same decomposition prompts as the whole one."""

    def prompts(scene: Scene) -> Sequence[str]:
        return sorted(call.prompt for call in scene.calls("claims"))

    text = " ".join(f"Verdane Bridge has part number {n}." for n in range(20))
    plain = play(Script(draft=completion(text)))
    plain.verify()
    expected = prompts(plain)
    streamed = play(Script(draft=sse(*talk(*(text[i : i + 5] for i in range(0, len(text), 5))))))
    stream(streamed)
    assert prompts(streamed)[: len(expected)] != []
    assert sorted(set(prompts(streamed))) == sorted(set(expected))


def test_c13_a_compressed_stream_is_read(play: Play) -> None:
    """A gzipped stream is read as it comes, and what the client gets has no stale encoding or length."""
    scene = play(Script(draft=sse(*talk(*PIECES)).gzipped()))
    received = stream(scene, headers={"accept-encoding": "br, gzip"})
    assert received.content() == T
    assert "content-encoding" not in received.reply.headers
    [call] = scene.calls("draft")
    assert "br" not in call.header("accept-encoding")[0]


def test_c13_a_compressed_answer_is_rebuilt(play: Play) -> None:
    """A gzipped answer is corrected and sent with its own length."""
    answer = play(Script(draft=completion(F).gzipped())).verify(headers={"accept-encoding": "br, gzip"})
    assert answer.content == T
    assert "content-encoding" not in answer.reply.headers
    assert int(answer.reply.headers["content-length"]) == len(answer.reply.content)


def test_off_streams_the_same_bytes(play: Play) -> None:
    """With `off` the stream is the upstream's, byte for byte, comments and all."""
    step = sse(b": note\r\n\r\n", *talk(*PIECES), {"choices": [], "usage": USAGE})
    scene = play(Script(draft=step))
    assert stream(scene, headers={"X-Verify": "off"}).reply.content == step.content
    assert scene.tasks == ["draft"]


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("task", ["draft", "recall", "claims", "correction"])
def test_c06_a_client_that_hangs_up_ends_everything(play: Play, task: AnyTask, *, streamed: bool) -> None:
    """Whatever is pending when the client goes, the upstream sees its peer close within a second."""
    draft = sse(*talk(*PIECES)) if streamed else completion(F)
    hanging: dict[str, Any] = {task: (draft if task == "draft" else completion(R)).held(HANG)}
    scene = play(replace(Script(draft=draft), **hanging))
    body = {"model": scene.model, "messages": [{"role": "user", "content": "When?"}], "stream": streamed}
    with pytest.raises(httpx.ReadTimeout):
        scene.client.post("/v1/chat/completions", json=body, timeout=0.4)
    scene.upstream.wait_for(
        lambda: bool(scene.calls(task)) and all(call.peer_closed for call in scene.calls(task)),
        timeout_s=1,
    )
    made = len(scene.tasks)
    assert scene.client.get("/healthz").status_code == 200
    assert len(scene.tasks) == made
