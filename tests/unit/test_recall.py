"""The isolated recall: what it is asked, and how its reply is read."""

from __future__ import annotations

import asyncio
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Ask, FakeLlm, Gate, R
from proxy.errors import LlmCallFailed
from proxy.prompts.recall import INSTRUCTION
from proxy.recall import (
    Evidence,
    NotFactual,
    QuestionUnclear,
    Recalled,
    RecallFailed,
    combine_recalls,
    read_recall,
    recall_facts,
)
from proxy.services import Reply

FACTS = ("Verdane Bridge opened in 1913.", "It is 340 metres long.")
EVIDENCE = Evidence((FACTS,))


def recall(llm: FakeLlm, *texts: str, count: int = 1) -> Recalled:
    return asyncio.run(recall_facts(texts, llm, instruction=INSTRUCTION, count=count))


def test_the_question_is_what_the_user_said() -> None:
    """Each call holds the fixed instruction and the user's texts, nothing else, and no other recall's answer (C43)."""
    llm = FakeLlm({"recall": [R, "Verdane Bridge has two lanes.", "The toll was 2 crowns."]})
    evidence = recall(llm, "Name a bridge.", "When did it open?", count=3)
    assert llm.asks == [Ask("recall", INSTRUCTION, "Name a bridge.\n\nWhen did it open?")] * 3
    assert evidence == Evidence((FACTS, ("Verdane Bridge has two lanes.",), ("The toll was 2 crowns.",)))
    assert isinstance(evidence, Evidence)
    assert tuple(chain.from_iterable(evidence.recalls)) == (
        *FACTS,
        "Verdane Bridge has two lanes.",
        "The toll was 2 crowns.",
    )


def test_recalls_run_side_by_side() -> None:
    """Independent recalls wait for each other only at the end: all are asked before any has answered."""

    async def run() -> Recalled:
        llm = FakeLlm({"recall": R}, gate=Gate(parties=3))
        return await recall_facts(["When?"], llm, instruction=INSTRUCTION, count=3)

    assert asyncio.run(run()) == Evidence((FACTS, FACTS, FACTS))


@pytest.mark.parametrize("answers", [[LlmCallFailed("refused")], [R, LlmCallFailed("refused")], [R, "  "]])
def test_a_failed_recall_is_a_value(answers: list[str | Exception]) -> None:
    """A recall that fails or says nothing spoils the others; it is never raised (C14)."""
    assert recall(FakeLlm({"recall": answers}), "When?", count=2) == RecallFailed()


def test_recalls_beyond_the_budget_fail() -> None:
    """Three recalls on a budget of two calls are a failure, not an error."""
    assert recall(FakeLlm({"recall": R}, max_calls=2), "When?", count=3) == RecallFailed()


@pytest.mark.parametrize(
    "text",
    [
        "NO_FACTS",
        "no_facts",
        "NO_FACTS.",
        '"NO_FACTS"',
        "`NO_FACTS`\n",
        "**No_Facts**.",
        "<think>A story.</think>NO_FACTS",
    ],
)
def test_no_facts(text: str) -> None:
    """The bare token says that nothing asked for is a fact; case, quotes and full stop aside (C45)."""
    assert read_recall(Reply(text)) == NotFactual()


@pytest.mark.parametrize(
    "text", ["UNCLEAR", "unclear.", "Unclear", '"UNCLEAR"', "**UNCLEAR**\n", "<think>x</think>UNCLEAR"]
)
def test_unclear_questions(text: str) -> None:
    """The bare token says that the question hangs on what the recall cannot see (C50)."""
    assert read_recall(Reply(text)) == QuestionUnclear()


@pytest.mark.parametrize(
    "text",
    [
        R,
        f"NO_FACTS\n{R}",
        f"no_facts. {R}",
        f"NO_FACTS: {R}",
        f"{R}\n\nNO_FACTS",
        f"UNCLEAR\n{R}",
        f"<think>Is this NO_FACTS?</think>\n{R}",
        "- Verdane Bridge opened in **1913**. [1]\n- It is 340 metres long.",
    ],
)
def test_facts(text: str) -> None:
    """Beside facts a token is left out and the facts are used (C52); marks are no part of them."""
    assert read_recall(Reply(text)) == EVIDENCE


@pytest.mark.parametrize(
    "fact", ["It is unclear who built it.", "Unclear records name its builder.", "The flag is called X_NO_FACTS_Y."]
)
def test_the_tokens_inside_other_words_and_sentences(fact: str) -> None:
    """What merely contains a token is a fact."""
    assert read_recall(Reply(fact)) == Evidence(((fact,),))


@pytest.mark.parametrize("text", ["", " \n", "…", "```\nopened = 1913\n```"])
def test_saying_nothing_is_a_failure(text: str) -> None:
    """A reply without a sentence is no evidence, and no denial of facts either."""
    assert read_recall(Reply(text)) == RecallFailed()


def test_a_cut_recall() -> None:
    """Of a recall that was cut the unfinished sentence is left out; it could say anything."""
    assert read_recall(Reply("Verdane Bridge opened in 1913. It is 340", complete=False)) == Evidence((FACTS[:1],))
    assert read_recall(Reply(R, complete=False)) == EVIDENCE
    assert read_recall(Reply("Verdane Bridge opened in 19", complete=False)) == RecallFailed()


@pytest.mark.parametrize(
    ("recalls", "outcome"),
    [
        ([NotFactual(), NotFactual()], NotFactual()),
        ([NotFactual(), EVIDENCE], EVIDENCE),
        ([EVIDENCE, EVIDENCE], Evidence((FACTS, FACTS))),
        ([EVIDENCE, QuestionUnclear()], QuestionUnclear()),
        ([NotFactual(), QuestionUnclear()], QuestionUnclear()),
        ([QuestionUnclear(), RecallFailed()], RecallFailed()),
    ],
)
def test_several_recalls(recalls: list[Recalled], outcome: Recalled) -> None:
    """All must deny facts; one that is unclear or failed spoils the rest (contract, section 6)."""
    assert combine_recalls(recalls) == outcome


def test_language_of_each_recall() -> None:
    """One recall in a script that the NLI model does not list is enough (C37)."""
    korean = ("베르다네 다리는 1913년에 개통되었다.",)
    assert Evidence((FACTS,)).is_listed(frozenset({"en"}))
    assert not Evidence((FACTS, korean)).is_listed(frozenset({"en"}))
    assert Evidence((FACTS, korean)).is_listed(frozenset({"en", "ko"}))


@settings(deadline=None)
@given(text=st.text(), complete=st.booleans())
def test_any_reply_is_read(text: str, *, complete: bool) -> None:
    """Whatever a model answers, it is one of the four outcomes, and facts have words."""
    outcome = read_recall(Reply(text, complete=complete))
    if isinstance(outcome, Evidence):
        assert all(any(map(str.isalnum, sentence)) for recall in outcome.recalls for sentence in recall)
        assert all(outcome.recalls)
