"""The `verification` object has the contract's names and nulls, and reproduces every decision."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from fakes import contradicts, entails
from proxy.claims.claim import Claim, Sentence
from proxy.controls import Controls
from proxy.nli.scoring import ClaimScore, score_claim
from proxy.reassembly import AppliedEdit
from proxy.report import ChoiceResult, write_report
from proxy.verdict import Line, Verdict, draw_threshold
from proxy.wire import Choice, read_completion

BEFORE, AFTER = "Marie Curie was born in France.", "Marie Curie was born in Poland."
DRAFT = f"{BEFORE} She was a chemist. 🌉 They doubled it."
FACTS = {
    "id": "ver_1",
    "models": {"nli": "embedded", "recall": "gpt-3.5-turbo"},
    "usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8, "calls": 4},
    "timings_ms": {"draft": 1.0, "recall": 0, "claims": 0, "nli": 0, "correction": 0, "overhead": 2.5},
}


def choice(text: str = DRAFT, **members: object) -> Choice:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}} | members]}
    read = read_completion(json.dumps(body).encode())
    assert read is not None
    return read.choices[0]


def sentence(index: int, text: str) -> Sentence:
    start = DRAFT.index(text)
    return Sentence(index, (start, start + len(text)), text)


FALSE, TRUE, LOST = sentence(0, BEFORE), sentence(1, "She was a chemist."), sentence(2, "They doubled it.")
AGAINST = score_claim(["It was Poland."], [contradicts(0.97)])
FOR = score_claim(["A chemist she was."], [entails(0.95)])
CONTESTED = score_claim(["Yes.", "No."], [entails(0.7), contradicts(0.8)])


def corrected(*, logprobs: object = None) -> ChoiceResult:
    """Return a choice with a claim of each kind, one of them corrected."""
    contested = Claim("They doubled it.", LOST, "contested")
    return ChoiceResult(
        choice(logprobs=logprobs),
        status="corrected",
        threshold=draw_threshold([-0.97, 0.95], Line("bounded", 0.7, 0.5, 0.9)),
        verdicts=(
            Verdict(Claim(BEFORE, FALSE), AGAINST, "corrected"),
            Verdict(Claim("Marie Curie was a chemist.", TRUE), FOR, "accepted"),
            Verdict(contested, CONTESTED, "unverifiable", "contested"),
            Verdict(Claim("They doubled it.", LOST, "unresolved"), None, "unverifiable", "unresolved"),
        ),
        edits=(AppliedEdit(BEFORE, AFTER, (0, 31), (0, 31)),),
        parts=(AFTER + DRAFT[31:],),
        dropped=2,
    )


def write(*results: ChoiceResult, detail: str = "summary", reference: tuple[tuple[str, ...], ...] = ()) -> Any:  # noqa: ANN401  # JSON
    controls = Controls(detail=detail)  # type: ignore[arg-type]
    return json.loads(msgspec.json.encode(write_report(results, controls, reference, FACTS)))


def test_the_whole_object() -> None:
    """Names, order, nulls and nesting are those of contract 4; numbers are written unrounded."""
    report = write(corrected())
    threshold = draw_threshold([-0.97, 0.95], Line("bounded", 0.7, 0.5, 0.9))
    assert threshold is not None
    expected = {
        "version": 1,
        "id": "ver_1",
        "mode": "correct",
        "status": "corrected",
        "reason": None,
        "choices": [
            {
                "index": 0,
                "status": "corrected",
                "reason": None,
                "threshold": {
                    "rule": "bounded",
                    "k": 0.7,
                    "mu": threshold.mu,
                    "sigma": threshold.sigma,
                    "tau": threshold.tau,
                    "applied": threshold.applied,
                    "bound": None,
                    "n": 2,
                },
                "claims": [
                    {
                        "text": BEFORE,
                        "span": [0, 31],
                        "label": "contradiction",
                        "score": -0.97,
                        "verdict": "corrected",
                        "reason": None,
                        "edit": 0,
                    },
                    {
                        "text": "Marie Curie was a chemist.",
                        "span": [32, 50],
                        "label": "entailment",
                        "score": 0.95,
                        "verdict": "accepted",
                        "reason": None,
                        "edit": None,
                    },
                    *(
                        {
                            "text": "They doubled it.",
                            "span": [53, 69],
                            "label": None,
                            "score": None,
                            "verdict": "unverifiable",
                            "reason": reason,
                            "edit": None,
                        }
                        for reason in ("contested", "unresolved")
                    ),
                ],
                "edits": [{"before": BEFORE, "after": AFTER, "draft_span": [0, 31], "span": [0, 31]}],
                "counts": {
                    "accepted": 1,
                    "neutral": 0,
                    "contradicted": 0,
                    "corrected": 1,
                    "unverifiable": 2,
                    "dropped": 2,
                },
            }
        ],
        **{name: FACTS[name] for name in ("models", "usage", "timings_ms")},
    }
    assert report == expected
    assert list(report) == list(expected)


def test_full_detail() -> None:
    """`full` adds the reference, each choice's draft and each claim's probabilities and premise, and nothing else."""
    reference = (("It was Poland.", "A chemist she was."), ("She won two prizes.",))
    report = write(corrected(), detail="full", reference=reference)
    assert report["reference"] == "It was Poland. A chemist she was.\n\nShe won two prizes."
    (entry,) = report["choices"]
    assert entry["draft"] == DRAFT
    assert [c["premise"] for c in entry["claims"]] == ["It was Poland.", "A chemist she was.", "No.", None]
    assert entry["claims"][0]["probabilities"] == {
        "entailment": 0,
        "neutral": pytest.approx(0.03),
        "contradiction": 0.97,
    }
    assert entry["claims"][3]["probabilities"] is None
    summary = write(corrected())
    assert set(report) - set(summary) == {"reference"}
    assert set(entry) - set(summary["choices"][0]) == {"draft"}
    assert set(entry["claims"][0]) - set(summary["choices"][0]["claims"][0]) == {"probabilities", "premise"}
    assert write(corrected(), detail="full")["reference"] is None


def test_a_claim_without_premises() -> None:
    """A claim that no premise was found for is neutral, its premise and probabilities null."""
    verdict = Verdict(Claim(BEFORE, FALSE), ClaimScore("neutral", 0.0, None, None), "neutral")
    report = write(ChoiceResult(choice(), "inconclusive", verdicts=(verdict,)), detail="full")
    claim = report["choices"][0]["claims"][0]
    assert (claim["label"], claim["score"], claim["premise"], claim["probabilities"]) == ("neutral", 0.0, None, None)


def test_edits_by_number() -> None:
    """Each corrected claim names the edit of its own sentence; two claims of one sentence name the same."""
    verdicts = [Verdict(Claim(s.text, s), AGAINST, "corrected") for s in (FALSE, TRUE, TRUE)]
    edits = tuple(AppliedEdit(s.text, "X.", s.span, s.span) for s in (FALSE, TRUE))
    report = write(ChoiceResult(choice(), "corrected", verdicts=tuple(verdicts), edits=edits))
    assert [c["edit"] for c in report["choices"][0]["claims"]] == [0, 1, 1]


@pytest.mark.parametrize(
    ("result", "dropped"),
    [
        (corrected(logprobs={"content": []}), True),
        (corrected(), None),
        (ChoiceResult(choice(logprobs={"content": []}), "verified"), None),
    ],
)
def test_dropped_logprobs(result: ChoiceResult, *, dropped: bool | None) -> None:
    """Only an edited choice that had logprobs says that they are gone."""
    assert write(result)["choices"][0].get("logprobs_dropped") is dropped


def test_a_choice_that_was_not_judged() -> None:
    """A skipped choice has every member too: no threshold, no claims, all counts nought (C26)."""
    (entry,) = write(ChoiceResult(choice(), "skipped", "no_claims"))["choices"]
    assert (entry["status"], entry["reason"], entry["threshold"]) == ("skipped", "no_claims", None)
    assert entry["claims"] == entry["edits"] == []
    assert set(entry["counts"].values()) == {0}


@pytest.mark.parametrize(
    ("results", "status", "reason"),
    [
        ([("verified", None), ("skipped", "empty")], "partial", None),
        ([("verified", None), ("flagged", "quoted"), ("skipped", "empty")], "flagged", "quoted"),
        ([("flagged", "detect"), ("unavailable", "deadline")], "unavailable", "deadline"),
        ([("skipped", "empty"), ("skipped", "refusal")], "skipped", "empty"),
    ],
)
def test_the_answer_as_a_whole(results: list[tuple[Any, Any]], status: str, reason: str | None) -> None:
    """Status and reason of the answer are those of its worst choice, the first of equals."""
    report = write(*(ChoiceResult(choice(), *result) for result in results))
    assert (report["status"], report["reason"]) == (status, reason)
    assert len(report["choices"]) == len(results)
