"""The other routes and the door: pass-through, health, readiness, what is refused before the upstream is asked."""

from __future__ import annotations

import hashlib
import http.client
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from fakes import CLOSE, HANG, FakeNli, Gate, Script, Step, compare_words, completion
from fakes.call import AnyTask
from fakes.scene import Scene
from proxy.app import find_embedded_model

Play = Callable[[Script], Scene]
Stage = Callable[..., Scene]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "POST", "PURGE"])
def test_other_paths_pass_through(stage: Stage, method: str) -> None:
    """Any method on any other path goes upstream and back as it is, query included, controls dropped."""
    scene = stage(Script(), nli=FakeNli())
    step = Step(status=207, body=(b'{"a":  1}',), headers=(("content-type", "application/json"), ("x-up", "1")))
    scene.upstream.play(Script(other=step))
    reply = scene.client.request(
        method, "/v1/files/a%20b?x=%2F&x=2", content=b"\x00\xff", headers={"X-Verify": "nonsense", "X-Own": "1"}
    )
    assert reply.status_code == 207
    assert reply.content == b'{"a":  1}'
    assert reply.headers["x-up"] == "1"
    call = scene.upstream.of("other")[-1]
    assert (call.method, call.target) == (method, "/v1/files/a%20b?x=%2F&x=2")
    assert call.body == b"\x00\xff"
    assert call.header("x-own") == ["1"]
    assert call.header("x-verify") == []


def test_listing_completions_passes_through(play: Play) -> None:
    """Only creating a completion is verified; other methods on its path pass."""
    scene = play(Script())
    assert scene.client.get("/v1/chat/completions?limit=1").status_code == 200
    assert scene.upstream.calls[-1].target == "/v1/chat/completions?limit=1"


def test_health_readiness_and_schema(play: Play) -> None:
    """`/healthz` says that the process is up, `/readyz` that the model may judge, the schema what can be asked."""
    client = play(Script()).client
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    assert "/v1/chat/completions" in client.get("/schema/openapi.json").json()["paths"]


def test_an_unknown_path_is_told_where_the_api_is(play: Play) -> None:
    """Outside `/v1` there is nothing, and the error says so in OpenAI's form."""
    reply = play(Script()).client.get("/chat/completions")
    assert reply.status_code == 404
    assert "/v1" in reply.json()["error"]["message"]


def test_c32_a_model_that_is_noise_is_never_served_with(stage: Stage, tmp_path: Path) -> None:
    """A model that fails the self-test leaves `/readyz` at 503 and answers unchecked; `off` works."""
    embedded = find_embedded_model()
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).symlink_to(embedded / name)
    config = json.loads((embedded / "config.json").read_text())
    config["id2label"] = {"0": "contradiction", "1": "neutral", "2": "entailment"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    sums = [
        f"{hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()}  {name}"
        for name in ("model.onnx", "tokenizer.json", "config.json")
    ]
    (tmp_path / "SHA256SUMS").write_text("\n".join(sums))

    scene = stage(Script(), nli_model=tmp_path, nli_threads=1)
    answer = scene.verify()
    assert answer.outcome == "unavailable: nli_not_ready"
    assert scene.tasks == ["draft"]
    assert scene.ask(headers={"X-Verify": "off"}).status_code == 200
    readiness = scene.client.get("/readyz")
    assert readiness.status_code == 503
    assert "self-test" in readiness.json()["reason"] or "id2label" in readiness.json()["reason"]


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("mode", ["correct", "off"])
def test_the_verifying_route_needs_json(play: Play, kind: str | None, mode: str) -> None:
    """What a foreign web page could send unasked is refused with the header that is missing."""
    scene = play(Script())
    headers = {"X-Verify": mode} | ({"content-type": kind} if kind else {})
    reply = scene.client.post("/v1/chat/completions", content=b"{}", headers=headers)
    assert reply.status_code == 415
    assert "application/json" in reply.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b'"x"', b"\xff\xfe", b'{"a": NaN}'])
def test_a_body_that_is_no_object_is_the_upstreams_to_refuse(stage: Stage, body: bytes) -> None:
    """A body that we cannot read is forwarded as it is, byte for byte."""
    scene = stage(Script(), nli=FakeNli())
    scene.upstream.play(Script(draft=completion("x")))
    headers = {"content-type": "application/json"}
    assert scene.client.post("/v1/chat/completions", content=body, headers=headers).status_code == 200
    assert scene.upstream.calls[-1].body == body


def test_a_body_over_the_cap_is_a_413(stage: Stage) -> None:
    """A body over the cap is refused after it was read and dropped; the upstream is not asked."""
    scene = stage(Script(), nli=FakeNli(), max_body_bytes=1000)
    reply = scene.ask("x" * 2_000_000)
    assert reply.status_code == 413
    assert "CORRIGENDA_MAX_BODY_BYTES" in reply.json()["error"]["message"]
    assert scene.tasks == []


@pytest.mark.parametrize("path", ["/v1/chat/completions/../files", "/v1//files", "/v1/a%2Fb", "/v1/%2e%2e/x"])
def test_an_odd_path_is_a_400(stage: Stage, path: str) -> None:
    """A path that could mean another one upstream is refused."""
    scene = stage(Script(), nli=FakeNli())
    before = len(scene.upstream.calls)
    # httpx would tidy the path up.
    connection = http.client.HTTPConnection(scene.client.base_url.host, scene.client.base_url.port)
    with closing(connection):
        connection.request("POST", path, body=b"{}", headers={"content-type": "application/json"})
        assert connection.getresponse().status == 400
    assert len(scene.upstream.calls) == before


def test_the_server_key_is_lent_on_loopback_only(stage: Stage) -> None:
    """Without credentials the server's key is used under a local name, and refused under a foreign one."""
    scene = stage(Script(), nli=FakeNli(compare_words), openai_api_key="sk-server")
    assert scene.ask().status_code == 200
    assert next(call.header("authorization") for call in scene.calls("draft")) == ["Bearer sk-server"]
    assert scene.ask(headers={"host": "evil.test"}).status_code == 421


def test_credentials_of_the_client_go_on_every_call(play: Play) -> None:
    """The client's key and organisation are those of its own call and of ours."""
    scene = play(Script())
    scene.ask(headers={"authorization": "Bearer sk-client", "openai-organization": "org-1"})
    tasks: list[AnyTask] = ["draft", "recall", "claims", "correction"]
    for task in tasks:
        calls = scene.calls(task)
        assert calls, task
        for call in calls:
            assert call.header("authorization") == ["Bearer sk-client"]
            assert call.header("openai-organization") == ["org-1"]
            assert call.header("cookie") == []


def test_each_key_has_its_own_rate(stage: Stage) -> None:
    """Over its rate a key gets 429 with `retry-after`; another key, and paths outside `/v1`, are not touched."""
    scene = stage(Script(), nli=FakeNli(compare_words), rate_limit="2/day")
    mine, other = {"authorization": "Bearer a"}, {"authorization": "Bearer b"}
    assert [scene.ask(headers=mine).status_code for _ in range(3)] == [200, 200, 429]
    refused = scene.ask(headers=mine)
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["error"]["code"] == "rate_limit_exceeded"
    assert scene.ask(headers=other).status_code == 200
    assert scene.client.get("/healthz", headers=mine).status_code == 200


def test_too_many_at_once_are_refused_before_the_upstream_is_asked(stage: Stage) -> None:
    """Over the limit of requests in flight the answer is 429, with a time to try again."""
    gate = Gate()
    scene = stage(Script(draft=completion("x").held(gate)), nli=FakeNli(), max_in_flight=1)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(scene.ask)
        scene.upstream.wait_for(lambda: bool(scene.calls("draft")))
        second = scene.ask()
        gate.open()
        assert first.result().status_code == 200
    assert second.status_code == 429
    assert second.headers["retry-after"] == "1"
    assert len(scene.calls("draft")) == 1


@pytest.mark.parametrize(("method", "body"), [("GET", None), ("POST", b"{}")])
def test_a_hang_up_ends_a_pass_through(stage: Stage, method: str, body: bytes | None) -> None:
    """A client that goes while a pass-through is pending is seen by the upstream within a second."""
    scene = stage(Script(), nli=FakeNli())
    scene.upstream.play(Script(other=Step().held(HANG)))
    with pytest.raises(httpx.ReadTimeout):
        scene.client.request(method, "/v1/slow", content=body, timeout=0.3)
    pending = scene.upstream.of("other")[-1]
    scene.upstream.wait_for(lambda: pending.peer_closed, timeout_s=1)


def test_an_upload_and_its_reply_are_streamed(stage: Stage) -> None:
    """Pass-through holds nothing back: the upload's pieces and the reply's reach the other side as they come."""
    scene = stage(Script(), nli=FakeNli())
    gate = Gate()
    scene.upstream.play(Script(other=Step(body=(b"first", gate, b"second"), framing="chunked")))
    with scene.client.stream("POST", "/v1/files", content=iter([b"a" * 100_000, b"b"])) as reply:
        pieces = reply.iter_raw()
        assert next(pieces) == b"first"
        gate.open()
        assert b"".join(pieces) == b"second"
    assert scene.upstream.of("other")[-1].body == b"a" * 100_000 + b"b"


def test_a_pass_through_that_is_cut_stays_cut(stage: Stage) -> None:
    """A reply that the upstream breaks off is not made to look complete."""
    scene = stage(Script(), nli=FakeNli())
    scene.upstream.play(Script(other=Step(body=(b"first", CLOSE), framing="chunked")))
    with pytest.raises(httpx.RemoteProtocolError):
        scene.client.get("/v1/files")
