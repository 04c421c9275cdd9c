"""The main job over HTTP: draft, isolated recall, claims, scores, line, correction, reassembly."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from fakes import Call, FakeNli, Gate, Script, Step, claims_by_sentence, claims_reply, completion, corrections, signed
from fakes.scene import Scene
from fakes.script import F, R, T
from proxy.nli.scoring import Probabilities

Play = Callable[[Script], Scene]
Stage = Callable[..., Scene]

FALSE = "Verdane Bridge opened in 1931."
RIGHT = "Verdane Bridge opened in 1913."
FIVE = [
    "Verdane Bridge crosses the Lorne.",
    FALSE,
    "Verdane Bridge is 340 metres long.",
    "Verdane Bridge has two lanes.",
    "Verdane Bridge is made of steel.",
]
DRAFT_OF_FIVE = "  ".join(FIVE) + "\n\n"
SCORES = dict(zip(FIVE, (0.95, -0.95, 0.95, 0.95, 0.95), strict=True))


def score_five(premise: str, hypothesis: str) -> Probabilities:
    """Score as the issue's stub NLI does; what is right is entailed by the reference and by itself."""
    if hypothesis in SCORES and premise not in FIVE:
        return signed(SCORES[hypothesis])
    if hypothesis == RIGHT:
        return signed(0.97 if premise != FALSE else -0.97)
    return signed(0.97 if premise == hypothesis else 0)


def five_claims(recall: str = R) -> Script:
    """Play a draft of five sentences, the second of them false."""
    return Script(draft=completion(DRAFT_OF_FIVE), recall=completion(recall), correction=corrections({FALSE: RIGHT}))


def test_only_the_false_sentence_changes(stage: Stage) -> None:
    """With scores .95 -.95 .95 .95 .95 `bounded` edits the one false sentence and keeps every other byte."""
    scene = stage(five_claims(), nli=FakeNli(score_five))
    answer = scene.verify()
    assert answer.content == DRAFT_OF_FIVE.replace(FALSE, RIGHT)
    assert answer.outcome == "corrected"
    assert answer.verdicts == ["accepted", "corrected", "accepted", "accepted", "accepted"]
    threshold = answer.choice["threshold"]
    # mu = (4 * .95 - .95) / 5 = .57; sigma = sqrt((4 * .38^2 + 1.52^2) / 5) = .76; tau = .57 + .7 * .76 = 1.102
    assert threshold["mu"] == pytest.approx(0.57)
    assert threshold["sigma"] == pytest.approx(0.76)
    assert threshold["tau"] == pytest.approx(1.102)
    assert (threshold["applied"], threshold["bound"], threshold["n"]) == (0.9, "ceiling", 5)
    [edit] = answer.choice["edits"]
    assert DRAFT_OF_FIVE[slice(*edit["draft_span"])] == edit["before"] == FALSE
    assert answer.content[slice(*edit["span"])] == edit["after"] == RIGHT
    assert answer.choice["claims"][1]["edit"] == 0


def test_the_published_rule_leaves_a_lone_false_claim_among_five(stage: Stage) -> None:
    """Under `paper` tau is 1.102, beyond any score: nothing is accepted, nothing edited."""
    scene = stage(five_claims(), nli=FakeNli(score_five))
    answer = scene.verify(headers={"X-Verify-Rule": "paper"})
    assert answer.content == DRAFT_OF_FIVE
    assert answer.choice["threshold"]["applied"] == pytest.approx(1.102)
    assert set(answer.verdicts) == {"neutral"}
    assert answer.outcome == "inconclusive"


def test_the_fixed_rule_applies_its_own_line(stage: Stage) -> None:
    """Under `fixed` 0.7 is applied whatever tau is."""
    answer = stage(five_claims(), nli=FakeNli(score_five)).verify(headers={"X-Verify-Rule": "fixed"})
    assert answer.choice["threshold"]["applied"] == 0.7
    assert answer.choice["threshold"]["tau"] == pytest.approx(1.102)
    assert answer.content == DRAFT_OF_FIVE.replace(FALSE, RIGHT)


@pytest.mark.parametrize("claims", ["llm", "local"])
def test_a_true_answer_is_verified_and_untouched(play: Play, claims: str) -> None:
    """A true draft comes back as it is, `verified`."""
    answer = play(Script(draft=completion(T))).verify(headers={"X-Verify-Claims": claims})
    assert answer.content == T
    assert answer.outcome == "verified"
    assert answer.reply.headers["x-verify-status"] == "verified"


@pytest.mark.parametrize("claims", ["llm", "local"])
def test_a_false_answer_is_corrected(play: Play, claims: str) -> None:
    """A false draft is corrected by either way of splitting."""
    answer = play(Script()).verify(headers={"X-Verify-Claims": claims})
    assert answer.content == T
    assert answer.outcome == "corrected"


def test_recall_and_draft_overlap(play: Play) -> None:
    """Draft and recall are both asked before either is answered."""
    together = Gate(parties=2)
    scene = play(Script(draft=completion(T).held(together), recall=completion(R).held(together)))
    assert scene.verify().outcome == "verified"


def test_the_recall_is_isolated(stage: Stage) -> None:
    """No recall sees the draft, an assistant turn, another recall or the user's settings (C43)."""
    canary = "Verdane Bridge is listed as ZQ17-1931."
    recalls = [completion("Verdane Bridge is listed as AB12."), completion("It is CD34."), completion("It is EF56.")]
    scene = stage(
        Script(draft=completion(canary), recall=recalls), nli=FakeNli(), recalls=3, recall_model="model-of-recall"
    )
    scene.upstream.play(Script(recall=recalls), model="model-of-recall")
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "SYSTEM-1"},
        {"role": "user", "content": "First question."},
        {"role": "assistant", "content": "ASSISTANT-1"},
        {"role": "user", "content": [{"type": "text", "text": "Second question."}]},
    ]
    answer = scene.verify(messages, n=1, stop=["."], tools=[], max_tokens=5, logprobs=True)
    asked = [call for call in scene.upstream.of("recall") if call.model == "model-of-recall"]
    assert len(asked) == 3
    for call in asked:
        assert call.json is not None
        assert set(call.json) == {"model", "messages", "temperature"}
        [instruction, question] = call.json["messages"]
        assert question == {"role": "user", "content": "First question.\n\nSecond question."}
        for leak in ("ZQ17-1931", "SYSTEM-1", "ASSISTANT-1", "AB12", "CD34", "EF56"):
            assert leak not in json.dumps(call.json)
        assert instruction["role"] == "system"
    assert answer.report["models"]["recall"] == "model-of-recall"


def test_off_is_one_call_and_the_same_bytes(play: Play) -> None:
    """`off` asks the upstream once and returns what it sent, without a report or a header of ours."""
    step = completion(F, x_vendor={"a": [1.0, 1e3]})
    scene = play(Script(draft=step))
    reply = scene.ask(headers={"X-Verify": "off"})
    assert reply.content == step.content
    assert scene.tasks == ["draft"]
    assert not [name for name in reply.headers if name.startswith("x-verify")]
    [call] = scene.calls("draft")
    assert not [name for name, _ in call.headers if name.lower().startswith("x-verify")]


def test_every_choice_is_verified_by_one_recall(play: Play) -> None:
    """With n > 1 each choice has its own claims and line; the answer's status is the worst of them."""
    scene = play(Script(draft=completion(T, F, "Hi!")))
    answer = scene.verify(n=3)
    assert [entry["status"] for entry in answer.report["choices"]] == ["verified", "corrected", "skipped"]
    assert [choice["message"]["content"] for choice in answer.body["choices"]] == [T, T, "Hi!"]
    assert answer.report["status"] == "corrected"
    assert len(scene.calls("recall")) == 1


def test_detect_reports_and_edits_nothing(play: Play) -> None:
    """`detect` judges as `correct` does and makes no correction call."""
    scene = play(Script())
    answer = scene.verify(headers={"X-Verify": "detect"})
    assert answer.content == F
    assert answer.outcome == "flagged: detect"
    assert answer.verdicts == ["contradicted: detect", "accepted"]
    assert scene.calls("correction") == []


def test_the_papers_example_is_split_into_atomic_claims(stage: Stage) -> None:
    """One sentence on Marie Curie becomes three claims that stand alone, all anchored to it."""
    sentence = "Marie Curie was a Polish-born physicist and chemist who conducted pioneering research on radioactivity."
    claims = [
        "Marie Curie was born in Poland.",
        "Marie Curie was a physicist and chemist.",
        "Marie Curie conducted pioneering research on radioactivity.",
    ]
    script = Script(
        draft=completion(sentence),
        recall=completion(" ".join(claims)),
        claims=completion(claims_reply([(1, claim) for claim in claims])),
    )
    answer = stage(script, nli=FakeNli(dict.fromkeys(claims, signed(0.95)))).verify("Who was Marie Curie?")
    assert [claim["text"] for claim in answer.choice["claims"]] == claims
    assert {tuple(claim["span"]) for claim in answer.choice["claims"]} == {(0, len(sentence))}
    assert answer.outcome == "verified"


def test_the_report_has_the_contracts_shape(play: Play) -> None:
    """Every field that the contract names is there, and the usage counts our calls only."""
    scene = play(Script())
    reply = scene.ask()
    report = reply.json()["verification"]
    assert set(report) == {
        "version", "id", "mode", "status", "reason", "choices", "models", "usage", "timings_ms",
    }  # fmt: skip
    assert set(report["choices"][0]) == {"index", "status", "reason", "threshold", "claims", "edits", "counts"}
    assert set(report["choices"][0]["claims"][0]) == {"text", "span", "label", "score", "verdict", "reason", "edit"}
    assert set(report["timings_ms"]) == {"draft", "recall", "claims", "nli", "correction", "overhead"}
    # A recall, two decompositions and a correction, each billed 18 tokens by the scripted upstream.
    assert report["usage"] == {"prompt_tokens": 44, "completion_tokens": 28, "total_tokens": 72, "calls": 4}
    assert reply.json()["usage"]["total_tokens"] == 18
    assert reply.headers["x-verify-id"] == report["id"]
    assert reply.headers["x-verify-status"] == "corrected"
    assert float(reply.headers["x-verify-overhead-ms"]) > 0
    assert "x-verify-reason" not in reply.headers
    counts = {"accepted": 1, "neutral": 0, "contradicted": 0, "corrected": 1, "unverifiable": 0, "dropped": 0}
    assert report["choices"][0]["counts"] == counts


def test_full_detail_shows_what_decided(play: Play) -> None:
    """`full` adds the reference, each claim's probabilities and premise, and the draft."""
    answer = play(Script()).verify()
    assert answer.report["reference"] == R
    assert answer.choice["draft"] == F
    claim = answer.choice["claims"][0]
    assert claim["premise"] in {R, RIGHT}
    assert math.fsum(claim["probabilities"].values()) == pytest.approx(1)


def test_an_edit_drops_logprobs_and_says_so(play: Play) -> None:
    """The draft's token probabilities no longer fit an edited text; an unedited choice keeps them."""
    logprobs: dict[str, Any] = {"choice": {"logprobs": {"content": []}}}
    edited = play(Script(draft=completion(F, **logprobs))).verify()
    assert edited.body["choices"][0]["logprobs"] is None
    assert edited.choice["logprobs_dropped"] is True


def test_unedited_logprobs_stay(play: Play) -> None:
    """A choice without an edit keeps its token probabilities."""
    kept = play(Script(draft=completion(T, choice={"logprobs": {"content": []}}))).verify()
    assert kept.body["choices"][0]["logprobs"] == {"content": []}
    assert "logprobs_dropped" not in kept.choice


def test_k_moves_the_line(play: Play) -> None:
    """The k of the header is the k of the line."""
    answer = play(Script()).verify(headers={"X-Verify-K": "0", "X-Verify-Rule": "paper"})
    threshold = answer.choice["threshold"]
    assert threshold["k"] == 0
    assert threshold["tau"] == threshold["mu"] == pytest.approx(0)
    assert answer.outcome == "corrected"


def test_claims_that_cannot_be_anchored_are_dropped_and_counted(play: Play) -> None:
    """A claim that shares nothing with its sentence is dropped; a sentence left without any stands unresolved."""
    foreign = "Paris hosts museums."

    def split(call: Call) -> Step:
        about_opening = "1. Verdane" in call.prompt
        return completion(claims_reply([(1, RIGHT), (1, foreign)] if about_opening else [(1, foreign)]))

    answer = play(Script(draft=completion(T), claims=split)).verify()
    assert answer.choice["counts"]["dropped"] == 2
    assert answer.verdicts == ["accepted", "unverifiable: unresolved"]
    assert answer.outcome == "partial"


def test_sentences_become_claims_by_number(play: Play) -> None:
    """The prompt holds each sentence verbatim on a numbered line, below the text before it."""
    scene = play(Script(draft=completion(T), claims=claims_by_sentence()))
    scene.verify()
    second, first = sorted((call.prompt for call in scene.calls("claims")), reverse=True)
    assert "1. Verdane Bridge opened in 1913." in first.splitlines()
    assert "1. It is 340 metres long." in second.splitlines()
    assert "> Verdane Bridge opened in 1913." in second.splitlines()
