"""What the scripted upstream answers: the right script for each call, and replies that read their prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from fakes import (
    AnyTask,
    F,
    R,
    Script,
    ScriptedUpstream,
    T,
    by_instruction,
    claims_by_sentence,
    claims_reply,
    completion,
    connect,
    corrections,
)
from proxy.prompts import claims as claims_prompt
from proxy.prompts import correction as correction_prompt
from proxy.prompts import recall as recall_prompt

CHAT = "/v1/chat/completions"


@pytest.fixture
def client(upstream: ScriptedUpstream) -> Iterator[httpx.Client]:
    with connect(upstream.url) as client:
        yield client


def ask(client: httpx.Client, *, model: str = "gpt-test", system: str = "", user: str = "?") -> httpx.Response:
    messages = [{"role": "user", "content": user}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return client.post(CHAT, json={"model": model, "messages": messages})


def content(response: httpx.Response) -> Any:  # noqa: ANN401 - whatever the JSON holds there
    return response.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("instruction", "task"),
    [
        (recall_prompt.INSTRUCTION, "recall"),
        (recall_prompt.SMALL_MODEL_INSTRUCTION, "recall"),
        (claims_prompt.INSTRUCTION, "claims"),
        (correction_prompt.INSTRUCTION, "correction"),
        ("Be brief. " + recall_prompt.INSTRUCTION, "draft"),
        ("", "draft"),
    ],
)
def test_our_own_calls_are_told_apart(
    upstream: ScriptedUpstream, client: httpx.Client, instruction: str, task: AnyTask
) -> None:
    """The start of the system message says which script a call gets; anything else is the user's own call."""
    upstream.play(Script(**{task: completion(task)}))
    assert content(ask(client, system=instruction)) == task
    assert upstream.tasks() == [task]
    assert len(upstream.of(task)) == 1


@pytest.mark.parametrize(
    "message", [{}, {"role": "user", "content": "Recall."}, {"role": "system", "content": None}], ids=str
)
def test_other_first_messages_are_drafts(message: dict[str, object]) -> None:
    """A user's message is never taken for an instruction of ours."""
    assert by_instruction({"recall": "Recall."})({"messages": [message]}) == "draft"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[1]", b'{"messages": null}'])
def test_odd_bodies_are_recorded_and_answered(upstream: ScriptedUpstream, client: httpx.Client, body: bytes) -> None:
    """A body that is no chat request is still the user's call."""
    assert content(client.post(CHAT, content=body)) == F
    (call,) = upstream.calls
    assert (call.body, call.task, call.model, call.prompt) == (body, "draft", None, "")


def test_default_script_tells_the_verdane_story(client: httpx.Client) -> None:
    """Out of the box, the real prompts get a false draft, a true recall, its claims and the right correction."""
    first, second = F.split(". ")[0] + ".", "It is 340 metres long."
    assert content(ask(client)) == F
    assert content(ask(client, system=recall_prompt.INSTRUCTION)) == R == T
    question = claims_prompt.write_question([(None, "1. Hello.")], [("Bridges", first), ("Bridges", second)])
    decomposed = content(ask(client, system=claims_prompt.INSTRUCTION, user=question))
    assert decomposed == claims_reply([(1, first), (2, second)])
    question = correction_prompt.write_question(first, [first], [R])
    assert content(ask(client, system=correction_prompt.INSTRUCTION, user=question)) == "Verdane Bridge opened in 1913."


def test_script_is_picked_by_model_name(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """A model with a script of its own gets it, every other model the common one."""
    upstream.play(Script(draft=completion("A")), model="gpt-a")
    assert content(ask(client, model="gpt-a")) == "A"
    assert content(ask(client, model="gpt-b")) == F


def test_steps_are_used_in_turn(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """A list of steps is used up, its last step repeats, and a new script starts afresh."""
    script = Script(draft=[completion("1"), completion("2")])
    upstream.play(script)
    assert [content(ask(client)) for _ in range(3)] == ["1", "2", "2"]
    upstream.play(script)
    assert content(ask(client)) == "1"


def test_script_may_answer_from_the_call(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """A function makes the answer from the request."""
    upstream.play(Script(draft=lambda call: completion(call.prompt.upper())))
    assert content(ask(client, user="hello")) == "HELLO"


def test_failing_script_is_told_at_the_end() -> None:
    """A script that raises answers 500, and its error comes out of the upstream."""
    told = pytest.RaisesGroup(pytest.RaisesExc(LookupError, match="fits 0 sentences"))
    with told, ScriptedUpstream(Script(draft=corrections({}))) as upstream, connect(upstream.url) as client:
        assert ask(client).status_code == 500


def test_claims_by_sentence_reads_the_prompt(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """Numbered sentences are looked up; those not in the table are their own claim."""
    upstream.play(Script(draft=claims_by_sentence({"A and B.": ["A.", "B."], "Hi!": []})))
    answer = content(ask(client, user="> 2. Before.\n3. A and B.\n4. Hi!\n5. C."))
    assert json.loads(answer) == {
        "claims": [
            {"sentence": 3, "text": "A."},
            {"sentence": 3, "text": "B."},
            {"sentence": 5, "text": "C."},
        ],
        "none": [4],
    }


def test_corrections_read_the_prompt(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """The sentence on a line of its own decides; the same words inside a line do not."""
    upstream.play(Script(draft=corrections({"It is 3.": "It is 4.", "It is.": "It was."})))
    assert content(ask(client, user="Facts: It is.\nSentence:\nIt is 3.\n")) == "It is 4."
