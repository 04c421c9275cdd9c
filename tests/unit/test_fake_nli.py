"""The scripted NLI model looks up, records, waits and fails as told."""

from __future__ import annotations

import asyncio

import pytest

from fakes import FakeNli, Gate, R, compare_words, contradicts, entails, neutral, probabilities, signed
from proxy.errors import NliFailed
from proxy.nli.scoring import Pair, Probabilities
from proxy.services import Nli


def test_fake_nli_is_an_nli() -> None:
    """It fits the Protocol, is neutral by default, and keeps a record."""
    fake = FakeNli()
    nli: Nli = fake
    pairs = [Pair("p", "h"), Pair("q", "h")]
    assert asyncio.run(nli.score(pairs)) == [neutral(), neutral()]
    assert (fake.pairs, fake.batches) == (pairs, [2])
    assert nli.count_tokens("three short words") == 3
    assert (nli.tau_floor, nli.tau_ceiling) == (0.5, 0.9)
    assert nli.languages == {"en"}


def test_fake_nli_looks_answers_up() -> None:
    """A pair in the table comes first, then the hypothesis alone, then neutral."""
    nli = FakeNli({("p", "h"): entails(), "h": contradicts()})
    scores = asyncio.run(nli.score([Pair("p", "h"), Pair("q", "h"), Pair("p", "x")]))
    assert scores == [entails(), contradicts(), neutral()]


def test_fake_nli_asks_a_function() -> None:
    """A function of premise and hypothesis may stand in for the table."""
    nli = FakeNli(lambda premise, hypothesis: signed(0.8 if premise == hypothesis else -0.8))
    assert asyncio.run(nli.score([Pair("a", "a"), Pair("a", "b")])) == [entails(0.8), contradicts(0.8)]


def test_fake_nli_fails_on_demand() -> None:
    """A failure is raised after the pairs are recorded."""
    nli = FakeNli(failure=NliFailed("no numbers"))
    with pytest.raises(NliFailed, match="no numbers"):
        asyncio.run(nli.score([Pair("p", "h")]))
    assert nli.pairs == [Pair("p", "h")]


def test_fake_nli_waits_at_its_gate() -> None:
    """Scoring goes on once the gate is open."""

    async def score_while_shut() -> bool:
        gate = Gate()
        scoring = asyncio.create_task(FakeNli(gate=gate).score([Pair("p", "h")]))
        await asyncio.sleep(0)
        waited = not scoring.done()
        gate.open()
        return waited and await scoring == [neutral()]

    assert asyncio.run(score_while_shut())


@pytest.mark.parametrize("made", [entails(0.7), contradicts(0.6), neutral(0.9), signed(0), probabilities()], ids=str)
def test_probabilities_sum_to_one(made: Probabilities) -> None:
    """Whatever is left out is neutral, or shared."""
    assert made.entailment + made.neutral + made.contradiction == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("Verdane Bridge opened in 1913.", entails()),
        ("Verdane Bridge is 340 metres long.", entails()),
        ("Verdane Bridge opened in 1931.", contradicts()),
        ("Verdane Bridge did not open in 1931.", neutral()),
        ("Verdane Bridge opened in 1913 and cost 9 million.", neutral()),
    ],
)
def test_compare_words(hypothesis: str, expected: object) -> None:
    """Same words entail, another number contradicts, other words say nothing."""
    assert compare_words(R, hypothesis) == expected
