"""LangChain, LlamaIndex and litellm as clients: real round trips, and what each shows of the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from compat.clients.outcomes import QUESTION
from compat.players import LIMIT_S, Client
from compat.stories import RETRY_AFTER_S
from compat.transcript import outcome_of, report_of
from fakes import F, T

ClientOf = Callable[[str], Client]

pytestmark = pytest.mark.timeout(LIMIT_S)

KEEPING = {"llamaindex", "litellm"}
"""Those that show the report; LangChain drops members that it does not know."""
ASKED_BY_TOOL = [["call_1", "look_up", {"year": 1931}], ["call_2", "look_up", {"year": 1913}]]
OPENING = {"bridge": "Verdane Bridge", "year": 1931}


@pytest.fixture(params=["langchain", "llamaindex", "litellm"])
def framework(client_of: ClientOf, request: pytest.FixtureRequest) -> Client:
    """Each framework after its run."""
    return client_of(request.param)


def check_report(framework: Client, whole: dict[str, Any], expected: str) -> None:
    """Check that a framework shows this verdict, or nothing of ours where it drops it."""
    if framework.name in KEEPING:
        assert outcome_of(whole["verification"]) == expected
    else:
        assert "verification" not in json.dumps(whole)


@pytest.mark.parametrize("scene", ["plain", "plain_async"])
def test_an_answer_comes_corrected(framework: Client, scene: str) -> None:
    """Blocking or not, the text is the corrected one."""
    outcome = framework.outcome(scene)
    assert outcome["text"] == T
    check_report(framework, outcome["whole"], "corrected")


@pytest.mark.parametrize("scene", ["stream", "stream_async"])
def test_a_stream_comes_corrected(framework: Client, scene: str) -> None:
    """The pieces add up to the corrected text, and where the report is shown it is on the piece that finishes."""
    pieces = framework.outcome(scene)
    assert "".join(piece["text"] for piece in pieces) == T
    if framework.name in KEEPING:
        assert outcome_of(report_of([piece["whole"] for piece in pieces])) == "corrected"
    else:
        assert "verification" not in json.dumps(pieces)


def test_controls_arrive(framework: Client) -> None:
    """Each way that a framework has for extra members and headers works, and none of ours goes upstream."""
    outcome = framework.outcome("controls")
    assert outcome["text"] == F
    check_report(framework, outcome["whole"], "flagged: detect")
    assert framework.calls("controls", "claims") == []
    [call] = framework.calls("controls")
    assert call.json is not None
    assert "verify" not in call.json
    assert call.json["x_vendor"] == {"a": [1]}
    assert call.header("x-vendor-trace") == ["t-1"]
    assert [name for name, _ in call.headers if name.lower().startswith("x-verify")] == []


def test_a_corrected_answer_can_be_sent_back_as_history(framework: Client) -> None:
    """The replayed answer goes upstream with the text that the client saw and nothing of ours."""
    assert framework.outcome("history")["text"] == T
    _, call = framework.calls("history")
    assert call.json is not None
    first, replayed, last = call.json["messages"]
    assert (first["content"], last["content"]) == (QUESTION, "Are you sure?")
    assert replayed["content"] == T
    assert "verif" not in json.dumps(replayed)


def test_tool_calls_pass_and_come_back(framework: Client) -> None:
    """Two parallel calls are understood, their results sent, and the answer to them is verified."""
    outcome = framework.outcome("tools")
    assert outcome["calls"] == ASKED_BY_TOOL
    assert outcome["text"] == T
    check_report(framework, outcome["whole"], "corrected")


def test_fragments_of_tool_calls_add_up(framework: Client) -> None:
    """The same calls are understood from a stream."""
    assert framework.outcome("stream_tools") == ASKED_BY_TOOL


def test_structured_output_is_parsed(framework: Client) -> None:
    """Each framework's own way to an object of a class finds what the model wrote."""
    assert framework.outcome("fill_in" if framework.name == "llamaindex" else "parse") == OPENING


def test_only_the_client_tries_again(framework: Client) -> None:
    """After a 429 each waits as long as it was told, and the upstream is asked just twice."""
    assert framework.outcome("retried")["text"] == T
    first, second = framework.calls("retried")
    assert first.answered_s is not None
    assert second.entered_s - first.answered_s >= RETRY_AFTER_S


def test_langchain_shows_the_verdict_in_the_headers(client_of: ClientOf) -> None:
    """With `include_response_headers` LangChain's answers say whether they were corrected."""
    outcome = client_of("langchain").outcome("raw_response")
    assert outcome["whole"]["response_metadata"]["headers"]["x-verify-status"] == "corrected"


def test_litellm_shows_the_verdict_in_the_headers(client_of: ClientOf) -> None:
    """The reply's headers stand beside it, under a prefix of litellm's own."""
    outcome = client_of("litellm").outcome("plain")
    assert outcome["headers"]["llm_provider-x-verify-status"] == "corrected"


def test_litellms_chunk_builder_drops_the_report(client_of: ClientOf) -> None:
    """As README says: the completion that it puts together has the text, and the chunks have the report."""
    outcome = client_of("litellm").outcome("stream_helper")
    assert outcome["text"] == T
    assert "verification" not in outcome["whole"]
