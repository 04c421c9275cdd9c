"""Awkward inputs over HTTP, one test a kind; the numbers are those of the project's list of cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakes import (
    HANG,
    FakeNli,
    Script,
    Step,
    claims_reply,
    compare_words,
    completion,
    error,
    html,
)
from fakes.scene import Scene
from fakes.script import F, R, T
from proxy.errors import NliBusy, NliFailed
from proxy.nli.scoring import Probabilities

Play = Callable[[Script], Scene]
Stage = Callable[..., Scene]

FALSE = "Verdane Bridge opened in 1931."
RIGHT = "Verdane Bridge opened in 1913."


def test_c10_parts_stay_parts(play: Play) -> None:
    """Content given as parts goes to the upstream untouched and comes back as parts, only the wrong text changed."""
    image = {"type": "x_note", "note": 1.0}
    scene = play(Script(draft=completion([{"type": "text", "text": F, "x": 1}, image, {"type": "text", "text": ""}])))
    asked = [{"role": "user", "content": [{"type": "text", "text": "When did Verdane Bridge open?"}]}]
    answer = scene.verify(asked)
    assert answer.content == [{"type": "text", "text": T, "x": 1}, image, {"type": "text", "text": ""}]
    [draft], [recall] = scene.calls("draft"), scene.calls("recall")
    assert draft.json is not None
    assert draft.json["messages"] == asked
    assert recall.prompt == "When did Verdane Bridge open?"


def test_c10_a_sentence_across_parts_is_never_edited(play: Play) -> None:
    """An edit stays within one text part: a sentence over a seam is judged and flagged."""
    parts = [{"type": "text", "text": "Verdane Bridge opened "}, {"type": "text", "text": "in 1931."}]
    answer = play(Script(draft=completion(parts))).verify()
    assert answer.content == parts
    assert answer.outcome == "flagged: correction_failed"


@pytest.mark.parametrize(
    "broken",
    [
        error(500),
        error(401),
        html(200),
        html(502),
        completion(None, message={"tool_calls": None, "reasoning_content": "hm"}),
        completion("I cannot do that."),
        completion(F, choice={"message": None}),
        Step(body=(b'{"choices": null}',), headers=(("content-type", "application/json"),)),
        Step(body=(b"",), headers=(("content-type", "application/json"),)),
    ],
)
@pytest.mark.parametrize("task", ["claims", "recall"])
def test_c17_a_failing_call_of_ours_never_breaks_the_answer(play: Play, task: str, broken: Step) -> None:
    """Whatever our calls get, the client gets its answer, and is told that it was not checked."""
    fails: dict[str, Any] = {task: broken}
    answer = play(Script(**fails)).verify()
    assert answer.content == F
    # A recall that is prose is a recall; a decomposition that is prose is none.
    if task == "recall" and broken.content == completion("I cannot do that.").content:
        assert answer.outcome == "inconclusive"
    else:
        assert answer.outcome == f"unavailable: {task}_failed"
        assert answer.choice["threshold"] is None
        assert answer.reply.headers["x-verify-reason"] == f"{task}_failed"


def test_c17_a_hanging_decomposition_fails_within_the_budget(play: Play) -> None:
    """A decomposition that never answers is given up before the budget is spent."""
    answer = play(Script(claims=completion("").held(HANG))).verify(headers={"X-Verify-Timeout-Ms": "700"})
    assert answer.content == F
    assert answer.outcome == "unavailable: claims_failed"
    assert answer.report["timings_ms"]["overhead"] < 700


def test_c17_a_hanging_recall_ends_with_the_budget(play: Play) -> None:
    """A recall that never answers ends with the budget."""
    answer = play(Script(recall=completion("").held(HANG))).verify(headers={"X-Verify-Timeout-Ms": "100"})
    assert answer.content == F
    assert answer.outcome == "unavailable: deadline"


def test_c17_a_hanging_correction_leaves_the_verdicts(play: Play) -> None:
    """When the budget ends during corrections the verdicts stand and the claim is flagged."""
    answer = play(Script(correction=completion("").held(HANG))).verify(headers={"X-Verify-Timeout-Ms": "1000"})
    assert answer.content == F
    assert answer.outcome == "flagged: correction_failed"


@pytest.mark.parametrize(("failure", "reason"), [(NliFailed("x"), "nli_failed"), (NliBusy("x"), "busy")])
def test_c17_a_failing_model_never_breaks_the_answer(stage: Stage, failure: Exception, reason: str) -> None:
    """An NLI model that fails or is busy leaves the draft, unchecked and said to be."""
    answer = stage(Script(), nli=FakeNli(failure=failure)).verify()
    assert answer.content == F
    assert answer.outcome == f"unavailable: {reason}"


def test_c17_the_operator_may_want_an_error_instead(stage: Stage) -> None:
    """With `fail` an unfinished verification is a 503 that SDKs do not repeat."""
    scene = stage(Script(recall=error(500)), nli=FakeNli(compare_words), on_verifier_error="fail")
    reply = scene.ask()
    assert reply.status_code == 503
    assert reply.headers["x-should-retry"] == "false"
    assert reply.json()["error"]["code"] == "verification_failed"
    assert F not in reply.text


@pytest.mark.parametrize("value", ["false", "FALSE", "0", "off", "no", "", "Off"])
def test_c18_values_that_mean_off(play: Play, value: str) -> None:
    """Every way to say no passes the draft through, byte for byte, with no call of ours."""
    step = completion(F)
    scene = play(Script(draft=step))
    assert scene.ask(headers={"X-Verify": value}).content == step.content
    assert scene.tasks == ["draft"]


@pytest.mark.parametrize("value", ["-1", "abc", "99999", "nan", ""])
@pytest.mark.parametrize("mode", ["correct", "off"])
def test_c18_a_bad_k_is_refused_by_name(play: Play, value: str, mode: str) -> None:
    """A k out of range is a 400 that names the header, also with `off`; the upstream is not asked."""
    scene = play(Script())
    reply = scene.ask(headers={"X-Verify-K": value, "X-Verify": mode})
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == "X-Verify-K"
    assert scene.tasks == []


@pytest.mark.parametrize("value", ["0", "3.5"])
def test_c18_a_good_k_is_used(play: Play, value: str) -> None:
    """A k in range is taken, and does not go upstream."""
    scene = play(Script())
    assert scene.verify(headers={"X-Verify-K": value}).choice["threshold"]["k"] == float(value)
    assert not [name for call in scene.calls("draft") for name, _ in call.headers if "verify" in name.lower()]


def test_c18_a_header_sent_twice_is_refused(play: Play) -> None:
    """A control sent twice is a 400, whether in two lines or comma-joined."""
    scene = play(Script())
    for headers in ([("X-Verify-K", "1"), ("X-Verify-K", "1")], [("X-Verify-K", "1, 1")]):
        reply = scene.ask(headers=headers)
        assert reply.status_code == 400
        assert reply.json()["error"]["param"] == "X-Verify-K"


def test_c18_the_body_object_works_and_is_cut_out(play: Play) -> None:
    """`verify` in the body is the same control; a header beats it; the upstream never sees it."""
    scene = play(Script())
    reply = scene.ask(verify={"mode": "detect", "k": 2}, headers={"X-Verify-K": "3"})
    assert reply.json()["verification"]["mode"] == "detect"
    assert reply.json()["verification"]["choices"][0]["threshold"]["k"] == 3
    assert all("verify" not in (call.json or {}) for call in scene.calls("draft"))
    assert scene.ask(verify={"rule": "no"}).json()["error"]["param"] == "verify.rule"
    assert "verification" not in scene.ask(verify=False).json()


@pytest.mark.parametrize(
    "reply",
    [
        f'```json\n{{"claims": ["{RIGHT}",]}}\n```',
        f'Sure {{see below}}: ["{RIGHT}"]',
        f'<think>{{x}}</think>{{"claims": ["{RIGHT}"]}}',
        f'["{RIGHT}"]',
        f'{{"claims": [{{"text": "{RIGHT}"}}]}}',
    ],
)
def test_c25_the_claim_is_found_however_it_is_dressed(play: Play, reply: str) -> None:
    """A decomposition in fences, prose, reasoning tags or another shape gives its claim."""
    answer = play(Script(draft=completion(RIGHT), claims=completion(reply))).verify()
    assert [claim["text"] for claim in answer.choice["claims"]] == [RIGHT]
    assert answer.outcome == "verified"


def test_c25_a_cut_reply_gives_what_is_whole(play: Play) -> None:
    """A reply cut in its second claim gives the first, and the choice is at best `partial`."""
    reply = f'{{"claims": ["{RIGHT}", "Verdane Br'
    answer = play(Script(draft=completion(RIGHT), claims=completion(reply))).verify()
    assert answer.verdicts == ["accepted"]
    assert answer.outcome == "partial"


@pytest.mark.parametrize(
    ("draft", "outcome"),
    [
        ("As an AI I can't help with that.", "skipped: refusal"),
        ("Hi!", "skipped: no_claims"),
        ("Which colour?", "skipped: no_claims"),
        ("", "skipped: empty"),
        ("  \n", "skipped: empty"),
        ("🙂", "skipped: no_claims"),
    ],
)
def test_c26_nothing_to_verify_is_skipped(play: Play, draft: str, outcome: str) -> None:
    """Without a claim nothing is judged: no line, no NLI, no correction, and the running recall is cancelled."""
    scene = play(Script(draft=completion(draft), recall=completion(R).held(HANG)))
    answer = scene.verify()
    assert answer.content == draft
    assert answer.outcome == outcome
    assert answer.choice["threshold"] is None
    assert set(scene.tasks) <= {"draft", "recall"}
    scene.upstream.wait_for(lambda: all(call.peer_closed for call in scene.calls("recall")), timeout_s=1)


@pytest.mark.parametrize("reply", ["[]", '[""]', '["  "]', '{"claims": [], "none": [1, 2]}'])
def test_c26_a_decomposition_without_claims_skips(play: Play, reply: str) -> None:
    """A decomposition that finds no claim leaves nothing to verify."""
    answer = play(Script(claims=completion(reply))).verify()
    assert answer.content == F
    assert answer.outcome == "skipped: no_claims"


def test_c39_a_wrong_correction_never_reaches_the_client(play: Play) -> None:
    """A correction to a third year is refused twice; the reference's own sentence takes its place."""
    scene = play(Script(correction=completion("Verdane Bridge opened in 1920.")))
    answer = scene.verify()
    assert "1920" not in answer.reply.text
    assert answer.content == T
    assert len(scene.calls("correction")) == 2


def test_c39_nothing_is_added_beside_the_correction(stage: Stage) -> None:
    """A correction that fixes the year but adds a fact is refused; without a fallback the sentence stays, flagged."""
    both = "Verdane Bridge opened in 1931 and is 340 metres long."
    script = Script(
        draft=completion(both),
        recall=completion("Verdane Bridge opened in 1913. Verdane Bridge is 340 metres long."),
        claims=completion(claims_reply([(1, FALSE), (1, "Verdane Bridge is 340 metres long.")])),
        correction=completion("Verdane Bridge opened in 1913 and cost 9 million and is 340 metres long."),
    )
    answer = stage(script, nli=FakeNli(compare_words)).verify()
    assert "million" not in answer.reply.text
    assert answer.content == both
    assert answer.outcome == "flagged: correction_failed"


@pytest.mark.parametrize(
    "document",
    [
        {"role": "system", "content": "{}"},
        {"role": "tool", "tool_call_id": "1", "content": "{}"},
        {"role": "developer", "content": [{"type": "text", "text": "{}"}]},
    ],
)
@pytest.mark.parametrize(
    ("year", "content", "outcome", "verdict"),
    [
        ("1931", FALSE, "inconclusive", "neutral: in_context"),
        ("1913", RIGHT, "corrected", "corrected"),
        ("1925", FALSE, "flagged: correction_failed", "contradicted: correction_failed"),
    ],
)
def test_c44_the_request_itself_counts(
    play: Play, document: dict[str, Any], year: str, content: str, outcome: str, verdict: str
) -> None:
    """What the operator or a tool said is not overruled by the model's memory, nor contradicted by a correction."""
    said = f"Verdane Bridge opened in {year}."
    filled = {k: [{"type": "text", "text": said}] if isinstance(v, list) else v.format(said) if v == "{}" else v
              for k, v in document.items()}  # fmt: skip
    answer = play(Script(draft=completion(FALSE))).verify([filled, {"role": "user", "content": "When did it open?"}])
    assert answer.content == content
    assert answer.verdicts == [verdict]
    assert answer.outcome == outcome


def test_c44_an_answer_partly_in_context_is_partial(play: Play) -> None:
    """Beside an accepted claim one that the request supports gives `partial`."""
    said = {"role": "system", "content": "Verdane Bridge opened in 1931, says our archive."}
    answer = play(Script(draft=completion(F))).verify([said, {"role": "user", "content": "When did it open?"}])
    assert answer.content == F
    assert answer.verdicts == ["neutral: in_context", "accepted"]
    assert answer.outcome == "partial"


@pytest.mark.parametrize("token", ["NO_FACTS", "no_facts", "NO_FACTS.", '"NO_FACTS"', " NO_FACTS\n"])
@pytest.mark.parametrize("question", ["Translate to French: The bridge opened in 1931.", "Write a story."])
def test_c45_what_asks_for_no_facts_is_left_alone(play: Play, token: str, question: str) -> None:
    """Translation, fiction and summaries are not judged by facts."""
    answer = play(Script(recall=completion(token))).verify(question)
    assert answer.content == F
    assert answer.outcome == "skipped: not_factual"


def test_c45_not_factual_counts_though_the_decomposition_failed(play: Play) -> None:
    """`skipped` comes first, whatever else failed."""
    answer = play(Script(recall=completion("NO_FACTS"), claims=error(500))).verify()
    assert answer.outcome == "skipped: not_factual"


@pytest.mark.parametrize(
    "part", [{"type": "image_url", "image_url": {"url": "data:,"}}, {"type": "input_audio", "input_audio": {}}]
)
def test_c46_what_recall_cannot_see_is_never_edited_by_it(play: Play, part: dict[str, Any]) -> None:
    """A question about a picture or a sound is judged, but not corrected."""
    scene = play(Script())
    answer = scene.verify([{"role": "user", "content": [{"type": "text", "text": "What is this?"}, part]}])
    assert answer.content == F
    assert answer.outcome == "flagged: unseen_input"
    assert scene.calls("correction") == []


@pytest.mark.parametrize("token", ["UNCLEAR", "unclear."])
def test_c50_a_follow_up_without_its_subject_is_not_judged(play: Play, token: str) -> None:
    """Where only an assistant turn names the subject, nothing is scored."""
    turns = [
        {"role": "user", "content": "Name a famous bridge."},
        {"role": "assistant", "content": "Verdane Bridge."},
        {"role": "user", "content": "When did it open?"},
    ]
    answer = play(Script(draft=completion("It opened in 1913."), recall=completion(token))).verify(turns)
    assert answer.content == "It opened in 1913."
    assert answer.outcome == "unavailable: unclear_question"
    assert answer.choice["claims"] == []


def test_c51_a_users_premise_is_no_evidence_either_way(stage: Stage) -> None:
    """A false premise of the user neither shields the claim nor is overruled by an edit."""

    def judge(premise: str, hypothesis: str) -> Probabilities:
        return compare_words(premise, hypothesis.removeprefix("Yes, "))

    script = Script(draft=completion(f"Yes, {FALSE}"), correction=completion(f"Yes, {RIGHT}"))
    scene = stage(script, nli=FakeNli(judge))
    answer = scene.verify("I read that Verdane Bridge opened in 1931. Is that right?")
    assert answer.content == f"Yes, {FALSE}"
    assert answer.verdicts == ["contradicted: user_premise"]
    assert answer.outcome == "flagged: user_premise"


def test_c51_a_question_is_no_premise(play: Play) -> None:
    """A question sentence supports nothing, so the claim is edited."""
    answer = play(Script(draft=completion(FALSE))).verify("Did Verdane Bridge open in 1931?")
    assert answer.content == RIGHT
    assert answer.outcome == "corrected"


def test_c52_a_mixed_request_is_not_skipped_whole(play: Play) -> None:
    """A token beside facts is removed, and the facts are used."""
    answer = play(Script(recall=completion(f"NO_FACTS\n{R}"))).verify("Summarise this. And when did it open?")
    assert answer.content == T
    assert answer.outcome == "corrected"


def test_a_refusing_upstream_keeps_its_status_headers_and_body(play: Play) -> None:
    """An upstream's refusal comes through as it is, without a second try."""
    refusal = error(429, "slow down").with_headers(("retry-after", "7"), ("x-ratelimit-remaining-requests", "0"))
    scene = play(Script(draft=refusal))
    reply = scene.ask()
    assert reply.status_code == 429
    assert reply.content == refusal.content
    assert reply.headers["retry-after"] == "7"
    assert reply.headers["x-ratelimit-remaining-requests"] == "0"
    assert len(scene.calls("draft")) == 1
    assert "x-verify-status" not in reply.headers


def test_a_reply_without_choices_is_passed_on_and_said_to_be_unchecked(play: Play) -> None:
    """What has no usable choices goes through unchanged, marked `upstream_invalid`."""
    odd = Step(body=(b'{"object": "other", "n": 1.0}',), headers=(("content-type", "application/json"),))
    reply = play(Script(draft=odd)).ask()
    assert reply.content == odd.content
    assert reply.headers["x-verify-status"] == "unavailable"
    assert reply.headers["x-verify-reason"] == "upstream_invalid"


def test_an_upstream_that_is_not_there_is_a_502(stage: Stage) -> None:
    """No connection is a 502 that names the exception."""
    reply = stage(Script(), nli=FakeNli(), upstream_url="http://127.0.0.1:9").ask()
    assert reply.status_code == 502
    assert reply.json()["error"]["code"] == "upstream_unreachable"
    assert "ConnectionRefusedError" in reply.json()["error"]["message"]


def test_a_silent_upstream_is_a_504(stage: Stage) -> None:
    """An upstream that says nothing for as long as we wait is a 504."""
    reply = stage(Script(draft=completion(F).held(HANG)), nli=FakeNli(), upstream_timeout_s=0.2).ask()
    assert reply.status_code == 504
    assert reply.json()["error"]["code"] == "upstream_timeout"
