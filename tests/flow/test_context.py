"""The user's own documents, beside the recall or in its place (contract, sections 3, 5 and 6)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from fakes import FakeNli, Script, compare_words, completion, corrections, error, sse, talk
from fakes.scene import Scene
from fakes.script import F, R, T

Play = Callable[[Script], Scene]
Stage = Callable[..., Scene]

IN_1913 = "Verdane Bridge opened in 1913."
IN_1931 = "Verdane Bridge opened in 1931."
LONG = "It is 340 metres long."
TO_1931 = corrections({IN_1913: IN_1931})
FRENCH = (
    "Le pont de la ville a été ouvert en mille neuf cent treize par le maire, et il mesure trois cents mètres de long."
)


def verify_with(*texts: str, **keys: object) -> dict[str, object]:
    """Return the `verify` member with these context texts."""
    return {"context": list(texts), **keys}


def test_the_context_goes_before_the_recall(play: Play) -> None:
    """What the documents entail is accepted, though the recall says otherwise."""
    answer = play(Script()).verify(verify=verify_with(f"About the bridge. {IN_1931} It was painted red."))
    assert answer.content == F
    assert answer.verdicts == ["accepted", "accepted"]
    assert answer.outcome == "verified"
    assert answer.report["reference"] == R
    assert answer.choice["claims"][1]["premise"] in {R, LONG}


def test_a_claim_against_the_context_is_corrected_by_it(play: Play) -> None:
    """What the documents contradict is corrected to what they say, though the recall supports it."""
    scene = play(Script(draft=completion(T), correction=TO_1931))
    answer = scene.verify(verify=verify_with(IN_1931))
    assert answer.content == F
    assert answer.verdicts == ["corrected", "accepted"]
    assert answer.choice["claims"][0]["premise"] == IN_1931
    [correction] = scene.calls("correction")
    reference = correction.prompt.partition("Contradicted claims:")[0]
    assert IN_1931 in reference
    assert "1913" not in reference


def test_the_documents_own_sentence_takes_the_place_of_a_false_one(play: Play) -> None:
    """Where the model's rewrite is refused the fallback is the document's sentence, not the recall's."""
    scene = play(Script(draft=completion("Verdane Bridge opened in 1920."), correction=completion("No.")))
    answer = scene.verify(verify=verify_with(f"{IN_1931} The town is small."))
    assert answer.content == IN_1931
    assert answer.outcome == "corrected"


def test_where_the_context_is_silent_the_recall_decides(play: Play) -> None:
    """Documents about something else change nothing."""
    answer = play(Script()).verify(verify=verify_with("The town has a market.", "Its mayor is called Anna."))
    assert answer.content == T
    assert answer.verdicts == ["corrected", "accepted"]
    assert answer.choice["claims"][0]["premise"] in {R, IN_1913}


def test_without_recall_nothing_is_recalled(play: Play) -> None:
    """With `reference: context` no recall is made, and what the documents do not say stays neutral."""
    scene = play(Script())
    answer = scene.verify(verify=verify_with(IN_1913, reference="context"))
    assert scene.calls("recall") == []
    assert answer.content == T
    assert answer.verdicts == ["corrected", "neutral"]
    assert answer.report["models"] == {"nli": "fake", "recall": None}
    assert answer.report["reference"] is None
    assert answer.report["usage"]["calls"] == 3


def test_a_neutral_answer_without_recall_is_inconclusive(play: Play) -> None:
    """Documents that say nothing of the answer neither verify nor contradict it."""
    answer = play(Script()).verify(verify=verify_with("The town has a market.", reference="context"))
    assert answer.content == F
    assert answer.verdicts == ["neutral", "neutral"]
    assert answer.outcome == "inconclusive"
    assert answer.choice["claims"][0]["premise"] == "The town has a market."


@pytest.mark.parametrize("recall", ["NO_FACTS", "UNCLEAR"])
def test_documents_judge_where_nothing_is_recalled(play: Play, recall: str) -> None:
    """A summary of documents is judged by them: that there is nothing to recall is no reason to skip it."""
    answer = play(Script(recall=completion(recall))).verify("Summarise this.", verify=verify_with(R))
    assert answer.content == T
    assert answer.outcome == "corrected"


def test_a_failed_recall_is_not_made_up_for(play: Play) -> None:
    """Documents and recall were asked for; without the recall the answer is unverified, and says so."""
    answer = play(Script(recall=error(500))).verify(verify=verify_with(R))
    assert answer.content == F
    assert answer.outcome == "unavailable: recall_failed"


def test_documents_that_disagree_are_contested(play: Play) -> None:
    """A claim for which one document speaks and against which another is unverifiable, whatever the recall says."""
    answer = play(Script()).verify(verify=verify_with(IN_1913, IN_1931))
    assert answer.content == F
    assert answer.verdicts == ["unverifiable: contested", "accepted"]


def test_what_the_operator_says_still_excuses(play: Play) -> None:
    """A system text supports a claim that a document contradicts: it stays, `in_context`."""
    asked = [{"role": "system", "content": IN_1931}, {"role": "user", "content": "When did it open?"}]
    answer = play(Script()).verify(asked, verify=verify_with(IN_1913))
    assert answer.content == F
    assert answer.verdicts == ["neutral: in_context", "accepted"]


def test_documents_stay_with_us(stage: Stage) -> None:
    """No document goes to the recall, the decomposition, the draft's upstream or the log."""
    canary = "Verdane Bridge is listed as ZQ17."
    scene = stage(Script(), nli=FakeNli(compare_words))
    with capture_logs() as lines:
        answer = scene.verify(verify=verify_with(f"{IN_1913} {canary}"))
    assert answer.outcome == "corrected"
    for task in ("draft", "recall", "claims"):
        calls = scene.calls(task)
        assert calls
        assert not [call for call in calls if "ZQ17" in call.body.decode()]
    assert "verify" not in (scene.calls("draft")[0].json or {})
    assert "ZQ17" not in repr(lines)


@pytest.mark.parametrize(
    ("verify", "param"),
    [
        ({"context": "ZQ17"}, "verify.context"),
        ({"context": []}, "verify.context"),
        ({"context": ["ZQ17", 1]}, "verify.context"),
        ({"context": ["ZQ17", " \n"]}, "verify.context"),
        ({"context": {"ZQ17": "text"}}, "verify.context"),
        ({"context": None}, "verify.context"),
        ({"context": ["ZQ17 " * 100_001]}, "verify.context"),
        ({"context": ["ZQ17"] * 1001}, "verify.context"),
        ({"reference": "context"}, "verify.reference"),
        ({"reference": "ZQ17", "context": [R]}, "verify.reference"),
        ({"reference": None}, "verify.reference"),
    ],
)
def test_what_is_no_context_is_refused(play: Play, verify: dict[str, object], param: str) -> None:
    """A wrong type, nothing, or more than can be searched is a 400 that names the key and repeats no text."""
    scene = play(Script())
    reply = scene.ask(verify=verify)
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == param
    assert "ZQ17" not in reply.text
    assert scene.tasks == []


@pytest.mark.parametrize("name", ["X-Verify-Context", "X-Verify-Reference"])
def test_there_is_no_header_for_it(play: Play, name: str) -> None:
    """Documents come in the body alone."""
    assert play(Script()).ask(headers={name: "context"}).json()["error"]["param"] == name


@pytest.mark.parametrize("keys", [{"claims": "local"}, {"mode": "detect"}, {}])
@pytest.mark.parametrize("reference", ["recall", "context"])
def test_every_way_of_splitting(play: Play, keys: dict[str, Any], reference: str) -> None:
    """Local claims and `detect` go by the documents too."""
    script = Script(draft=completion(T), correction=TO_1931)
    answer = play(script).verify(verify=verify_with(IN_1931, reference=reference, **keys))
    assert answer.content == (T if "mode" in keys else F)
    assert answer.choice["claims"][0]["premise"] == IN_1931
    assert answer.choice["claims"][0]["score"] == -0.95


def test_every_choice_goes_by_the_documents(play: Play) -> None:
    """With n > 1 each choice is judged by the same documents."""
    answer = play(Script(draft=completion(T, F), correction=TO_1931)).verify(n=2, verify=verify_with(IN_1931))
    assert [choice["message"]["content"] for choice in answer.body["choices"]] == [F, F]
    assert [entry["status"] for entry in answer.report["choices"]] == ["corrected", "verified"]


@pytest.mark.parametrize(("delivery", "content"), [("buffer", F), ("annotate", T)])
def test_streams_go_by_the_documents(play: Play, delivery: str, content: str) -> None:
    """A streamed answer is judged, and where it is held back corrected, by the documents."""
    scene = play(Script(draft=sse(*talk(IN_1913, " ", LONG)), correction=TO_1931))
    reply = scene.ask(stream=True, verify=verify_with(IN_1931, reference="context", stream=delivery))
    events = [event.removeprefix("data: ") for event in reply.text.split("\n\n") if event.startswith("data: {")]
    choices = [(choice, chunk) for chunk in map(json.loads, events) for choice in chunk["choices"]]
    assert "".join(choice["delta"].get("content", "") for choice, _ in choices) == content
    report = choices[-1][1]["verification"]
    assert report["status"] == ("corrected" if delivery == "buffer" else "flagged")
    assert scene.calls("recall") == []


def test_a_claim_is_found_in_a_long_document(stage: Stage) -> None:
    """What decides may stand anywhere in the text; however long that is, few premises are asked about."""
    filling = " ".join(f"House {n} of the town has {n % 7} rooms and a garden behind it." for n in range(3000))
    nli = FakeNli(compare_words)
    scene = stage(Script(draft=completion(IN_1913), correction=TO_1931), nli=nli)
    answer = scene.verify(verify=verify_with(f"{filling} {IN_1931} {filling}", reference="context", mode="detect"))
    assert answer.verdicts == ["contradicted: detect"]
    assert IN_1931 in answer.choice["claims"][0]["premise"]
    assert len(nli.pairs) < 16


def test_a_document_in_another_language_is_not_judged_by(play: Play) -> None:
    """A text that the NLI model cannot read makes the check unavailable; it is not quietly left out."""
    answer = play(Script()).verify(verify=verify_with(IN_1913, FRENCH))
    assert answer.content == F
    assert answer.outcome == "unavailable: language"
