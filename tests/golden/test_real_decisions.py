"""The shipped NLI model behind the real proxy, through the official SDK: every decision follows from the report."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from fakes import Script, ScriptedUpstream, completion, connect, serve
from fakes.script import F, T
from proxy.app import build_app
from proxy.settings import Settings

DRAFTS = {
    "one false": F,
    "true": T,
    "five, one false": (
        "Verdane Bridge opened in 1931. Verdane Bridge is 340 metres long. Verdane Bridge crosses the river Lorne. "
        "Ada Lorne designed Verdane Bridge. Verdane Bridge has two lanes."
    ),
    "mostly false": (
        "Verdane Bridge opened in 1931. Verdane Bridge is 120 metres long. Verdane Bridge crosses the river Holt. "
        "Ada Lorne designed Verdane Bridge."
    ),
    "beside the point": "The weather in spring is mild. Sheep graze on the hills.",
}
RECALL = (
    "Verdane Bridge opened in 1913. Verdane Bridge is 340 metres long. Verdane Bridge crosses the river Lorne. "
    "Ada Lorne designed Verdane Bridge."
)


@pytest.fixture(scope="module")
def sdk() -> Iterator[openai.OpenAI]:
    """Offer the newest SDK before a proxy with the shipped model."""
    with ScriptedUpstream() as upstream, serve(build_app(Settings(upstream_url=upstream.url))) as url:
        for name, draft in DRAFTS.items():
            script = Script(draft=completion(draft), recall=completion(RECALL), correction=completion("No."))
            upstream.play(script, model=name)
        with connect(url, timeout_s=20) as client:
            while client.get("/readyz").is_error:
                pass
        with openai.OpenAI(base_url=f"{url}/v1", api_key="sk-x", max_retries=0) as sdk:
            yield sdk


@pytest.mark.parametrize("rule", ["bounded", "paper", "fixed"])
@pytest.mark.parametrize("name", DRAFTS)
def test_every_decision_follows_from_the_reported_scores(sdk: openai.OpenAI, name: str, rule: str) -> None:
    """Recompute line, verdicts and counts from the scores alone, by the contract's text."""
    answer = sdk.chat.completions.create(
        model=name,
        messages=[{"role": "user", "content": "Tell me about Verdane Bridge."}],
        extra_headers={"X-Verify-Rule": rule, "X-Verify-Claims": "local", "X-Verify-Detail": "full"},
    )
    report: dict[str, Any] = (answer.model_extra or {})["verification"]
    [choice] = report["choices"]
    line, claims = choice["threshold"], choice["claims"]
    scores = [claim["score"] for claim in claims if claim["score"] is not None]
    mu = math.fsum(scores) / len(scores)
    sigma = math.sqrt(math.fsum((score - mu) ** 2 for score in scores) / len(scores))
    tau = mu + 0.7 * sigma
    applied = {"paper": tau, "fixed": 0.7, "bounded": min(max(tau, 0.5), 0.9)}[rule]
    assert [line["mu"], line["sigma"], line["tau"], line["applied"]] == pytest.approx([mu, sigma, tau, applied])
    assert line["n"] == len(scores)
    for claim in claims:
        p = claim["probabilities"]
        if claim["verdict"] == "unverifiable":
            continue
        signed = {"entailment": p["entailment"], "contradiction": -p["contradiction"], "neutral": 0.0}
        assert claim["score"] == pytest.approx(signed[claim["label"]])
        beyond = {
            "entailment": claim["score"] >= applied - 1e-9,
            "contradiction": claim["score"] <= -applied + 1e-9,
            "neutral": False,
        }[claim["label"]]
        kinds = {"entailment": {"accepted"}, "contradiction": {"contradicted", "corrected"}}
        assert claim["verdict"] in (kinds[claim["label"]] if beyond else {"neutral"})
    text = choice["draft"]
    for edit in reversed(choice["edits"]):
        start, end = edit["draft_span"]
        text = text[:start] + edit["after"] + text[end:]
    assert answer.choices[0].message.content == text
    edited = {index for index, claim in enumerate(claims) if claim["verdict"] == "corrected"}
    assert (choice["status"] == "corrected") is bool(edited and "contradicted" not in {c["verdict"] for c in claims})


def test_the_shipped_model_corrects_a_year(sdk: openai.OpenAI) -> None:
    """With the shipped model the false year is found and replaced by the recall's own sentence."""
    answer = sdk.chat.completions.create(model="one false", messages=[{"role": "user", "content": "When did it open?"}])
    assert answer.choices[0].message.content == T
    assert (answer.model_extra or {})["verification"]["status"] == "corrected"
