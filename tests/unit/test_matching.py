"""Holding claims against the reference and against the request itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from fakes import FakeNli, compare_words, contradicts, entails, neutral, probabilities
from proxy.claims.claim import Claim, Sentence, Unverifiable
from proxy.context import Context
from proxy.errors import NliFailed
from proxy.matching import (
    Matcher,
    RequestTexts,
    ScoredClaim,
    find_support,
    is_contradicted,
    read_context,
    read_request_texts,
    scores_of,
)
from proxy.nli.scoring import Pair
from proxy.wire import ChatRequest, read_request

FACTS = ("Verdane Bridge opened in 1913.", "It is 340 metres long.", "The toll was 2 crowns.")
WHOLE = " ".join(FACTS)
CLAIM = "Verdane Bridge opened in 1931."
TO_1931 = "Our archive says that Verdane Bridge opened in 1931."


def claim(text: str, unverifiable: Unverifiable | None = None) -> Claim:
    return Claim(text, Sentence(0, (0, len(text)), text), unverifiable)


def score(nli: FakeNli, *claims: Claim, reference: Sequence[str] = FACTS) -> tuple[ScoredClaim, ...]:
    return asyncio.run(Matcher(nli, [reference]).score(claims))


def test_premises_of_a_claim() -> None:
    """A claim is held against the whole reference in windows, and against its nearest sentence (contract, 5)."""
    nli = FakeNli(compare_words)
    scored = score(nli, claim(CLAIM), claim("It is 340 metres long."))
    assert nli.pairs == [
        Pair(WHOLE, CLAIM),
        Pair(FACTS[0], CLAIM),
        Pair(WHOLE, "It is 340 metres long."),
        Pair(FACTS[1], "It is 340 metres long."),
    ]
    assert nli.batches == [4]
    assert scores_of(scored) == [-0.95, 0.95]
    assert [s.score and s.score.label for s in scored] == ["contradiction", "entailment"]


def test_contested_claims() -> None:
    """One premise for, one against: no score, and the claim says why (C34)."""
    dear = "The toll was high."
    nli = FakeNli({(WHOLE, dear): entails(0.7), (FACTS[2], dear): contradicts(0.8)})
    (scored,) = score(nli, claim(dear))
    assert scored.claim.unverifiable == "contested"
    assert scores_of([scored]) == []


def test_claims_that_cannot_be_scored() -> None:
    """What is unverifiable is not asked about and keeps its reason; a claim without room for premises is too long."""
    nli = FakeNli({FACTS[0]: entails()})
    nli.max_tokens = 100
    long = claim("word " * 40)
    scored = score(nli, claim("A.", "unresolved"), claim(FACTS[0]), long)
    assert [(s.claim.unverifiable, s.score is None) for s in scored] == [
        ("unresolved", True),
        (None, False),
        ("too_long", True),
    ]
    assert {pair.hypothesis for pair in nli.pairs} == {FACTS[0]}
    assert scores_of(scored) == [0.95]


def test_results_stay_with_their_claims() -> None:
    """Claims with different numbers of premises each get their own results."""
    nli = FakeNli({FACTS[1]: entails(0.9), CLAIM: contradicts(0.8), FACTS[2]: entails(0.6)})
    scored = score(nli, claim(FACTS[1]), claim("X.", "too_many"), claim(CLAIM), claim(FACTS[2]))
    assert scores_of(scored) == [0.9, -0.8, 0.6]
    single = score(nli, claim(FACTS[1]), claim(CLAIM), reference=FACTS[:1])
    assert scores_of(single) == [0.9, -0.8]


def test_without_a_reference_nothing_decides() -> None:
    """An empty reference leaves a claim neutral."""
    (scored,) = score(FakeNli(), claim(CLAIM), reference=())
    assert scored.score is not None
    assert (scored.score.label, scored.score.score) == ("neutral", 0.0)


def test_a_reference_sentence_is_counted_once() -> None:
    """However many claims are held against it, the tokenizer is asked once for each text."""

    class Counting(FakeNli):
        counted: list[str]

        def count_tokens(self, text: str) -> int:
            self.counted.append(text)
            return super().count_tokens(text)

    nli = Counting()
    nli.counted = []
    score(nli, *(claim(f"Fact {n} holds.") for n in range(20)))
    assert len(nli.counted) == len(set(nli.counted)) == 23


def test_failures_are_raised() -> None:
    """A model without a usable result is the caller's to report (C33)."""
    with pytest.raises(NliFailed):
        score(FakeNli(failure=NliFailed("no number")), claim(CLAIM))


def score_with(
    context: Sequence[str], *claims: Claim, recalls: Sequence[Sequence[str]] = (FACTS,)
) -> list[ScoredClaim]:
    """Score claims by a context and recalls, judged by their words."""
    nli = FakeNli(compare_words)
    return list(asyncio.run(Matcher(nli, recalls, read_context(context, nli)).score(claims)))


def test_the_context_decides_first() -> None:
    """What the context entails, contradicts or is at odds about is decided by it; the rest by the recall."""
    open_ones = (claim("It is 340 metres long."), claim("The tower is high."))
    entailed, long, silent = score_with([CLAIM], claim(CLAIM), *open_ones)
    assert (entailed.by_context, entailed.score and entailed.score.score) == (True, 0.95)
    assert (long.by_context, long.score and long.score.score) == (False, 0.95)
    assert (silent.by_context, silent.score and silent.score.score) == (False, 0.0)
    (against,) = score_with([CLAIM], claim(FACTS[0]))
    assert (against.by_context, against.score and against.score.premise) == (True, CLAIM)
    (contested,) = score_with([CLAIM, FACTS[0]], claim(CLAIM))
    assert (contested.by_context, contested.claim.unverifiable) == (True, "contested")


def test_without_recalls_the_context_is_all() -> None:
    """What it is silent on is neutral, and its nearest premise is named."""
    (scored,) = score_with(["The town is old."], claim(CLAIM), recalls=())
    assert scored.score is not None
    assert (scored.by_context, scored.score.label, scored.score.premise) == (True, "neutral", "The town is old.")


def test_the_context_is_not_asked_about_what_cannot_be_scored() -> None:
    """What is unverifiable or too long stays so, and is asked about nowhere."""
    unresolved, long = score_with([CLAIM], claim("A.", "unresolved"), claim("word " * 500))
    assert (unresolved.claim.unverifiable, unresolved.score) == ("unresolved", None)
    assert (long.claim.unverifiable, long.score) == ("too_long", None)


def test_an_empty_context_changes_nothing() -> None:
    """The same pairs are asked for as without one."""
    without, with_none = FakeNli(compare_words), FakeNli(compare_words)
    asyncio.run(Matcher(without, [FACTS]).score([claim(CLAIM)]))
    asyncio.run(Matcher(with_none, [FACTS], Context()).score([claim(CLAIM)]))
    assert without.pairs == with_none.pairs


def request(*messages: tuple[str, object]) -> ChatRequest:
    body = {"model": "m", "messages": [{"role": role, "content": content} for role, content in messages]}
    read = read_request(json.dumps(body).encode())
    assert read is not None
    return read


def test_texts_of_a_request() -> None:
    """System, developer and tool texts are given, user texts are not; an assistant's own words are no evidence."""
    texts = read_request_texts(
        request(
            ("system", "The bridge is old."),
            ("developer", "It opened in 1931. It is long."),
            ("assistant", "It opened in 1920."),
            ("tool", [{"type": "text", "text": "The toll was 2 crowns."}]),
            ("user", "I read that it opened in 1931. Is that right? (Or is it?)"),
        ),
        FakeNli(),
    )
    assert texts.given == (
        "The bridge is old.",
        "It opened in 1931.",
        "It is long.",
        "It opened in 1931. It is long.",
        "The toll was 2 crowns.",
    )
    assert texts.user == ("I read that it opened in 1931.",)


def test_windows_of_a_request() -> None:
    """Windows hold whole sentences, up to half of what the model reads, so that any claim fits beside them."""
    sentences = [f"Sentence {n} has six words here." for n in range(9)]
    nli = FakeNli()
    nli.max_tokens = 40
    texts = read_request_texts(request(("system", " ".join(sentences)), ("user", "Tell me more.")), nli)
    assert texts.given == (*sentences, *(" ".join(sentences[at : at + 3]) for at in (0, 3, 6)))


def test_questions_of_a_given_text_stay() -> None:
    """A list of questions and answers supports a claim by both together."""
    texts = RequestTexts(("When did it open? In 1931.",), (), window_tokens=100)
    assert "When did it open? In 1931." in texts.given


def support(nli: FakeNli, texts: RequestTexts) -> str | None:
    return asyncio.run(find_support(CLAIM, texts, Matcher(nli, [FACTS]), floor=0.6))


@pytest.mark.parametrize(
    ("given", "user", "whose"),
    [
        ([TO_1931], [], "given"),
        ([], [TO_1931], "user"),
        ([TO_1931], [TO_1931], "given"),
        (["It is long."], [TO_1931], "user"),
        (["It is long."], ["Tell me more."], None),
        ([], ["Did Verdane Bridge open in 1931?"], None),
        ([], [], None),
    ],
)
def test_who_supports_a_claim(given: list[str], user: list[str], whose: str | None) -> None:
    """A given text outweighs a user's; a question supports nothing (C44, C51)."""
    texts = RequestTexts(tuple(given), tuple(user))
    assert support(FakeNli(compare_words), texts) == whose


@pytest.mark.parametrize(
    ("p", "whose"), [(0.61, "given"), (0.6, "given"), (0.6 - 1e-10, "given"), (0.59, None), (0.0, None)]
)
def test_support_takes_the_floor(p: float, whose: str | None) -> None:
    """The request supports a claim that it entails with at least the floor."""
    assert support(FakeNli({CLAIM: entails(p)}), RequestTexts((TO_1931,), ())) == whose


def test_only_the_nearest_texts_are_asked() -> None:
    """Of a long request eight pieces are held against the claim, the nearest ones."""
    fillers = " ".join(f"Paragraph {n} speaks of other things." for n in range(50))
    nli = FakeNli(compare_words)
    assert support(nli, RequestTexts((f"{fillers} {TO_1931} {fillers}",), (), window_tokens=20)) == "given"
    assert len(nli.pairs) == 8
    assert nli.pairs[0].premise == TO_1931


@pytest.mark.parametrize(
    ("answer", "contradicted"),
    [(contradicts(0.6), True), (contradicts(0.59), False), (entails(), False), (neutral(), False)],
    ids=str,
)
def test_contradiction_by_the_request(answer: object, *, contradicted: bool) -> None:
    """Any text of the request, a user's too, contradicts a claim from the floor on (contract, section 7)."""
    nli = FakeNli({CLAIM: answer})  # type: ignore[dict-item]
    for texts in (RequestTexts(("It opened in 1925.",), ()), RequestTexts((), ("It opened in 1925.",))):
        assert asyncio.run(is_contradicted(CLAIM, texts, Matcher(nli, [FACTS]), floor=0.6)) is contradicted
    assert not asyncio.run(is_contradicted(CLAIM, RequestTexts((), ()), Matcher(nli, [FACTS]), floor=0.6))


def test_no_premise_mixes_two_recalls() -> None:
    """Each recall is a premise set of its own, so that recalls that disagree contest a claim."""
    nli = FakeNli(compare_words)
    recalls = [["Verdane Bridge opened in 1913."], ["Verdane Bridge opened in 1931."]]
    [scored] = asyncio.run(Matcher(nli, recalls).score([claim(CLAIM)]))
    assert {pair.premise for pair in nli.pairs} == {recalls[0][0], recalls[1][0]}
    assert scored.claim.unverifiable == "contested"


def test_equal_quantities_are_shown_in_one_form() -> None:
    """The model reads the premise's own form; what is reported is the claim as it was made."""
    nli = FakeNli(compare_words)
    (scored,) = score(nli, claim("Verdane Bridge opened in nineteen thirteen."))
    assert {pair.hypothesis for pair in nli.pairs} == {FACTS[0]}
    assert scored.claim.text == "Verdane Bridge opened in nineteen thirteen."
    assert scores_of([scored]) == [0.95]


def test_unequal_quantities_are_never_entailed() -> None:
    """Whatever the model says: what stood for entailment is neutral then, and its word on contradiction stands."""
    (scored,) = score(FakeNli({CLAIM: probabilities(entailment=0.9, contradiction=0.04)}), claim(CLAIM))
    assert scored.score is not None
    assert (scored.score.label, scored.score.score) == ("neutral", 0.0)
    reported = scored.score.probabilities
    assert reported is not None
    assert [reported.entailment, reported.neutral, reported.contradiction] == pytest.approx([0.0, 0.96, 0.04])
    (contradicted,) = score(FakeNli({CLAIM: contradicts(0.8)}), claim(CLAIM))
    assert scores_of([contradicted]) == [-0.8]


def test_the_request_supports_no_other_number() -> None:
    """A text of the request with another year does not support the claim."""
    texts = RequestTexts(("Our archive says that Verdane Bridge opened in 1925.",), ())
    assert support(FakeNli({CLAIM: entails()}), texts) is None
