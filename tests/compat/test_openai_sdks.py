"""The official SDKs, Python and Node: everything that an application does with them works through the proxy."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest

from compat.clients.outcomes import KEY, ORGANIZATION, PROJECT, QUESTION
from compat.players import LIMIT_S, Client
from compat.stories import EMBEDDING, FIRST_CALL, JSON_TEXT, RETRY_AFTER_S, SECOND_CALL, STORIES
from compat.transcript import body_of, events_of, outcome_of, report_of, take_report, text_of
from fakes import F, ScriptedUpstream, Step, T, completion

ClientOf = Callable[[str], Client]

pytestmark = pytest.mark.timeout(LIMIT_S)

PYTHON = ("openai-1", "openai-2", "openai-3")
ASK = [{"role": "user", "content": QUESTION}]


@pytest.fixture(params=[*PYTHON, "node"])
def sdk(client_of: ClientOf, request: pytest.FixtureRequest) -> Client:
    """Each SDK after its run."""
    return client_of(request.param)


@pytest.fixture(params=PYTHON)
def python_sdk(client_of: ClientOf, request: pytest.FixtureRequest) -> Client:
    """Each major version of the Python SDK after its run."""
    return client_of(request.param)


def test_a_corrected_answer_is_the_upstreams_but_for_its_text(sdk: Client) -> None:
    """The SDK sees the upstream's completion, the text corrected, and one more member: the report (C19)."""
    outcome = sdk.outcome("plain")
    report = take_report(outcome["completion"])
    assert outcome["completion"] == body_of(completion(T))
    assert outcome_of(report) == "corrected"
    assert outcome["report"] == report
    assert outcome["request_id"] == "up-1"


def test_the_request_reaches_the_upstream_as_the_sdk_sent_it(sdk: Client) -> None:
    """Nothing is added to the body, and the client's credentials go along."""
    [call] = sdk.calls("plain")
    assert call.json == {"model": sdk.prefix + "plain", "messages": ASK}
    assert call.header("authorization") == [f"Bearer {KEY}"]
    assert call.header("openai-organization") == [ORGANIZATION]
    assert call.header("openai-project") == [PROJECT]


def test_asyncio_gets_the_same(python_sdk: Client) -> None:
    """The async client gets what the blocking one does."""
    outcome = python_sdk.outcome("plain_async")
    assert outcome_of(take_report(outcome["completion"])) == outcome["report"]["status"] == "corrected"
    assert outcome["completion"] == body_of(completion(T))


def test_controls_go_in_the_body_or_in_headers(sdk: Client) -> None:
    """Both ways work, the header wins, neither reaches the upstream, and what is not ours does."""
    body = sdk.outcome("controls")["completion"]
    report = take_report(body)
    assert body == body_of(completion(F))
    assert outcome_of(report) == "flagged: detect"
    assert report["reference"] == T
    assert sdk.calls("controls", "claims") == []
    [call] = sdk.calls("controls")
    assert call.json == {"model": sdk.prefix + "controls", "messages": ASK, "x_vendor": {"a": [1]}}
    assert call.header("x-vendor-trace") == ["t-1"]
    assert [name for name, _ in call.headers if name.lower().startswith("x-verify")] == []


def test_verification_can_be_switched_off(sdk: Client) -> None:
    """With `verify: false` the SDK sees the upstream's completion, and no call of ours is made."""
    assert sdk.outcome("switched_off")["completion"] == body_of(completion(F))
    assert len(sdk.calls("switched_off")) == 1
    assert sdk.calls("switched_off", "recall") == []


def test_the_verdict_stands_in_the_headers(sdk: Client) -> None:
    """Raw responses show the verdict beside the upstream's own headers."""
    outcome = sdk.outcome("raw_response")
    report = take_report(outcome["completion"])
    assert outcome["status"] == 200
    assert outcome["headers"]["x-verify-status"] == "corrected"
    assert outcome["headers"]["x-verify-id"] == report["id"]
    assert float(outcome["headers"]["x-verify-overhead-ms"]) > 0
    assert outcome["headers"]["x-request-id"] == "up-1"
    assert outcome["completion"] == body_of(completion(T))


def test_a_corrected_answer_can_be_sent_back_as_history(sdk: Client) -> None:
    """The replayed message has nothing of ours, goes upstream as it is and is not verified again (C19)."""
    outcome = sdk.outcome("history")
    assert outcome["replayed"] == {"role": "assistant", "content": T}
    first, second = sdk.calls("history")
    assert first.json is not None
    assert second.json is not None
    assert second.json["messages"] == [*ASK, outcome["replayed"], {"role": "user", "content": "Are you sure?"}]
    report = outcome["completion"]["verification"]
    assert outcome_of(report) == "verified"
    assert [claim["span"] for claim in report["choices"][0]["claims"]] == [[0, 30], [31, 53]]
    _, recall = sdk.calls("history", "recall")
    assert "Are you sure?" in recall.prompt
    assert T not in json.dumps(recall.json)


def test_raw_chunks_carry_the_report(sdk: Client) -> None:
    """A stream read chunk by chunk gives the corrected text, and the report on its last finish chunk."""
    outcome = sdk.outcome("stream")
    chunks = outcome["chunks"]
    assert text_of(chunks) == T
    assert "1931" not in json.dumps([chunk["choices"] for chunk in chunks])
    report = report_of(chunks)
    assert outcome_of(report) == "corrected"
    assert [seen for seen in outcome["reports"] if seen is not None] == [report]
    assert [chunk for chunk in chunks if not chunk["choices"]] == []


def test_the_usage_chunk_comes_when_asked_for(sdk: Client) -> None:
    """It is the last chunk, after the one with the report."""
    *chunks, last = sdk.outcome("stream_async")["chunks"]
    assert text_of(chunks) == T
    assert outcome_of(report_of(chunks)) == "corrected"
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] == 18


def test_choices_that_come_in_turn_stay_apart(sdk: Client) -> None:
    """With n = 2 the helper puts two whole answers together, and one report covers both."""
    outcome = sdk.outcome("stream_choices")
    report = report_of(outcome["chunks"])
    assert [choice["status"] for choice in report["choices"]] == ["corrected", "verified"]
    assert [text_of(outcome["chunks"], index) for index in (0, 1)] == [T, T]
    final = outcome["final"]["choices"]
    assert [(choice["index"], choice["message"]["content"]) for choice in final] == [(0, T), (1, T)]
    assert [choice["finish_reason"] for choice in final] == ["stop", "stop"]


def test_the_stream_helper_puts_the_corrected_answer_together(sdk: Client) -> None:
    """Its events and its final completion have the corrected text; its chunk events carry the report."""
    outcome = sdk.outcome("stream_helper")
    assert outcome["done"] == [T]
    assert outcome_of(report_of(outcome["chunks"])) == "corrected"
    final = outcome["final"]
    assert final["choices"][0]["message"]["content"] == T
    assert final["choices"][0]["message"]["role"] == "assistant"
    assert final["usage"]["total_tokens"] == 18


def test_only_nodes_stream_helper_keeps_the_report(sdk: Client) -> None:
    """As README says: the final completion of Python's helper has dropped it, that of Node's has not."""
    outcome = sdk.outcome("stream_helper")
    kept = outcome["final"].get("verification")
    assert kept == (report_of(outcome["chunks"]) if sdk.name == "node" else None)


@pytest.mark.parametrize("scene", ["stream_parse", "stream_tools"])
def test_an_unedited_stream_is_the_upstreams(sdk: Client, scene: str) -> None:
    """Where nothing is edited the SDK gets the upstream's very chunks, and the report."""
    chunks = sdk.outcome(scene)["chunks"]
    draft = STORIES[scene].draft
    assert isinstance(draft, Step)
    assert [{name: chunk[name] for name in chunk if name != "verification"} for chunk in chunks] == events_of(draft)


def test_a_draft_can_be_read_live(sdk: Client) -> None:
    """Annotated, the draft's own pieces come, and the report says what is wrong with them."""
    chunks = sdk.outcome("stream_annotated")["chunks"]
    assert text_of(chunks) == F
    assert outcome_of(report_of(chunks)) == "flagged: detect"


def test_a_streams_headers_name_its_report(sdk: Client) -> None:
    """The verdict is not known when the headers go out, its id is."""
    outcome = sdk.outcome("stream_raw_response")
    own = {name: value for name, value in outcome["headers"].items() if name.startswith("x-verify")}
    assert own == {"x-verify-id": report_of(outcome["chunks"])["id"]}
    assert outcome["headers"]["x-request-id"] == "up-1"
    assert text_of(outcome["chunks"]) == T


def test_comments_between_events_do_no_harm(sdk: Client, strict_url: str) -> None:
    """A stream that is kept alive by comments gives the SDK what any other does."""
    chunks = sdk.outcome("stream_kept_alive")["chunks"]
    assert text_of(chunks) == T
    assert outcome_of(report_of(chunks)) == "corrected"
    asked = {"model": sdk.prefix + "stream_kept_alive", "messages": ASK, "stream": True}
    reply = httpx.post(f"{strict_url}/v1/chat/completions", json=asked, verify=False)
    assert ": keep-alive\n\n" in reply.text


def test_tool_calls_pass_and_come_back(sdk: Client) -> None:
    """Parallel calls reach the SDK as they are, its second turn the upstream, and the answer is verified (C09)."""
    outcome = sdk.outcome("tools")
    asked, answered = outcome["asked"], outcome["answered"]
    assert asked["choices"][0]["message"]["tool_calls"] == [FIRST_CALL, SECOND_CALL]
    assert outcome_of(asked["verification"]) == "skipped: tool_calls"
    assert outcome_of(answered["verification"]) == "corrected"
    assert answered["choices"][0]["message"]["content"] == T
    _, call = sdk.calls("tools")
    assert call.json is not None
    _, replayed, *results = call.json["messages"]
    assert replayed["content"] is None
    assert replayed["tool_calls"] == [FIRST_CALL, SECOND_CALL]
    assert [result["tool_call_id"] for result in results] == ["call_1", "call_2"]


def test_fragments_of_tool_calls_add_up(sdk: Client) -> None:
    """The helper puts two calls together from their fragments, and says when each is whole."""
    outcome = sdk.outcome("stream_tools")
    assert outcome["done"] == [call["function"]["arguments"] for call in (FIRST_CALL, SECOND_CALL)]
    calls = outcome["final"]["choices"][0]["message"]["tool_calls"]
    assert [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls] == [
        (call["id"], call["function"]["name"], call["function"]["arguments"]) for call in (FIRST_CALL, SECOND_CALL)
    ]
    assert outcome_of(report_of(outcome["chunks"])) == "skipped: tool_calls"


def test_structured_output_is_parsed(sdk: Client) -> None:
    """JSON for a schema comes untouched, so that the SDK's `parse` finds what the model wrote (C40)."""
    outcome = sdk.outcome("parse")
    assert outcome["parsed"] == {"bridge": "Verdane Bridge", "year": 1931}
    assert outcome["completion"]["choices"][0]["message"]["content"] == JSON_TEXT
    assert outcome_of(outcome["report"]) == "skipped: json_response"
    [call] = sdk.calls("parse")
    assert call.json is not None
    assert call.json["response_format"]["type"] == "json_schema"
    assert call.json["response_format"]["json_schema"]["name"] == "Opening"


def test_structured_output_is_parsed_from_a_stream(sdk: Client) -> None:
    """The same through the stream helper."""
    outcome = sdk.outcome("stream_parse")
    assert outcome["parsed"] == {"bridge": "Verdane Bridge", "year": 1931}
    assert text_of(outcome["chunks"]) == JSON_TEXT
    assert outcome_of(report_of(outcome["chunks"])) == "skipped: json_response"


def test_only_the_sdk_tries_again(sdk: Client) -> None:
    """A 429 makes the SDK wait as long as the upstream said and ask once more; the proxy adds no try (C14)."""
    assert sdk.outcome("retried")["completion"]["choices"][0]["message"]["content"] == T
    first, second = sdk.calls("retried")
    assert first.answered_s is not None
    assert second.entered_s - first.answered_s >= RETRY_AFTER_S
    assert [call.header("x-stainless-retry-count") for call in (first, second)] == [["0"], ["1"]]


@pytest.mark.parametrize("scene", ["refused", "stream_refused"])
def test_a_refusal_is_the_upstreams(sdk: Client, scene: str) -> None:
    """A 429 becomes the SDK's own error, with the upstream's headers, streamed or not, after one call (C04, C14)."""
    error = sdk.outcome(scene)
    headers = error.pop("headers")
    assert error == {"kind": "RateLimitError", "status": 429, "code": "rate_limit_exceeded", "param": None}
    assert headers["retry-after"] == str(RETRY_AFTER_S)
    assert headers["x-ratelimit-remaining-requests"] == "0"
    assert headers["x-request-id"] == "up-429"
    assert len(sdk.calls(scene)) == 1


def test_a_model_that_is_gone_is_not_found(sdk: Client) -> None:
    """The upstream's 404 for a model comes through."""
    error = sdk.outcome("unknown_model")
    assert (error["kind"], error["status"], error["code"]) == ("NotFoundError", 404, "model_not_found")


def test_a_bad_control_is_a_bad_request(sdk: Client) -> None:
    """Our own refusal is an error that the SDK knows, and names the header; the upstream is not asked."""
    error = sdk.outcome("bad_control")
    assert (error["kind"], error["status"], error["param"]) == ("BadRequestError", 400, "X-Verify-K")
    assert sdk.calls("bad_control") == sdk.calls("bad_control", "recall") == []


def test_a_stream_that_is_cut_raises(sdk: Client) -> None:
    """Reading fails with our code, and no text that was held has come (C05)."""
    outcome = sdk.outcome("stream_cut")
    assert outcome["error"] == {"kind": "APIError", "code": "upstream_incomplete"}
    assert text_of(outcome["chunks"]) == ""
    assert [choice["finish_reason"] for chunk in outcome["chunks"] for choice in chunk["choices"]] == [None]


def test_a_failed_verification_is_not_tried_again(sdk: Client) -> None:
    """Where the operator wants an error, the SDK gets a 503 that it does not retry, as the draft is paid for."""
    error = sdk.outcome("verifier_failed")
    assert (error["kind"], error["status"]) == ("InternalServerError", 503)
    assert error["headers"]["x-should-retry"] == "false"
    assert len(sdk.calls("verifier_failed")) == 1


def test_the_rest_of_the_api_passes_through(sdk: Client, far_side: ScriptedUpstream) -> None:
    """Models, embeddings, uploads and the Responses API work, and an upload arrives whole."""
    assert sdk.outcome("models") == ["m-1"]
    assert sdk.outcome("embeddings") == EMBEDDING
    assert sdk.outcome("responses") == T
    assert sdk.outcome("responses_stream") == [
        ["response.created", None],
        ["response.output_text.delta", T],
        ["response.completed", None],
    ]
    assert sdk.outcome("upload") == "file-1"
    uploads = [call for call in far_side.of("other") if call.target == "/v1/files"]
    assert uploads
    assert all(bytes(range(256)) * 4096 in call.body for call in uploads)
