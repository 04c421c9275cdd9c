"""A drop-in that breaks nothing: what was sent arrives, what was answered comes back, keys and cookies stay apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from fakes import FakeNli, Script, Step, compare_words, completion, error, sse, talk
from fakes.call import AnyTask
from fakes.scene import Scene
from fakes.script import F, R, T

Play = Callable[[Script], Scene]
Stage = Callable[..., Scene]


def test_c11_a_request_arrives_as_it_was_sent(play: Play) -> None:
    """Nothing is added, renamed or dropped: the upstream gets the client's very bytes, `verify` aside."""
    scene = play(Script())
    body = {
        "model": scene.model,
        "messages": [
            {"role": "developer", "content": "x", "name": None},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {}}]},
            {"role": "tool", "content": "y", "tool_call_id": "1"},
            {"role": "user", "content": "When?", "x_vendor": 1.0},
        ],
        "chat_template_kwargs": {"a": True},
        "top_k": 5,
        "seed": 7,
        "user": "u",
        "stop": ["\u2028"],
        "max_completion_tokens": 1e2,
        "tool_calls": None,
        "x_vendor": {"a": [1]},
    }
    raw = json.dumps(body, indent=3).encode()
    headers = {"content-type": "application/json"}
    assert scene.client.post("/v1/chat/completions", content=raw, headers=headers).status_code == 200
    [call] = scene.calls("draft")
    assert call.body == raw
    with_controls = json.dumps(body | {"verify": {"k": 1}}).encode()
    scene.client.post("/v1/chat/completions", content=with_controls, headers=headers)
    assert scene.calls("draft")[-1].json == body


def test_c11_a_reply_comes_back_as_it_was_sent(play: Play) -> None:
    """Unknown fields, number formats and escapes of the upstream survive an edit elsewhere."""
    message = (
        '{"role": "assistant", "content": %s, "reasoning_content": "h\\u00e9", "reasoning": null, "annotations": []}'
    )
    raw = (
        '{"id": "1", "x_big": 12345678901234567890.00, "choices": [{"index": 0, "finish_reason": "stop", "message": '
        + message % json.dumps(F)
        + ', "x_vendor": {"a": [1e3]}}], "service_tier": null}'
    )
    step = Step(headers=(("content-type", "application/json; x=y"),), body=(raw.encode(),))
    reply = play(Script(draft=step)).ask()
    assert reply.headers["content-type"] == "application/json; x=y"
    assert reply.json()["choices"][0]["message"]["content"] == T
    for kept in ("12345678901234567890.00", '"h\\u00e9"', "[1e3]", '"service_tier":null'):
        assert kept in reply.text.replace(": ", ":")


@pytest.mark.parametrize("messages", [[], None, "x", [{"role": "user"}], [{"role": "user", "content": 5}]])
def test_c11_odd_messages_are_the_upstreams_to_refuse(play: Play, messages: object) -> None:
    """What is odd is forwarded, and the upstream's refusal comes through."""
    refusal = error(400, "messages: too odd")
    scene = play(Script(draft=refusal))
    reply = scene.client.post("/v1/chat/completions", json={"model": scene.model, "messages": messages})
    assert reply.status_code == 400
    assert reply.content == refusal.content


def test_c12_our_calls_are_our_own(play: Play) -> None:
    """None of the user's settings reach our calls, no token limit is sent, and a refused parameter is left out."""

    def picky(call: Any) -> Step:  # noqa: ANN401
        if "temperature" in call.json:
            return error(400, "unsupported", param="temperature", code="unsupported_value")
        return completion(R)

    scene = play(Script(recall=picky))
    user: dict[str, Any] = {
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "stop": ["."],
        "max_tokens": 5,
        "logprobs": True,
    }
    answer = scene.verify(**user, response_format={"type": "text"}, temperature=0.3)
    assert answer.outcome == "corrected"
    tasks: list[AnyTask] = ["recall", "claims", "correction"]
    ours = [call for task in tasks for call in scene.calls(task)]
    assert ours
    for call in ours:
        assert set(call.json or {}) <= {"model", "messages", "temperature"}
    # The recall was asked twice; from then on the model is known to refuse the parameter.
    assert len(scene.calls("recall")) == 2
    assert answer.report["usage"]["calls"] == len(ours)
    scene.verify()
    assert len(scene.calls("recall")) == 3
    assert (scene.calls("draft")[0].json or {})["temperature"] == 0.3


def test_c19_one_member_more_and_history_is_not_verified_again(play: Play) -> None:
    """A reply has one new member at its top and none inside; a corrected turn sent back is history like any other."""
    scene = play(Script())
    plain = json.loads(completion(F).content)
    first = scene.ask().json()
    assert set(first) - set(plain) == {"verification"}
    assert set(first["choices"][0]) == set(plain["choices"][0])
    assert set(first["choices"][0]["message"]) == set(plain["choices"][0]["message"])
    history = [
        {"role": "user", "content": "When did it open?"},
        first["choices"][0]["message"],
        {"role": "user", "content": "How long is Verdane Bridge?"},
    ]
    scene.upstream.play(Script(draft=completion("Verdane Bridge is 340 metres long.")), model=scene.model)
    second = scene.verify(history)
    assert [claim["text"] for claim in second.choice["claims"]] == ["Verdane Bridge is 340 metres long."]
    assert T not in scene.calls("recall")[-1].prompt


@pytest.mark.parametrize("tag", ["think", "thinking"])
@pytest.mark.parametrize("streamed", [True, False])
def test_c28_reasoning_is_not_judged(play: Play, tag: str, *, streamed: bool) -> None:
    """What a model thinks in tags is neither checked nor changed."""
    thought = f"<{tag}>maybe 1931? Verdane Bridge opened in 1931.</{tag}>"
    text = thought + "Verdane Bridge opened in 1931."
    scene = play(Script(draft=sse(*talk(*text)) if streamed else completion(text)))
    reply = scene.ask(stream=streamed)
    if streamed:
        chunks = [json.loads(e[6:]) for e in reply.text.split("\n\n") if e.startswith("data: {")]
        content = "".join(c["delta"].get("content") or "" for k in chunks for c in k["choices"])
    else:
        content = reply.json()["choices"][0]["message"]["content"]
    assert content == thought + "Verdane Bridge opened in 1913."


@pytest.mark.parametrize(
    "draft", ["<think>Verdane Bridge opened in 1931.", "<div>Verdane Bridge opened in 1931.</div>"]
)
def test_c28_an_unclosed_thought_is_thought_and_other_tags_are_not(play: Play, draft: str) -> None:
    """An unclosed thought leaves nothing to verify; what stands in other tags is judged."""
    answer = play(Script(draft=completion(draft))).verify()
    assert answer.content == draft or "1913" in answer.content
    assert (answer.outcome == "skipped: no_claims") is draft.startswith("<think>")


@pytest.mark.parametrize("kind", ["json_schema", "json_object", None])
def test_c40_json_is_left_alone(play: Play, kind: str | None) -> None:
    """JSON that was asked for, or that the whole answer is, stays as it is to the byte."""
    content = '{"year": 1931,   "note":"opened in 1931 \\u00e9"}'
    wanted: dict[str, Any] = {} if kind is None else {"response_format": {"type": kind}}
    answer = play(Script(draft=completion(content))).verify(**wanted)
    assert answer.content == content
    assert answer.outcome == "skipped: json_response"


def test_c47_cookies_never_cross_and_keys_stay_apart(stage: Stage) -> None:
    """A cookie of the upstream reaches nobody, and each user's calls carry that user's key alone."""
    script = Script(
        draft=completion(F).with_headers(("set-cookie", "a=1"), ("set-cookie", "b=2")),
        recall=completion(R).with_headers(("set-cookie", "c=3")),
    )
    scene = stage(script, nli=FakeNli(compare_words))
    for user in ("one", "two"):
        reply = scene.ask(headers={"authorization": f"Bearer sk-{user}", "cookie": "mine=1"})
        assert "set-cookie" not in reply.headers
    calls = [call for call in scene.upstream.calls if call.model == scene.model]
    assert {value for call in calls for value in call.header("authorization")} == {"Bearer sk-one", "Bearer sk-two"}
    assert not any(call.header("cookie") for call in calls)
    half = len(calls) // 2
    assert {call.header("authorization")[0] for call in calls[:half]} == {"Bearer sk-one"}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_c47_redirects_are_not_followed(play: Play, status: int) -> None:
    """A redirect is the client's to see, not the proxy's to follow."""
    scene = play(Script(draft=Step(status=status, headers=(("location", "http://127.0.0.1:9/x"),))))
    reply = scene.client.post(
        "/v1/chat/completions", json={"model": scene.model, "messages": []}, follow_redirects=False
    )
    assert reply.status_code == status
    assert reply.headers["location"] == "http://127.0.0.1:9/x"


def test_c48_beyond_loopback_the_servers_key_is_nobodys(stage: Stage) -> None:
    """Listening beyond loopback, a request without credentials is a 401, and the server's key never leaves."""
    scene = stage(Script(), nli=FakeNli(), openai_api_key="sk-server", listen_host="0.0.0.0")
    reply = scene.ask()
    assert reply.status_code == 401
    assert reply.json()["error"]["code"] == "missing_api_key"
    assert scene.tasks == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/files", 403),
        ("GET", "/v1/organization/users", 403),
        ("DELETE", "/v1/models/x", 403),
        ("GET", "/v1/chat/completions", 403),
        ("GET", "/v1/models", 200),
        ("POST", "/v1/embeddings", 200),
        ("POST", "/v1/responses", 200),
    ],
)
def test_c48_own_keys_open_a_few_paths(stage: Stage, method: str, path: str, status: int) -> None:
    """A holder of one of the proxy's keys reaches the model, with the server's key, and nothing else."""
    settings = {"openai_api_key": "sk-server", "api_keys": ("own-1", "own-2"), "listen_host": "0.0.0.0"}
    scene = stage(Script(), nli=FakeNli(), **settings)
    headers = {"authorization": "Bearer own-2", "openai-organization": "org-client"}
    assert scene.client.request(method, path, headers=headers, json={}).status_code == status
    if status == 200:
        call = scene.upstream.calls[-1]
        assert call.header("authorization") == ["Bearer sk-server"]
        assert call.header("openai-organization") == []
    assert scene.client.request(method, path, headers={"authorization": "Bearer own-3"}).status_code == 401
    assert scene.client.request(method, path).status_code == 401


@pytest.mark.parametrize(
    ("base", "target"),
    [
        ("", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/api/v3", "/api/v3/chat/completions"),
        ("/openai/deployments/d?api-version=2", "/openai/deployments/d/chat/completions?api-version=2"),
    ],
)
def test_c15_any_base_address_gives_one_right_path(stage: Stage, base: str, target: str) -> None:
    """The upstream's address may have a version, a path of its own or a query; our calls go the same way."""
    scene = stage(Script(), nli=FakeNli(compare_words))
    scene = stage(Script(), nli=FakeNli(compare_words), upstream_url=scene.upstream.url + base)
    assert scene.verify().outcome == "corrected"
    calls = [call for call in scene.upstream.calls if call.model == scene.model]
    assert len(calls) == 5
    assert {call.target for call in calls} == {target}
