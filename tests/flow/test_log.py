"""What is logged: that something happened and how long it took, never what anybody wrote (contract, section 8)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from fakes import FakeNli, Script, compare_words, completion, error, html, sse, talk
from fakes.scene import Scene
from fakes.script import F
from proxy.errors import NliFailed
from proxy.services import Nli

Stage = Callable[..., Scene]

SECRETS = ("CANARY-QUESTION", "sk-canary", "Verdane", "1931", "CANARY-QUERY")


@pytest.mark.parametrize(
    ("script", "nli"),
    [
        (Script(), None),
        (Script(draft=error(404, "no such model")), None),
        (Script(draft=html(200)), None),
        (Script(recall=error(500, F)), None),
        (Script(claims=completion(f"{F} no JSON")), None),
        (Script(claims=error(400, F, param="temperature")), None),
        (Script(correction=html(200, F)), None),
        (Script(), FakeNli(failure=NliFailed("the model broke"))),
        (Script(draft=sse(*talk(F)[:-1])), None),
    ],
    ids=["fine", "404", "html", "recall", "claims", "parameter", "correction", "nli", "cut"],
)
@pytest.mark.parametrize("streamed", [True, False])
def test_no_text_and_no_key_is_logged_or_told(stage: Stage, script: Script, nli: Nli | None, *, streamed: bool) -> None:
    """Over all kinds of failure neither the log nor an error of ours holds a prompt, a key or an answer."""
    scene = stage(script, nli=nli or FakeNli(compare_words))
    with capture_logs() as lines:
        reply = scene.client.post(
            "/v1/chat/completions?secret=CANARY-QUERY",
            json={
                "model": scene.model,
                "stream": streamed,
                "messages": [{"role": "user", "content": "CANARY-QUESTION When did Verdane Bridge open?"}],
            },
            headers={"authorization": "Bearer sk-canary"},
        )
    logged = repr(lines)
    assert not [secret for secret in SECRETS if secret in logged]
    assert "internal fault" not in logged
    if reply.status_code >= 502:
        assert not [secret for secret in SECRETS if secret in reply.text]


def test_a_verified_request_leaves_one_line_with_its_times(stage: Stage) -> None:
    """The log tells id, status and the time of every stage."""
    scene = stage(Script(), nli=FakeNli(compare_words))
    with capture_logs() as lines:
        answer = scene.verify()
    [line] = [line for line in lines if line["event"] == "verified"]
    assert line["id"] == answer.report["id"]
    assert line["status"] == "corrected"
    assert {"draft", "recall", "claims", "nli", "correction", "overhead"} <= set(line["timings_ms"])


def test_a_404_names_the_address_that_was_tried(stage: Stage) -> None:
    """The model's 404 comes through, and the log has the full address with its query values hidden (C15)."""
    scene = stage(Script(draft=error(404, "The model does not exist")), nli=FakeNli())
    with capture_logs() as lines:
        reply = scene.client.post(
            "/v1/chat/completions?api-version=CANARY",
            json={"model": scene.model, "messages": [{"role": "user", "content": "x"}]},
        )
    assert reply.status_code == 404
    assert reply.json()["error"]["message"] == "The model does not exist"
    [line] = [line for line in lines if "404" in line["event"]]
    assert line["url"].endswith("/v1/chat/completions?api-version=***")
